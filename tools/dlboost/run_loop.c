// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlboost run, the loop: takes batch after batch, looks at each (digest,
 * contact sheet, files, bad samples) and gives it back.  Waits in short steps,
 * so that the progress line lives and a signal is obeyed at once.  One thread.
 */
#include "run.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "contact_sheet.h"
#include "picture.h"

#define WAIT_MS 100
#define MEMORY_NS 50000000ull

static void memory_look(struct run *run)
{
	uint64_t now = now_ns(), bytes;

	if (run->memory_ns && now - run->memory_ns < MEMORY_NS)
		return;
	run->memory_ns = now;
	bytes = memory_now_bytes();
	if (bytes > run->peak_bytes)
		run->peak_bytes = bytes;
}

static void progress_look(struct run *run)
{
	memory_look(run);
	if (!progress_is_drawn())
		return;
	dlboost_stream_stats(run->stream, &run->stats);
	run->progress.nr_bad = 0;
	for (unsigned int i = 1; i < DLBOOST_NR_STATUS; i++)
		run->progress.nr_bad += run->stats.bad[i];
	if (run->stats.limit_stage != DLBOOST_LIMIT_UNKNOWN)
		run->progress.note =
			dlboost_limit_stage_name(run->stats.limit_stage);
	progress_update(&run->progress);
}

static struct run_example *keep_example(struct run *run, uint64_t sample_id,
					const struct dlboost_result *result)
{
	struct run_example *example = NULL;
	struct dlboost_sample sample;
	char path[TOOL_PATH_BYTES];

	if (result->status == DLBOOST_STATUS_OK ||
	    result->status >= DLBOOST_NR_STATUS)
		return NULL;
	for (unsigned int j = 0; j < RUN_EXAMPLES && !example; j++)
		if (!run->examples[result->status][j].path)
			example = &run->examples[result->status][j];
	if (!example || dlboost_dataset_sample(run->dataset, sample_id, path,
					       sizeof(path), &sample))
		return NULL;
	example->result = *result;
	example->path = strdup(sample.path);
	example->line = picture_trouble(sample.path, result);
	return example;
}

static void look_at_bad(struct run *run, const struct dlboost_batch *batch,
			const struct dlboost_batch_info *info, uint32_t i)
{
	struct dlboost_result result;
	struct run_example *example;

	if (dlboost_batch_sample_error(batch, i, &result))
		return;
	example = keep_example(run, (uint64_t)info->wanted_ids[i], &result);
	if (example && run->ctx->is_verbose)
		msg_note("%s", example->line ? example->line : example->path);
}

static void look_for_bad(struct run *run, const struct dlboost_batch *batch,
			 const struct dlboost_batch_info *info)
{
	for (uint32_t i = 0; i < info->count; i++)
		if (info->status[i] != DLBOOST_STATUS_OK ||
		    info->flags[i] & DLBOOST_SAMPLE_F_REPLACED)
			look_at_bad(run, batch, info, i);
}

/* images, then labels and ids as little-endian 64-bit numbers, then status */
static void digest_batch(struct run *run, const struct dlboost_batch_info *info)
{
	if (!run->opts->has_digest)
		return;
	sha256_update(&run->digest, info->images,
		      info->count * run->info.tensor.sample_bytes);
	for (uint32_t i = 0; i < info->count; i++) {
		uint64_t label = htole64((uint64_t)info->labels[i]);

		sha256_update(&run->digest, &label, sizeof(label));
	}
	for (uint32_t i = 0; i < info->count; i++) {
		uint64_t id = htole64((uint64_t)info->ids[i]);

		sha256_update(&run->digest, &id, sizeof(id));
	}
	sha256_update(&run->digest, info->status, info->count);
}

static int draw_sheet(struct run *run, const struct dlboost_batch *batch)
{
	struct contact_sheet sheet = {
		.dataset = run->dataset, .recipe = run->recipe,
		.tensor = &run->info.tensor, .batch = batch,
		.title = run->path,
	};
	int ret;

	ret = contact_sheet_write(&sheet, run->opts->contact_sheet);
	if (!ret) {
		run->has_sheet = true;
		return TOOL_DONE;
	}
	snprintf(run->error, sizeof(run->error), "%s: %s",
		 run->opts->contact_sheet, strerror(-ret));
	msg_error("%s", run->error);
	run->end = RUN_FAILED;
	return exit_from_error(ret);
}

/*
 * The sheet is drawn when the run is over, so that its seconds are not taken for
 * a slow consumer.  Where the caller may hold one batch only, it is drawn now.
 */
static int keep_first(struct run *run, struct dlboost_batch *batch,
		      const struct dlboost_batch_info *info)
{
	if (!run->opts->contact_sheet || run->has_first || !info->count)
		return TOOL_DONE;
	run->has_first = true;
	if (run->info.hold < 2)
		return draw_sheet(run, batch);
	dlboost_batch_ref(batch);
	run->first = batch;
	return TOOL_DONE;
}

static int draw_kept(struct run *run)
{
	int ret = TOOL_DONE;

	if (run->first)
		ret = draw_sheet(run, run->first);
	dlboost_batch_unref(run->first);
	run->first = NULL;
	return ret;
}

static void keep_state(struct run *run)
{
	run->has_state = run->opts->state_out &&
			 !dlboost_stream_state(run->stream, NULL, run->state,
					       sizeof(run->state), NULL);
}

