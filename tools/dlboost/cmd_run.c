// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlboost run: streams a data set as a trainer would get it.  Here: options,
 * data set, stream, and the state document, which is written however the run
 * ends.
 */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "run.h"
#include "source.h"

#define MAX_STATE_BYTES 65536

static struct dlboost_stream *volatile running_stream;

/* Async-signal-safe, as dlboost_stream_interrupt() is */
static void interrupt_stream(void)
{
	struct dlboost_stream *stream = running_stream;

	if (stream)
		dlboost_stream_interrupt(stream);
}

static int check_options(const struct context *ctx, const struct run_opts *opts)
{
	if (opts->rank.value >= opts->world.value)
		return usage_error(ctx, "--rank %llu is not below --world %llu",
				   (unsigned long long)opts->rank.value,
				   (unsigned long long)opts->world.value);
	if (opts->epoch.value + opts->epochs.value > 1ull + UINT32_MAX)
		return usage_error(ctx, "--epoch and --epochs end past %u",
				   UINT32_MAX);
	if (opts->resume.nr > ARRAY_SIZE(((struct run *)NULL)->states))
		return usage_error(ctx, "--resume: more than %zu files",
				   ARRAY_SIZE(((struct run *)NULL)->states));
	return TOOL_DONE;
}

static int check_outputs(const struct run_opts *opts)
{
	return outputs_check((const char *[]){ opts->contact_sheet,
					       opts->state_out }, 2);
}

static int read_states(struct run *run)
{
	for (unsigned int i = 0; i < run->opts->resume.nr; i++) {
		const char *path = run->opts->resume.items[i];
		struct file_buffer buffer = { 0 };
		int ret = file_buffer_read(&buffer, path, 0, -1,
					   MAX_STATE_BYTES);

		if (!ret)
			ret = file_buffer_grow(&buffer, buffer.len_bytes + 1);
		if (ret) {
			msg_error("state %s: %s", path, strerror(-ret));
			free(buffer.bytes);
			return exit_from_error(ret);
		}
		buffer.bytes[buffer.len_bytes] = '\0';
		run->states[run->nr_states++] = (char *)buffer.bytes;
	}
	return TOOL_DONE;
}

static void fill_attr(const struct run *run, struct dlboost_stream_attr *attr,
		      const char **engines)
{
	const struct run_opts *opts = run->opts;

	attr->recipe = dlboost_recipe_canonical(run->recipe);
	attr->profile = opts->profile;
	attr->batch = (uint32_t)opts->batch.value;
	attr->seed = opts->seed.value;
	attr->augment_seed = opts->augment_seed.value;
	attr->has_augment_seed = opts->augment_seed.is_set;
	attr->epoch = (uint32_t)opts->epoch.value;
	attr->rank = (uint32_t)opts->rank.value;
	attr->world = (uint32_t)opts->world.value;
	attr->tail = opts->tail;
	attr->on_error = opts->on_error;
	attr->max_bad = opts->max_bad.value;
	attr->reject_warnings = opts->warnings;
	attr->slots = (uint32_t)opts->slots.value;
	attr->hold = (uint32_t)opts->hold.value;
	attr->quarantine_path = opts->quarantine;
	attr->engines = engines;
	attr->nr_engines = opts->engines.nr + (run->ctx->device != NULL);
	attr->states = (const char *const *)run->states;
	attr->nr_states = run->nr_states;
	attr->allow_repeat = opts->allow_repeat;
	attr->no_shuffle = opts->no_shuffle;
	attr->limits.max_pixels = opts->max_pixels.value;
}

static int create_stream(struct run *run)
{
	struct dlboost_stream_attr attr = DLBOOST_STREAM_ATTR_INIT;
	unsigned int nr = run->opts->engines.nr;
	const char **engines = calloc(nr + 1, sizeof(*engines));
	char error[DLBOOST_ERROR_BYTES] = "";
	int ret;

	if (!engines) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	if (nr)
		memcpy(engines, run->opts->engines.items,
		       nr * sizeof(*engines));
	engines[nr] = run->ctx->device;
	fill_attr(run, &attr, engines);
	ret = dlboost_stream_create(run->dataset, &attr, error, sizeof(error),
				    &run->stream);
	free(engines);
	if (!ret)
		return TOOL_DONE;
	msg_error("%s", error[0] ? error : strerror(-ret));
	/* What cannot be taken may stand in a file: then nothing was misused */
	if (ret == -EINVAL && !run->nr_states && !run->opts->quarantine)
		return TOOL_USAGE;
	return exit_from_error(ret);
}

/* Number behind @key in a state document, one "key value" a line */
static uint64_t state_number(const char *state, const char *key,
			     uint64_t otherwise)
{
	size_t len = strlen(key);

	for (; state; state = strchr(state, '\n')) {
		state += *state == '\n';
		if (!strncmp(state, key, len) &&
		    strchr(" \t:=", state[len]) && state[len])
			return strtoull(state + len + 1, NULL, 10);
	}
	return otherwise;
}

