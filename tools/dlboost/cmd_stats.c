// SPDX-License-Identifier: GPL-2.0-or-later
/* dlboost stats: the counters of the streams that run on this machine now. */
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "stream_json.h"

#define WATCH_SECONDS 1

struct stats_opts {
	bool is_watched;
};

static int collect_json(void *arg, const struct dlboost_stats_page *page)
{
	struct json_object *obj = json_object_new_object();

	json_add_u64(obj, "pid", page->pid);
	json_add_u64(obj, "stream_idx", page->stream_idx);
	json_add_text(obj, "path", page->dataset_path);
	json_add_text(obj, "recipe", page->recipe);
	json_add_real(obj, "age_s", (double)page->age_ns / 1e9, 3);
	json_add_stream_info(obj, &page->info);
	json_add_stream_stats(obj, &page->stats);
	json_object_array_add(arg, obj);
	return 0;
}

static int print_page(void *arg, const struct dlboost_stats_page *page)
{
	const struct dlboost_stream_stats *s = &page->stats;
	double seconds = (double)s->elapsed_ns / 1e9;
	char a[FIGURE_BYTES], b[FIGURE_BYTES];
	uint64_t nr_bad = 0;

	for (unsigned int i = 1; i < DLBOOST_NR_STATUS; i++)
		nr_bad += s->bad[i];
	printf("%u.%u  ", page->pid, page->stream_idx);
	text_print_escaped(stdout, page->dataset_path);
	printf("  %.*s\n", (int)strcspn(page->recipe, ":"), page->recipe);
	printf("    %s samples, %s a second, %s bad\n",
	       figure_count(a, s->samples),
	       figure_count(b, seconds > 0 ?
			    (uint64_t)((double)s->samples / seconds + 0.5) : 0),
	       figure_count((char[FIGURE_BYTES]){ 0 }, nr_bad));
	printf("    limited by %s (%.0f %% of the time); %llu queued, "
	       "%llu batches ready; cap %s\n",
	       dlboost_limit_stage_name(s->limit_stage), 100 * s->limit_share,
	       (unsigned long long)s->queued_samples,
	       (unsigned long long)s->ready_batches,
	       figure_bytes(a, page->info.cap_bytes));
	++*(unsigned int *)arg;
	return 0;
}

static int print_once(const struct context *ctx)
{
	struct json_object *doc, *list;
	unsigned int nr = 0;
	int ret;

	if (!ctx->has_json) {
		ret = dlboost_stats_pages(print_page, &nr);
		if (ret >= 0 && !nr)
			printf("no stream is running\n");
	} else {
		doc = json_document("dlboost-stats");
		list = json_object_new_array();
		ret = dlboost_stats_pages(collect_json, list);
		json_add(doc, "streams", list);
		json_print(ctx, doc);
	}
	if (ret >= 0)
		return TOOL_DONE;
	msg_error("stats pages: %s", strerror(-ret));
	return exit_from_error(ret);
}

static int run_stats(const struct context *ctx, void *opts_arg,
		     unsigned int nr_args, char **args)
{
	const struct stats_opts *opts = opts_arg;
	int ret = print_once(ctx);

	while (!ret && opts->is_watched && !signals_caught()) {
		fflush(stdout);
		/* A signal ends the wait early */
		sleep(WATCH_SECONDS);
		if (signals_caught())
			break;
		if (isatty(STDOUT_FILENO) && !ctx->has_json)
			fputs("\033[H\033[J", stdout);
		ret = print_once(ctx);
		if (ferror(stdout))
			break;
	}
	return ret;
}

static const struct option_row rows[] = {
	{ .name = "watch", .type = OPTION_FLAG,
	  .offset = offsetof(struct stats_opts, is_watched),
	  .help = "print again each second until interrupted" },
	{ .name = NULL },
};

const struct command cmd_stats = {
	.name = "stats",
	.arguments = "",
	.summary = "Show the counters of the running streams",
	.details = "Reads the pages that streams of this user publish in\n"
		   "$XDG_RUNTIME_DIR/dlboost.",
	.options = rows,
	.opts_bytes = sizeof(struct stats_opts),
	.run = run_stats,
};
