// SPDX-License-Identifier: GPL-2.0-or-later
/* dlboost run, the telling: the line at the start, the summary at the end. */
#include "run.h"

#include <string.h>

#include "stream_json.h"

static const char *const end_names[] = {
	[RUN_COMPLETE] = "complete",
	[RUN_STOPPED] = "stopped",
	[RUN_INTERRUPTED] = "interrupted",
	[RUN_BAD_SAMPLE] = "bad_sample",
	[RUN_OVER_BUDGET] = "over_budget",
	[RUN_FAILED] = "failed",
};

void run_print_start(const struct run *run)
{
	const struct dlboost_stream_info *info = &run->info;
	char a[FIGURE_BYTES], b[FIGURE_BYTES], c[FIGURE_BYTES];

	if (run->ctx->has_json && !run->ctx->is_verbose)
		return;
	msg_note("%s: %s samples in %s classes, %u workers", run->path,
		 figure_count(a, info->dataset.nr_samples),
		 figure_count(b, info->dataset.nr_classes), info->nr_workers);
	msg_note("%u slots of %s (%u samples), memory cap %s%s", info->slots,
		 figure_bytes(a, info->slot_bytes), info->batch,
		 figure_bytes(b, info->cap_bytes),
		 info->has_huge_pages ? ", huge pages" : "");
	if (info->position)
		msg_note("resumed in epoch %u at position %s",
			 run->first_epoch, figure_count(c, info->position));
	if (info->repeated_samples)
		msg_note("%s samples repeat (--allow-repeat)",
			 figure_count(c, info->repeated_samples));
}

static double cpu_per_thousand(const struct run *run)
{
	return run->stats.samples ?
	       1000 * run->cpu_s / (double)run->stats.samples : 0;
}

static double rate_of(const struct run *run)
{
	return run->elapsed_s > 0 ?
	       (double)run->stats.samples / run->elapsed_s : 0;
}

static void print_examples(const struct run *run, unsigned int status)
{
	for (unsigned int i = 0; i < RUN_EXAMPLES; i++) {
		const struct run_example *e = &run->examples[status][i];

		if (!e->path)
			break;
		printf("  ");
		text_print_escaped(stdout, e->line ? e->line : e->path);
		printf("\n");
	}
}

static void print_bad(const struct run *run)
{
	const struct dlboost_stream_stats *s = &run->stats;
	char a[FIGURE_BYTES], b[FIGURE_BYTES];
	const char *separator = ": ";

	printf("bad           %s", figure_count(a, stream_nr_bad(s)));
	if (s->samples >= stream_nr_bad(s))
		printf(" of %s", figure_count(b, s->samples));
	for (unsigned int i = 1; i < DLBOOST_NR_STATUS; i++) {
		if (!s->bad[i])
			continue;
		printf("%s%s %s", separator, figure_count(a, s->bad[i]),
		       dlboost_status_name(i));
		separator = ", ";
	}
	if (s->replaced)
		printf("; %s replaced", figure_count(a, s->replaced));
	if (s->quarantined)
		printf("; %s known from the quarantine list",
		       figure_count(a, s->quarantined));
	printf("\n");
	for (unsigned int i = 1; i < DLBOOST_NR_STATUS; i++)
		print_examples(run, i);
	if (s->warned)
		printf("warned        %s good ones with a decoder warning\n",
		       figure_count(a, s->warned));
}

static void print_outputs(const struct run *run)
{
	const struct run_opts *opts = run->opts;

	if (opts->has_digest)
		printf("digest        sha256:%s\n", run->digest_hex);
	if (run->has_sheet)
		printf("contact sheet %s\n", opts->contact_sheet);
	if (opts->out && run->end != RUN_FAILED)
		printf("batches       %s\n", opts->out);
	if (opts->quarantine && !log_has_errors())
		printf("quarantine    %s\n", opts->quarantine);
	if (opts->state_out && run->has_state)
		printf("state         %s\n", opts->state_out);
}