/* The epochs of this run: --epochs counts from --epoch, resumed or not */
static int plan_epochs(struct run *run)
{
	const struct run_opts *opts = run->opts;
	char state[RUN_STATE_BYTES];

	run->first_epoch = (uint32_t)opts->epoch.value;
	run->end_epoch = opts->epoch.value + opts->epochs.value;
	run->position = run->info.position;
	if (!run->nr_states)
		return TOOL_DONE;
	if (!dlboost_stream_state(run->stream, NULL, state, sizeof(state),
				  NULL))
		run->first_epoch = (uint32_t)state_number(state, "epoch",
							  run->first_epoch);
	if (run->first_epoch < run->end_epoch)
		return TOOL_DONE;
	msg_error("the state stands in epoch %u and --epochs %llu ends before "
		  "it: nothing to do", run->first_epoch,
		  (unsigned long long)opts->epochs.value);
	return TOOL_USAGE;
}

static int write_state(struct run *run, int code)
{
	const char *path = run->opts->state_out;
	int ret;

	if (!path || !run->has_state)
		return code;
	ret = file_write_atomic(path, run->state, strlen(run->state));
	if (!ret)
		return code;
	run->has_state = false;
	msg_error("state %s: %s", path, strerror(-ret));
	return code ? code : exit_from_error(ret);
}

static int run_stream(struct run *run)
{
	int ret;

	dlboost_stream_info(run->stream, &run->info);
	ret = plan_epochs(run) ?: run_out_open(run);
	if (ret)
		return ret;
	run_print_start(run);
	running_stream = run->stream;
	signals_set_hook(interrupt_stream);
	ret = run_loop(run);
	signals_set_hook(NULL);
	running_stream = NULL;
	ret = write_state(run, ret);
	/* Brings the quarantine list up to date, or says that it cannot */
	dlboost_stream_destroy(run->stream);
	run->stream = NULL;
	run_print_report(run);
	return ret ? ret : log_has_errors() ? TOOL_FAILED : TOOL_DONE;
}

static void run_free(struct run *run)
{
	dlboost_stream_destroy(run->stream);
	dlboost_dataset_close(run->dataset);
	dlboost_recipe_destroy(run->recipe);
	for (unsigned int i = 0; i < run->nr_states; i++)
		free(run->states[i]);
	for (unsigned int i = 0; i < DLBOOST_NR_STATUS; i++) {
		for (unsigned int j = 0; j < RUN_EXAMPLES; j++) {
			free(run->examples[i][j].path);
			free(run->examples[i][j].line);
		}
	}
	free(run);
}

static int run_run(const struct context *ctx, void *opts_arg,
		   unsigned int nr_args, char **args)
{
	const struct run_opts *opts = opts_arg;
	struct source_options options = {
		.index_path = opts->index, .allow_empty = opts->allow_empty,
		.no_progress = opts->no_progress,
	};
	struct run *run;
	int ret = check_options(ctx, opts), closed;

	if (ret)
		return ret;
	run = calloc(1, sizeof(*run));
	if (!run) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	run->ctx = ctx;
	run->opts = opts;
	run->path = args[0];
	ret = recipe_open(ctx, opts->recipe ? opts->recipe : "imagenet-train",
			  &run->recipe) ?:
	      check_outputs(opts) ?: read_states(run) ?:
	      dataset_open(ctx, run->path, &options, &run->dataset) ?:
	      create_stream(run) ?: run_stream(run);
	closed = run_out_close(run);
	run_free(run);
	return ret ? ret : closed;
}

static const char *const profile_words[] = { "exact", "fast", NULL };
static const char *const tail_words[] = { "partial", "drop", "pad", NULL };
static const char *const error_words[] = { "fail", "skip-replace", "zero",
					   NULL };
static const char *const warning_words[] = { "accept", "reject", NULL };

#define AT(member) .offset = offsetof(struct run_opts, member)