static int take_batch(struct run *run, struct dlboost_batch *batch)
{
	struct dlboost_batch_info info;
	int ret;

	dlboost_batch_info(batch, &info);
	look_for_bad(run, batch, &info);
	digest_batch(run, &info);
	ret = keep_first(run, batch, &info) ?: run_out_batch(run, &info);
	if (ret)
		run->end = RUN_FAILED;
	run->nr_batches++;
	run->progress.done += info.count;
	dlboost_batch_release(batch);
	/* The state of a batch that could not be stored is not written */
	if (!ret)
		keep_state(run);
	return ret;
}

/* The call that takes a batch failed: why the run ends, and its exit code */
static int stop_for(struct run *run, int error)
{
	struct dlboost_result result;
	uint64_t sample_id;

	if (error == -EINTR && signals_caught()) {
		run->end = RUN_INTERRUPTED;
		return TOOL_FAILED;
	}
	snprintf(run->error, sizeof(run->error), "%s",
		 dlboost_stream_error(run->stream));
	msg_error("%s", run->error[0] ? run->error : strerror(-error));
	run->end = error == -EBADMSG ? RUN_BAD_SAMPLE :
		   error == -EDQUOT ? RUN_OVER_BUDGET : RUN_FAILED;
	if (!dlboost_stream_bad_sample(run->stream, &sample_id, &result))
		keep_example(run, sample_id, &result);
	if (error == -EBADMSG)
		msg_note(run->opts->on_error == DLBOOST_ON_ERROR_FAIL ?
			 "--on-error skip-replace or zero goes on past bad "
			 "samples; dlboost verify names them all" :
			 "skip-replace replaces bad files, and this may be none: "
			 "--on-error zero goes on past it");
	if (error == -EDQUOT)
		msg_note("--max-bad allows more; those on the list that "
			 "dlboost verify --quarantine writes do not count");
	return exit_from_error(error);
}

/* Takes one batch; *@is_over at the end of the epoch.  An exit code. */
static int next_batch(struct run *run, bool *is_over)
{
	struct dlboost_batch *batch = NULL;
	int ret;

	for (;;) {
		if (signals_caught())
			return stop_for(run, -EINTR);
		ret = dlboost_stream_next(run->stream, WAIT_MS, &batch);
		progress_look(run);
		if (ret == -ETIMEDOUT || (ret == -EINTR && !signals_caught()))
			continue;
		break;
	}
	if (ret)
		return stop_for(run, ret);
	*is_over = !batch;
	return batch ? take_batch(run, batch) : TOOL_DONE;
}

/* Samples of this rank in an epoch that begins at @position */
static uint64_t rank_samples(const struct run *run, uint64_t position)
{
	uint64_t full = dlboost_stream_len(run->stream) * run->info.batch;
	uint64_t left = run->info.dataset.nr_samples - position;
	uint64_t world = run->opts->world.value;
	uint64_t mine = (left + world - 1 - run->opts->rank.value) / world;

	if (run->opts->tail != DLBOOST_TAIL_PARTIAL)
		return full;
	return mine < full ? mine : full;
}

static void plan_progress(struct run *run)
{
	uint64_t first = rank_samples(run, run->position);
	uint64_t other = run->opts->world.value ?
			 run->info.dataset.nr_samples /
			 run->opts->world.value : 0;
	uint64_t limit = run->opts->batches.value * run->info.batch;

	run->progress.total = first;
	if (run->end_epoch > run->first_epoch + 1)
		run->progress.total += other *
			(run->end_epoch - run->first_epoch - 1);
	if (limit && limit < run->progress.total)
		run->progress.total = limit;
	run->progress.has_bad = true;
}

static bool is_enough(const struct run *run)
{
	return run->opts->batches.value &&
	       run->nr_batches >= run->opts->batches.value;
}

static int run_epochs(struct run *run)
{
	uint64_t epoch = run->first_epoch;
	int ret = TOOL_DONE;

	while (epoch < run->end_epoch) {
		bool is_over = false;

		while (!ret && !is_over && !is_enough(run))
			ret = next_batch(run, &is_over);
		if (ret || !is_over)
			break;
		run->nr_epochs_done++;
		if (run->ctx->is_verbose)
			msg_note("epoch %llu is over",
				 (unsigned long long)epoch);
		if (++epoch == run->end_epoch)
			break;
		ret = dlboost_stream_set_epoch(run->stream,
					       (uint32_t)epoch);
		if (ret)
			return stop_for(run, ret);
	}
	if (!ret)
		run->end = epoch == run->end_epoch ? RUN_COMPLETE : RUN_STOPPED;
	return ret;
}

int run_loop(struct run *run)
{
	int ret;

	sha256_init(&run->digest);
	keep_state(run);
	plan_progress(run);
	run->start_ns = now_ns();
	run->start_cpu_s = cpu_seconds();
	progress_start(run->ctx, "pictures", !run->opts->no_progress);
	ret = run_epochs(run);
	progress_stop();
	run->elapsed_s = (double)(now_ns() - run->start_ns) / 1e9;
	run->cpu_s = cpu_seconds() - run->start_cpu_s;
	run->memory_ns = 0;
	memory_look(run);
	dlboost_stream_stats(run->stream, &run->stats);
	sha256_finish(&run->digest, run->digest_hex);
	return draw_kept(run) ?: ret;
}
