// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlboost verify: decodes every picture whole, on all CPUs, and names the bad
 * ones as they come.  A worker owns a decoder, an input buffer and a pixel
 * buffer; pictures too large for that share one more under a lock, so that
 * memory stays bounded.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "parallel.h"
#include "picture.h"
#include "progress.h"
#include "quarantine.h"
#include "recipe_text.h"
#include "source.h"

#define OWN_PIXEL_BYTES ((size_t)64 << 20)

struct verify_opts {
	struct number jobs;
	unsigned int warnings;
	const char *quarantine;
	const char *index;
	struct number max_pixels;
	bool no_progress;
};

struct verify {
	const struct context *ctx;
	const struct verify_opts *opts;
	struct source source;
	struct dlboost_recipe *recipe;
	pthread_mutex_t big_lock;
	struct file_buffer big_pixels;		/* @big_lock */
	struct quarantine_list bad_list;	/* the rest: main thread */
	struct progress_state progress;
	uint64_t by_status[DLBOOST_NR_STATUS];
	uint64_t nr_warned;
	uint64_t nr_degraded;
	uint64_t nr_bytes;
	uint64_t start_ns;
};

struct verify_worker {
	struct verify *verify;
	struct dlboost_decoder *decoder;
	struct file_buffer input;
	struct file_buffer pixels;
};

struct verify_result {
	uint64_t idx;
	uint64_t nr_bytes;
	bool is_passing;		/* bad for now: not the file's fault */
	struct dlboost_sample sample;	/* but its path, see @path */
	struct dlboost_result result;
	char path[TOOL_PATH_BYTES];
};

static void verify_worker_destroy(void *arg)
{
	struct verify_worker *worker = arg;

	dlboost_decoder_destroy(worker->decoder);
	free(worker->input.bytes);
	free(worker->pixels.bytes);
	free(worker);
}

static void *verify_worker_create(void *arg)
{
	struct dlboost_decoder_attr attr = DLBOOST_DECODER_ATTR_INIT;
	struct verify_worker *worker = calloc(1, sizeof(*worker));
	struct verify *verify = arg;

	if (!worker)
		return NULL;
	worker->verify = verify;
	attr.reject_warnings = verify->opts->warnings;
	attr.limits.max_pixels = verify->opts->max_pixels.value;
	if (dlboost_decoder_create(&attr, &worker->decoder)) {
		verify_worker_destroy(worker);
		return NULL;
	}
	return worker;
}

static void decode_into(struct verify_worker *worker,
			struct file_buffer *pixels, size_t need_bytes,
			struct dlboost_result *result)
{
	if (file_buffer_grow(pixels, need_bytes)) {
		picture_read_failed(-ENOMEM, result);
		return;
	}
	dlboost_decode(worker->decoder, worker->input.bytes,
		       worker->input.len_bytes, worker->verify->recipe,
		       DLBOOST_PROFILE_EXACT, NULL, pixels->bytes,
		       pixels->cap_bytes, result);
}

static void verify_bytes(struct verify_worker *worker,
			 struct dlboost_result *result)
{
	struct dlboost_limits limits = {
		.max_pixels = worker->verify->opts->max_pixels.value,
	};
	struct verify *verify = worker->verify;
	struct dlboost_image_info info;
	size_t need_bytes;

	if (dlboost_probe(worker->input.bytes, worker->input.len_bytes, &limits,
			  &info, result))
		return;
	need_bytes = (size_t)info.width * info.height * 3;
	if (need_bytes <= OWN_PIXEL_BYTES) {
		decode_into(worker, &worker->pixels, need_bytes, result);
		return;
	}
	pthread_mutex_lock(&verify->big_lock);
	decode_into(worker, &verify->big_pixels, need_bytes, result);
	pthread_mutex_unlock(&verify->big_lock);
}

/* As libdlboost: what a file cannot be opened for and that stays */
static bool is_lasting(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES ||
	       error == ELOOP;
}

static void verify_work(void *arg, uint64_t idx, void *result_arg)
{
	struct verify_worker *worker = arg;
	struct verify_result *out = result_arg;
	int ret;

	out->idx = idx;
	ret = source_locate(&worker->verify->source, idx, out->path,
			    &out->sample);
	if (ret) {
		picture_read_failed(ret, &out->result);
		return;
	}
	if (source_load(&worker->verify->source, idx, &worker->input,
			&out->result)) {
		out->is_passing = out->result.status == DLBOOST_STATUS_IO &&
				  !is_lasting(errno);
		return;
	}
	out->nr_bytes = worker->input.len_bytes;
	verify_bytes(worker, &out->result);
}

