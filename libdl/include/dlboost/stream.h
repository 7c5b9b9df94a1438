/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Streams: an ordered, reproducible, resumable sequence of batches.
 * Documentation/streams.rst tells the promises, order.rst the arithmetic.
 */
#ifndef DLBOOST_STREAM_H
#define DLBOOST_STREAM_H

#include <dlboost/dataset.h>
#include <dlboost/image.h>
#include <dlboost/recipe.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct dlboost_stream - A stream of batches; opaque */
struct dlboost_stream;
/** struct dlboost_batch - One batch in its slot; opaque */
struct dlboost_batch;

/**
 * enum dlboost_tail - What happens to positions that fill no batch
 * @DLBOOST_TAIL_PARTIAL: the last batches are smaller, as many for each rank
 * @DLBOOST_TAIL_DROP: they are left out
 * @DLBOOST_TAIL_PAD: filled up with the epoch's first positions, marked
 *	%DLBOOST_SAMPLE_F_DUPLICATE
 *
 * Since: 0.1
 */
enum dlboost_tail {
	DLBOOST_TAIL_PARTIAL = 0,
	DLBOOST_TAIL_DROP = 1,
	DLBOOST_TAIL_PAD = 2,
};

/**
 * enum dlboost_on_error - What happens to a bad sample
 * @DLBOOST_ON_ERROR_FAIL: the batch fails and names the file
 * @DLBOOST_ON_ERROR_SKIP_REPLACE: another sample of its class stands in for it
 * @DLBOOST_ON_ERROR_ZERO: its pixels are zero and its status says why
 *
 * Since: 0.1
 */
enum dlboost_on_error {
	DLBOOST_ON_ERROR_FAIL = 0,
	DLBOOST_ON_ERROR_SKIP_REPLACE = 1,
	DLBOOST_ON_ERROR_ZERO = 2,
};

/**
 * enum dlboost_limit_stage - What limits the rate of a stream
 * @DLBOOST_LIMIT_UNKNOWN: too little was seen to tell
 * @DLBOOST_LIMIT_STORAGE: reading the files
 * @DLBOOST_LIMIT_DECODE_CPU: decoding on CPU cores
 * @DLBOOST_LIMIT_DEVICE: decoding on a device
 * @DLBOOST_LIMIT_TRANSFER: moving tensors to where they are used
 * @DLBOOST_LIMIT_CONSUMER: the caller takes batches more slowly than they come
 *
 * Since: 0.1
 */
enum dlboost_limit_stage {
	DLBOOST_LIMIT_UNKNOWN = 0,
	DLBOOST_LIMIT_STORAGE = 1,
	DLBOOST_LIMIT_DECODE_CPU = 2,
	DLBOOST_LIMIT_DEVICE = 3,
	DLBOOST_LIMIT_TRANSFER = 4,
	DLBOOST_LIMIT_CONSUMER = 5,
};

/**
 * struct dlboost_stream_attr - How to make a stream
 * @size: sizeof(struct dlboost_stream_attr)
 * @recipe: "NAME[:key=value,...]"
 * @profile: a value of enum dlboost_profile
 * @batch: samples a batch; default 256
 * @seed: key of the order
 * @augment_seed: key of the draws; used only when @has_augment_seed, else @seed
 * @has_augment_seed: see @augment_seed
 * @epoch: first epoch
 * @rank: this consumer, below @world
 * @world: number of consumers that share the data set; 0 means 1
 * @tail: a value of enum dlboost_tail
 * @on_error: a value of enum dlboost_on_error
 * @max_bad: share of the data set that may be bad in an epoch, 0..1: at least
 *	one sample, but none for 0; negative for the default of 0.001
 * @reject_warnings: 1 makes samples with decoder warnings CORRUPT
 * @slots: batches in memory; 0 for the formula of Documentation/streams.rst
 * @hold: batches the caller may keep at the same time; 0 for 2, or for what
 *	@slots leaves beside the window
 * @nr_engines: number of @engines
 * @quarantine_path: list of bad files, read at start and added to; or NULL
 * @engines: texts as for dlboost_engine_create(); NULL for one "cpu"
 * @states: state documents to resume from, one a rank of the old world, or
 *	one; NULL to begin.  Seeds, order and epoch of the documents count,
 *	not @seed, @augment_seed, @no_shuffle and @epoch
 * @nr_states: number of @states
 * @allow_repeat: 1 accepts state documents of ranks that saved at different
 *	steps; the samples between repeat
 * @no_shuffle: 1 keeps the data set's own order
 * @no_stats_page: 1 publishes no stats page
 * @limits: limits of a picture, zero members for defaults
 *
 * Since: 0.1
 */
