/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The engine of worker threads, apart from what a worker does with a picture:
 * that is a backend, so that tests and benchmarks can measure and break the
 * machinery alone.  Only libdl/engine and tests include this.
 */
#ifndef DLB_ENGINE_CPU_H
#define DLB_ENGINE_CPU_H

#include <pthread.h>
#include <sched.h>

#include "engine.h"

/**
 * struct dlb_cpu_backend - What the workers do with a picture
 * @name: engine's name, for thread names and sentences
 * @engine_init: once an engine, before its workers; 0 or a negative error
 * @engine_fini: undoes it, after the workers are gone
 * @worker_init: once a worker, on its thread
 * @worker_fini: undoes it, on its thread
 * @run: decode; fills @result, returns as dlb_decoder_run()
 * @worker_bytes: memory a worker may come to use, input apart
 * @engine_bytes: memory the engine may come to use, workers apart
 */
struct dlb_cpu_backend {
	const char *name;
	int (*engine_init)(const struct dlb_engine_attr *attr, void **engine);
	void (*engine_fini)(void *engine);
	int (*worker_init)(void *engine, const struct dlb_engine_attr *attr,
			   void **worker);
	void (*worker_fini)(void *worker);
	int (*run)(void *worker, const struct dlb_job *job,
		   struct dlboost_result *result, uint64_t *resample_ns);
	size_t (*worker_bytes)(const struct dlb_engine_attr *attr);
	size_t (*engine_bytes)(const struct dlb_engine_attr *attr);
};

/**
 * struct dlb_cpu_options - The options behind "cpu:"
 * @nr_workers: "workers=N"; 0: as many as the affinity mask or list has CPUs
 * @queue_entries: "queue=N", jobs
 * @input_bytes: "input=BYTES[k|m|g]", most encoded bytes of one picture
 * @jitter_us: "jitter=MICROSECONDS", random delay before each job; for tests
 * @spin_ns: "spin=MICROSECONDS", how long an idle worker stays awake
 * @has_affinity: false for "affinity=none": workers inherit the mask
 * @nr_cpus: entries of @cpus; 0 unless "affinity=LIST"
 * @cpus: CPU of worker i is @cpus[i % @nr_cpus]
 * @numa_node: "numa=NODE"; -1 for "auto", -2 for "none"
 */
struct dlb_cpu_options {
	unsigned int nr_workers;
	unsigned int queue_entries;
	size_t input_bytes;
	unsigned int jitter_us;
	uint64_t spin_ns;
	bool has_affinity;
	unsigned int nr_cpus;
	uint16_t cpus[CPU_SETSIZE];
	int numa_node;
};

#define DLB_CPU_NUMA_AUTO (-1)
#define DLB_CPU_NUMA_NONE (-2)

int dlb_cpu_options_parse(const char *text, const char *name,
			  struct dlb_cpu_options *out, char *error,
			  size_t error_bytes);
/* CPUs in the caller's affinity mask, at least 1 */
unsigned int dlb_cpu_nr_allowed(void);
/* Put the calling worker thread where the options say; a wish, never fails */
void dlb_cpu_place_worker(const struct dlb_cpu_options *options,
			  unsigned int worker_idx);

/* An engine of worker threads around @backend; as dlb_engine_ops.create() */
int dlb_cpu_create(const struct dlb_cpu_backend *backend,
		   const struct dlb_engine_ops *ops,
		   const struct dlb_engine_attr *attr, char *error,
		   size_t error_bytes, struct dlb_engine **out);
/* The other members of an ops table over dlb_cpu_create() */
void dlb_cpu_destroy(struct dlb_engine *engine);
int dlb_cpu_submit(struct dlb_engine *engine, const struct dlb_job *jobs,
		   unsigned int nr);
void dlb_cpu_cancel(struct dlb_engine *engine);
void dlb_cpu_counters(struct dlb_engine *engine,
		      struct dlb_engine_counters *out);
unsigned int dlb_cpu_nr_workers(const struct dlb_engine *engine);
unsigned int dlb_cpu_queue_entries(const struct dlb_engine *engine);
size_t dlb_cpu_memory_bytes(const struct dlb_engine *engine);
/* Wake-ups of sleeping workers so far */
uint64_t dlb_cpu_nr_wakeups(const struct dlb_engine *engine);

#endif /* DLB_ENGINE_CPU_H */
