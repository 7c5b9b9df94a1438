// SPDX-License-Identifier: GPL-2.0-or-later
/* dlboost index: make the index of a data set, and say what it holds. */
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "source.h"

struct index_opts {
	const char *out;
	bool rebuild;
	bool allow_empty;
	bool no_progress;
};

static void print_json(const struct context *ctx, const char *path,
		       const struct index_opts *opts,
		       const struct dlboost_dataset_info *info, double seconds)
{
	struct json_object *doc = json_document("dlboost-index");

	json_add_text(doc, "path", path);
	json_add_text(doc, "kind", info->kind == DLBOOST_DATASET_MANIFEST ?
		      "manifest" : "folder");
	json_add_u64(doc, "nr_samples", info->nr_samples);
	json_add_u64(doc, "nr_classes", info->nr_classes);
	json_add_u64(doc, "nr_skipped", info->nr_skipped);
	json_add_u64(doc, "total_bytes", info->total_bytes);
	json_add_u64(doc, "index_bytes", info->index_bytes);
	json_add_text(doc, "index_path", opts->out);
	json_add_bool(doc, "is_rebuilt", info->index_rebuilt);
	json_add_bool(doc, "is_in_memory", info->index_in_memory);
	json_add_text(doc, "fingerprint", info->fingerprint);
	json_add_real(doc, "elapsed_s", seconds, 3);
	json_print(ctx, doc);
}

static void print_text(const struct index_opts *opts,
		       const struct dlboost_dataset_info *info, double seconds)
{
	char a[FIGURE_BYTES], b[FIGURE_BYTES];

	printf("samples       %s", figure_count(a, info->nr_samples));
	printf(" in %s classes", figure_count(a, info->nr_classes));
	if (info->total_bytes)
		printf(", %s", figure_bytes(a, info->total_bytes));
	printf("\n");
	if (info->nr_skipped)
		printf("skipped       %s files that are no pictures by name\n",
		       figure_count(a, info->nr_skipped));
	printf("index         %s, %s in %s%s%s\n",
	       figure_bytes(a, info->index_bytes),
	       info->index_rebuilt ? "made" : "was current, opened",
	       figure_duration(b, seconds), opts->out ? ": " : "",
	       opts->out ? opts->out : "");
	printf("fingerprint   %s\n", info->fingerprint);
}

static int run_index(const struct context *ctx, void *opts_arg,
		     unsigned int nr_args, char **args)
{
	const struct index_opts *opts = opts_arg;
	struct source_options options = {
		.index_path = opts->out, .allow_empty = opts->allow_empty,
		.rebuild = opts->rebuild, .no_progress = opts->no_progress,
	};
	struct dlboost_dataset_info info;
	struct dlboost_dataset *dataset;
	uint64_t start_ns = now_ns();
	double seconds;
	int ret;

	ret = dataset_open(ctx, args[0], &options, &dataset);
	if (ret)
		return ret;
	seconds = (double)(now_ns() - start_ns) / 1e9;
	dlboost_dataset_info(dataset, &info);
	if (info.index_in_memory)
		msg_note("the index could not be kept: no writable cache "
			 "folder; name a file with --out");
	if (ctx->has_json)
		print_json(ctx, args[0], opts, &info, seconds);
	else
		print_text(opts, &info, seconds);
	dlboost_dataset_close(dataset);
	return TOOL_DONE;
}

static const struct option_row rows[] = {
	{ .name = "out", .short_name = 'o', .type = OPTION_TEXT,
	  .metavar = "FILE", .complete = COMPLETE_FILE,
	  .offset = offsetof(struct index_opts, out),
	  .help = "write the index here\n"
		  "(default: in $XDG_CACHE_HOME/dlboost)" },
	{ .name = "rebuild", .type = OPTION_FLAG,
	  .offset = offsetof(struct index_opts, rebuild),
	  .help = "make it anew even if it looks current" },
	{ .name = "allow-empty", .type = OPTION_FLAG,
	  .offset = offsetof(struct index_opts, allow_empty),
	  .help = "let class folders without a picture pass" },
	{ .name = "no-progress", .type = OPTION_FLAG,
	  .offset = offsetof(struct index_opts, no_progress),
	  .help = "draw no progress line" },
	{ .name = NULL },
};

const struct command cmd_index = {
	.name = "index",
	.arguments = "PATH",
	.summary = "Make the index of a folder or manifest",
	.details = "A run makes the index by itself; this makes it beforehand.",
	.options = rows,
	.opts_bytes = sizeof(struct index_opts),
	.min_arguments = 1,
	.max_arguments = 1,
	.complete = COMPLETE_FILE,
	.run = run_index,
};