struct dlboost_stream_attr {
	size_t size;
	const char *recipe;
	uint32_t profile;
	uint32_t batch;
	uint64_t seed;
	uint64_t augment_seed;
	uint32_t has_augment_seed;
	uint32_t epoch;
	uint32_t rank;
	uint32_t world;
	uint32_t tail;
	uint32_t on_error;
	double max_bad;
	uint32_t reject_warnings;
	uint32_t slots;
	uint32_t hold;
	uint32_t nr_engines;
	const char *quarantine_path;
	const char *const *engines;
	const char *const *states;
	uint32_t nr_states;
	uint32_t allow_repeat;
	uint32_t no_shuffle;
	uint32_t no_stats_page;
	struct dlboost_limits limits;
};

#define DLBOOST_STREAM_ATTR_INIT \
	{ .size = sizeof(struct dlboost_stream_attr), .max_bad = -1.0 }

/**
 * struct dlboost_stream_info - What a stream is; constant while it lives
 * @tensor: shape and type of one sample
 * @batch: samples of a full batch
 * @slots: batches in memory
 * @hold: batches the caller may keep
 * @nr_workers: worker threads or lanes over all engines
 * @slot_bytes: bytes of one slot, images only
 * @cap_bytes: memory the stream may use, at most: slots, scratch, input
 *	buffers, index
 * @has_huge_pages: 1 when the system granted huge pages for the slots
 * @epoch: epoch in which the stream stood when it was made
 * @position: global position at which it stood then
 * @repeated_samples: samples that repeat because of @allow_repeat
 * @dataset: what it reads
 *
 * Since: 0.1
 */
struct dlboost_stream_info {
	struct dlboost_tensor_spec tensor;
	uint32_t batch;
	uint32_t slots;
	uint32_t hold;
	uint32_t nr_workers;
	uint64_t slot_bytes;
	uint64_t cap_bytes;
	uint32_t has_huge_pages;
	uint32_t epoch;
	uint64_t position;
	uint64_t repeated_samples;
	struct dlboost_dataset_info dataset;
};

/**
 * struct dlboost_stream_stats - Counters since the stream was made
 * @samples: samples handed out
 * @batches: batches handed out
 * @bad: samples by status (index = status, entry 0 counts the good ones), of
 *	batches handed out or refused; a replaced sample counts as it was
 * @warned: samples with decoder warnings
 * @replaced: samples another one stands in for
 * @quarantined: samples skipped because the quarantine list names them
 * @rerouted: jobs given to another engine
 * @encoded_bytes: bytes read
 * @elapsed_ns: since the first batch was asked for
 * @read_ns: worker time in opening and reading files
 * @decode_ns: worker time in decoding
 * @resample_ns: worker time in resizing and casting; 0 where it is part of
 *	@decode_ns
 * @idle_ns: worker time without work
 * @worker_cpu_ns: CPU time of the workers
 * @wait_ns: time the caller waited in dlboost_stream_next()
 * @queued_samples: jobs submitted and not finished
 * @ready_batches: finished batches waiting for the caller
 * @limit_stage: a value of enum dlboost_limit_stage: what limits the rate
 * @reserved: 0
 * @limit_share: share of the wall time that stage accounts for, 0..1
 *
 * Since: 0.1
 */
struct dlboost_stream_stats {
	uint64_t samples;
	uint64_t batches;
	uint64_t bad[DLBOOST_NR_STATUS];
	uint64_t warned;
	uint64_t replaced;
	uint64_t quarantined;
	uint64_t rerouted;
	uint64_t encoded_bytes;
	uint64_t elapsed_ns;
	uint64_t read_ns;
	uint64_t decode_ns;
	uint64_t resample_ns;
	uint64_t idle_ns;
	uint64_t worker_cpu_ns;
	uint64_t wait_ns;
	uint64_t queued_samples;
	uint64_t ready_batches;
	uint32_t limit_stage;
	uint32_t reserved;
	double limit_share;
};

/**
 * struct dlboost_batch_info - One batch as the caller sees it
 * @images: the tensor, count x sample, contiguous
 * @images_bytes: bytes at @images
 * @labels: label of each sample, -1 for none
 * @ids: sample numbers in the data set, after replacement
 * @wanted_ids: sample numbers before replacement
 * @status: a value of enum dlboost_status for each
 * @flags: bits of enum dlboost_sample_flags for each
 * @count: samples in this batch; may be 0 at the tail of an epoch
 * @epoch: epoch
 * @batch_idx: number of this batch in the epoch of this rank, from 0 at the
 *	epoch's start or the resume point
 * @position: global position of the first sample
 * @nr_bad: samples whose status is not OK
 * @reserved: 0
 *
 * All pointers stay valid until the last reference is dropped.
 *
 * Since: 0.1
 */
