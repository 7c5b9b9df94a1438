/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * "Where decode happens": the ops table every engine implements, and the jobs
 * and completions that cross it.  Job and completion carry what a submission
 * and a completion entry of a device queue carry, so that an engine behind
 * /dev/dlboostN translates field by field.
 *
 * libdl/stream knows engines through this file alone; an engine knows nothing
 * of data sets, order or batches.
 */
#ifndef DLB_ENGINE_ENGINE_H
#define DLB_ENGINE_ENGINE_H

#include <dlboost/engine.h>

#include "../image/recipe.h"

struct dlb_job;

/**
 * struct dlb_scratch - What an engine lends to dlb_job.prepare()
 * @buf: input buffer of the worker
 * @cap_bytes: its size
 * @grow: makes @buf at least @bytes large (contents are lost); 0 or -ENOMEM
 *	when that passes the engine's cap for input
 * @limits: limits of a picture
 */
struct dlb_scratch {
	uint8_t *buf;
	size_t cap_bytes;
	int (*grow)(struct dlb_scratch *scratch, size_t bytes);
	const struct dlboost_limits *limits;
};

/**
 * struct dlb_job - One picture to be decoded
 * @id: the submitter's name for it; comes back in the completion
 * @recipe: per-recipe parameters; outlives the job
 * @profile: enum dlboost_profile
 * @flags: reserved, 0
 * @geometry: per-sample parameters; set by the submitter or by @prepare
 * @info: header of the picture, set together with @geometry by @prepare;
 *	type DLBOOST_IMAGE_UNKNOWN when it was not looked at
 * @src: encoded bytes; set by the submitter or by @prepare
 * @src_bytes: length
 * @dst: where the tensor goes
 * @dst_bytes: room at @dst
 * @prepare: NULL, or called exactly once on a thread of the engine before the
 *	decode: reads the bytes (into @scratch), looks at the header and fills
 *	@src, @src_bytes, @info and @geometry.  On failure it fills @result and
 *	returns its status, and the job completes with that.  Must not wait for
 *	another job.
 * @owner: the submitter's
 *
 * Jobs are copied at submission.
 *
 * Coefficient tables are not part of a job: they follow from @geometry and the
 * recipe's filter, and the engine takes them from a cache by (in, out, box,
 * filter) on its own thread (libdl/image/coeffs.h).  The cpu engine has one in
 * each decoder; an engine behind a device fills its table slots from one.  So no
 * table needs an owner that outlives submitter and engine both.
 */
struct dlb_job {
	uint64_t id;
	const struct dlboost_recipe *recipe;
	uint32_t profile;
	uint32_t flags;
	struct dlboost_geometry geometry;
	struct dlboost_image_info info;
	const void *src;
	size_t src_bytes;
	void *dst;
	size_t dst_bytes;
	unsigned int (*prepare)(struct dlb_job *job, struct dlb_scratch *scratch,
				struct dlboost_result *result);
	void *owner;
};

/**
 * struct dlb_completion - What became of one job
 * @id: dlb_job.id
 * @owner: dlb_job.owner
 * @result: status, flags, bytes written, message; owned by the engine, valid
 *	during the call
 * @src_bytes: encoded bytes read
 * @submit_ns: CLOCK_MONOTONIC at submission
 * @start_ns: when a worker or lane took it up
 * @read_done_ns: when the encoded bytes were there
 * @end_ns: when the pixels were there
 * @resample_ns: part of end - read_done spent in resampling, 0 if not known
 */
struct dlb_completion {
	uint64_t id;
	void *owner;
	const struct dlboost_result *result;
	uint64_t src_bytes;
	uint64_t submit_ns;
	uint64_t start_ns;
	uint64_t read_done_ns;
	uint64_t end_ns;
	uint64_t resample_ns;
};

/**
 * struct dlb_sink - Who receives the completions of an engine
 * @complete: called on a thread of the engine with @nr completions.  No lock of
 *	the engine is held; it may submit, it must not wait.
 * @arg: first argument of @complete
 */