static void print_text(const struct run *run)
{
	const struct dlboost_stream_stats *s = &run->stats;
	char a[FIGURE_BYTES], b[FIGURE_BYTES], c[FIGURE_BYTES];

	if (run->end == RUN_INTERRUPTED)
		printf("interrupted   by %s\n", strsignal(signals_caught()));
	printf("samples       %s in %s batches, %u of %llu epochs, %s\n",
	       figure_count(a, s->samples), figure_count(b, run->nr_batches),
	       run->nr_epochs_done,
	       (unsigned long long)(run->end_epoch - run->first_epoch),
	       figure_duration(c, run->elapsed_s));
	printf("rate          %s pictures a second, %.3f CPU-seconds per "
	       "1,000 pictures\n",
	       figure_count(a, (uint64_t)(rate_of(run) + 0.5)),
	       cpu_per_thousand(run));
	print_bad(run);
	if (s->samples)
		printf("limited by    %s (%.0f %% of the time)\n",
		       dlboost_limit_stage_name(s->limit_stage),
		       100 * s->limit_share);
	printf("peak memory   %s (cap %s)\n", figure_bytes(a, run->peak_bytes),
	       figure_bytes(b, run->info.cap_bytes));
	print_outputs(run);
}

static struct json_object *examples_json(const struct run *run)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < DLBOOST_NR_STATUS; i++) {
		for (unsigned int j = 0; j < RUN_EXAMPLES; j++) {
			const struct run_example *e = &run->examples[i][j];
			struct json_object *row;

			if (!e->path)
				continue;
			row = json_object_new_object();
			json_add_text(row, "path", e->path);
			json_add_text(row, "status", dlboost_status_name(i));
			if (e->result.offset_bytes >= 0)
				json_add_i64(row, "offset_bytes",
					     e->result.offset_bytes);
			else
				json_add(row, "offset_bytes", NULL);
			json_add_text(row, "message", e->result.message);
			json_object_array_add(list, row);
		}
	}
	return list;
}

static void print_json(const struct run *run)
{
	const struct run_opts *opts = run->opts;
	struct json_object *doc = json_document("dlboost-run");

	json_add_text(doc, "path", run->path);
	json_add_text(doc, "end", end_names[run->end]);
	json_add_text(doc, "error", run->error[0] ? run->error : NULL);
	json_add_text(doc, "recipe", dlboost_recipe_canonical(run->recipe));
	json_add_text(doc, "profile", opts->profile ? "fast" : "exact");
	json_add_u64(doc, "first_epoch", run->first_epoch);
	json_add_u64(doc, "nr_epochs", run->nr_epochs_done);
	json_add_u64(doc, "rank", opts->rank.value);
	json_add_u64(doc, "world", opts->world.value);
	json_add_u64(doc, "position", run->info.position);
	json_add_u64(doc, "nr_repeated", run->info.repeated_samples);
	json_add_stream_info(doc, &run->info);
	json_add_stream_stats(doc, &run->stats);
	json_add_real(doc, "img_per_s", rate_of(run), 3);
	json_add_real(doc, "cpu_s", run->cpu_s, 6);
	json_add_real(doc, "cpu_s_per_1000", cpu_per_thousand(run), 6);
	json_add_u64(doc, "peak_memory_bytes", run->peak_bytes);
	json_add(doc, "bad_files", examples_json(run));
	json_add_text(doc, "digest_sha256", opts->has_digest ?
		      run->digest_hex : NULL);
	json_add_text(doc, "contact_sheet", run->has_sheet ?
		      opts->contact_sheet : NULL);
	json_add_text(doc, "out", opts->out);
	json_add_text(doc, "quarantine", log_has_errors() ? NULL :
		      opts->quarantine);
	json_add_text(doc, "state_out", run->has_state ? opts->state_out :
							 NULL);
	json_print(run->ctx, doc);
}

void run_print_report(const struct run *run)
{
	if (run->ctx->has_json)
		print_json(run);
	else
		print_text(run);
}