struct dlboost_batch_info {
	void *images;
	size_t images_bytes;
	const int64_t *labels;
	const int64_t *ids;
	const int64_t *wanted_ids;
	const uint8_t *status;
	const uint8_t *flags;
	uint32_t count;
	uint32_t epoch;
	uint64_t batch_idx;
	uint64_t position;
	uint32_t nr_bad;
	uint32_t reserved;
};

/**
 * dlboost_stream_create() - Make a stream over a data set
 * @dataset: the data set; may be closed by the caller afterwards
 * @attr: options
 * @error: receives one sentence on failure; may be NULL
 * @error_bytes: size of @error
 * @out: receives the stream; end with dlboost_stream_destroy()
 *
 * Starts the engines' threads; work begins with the first
 * dlboost_stream_next().
 *
 * Since: 0.1
 *
 * Context: A stream is used by one thread at a time; batches may be released
 * from any thread.
 *
 * Return:
 * * %0		- success
 * * %-EINVAL	- an attribute is wrong: @error names it
 * * %-ESTALE	- a state document belongs to another data set
 * * %-ENOMEM	- the declared memory cannot be had
 * * others	- as dlboost_engine_create()
 */
int dlboost_stream_create(struct dlboost_dataset *dataset,
			  const struct dlboost_stream_attr *attr, char *error,
			  size_t error_bytes, struct dlboost_stream **out);

/**
 * dlboost_stream_destroy() - End a stream
 * @stream: the stream, or NULL
 *
 * Stops the engines.  Batches still referenced stay readable; the memory goes
 * with the last of them.
 *
 * Since: 0.1
 */
void dlboost_stream_destroy(struct dlboost_stream *stream);

/**
 * dlboost_stream_info() - What the stream is
 * @stream: the stream
 * @out: receives it
 *
 * Since: 0.1
 */
void dlboost_stream_info(const struct dlboost_stream *stream,
			 struct dlboost_stream_info *out);

/**
 * dlboost_stream_len() - Batches of this rank in the current epoch
 * @stream: the stream
 *
 * Since: 0.1
 *
 * Return: the number from the epoch's start, or from the point of resume in
 * the epoch the stream was resumed in.
 */
uint64_t dlboost_stream_len(const struct dlboost_stream *stream);

/**
 * dlboost_stream_set_epoch() - Go to the start of an epoch
 * @stream: the stream
 * @epoch: the epoch
 *
 * Work under way for the old epoch is given up.  Setting the epoch in which
 * the stream already stands, before its first batch was taken, does nothing:
 * a resumed position is kept.
 *
 * Since: 0.1
 *
 * Return:
 * * %0		- success
 * * %-ENOMEM	- no memory for the order of that epoch; the stream stands where
 *		  it stood
 * * %-EPERM	- called in a child after fork()
 */
int dlboost_stream_set_epoch(struct dlboost_stream *stream, uint32_t epoch);

/**
 * dlboost_stream_next() - Take the next batch
 * @stream: the stream
 * @timeout_ms: how long to wait at most; negative for no limit
 * @out: receives the batch with one reference for the caller, or NULL at the
 *	end of the epoch; the call after that begins the next epoch
 *
 * Since: 0.1
 *
 * Return:
 * * %0		- success
 * * %-EBADMSG	- policy "fail" and a sample of this batch is bad, or policy
 *		  "skip-replace" and one failed for another reason than its
 *		  file: see dlboost_stream_error(); the batch is consumed and
 *		  the stream goes on with the next call
 * * %-EDQUOT	- more bad samples in this epoch than the budget allows; the
 *		  stream is at its end until dlboost_stream_set_epoch()
 * * %-ENOBUFS	- the caller holds all batches it may
 * * %-ETIMEDOUT - nothing was ready in time
 * * %-EINTR	- dlboost_stream_interrupt(), since the last such return
 * * %-ENOMEM	- no memory for the order of the next epoch
 * * %-EOVERFLOW - epoch 4294967295 is over, and there is no other
 * * %-EPERM	- called in a child after fork()
 */
int dlboost_stream_next(struct dlboost_stream *stream, int timeout_ms,
			struct dlboost_batch **out);

/**
 * dlboost_stream_interrupt() - Make a waiting dlboost_stream_next() return
 * @stream: the stream
 *
 * Since: 0.1
 *
 * Context: Any thread; async-signal-safe.
 */
void dlboost_stream_interrupt(struct dlboost_stream *stream);

/**
 * dlboost_stream_error() - Sentence about the last failure of this stream
 * @stream: the stream
 *
 * Since: 0.1
 *
 * Return: text owned by @stream, valid until its next call.
 */
const char *dlboost_stream_error(const struct dlboost_stream *stream);