struct dlb_sink {
	void (*complete)(void *arg, const struct dlb_completion *c,
			 unsigned int nr);
	void *arg;
};

/** struct dlb_engine_counters - Sums over the engine's workers since creation */
struct dlb_engine_counters {
	uint64_t idle_ns;	/* waiting for jobs */
	uint64_t cpu_ns;	/* CPU time of its threads */
	uint64_t queued;	/* accepted, not yet taken up */
	uint64_t running;	/* taken up, not yet completed */
};

struct dlb_engine;

/**
 * struct dlb_engine_attr - How to create an engine
 * @options: text behind "NAME:", "" for none
 * @limits: limits of a picture; defaults filled in
 * @reject_warnings: decoder warnings become CORRUPT
 * @sink: who receives the completions; copied
 */
struct dlb_engine_attr {
	const char *options;
	struct dlboost_limits limits;
	bool reject_warnings;
	struct dlb_sink sink;
};

/**
 * struct dlb_engine_ops - What an engine implements
 */
struct dlb_engine_ops {
	/** @name: as in "--engine NAME" */
	const char *name;
	/** @description: one sentence */
	const char *description;
	/** @info: fill in what the engine is; no threads, no memory */
	void (*info)(struct dlboost_engine_info *out);
	/**
	 * @create: start threads, reserve memory.  On failure nothing is left
	 * behind and @error holds one sentence.  0, or a negative error number.
	 */
	int (*create)(const struct dlb_engine_attr *attr, char *error,
		      size_t error_bytes, struct dlb_engine **out);
	/**
	 * @destroy: refuse new jobs, complete those that wait as CANCELLED,
	 * wait for those that run, join the threads.  After it returns the sink
	 * is not called again.
	 */
	void (*destroy)(struct dlb_engine *engine);
	/**
	 * @submit: hand over @nr jobs (a sub-batch), in order.  Returns how many
	 * of the first jobs were accepted (fewer when the queue is full), or
	 * -ESHUTDOWN.  Every accepted job gets exactly one completion, refused
	 * ones none.  Never waits.  Any thread, the sink included.
	 */
	int (*submit)(struct dlb_engine *engine, const struct dlb_job *jobs,
		      unsigned int nr);
	/**
	 * @cancel: complete all jobs that wait as CANCELLED; those that run
	 * finish.  Any thread but the sink's.
	 */
	void (*cancel)(struct dlb_engine *engine);
	/** @counters: sums, cheap enough to be asked for ten times a second */
	void (*counters)(struct dlb_engine *engine,
			 struct dlb_engine_counters *out);
	/** @nr_workers: pictures it works on at the same time */
	unsigned int (*nr_workers)(const struct dlb_engine *engine);
	/** @queue_entries: jobs it accepts before @submit refuses */
	unsigned int (*queue_entries)(const struct dlb_engine *engine);
	/** @memory_bytes: scratch and input buffers it may come to use */
	size_t (*memory_bytes)(const struct dlb_engine *engine);
};

/* First member of every engine's own struct */
struct dlb_engine {
	const struct dlb_engine_ops *ops;
};

extern const struct dlb_engine_ops dlb_cpu_engine_ops;

/* "NAME[:options]" -> ops and options; NULL and one sentence if unknown */
const struct dlb_engine_ops *dlb_engine_find(const char *spec,
					     const char **options, char *error,
					     size_t error_bytes);

/*
 * Make one more kind of engine known: for engines of other folders and for
 * tests.  0, or -ENOSPC.  Before any other call that names engines.
 */
int dlb_engine_register(const struct dlb_engine_ops *ops);

/* Replace zero members by their defaults */
void dlb_engine_limits_fill(struct dlboost_limits *limits);

/*
 * Geometry of a job whose @info is known: draws for the picture as it stands
 * upright.  A status; on failure @result says why.
 */
unsigned int dlb_job_draw(struct dlb_job *job, uint64_t augment_seed,
			  uint32_t epoch, uint64_t sample_id,
			  struct dlboost_result *result);

#endif /* DLB_ENGINE_ENGINE_H */