static void print_json_line(const struct verify_result *r)
{
	struct json_object *obj = json_object_new_object();

	json_add_text(obj, "path", r->path);
	json_add_text(obj, "status", dlboost_status_name(r->result.status));
	if (r->result.offset_bytes >= 0)
		json_add_i64(obj, "offset_bytes", r->result.offset_bytes);
	else
		json_add(obj, "offset_bytes", NULL);
	json_add_text(obj, "message", r->result.message);
	json_print_line(stdout, obj);
}

static void print_text_line(const struct verify_result *r)
{
	char *line = picture_trouble(r->path, &r->result);

	text_print_escaped(stdout, line ? line : r->path);
	printf("\n");
	free(line);
}

/* A place only where a file may hold several samples */
static int list_bad(struct verify *verify, const struct verify_result *r,
		    unsigned int status)
{
	struct dlboost_sample sample = r->sample;

	sample.path = r->path;
	if (!source_has_places(&verify->source, r->idx)) {
		sample.offset_bytes = 0;
		sample.len_bytes = -1;
	}
	return quarantine_add(&verify->bad_list, &sample, status);
}

static int verify_consume(void *arg, const void *result_arg)
{
	const struct verify_result *r = result_arg;
	struct verify *verify = arg;
	unsigned int status = r->result.status < DLBOOST_NR_STATUS ?
			      r->result.status : DLBOOST_STATUS_CORRUPT;
	int ret = 0;

	verify->by_status[status]++;
	verify->nr_bytes += r->nr_bytes;
	verify->nr_warned += !status &&
			     r->result.flags & DLBOOST_SAMPLE_F_WARNED;
	verify->nr_degraded += !status &&
			       r->result.flags & DLBOOST_SAMPLE_F_DEGRADED;
	verify->progress.done++;
	verify->progress.nr_bad += status != DLBOOST_STATUS_OK;
	if (status && !r->is_passing && verify->opts->quarantine)
		ret = list_bad(verify, r, status);
	if (!status && !verify->ctx->is_verbose)
		return ret;
	progress_hide();
	if (verify->ctx->has_json)
		print_json_line(r);
	else
		print_text_line(r);
	if (isatty(STDOUT_FILENO) || verify->ctx->has_json)
		fflush(stdout);
	return ret ? ret : ferror(stdout) ? -EIO : 0;
}

static void verify_tick(void *arg)
{
	progress_update(&((struct verify *)arg)->progress);
}

static void print_json_header(const struct verify *verify, char **paths)
{
	struct json_object *doc = json_document("dlboost-verify");
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < verify->source.nr_parts; i++)
		json_object_array_add(list, json_text(paths[i]));
	json_add(doc, "paths", list);
	json_add_u64(doc, "nr_samples", verify->source.nr_items);
	json_add_text(doc, "warnings", verify->opts->warnings ? "reject" :
		      "accept");
	json_print_line(stdout, doc);
}

static void print_json_totals(const struct verify *verify, double seconds)
{
	struct json_object *line = json_object_new_object();
	struct json_object *totals = json_object_new_object();
	struct json_object *by_status = json_object_new_object();

	json_add(line, "totals", totals);
	json_add_u64(totals, "nr_samples", verify->progress.done);
	json_add_u64(totals, "nr_bad", verify->progress.nr_bad);
	json_add_u64(totals, "nr_warned", verify->nr_warned);
	json_add_u64(totals, "nr_degraded", verify->nr_degraded);
	for (unsigned int i = 0; i < DLBOOST_NR_STATUS; i++)
		json_add_u64(by_status, dlboost_status_name(i),
			     verify->by_status[i]);
	json_add(totals, "by_status", by_status);
	json_add_u64(totals, "total_bytes", verify->nr_bytes);
	json_add_real(totals, "elapsed_s", seconds, 3);
	json_print_line(stdout, line);
}

static void print_text_totals(const struct verify *verify, double seconds)
{
	char a[FIGURE_BYTES], b[FIGURE_BYTES], c[FIGURE_BYTES];
	double rate = seconds > 0 ? (double)verify->progress.done / seconds : 0;

	printf("%s pictures, %s, in %s (%s a second)\n",
	       figure_count(a, verify->progress.done),
	       figure_bytes(b, verify->nr_bytes),
	       figure_duration(c, seconds),
	       figure_count((char[FIGURE_BYTES]){ 0 }, (uint64_t)(rate + 0.5)));
	printf("%s bad", figure_count(a, verify->progress.nr_bad));
	for (unsigned int i = 1; i < DLBOOST_NR_STATUS; i++)
		if (verify->by_status[i])
			printf(", %s %s", figure_count(a, verify->by_status[i]),
			       dlboost_status_name(i));
	if (verify->nr_warned)
		printf("; %s good with a decoder warning (-v names them)",
		       figure_count(a, verify->nr_warned));
	printf("\n");
}