static const struct option_row rows[] = {
	{ .name = "recipe", .type = OPTION_TEXT,
	  .metavar = SPEC_METAVAR, .complete = COMPLETE_RECIPE,
	  AT(recipe),
	  .help = "what is done to a picture (default imagenet-train)" },
	{ .name = "profile", .type = OPTION_CHOICE, .choices = profile_words,
	  AT(profile), .help = "how exact the pixels are" },
	{ .name = "batch", .type = OPTION_NUMBER, .metavar = "N", .min = 1,
	  .max = 1 << 20, .preset = 256, AT(batch),
	  .help = "samples a batch" },
	{ .name = "epochs", .type = OPTION_NUMBER, .metavar = "N", .min = 1,
	  .max = UINT32_MAX, .preset = 1, AT(epochs),
	  .help = "epochs, counted from --epoch also when resumed" },
	{ .name = "epoch", .type = OPTION_NUMBER, .metavar = "N",
	  .max = UINT32_MAX, AT(epoch), .help = "first epoch" },
	{ .name = "batches", .type = OPTION_NUMBER, .metavar = "N", .min = 1,
	  .max = INT64_MAX, .has_no_preset = true, AT(batches),
	  .help = "stop after so many batches" },
	{ .name = "engine", .type = OPTION_LIST,
	  .metavar = SPEC_METAVAR, .complete = COMPLETE_ENGINE,
	  AT(engines),
	  .help = "where to decode (default cpu); repeatable" },
	{ .name = "tail", .type = OPTION_CHOICE, .choices = tail_words,
	  AT(tail), .help = "what becomes of positions that fill no batch" },
	{ .name = "seed", .type = OPTION_NUMBER, .metavar = "N",
	  .max = UINT64_MAX, AT(seed), .help = "key of the order" },
	{ .name = "augment-seed", .type = OPTION_NUMBER, .metavar = "N",
	  .max = UINT64_MAX, .has_no_preset = true, AT(augment_seed),
	  .help = "key of the draws (default: --seed)" },
	{ .name = "no-shuffle", .type = OPTION_FLAG, AT(no_shuffle),
	  .help = "keep the order of the data set" },
	{ .name = "rank", .type = OPTION_NUMBER, .metavar = "N",
	  .max = UINT32_MAX - 1, AT(rank),
	  .help = "which of the consumers this is" },
	{ .name = "world", .type = OPTION_NUMBER, .metavar = "N", .min = 1,
	  .max = UINT32_MAX, .preset = 1, AT(world),
	  .help = "number of consumers" },
	{ .name = "resume", .type = OPTION_LIST, .metavar = "FILE",
	  .complete = COMPLETE_FILE, AT(resume),
	  .help = "go on where a state stands; repeatable, one a rank" },
	{ .name = "allow-repeat", .type = OPTION_FLAG, AT(allow_repeat),
	  .help = "take states of ranks that saved at different steps" },
	{ .name = "state-out", .type = OPTION_TEXT, .metavar = "FILE",
	  .complete = COMPLETE_FILE, AT(state_out),
	  .help = "write the state at the end, also when interrupted" },
	{ .name = "on-error", .type = OPTION_CHOICE, .choices = error_words,
	  AT(on_error), .help = "what becomes of a bad sample" },
	{ .name = "max-bad", .type = OPTION_SHARE, .metavar = "SHARE",
	  .preset = 1, AT(max_bad),
	  .help = "share that may be bad in an epoch, 0.1% or 0.001" },
	{ .name = "warnings", .type = OPTION_CHOICE, .choices = warning_words,
	  AT(warnings), .help = "what a decoder warning makes of a sample" },
	{ .name = "quarantine", .type = OPTION_TEXT, .metavar = "FILE",
	  .complete = COMPLETE_FILE, AT(quarantine),
	  .help = "list of bad files: read at the start, added to" },
	{ .name = "slots", .type = OPTION_NUMBER, .metavar = "N", .min = 1,
	  .max = 1 << 16, .has_no_preset = true, AT(slots),
	  .help = "batches in memory (default: by formula, printed)" },
	{ .name = "hold", .type = OPTION_NUMBER, .metavar = "N", .min = 1,
	  .max = 1 << 16, .preset = 2, AT(hold),
	  .help = "batches a consumer may keep" },
	{ .name = "max-pixels", .type = OPTION_NUMBER, .metavar = "N",
	  .min = 1, .max = 1ull << 32, .preset = DLBOOST_DEFAULT_MAX_PIXELS,
	  AT(max_pixels), .help = "larger pictures are TOO_LARGE" },
	{ .name = "contact-sheet", .type = OPTION_TEXT, .metavar = "FILE.png",
	  .complete = COMPLETE_FILE, AT(contact_sheet),
	  .help = "draw the first batch as a labelled grid" },
	{ .name = "out", .short_name = 'o', .type = OPTION_TEXT,
	  .metavar = "DIR", .complete = COMPLETE_FOLDER, AT(out),
	  .help = "write each batch as .npy files" },
	{ .name = "digest", .type = OPTION_FLAG, AT(has_digest),
	  .help = "print a SHA-256 of all batches, in order" },
	{ .name = "index", .type = OPTION_TEXT, .metavar = "FILE",
	  .complete = COMPLETE_FILE, AT(index),
	  .help = "index file of the data set" },
	{ .name = "allow-empty", .type = OPTION_FLAG, AT(allow_empty),
	  .help = "let class folders without a picture pass" },
	{ .name = "no-progress", .type = OPTION_FLAG, AT(no_progress),
	  .help = "draw no progress line" },
	{ .name = NULL },
};

const struct command cmd_run = {
	.name = "run",
	.arguments = "PATH",
	.summary = "Stream training batches from a folder or manifest",
	.details = "PATH is a folder of class folders, a folder of pictures,\n"
		   "or a manifest.  The batches are what a trainer would get;\n"
		   "the run ends with the rate, the bad files and what limited\n"
		   "it.",
	.options = rows,
	.opts_bytes = sizeof(struct run_opts),
	.min_arguments = 1,
	.max_arguments = 1,
	.complete = COMPLETE_FILE,
	.run = run_run,
};