/**
 * dlboost_stream_bad_sample() - Which sample made dlboost_stream_next() fail
 * @stream: the stream
 * @sample_id: receives its number in the data set; may be NULL
 * @out: receives status, offset and message (which does not name the file)
 *
 * After %-EBADMSG: the first bad sample of the batch; after %-EDQUOT: the one
 * that went over the budget.
 *
 * Since: 0.1
 *
 * Return:
 * * %0		- success
 * * %-ENODATA	- the last dlboost_stream_next() returned neither of the two
 */
int dlboost_stream_bad_sample(const struct dlboost_stream *stream,
			      uint64_t *sample_id, struct dlboost_result *out);

/**
 * dlboost_stream_state() - Where the stream stands, as a text document
 * @stream: the stream
 * @after: take everything up to this batch as consumed; NULL: everything
 *	released
 * @buf: room for the document, NUL included
 * @buf_bytes: size of @buf
 * @len_bytes: receives the length needed, NUL included; may be NULL
 *
 * Since: 0.1
 *
 * Return:
 * * %0		- success
 * * %-ENOSPC	- @buf too small
 */
int dlboost_stream_state(const struct dlboost_stream *stream,
			 const struct dlboost_batch *after, char *buf,
			 size_t buf_bytes, size_t *len_bytes);

/**
 * dlboost_stream_stats() - Counters and verdict
 * @stream: the stream
 * @out: receives them
 *
 * Since: 0.1
 *
 * Context: Any thread.
 */
void dlboost_stream_stats(const struct dlboost_stream *stream,
			  struct dlboost_stream_stats *out);

/**
 * dlboost_limit_stage_name() - Name of a stage: "storage", "decode-cpu"
 * @stage: a value of enum dlboost_limit_stage
 *
 * Since: 0.1
 *
 * Return: a static string.
 */
const char *dlboost_limit_stage_name(unsigned int stage);

/**
 * dlboost_batch_info() - What is in a batch
 * @batch: the batch
 * @out: receives it
 *
 * Since: 0.1
 *
 * Context: Any thread that holds a reference.
 */
void dlboost_batch_info(const struct dlboost_batch *batch,
			struct dlboost_batch_info *out);

/**
 * dlboost_batch_sample_error() - Why a sample of a batch is bad
 * @batch: the batch
 * @idx: 0 .. count - 1
 * @out: receives status, offset and message (which does not name the file)
 *
 * Since: 0.1
 *
 * Return: 0, or %-ERANGE.
 */
int dlboost_batch_sample_error(const struct dlboost_batch *batch, uint32_t idx,
			       struct dlboost_result *out);

/**
 * dlboost_batch_release() - The caller is done with a batch
 * @batch: the batch, or NULL
 *
 * Marks the batch consumed and drops the caller's reference.  The slot is used
 * again once exported views have dropped theirs too.
 *
 * Since: 0.1
 *
 * Context: Any thread, also after dlboost_stream_destroy().
 */
void dlboost_batch_release(struct dlboost_batch *batch);

/**
 * dlboost_batch_ref() - Take one more reference, for an exported view
 * @batch: the batch
 *
 * Since: 0.1
 */
void dlboost_batch_ref(struct dlboost_batch *batch);

/**
 * dlboost_batch_unref() - Drop a reference taken by dlboost_batch_ref()
 * @batch: the batch, or NULL
 *
 * Since: 0.1
 *
 * Context: Any thread, also after dlboost_stream_destroy().
 */
void dlboost_batch_unref(struct dlboost_batch *batch);

/**
 * struct dlboost_stats_page - The published counters of one running stream
 * @size: sizeof(struct dlboost_stats_page)
 * @pid: process of the stream
 * @stream_idx: number of the stream in its process
 * @info: what the stream is
 * @stats: its counters
 * @age_ns: time since the page was last brought up to date
 * @dataset_path: what it reads
 * @recipe: canonical recipe
 *
 * Since: 0.1
 */
struct dlboost_stats_page {
	size_t size;
	uint32_t pid;
	uint32_t stream_idx;
	struct dlboost_stream_info info;
	struct dlboost_stream_stats stats;
	uint64_t age_ns;
	char dataset_path[1024];
	char recipe[1024];
};

/**
 * dlboost_stats_pages() - Read the stats pages of running streams
 * @visit: called for each; a return other than 0 ends the walk
 * @arg: first argument of @visit
 *
 * Pages live in $XDG_RUNTIME_DIR/dlboost (mode 0600); those of dead processes
 * are passed over.
 *
 * Since: 0.1
 *
 * Return: number of pages visited, or a negative error number.
 */
int dlboost_stats_pages(int (*visit)(void *arg,
				     const struct dlboost_stats_page *page),
			void *arg);

#ifdef __cplusplus
}
#endif
#endif /* DLBOOST_STREAM_H */