static int verify_quarantine(struct verify *verify)
{
	int ret;

	if (!verify->opts->quarantine)
		return TOOL_DONE;
	ret = quarantine_write(&verify->bad_list, verify->opts->quarantine);
	if (!ret)
		return TOOL_DONE;
	msg_error("quarantine list %s: %s", verify->opts->quarantine,
		  strerror(-ret));
	return exit_from_error(ret);
}

static int verify_all(struct verify *verify, char **paths)
{
	struct parallel what = {
		.nr_items = verify->source.nr_items,
		.nr_threads = (unsigned int)verify->opts->jobs.value ?:
			      cpus_allowed(),
		.result_bytes = sizeof(struct verify_result),
		.worker_create = verify_worker_create,
		.worker_destroy = verify_worker_destroy,
		.work = verify_work, .consume = verify_consume,
		.tick = verify_tick, .arg = verify,
	};
	double seconds;
	int ret;

	if (what.nr_threads > what.nr_items)
		what.nr_threads = (unsigned int)what.nr_items ?: 1;
	if (verify->ctx->has_json)
		print_json_header(verify, paths);
	verify->progress.total = verify->source.nr_items;
	verify->progress.has_bad = true;
	verify->start_ns = now_ns();
	progress_start(verify->ctx, "pictures", !verify->opts->no_progress);
	ret = parallel_run(&what);
	progress_stop();
	seconds = (double)(now_ns() - verify->start_ns) / 1e9;
	if (ret && ret != -EINTR) {
		msg_error("verify: %s", strerror(-ret));
		return exit_from_error(ret);
	}
	if (verify->ctx->has_json)
		print_json_totals(verify, seconds);
	else
		print_text_totals(verify, seconds);
	ret = verify_quarantine(verify);
	return ret ? ret : verify->progress.nr_bad ? TOOL_PARTLY : TOOL_DONE;
}

static int run_verify(const struct context *ctx, void *opts_arg,
		      unsigned int nr_args, char **args)
{
	const struct verify_opts *opts = opts_arg;
	struct source_options options = {
		.index_path = opts->index, .allow_empty = true,
		.no_progress = opts->no_progress,
	};
	struct verify *verify = calloc(1, sizeof(*verify));
	int ret;

	if (!verify) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	verify->ctx = ctx;
	verify->opts = opts;
	pthread_mutex_init(&verify->big_lock, NULL);
	ret = outputs_check(&opts->quarantine, 1) ?:
	      recipe_open(ctx, "none", &verify->recipe) ?:
	      source_open(ctx, nr_args, args, &options, &verify->source);
	if (!ret)
		ret = verify_all(verify, args);
	source_close(&verify->source);
	dlboost_recipe_destroy(verify->recipe);
	quarantine_fini(&verify->bad_list);
	pthread_mutex_destroy(&verify->big_lock);
	free(verify->big_pixels.bytes);
	free(verify);
	return ret;
}

static const char *const warning_words[] = { "accept", "reject", NULL };

static const struct option_row rows[] = {
	{ .name = "jobs", .type = OPTION_NUMBER, .metavar = "N", .min = 1,
	  .max = 1024, .has_no_preset = true,
	  .offset = offsetof(struct verify_opts, jobs),
	  .help = "threads (default: one a CPU)" },
	{ .name = "warnings", .type = OPTION_CHOICE, .choices = warning_words,
	  .offset = offsetof(struct verify_opts, warnings),
	  .help = "what a decoder warning makes of a file" },
	{ .name = "quarantine", .type = OPTION_TEXT, .metavar = "FILE",
	  .complete = COMPLETE_FILE,
	  .offset = offsetof(struct verify_opts, quarantine),
	  .help = "write the bad files as a list for run --quarantine" },
	{ .name = "index", .type = OPTION_TEXT, .metavar = "FILE",
	  .complete = COMPLETE_FILE,
	  .offset = offsetof(struct verify_opts, index),
	  .help = "index file of the data set" },
	{ .name = "max-pixels", .type = OPTION_NUMBER, .metavar = "N",
	  .min = 1, .max = 1ull << 32, .preset = DLBOOST_DEFAULT_MAX_PIXELS,
	  .offset = offsetof(struct verify_opts, max_pixels),
	  .help = "larger pictures are TOO_LARGE" },
	{ .name = "no-progress", .type = OPTION_FLAG,
	  .offset = offsetof(struct verify_opts, no_progress),
	  .help = "draw no progress line" },
	{ .name = NULL },
};

const struct command cmd_verify = {
	.name = "verify",
	.arguments = "PATH...",
	.summary = "Decode everything and name the bad files",
	.details = "PATH is a folder, a manifest or a picture.  With -j: a\n"
		   "header line, a line for each bad file (-v: for each file),\n"
		   "a line of totals.  Ends with 5 when any file is bad.",
	.options = rows,
	.opts_bytes = sizeof(struct verify_opts),
	.min_arguments = 1,
	.max_arguments = 1 << 20,
	.complete = COMPLETE_FILE,
	.run = run_verify,
};
