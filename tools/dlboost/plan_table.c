// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of policies, for people. */
#include <string.h>

#include "plan_report.h"

static void print_gain(const struct plan_row *row, const struct plan_row *base)
{
	if (base)
		printf("%9.3f", (double)base->period_ns /
				(double)row->period_ns);
	else
		printf("%9s", "-");
}

static void print_row(const struct plan_report *report,
		      const struct plan_row *row)
{
	char bytes[FIGURE_BYTES];

	printf("%-16s%11.3f", dlboost_plan_policy_name(row->policy),
	       (double)row->period_ns / 1e6);
	print_gain(row, plan_report_row(report, DLBOOST_PLAN_DDP));
	print_gain(row, plan_report_row(report, DLBOOST_PLAN_DDP_TUNED));
	printf("%12.3f  %-14s%10s", (double)row->bound_ns / 1e6,
	       plan_limit_name(plan_row_view(row, 0)->bound.limit),
	       figure_bytes(bytes, row->peak_bytes));
	if (report->jitter_permille)
		printf("%12.3f", (double)row->jittered_ns / 1e6);
	printf("  %s\n", row->is_proven ? "proven" : "WRONG");
}

static void print_messages(const struct plan_row *row)
{
	const struct dlboost_plan_view *view = plan_row_view(row, 0);
	char bucket[FIGURE_BYTES], slice[FIGURE_BYTES];

	printf("%-16s%u reductions, fused to %s, cut to %s, %s",
	       dlboost_plan_policy_name(row->policy), view->nr_messages,
	       view->bucket_bytes == DLBOOST_PLAN_UNCUT ? "one" :
	       view->bucket_bytes <= 1 ? "nothing" :
	       figure_bytes(bucket, view->bucket_bytes),
	       view->slice_bytes == DLBOOST_PLAN_UNCUT ? "nothing" :
	       figure_bytes(slice, view->slice_bytes),
	       view->has_barrier ? "barrier" : "no barrier");
	if (view->first_k)
		printf(", k %u", view->first_k);
	printf(", plan %016llx\n", (unsigned long long)view->plan_id);
}

/* What to expect, also when it is nothing */
static void print_verdict(const struct plan_report *report)
{
	const struct plan_row *base = plan_report_row(report,
						      DLBOOST_PLAN_DDP_TUNED);
	const struct plan_row *best = plan_report_best(report);
	double gain;

	if (!base)
		base = plan_report_row(report, DLBOOST_PLAN_DDP);
	if (!base)
		return;
	gain = (double)base->period_ns / (double)best->period_ns;
	if (gain < 1.01)
		printf("Nothing to gain here: at most %.3f over %s; %s limits "
		       "the step.\n", gain,
		       dlboost_plan_policy_name(base->policy),
		       plan_limit_name(plan_row_view(best, 0)->bound.limit));
	else
		printf("Gain of %s over %s: %.3f; no order can pass %.3f "
		       "(%s).\n", dlboost_plan_policy_name(best->policy),
		       dlboost_plan_policy_name(base->policy), gain,
		       (double)base->period_ns / (double)best->bound_ns,
		       plan_limit_name(plan_row_view(best, 0)->bound.limit));
}

static void print_head(const struct plan_report *report)
{
	const struct dlboost_plan_attr *attr = &report->attr;

	for (unsigned int i = 0; i < report->nr_graphs; i++) {
		printf("%s", i ? " + " : "");
		text_print_escaped(stdout, report->graphs[i].name);
	}
	if (report->hardware) {
		printf(", ");
		text_print_escaped(stdout, report->hardware);
		printf(", batch %u", report->batch);
	} else {
		printf(", measured");
	}
	printf(", %u %s", attr->ranks, attr->ranks == 1 ? "rank" : "ranks");
	if (attr->ranks > 1 && attr->local_ranks < attr->ranks)
		printf(", link %.6g Gbit/s, hop %.6g us",
		       (double)attr->link_bits_per_s / 1e9,
		       (double)attr->hop_ns / 1e3);
	if (attr->local_ranks > 1)
		printf(", %u in a machine at %.6g Gbit/s, hop %.6g us",
		       attr->local_ranks, (double)attr->local_bits_per_s / 1e9,
		       (double)attr->local_hop_ns / 1e3);
	printf(", rho %.3f\n", plan_report_rho(report));
}

void plan_table_print(const struct plan_report *report, bool is_verbose)
{
	print_head(report);
	printf("\n%-16s%11s%9s%9s%12s  %-14s%10s", "policy", "period ms",
	       "/ ddp", "/ tuned", "bound ms", "limit", "peak");
	if (report->jitter_permille)
		printf("%12s", "jittered ms");
	printf("  proof\n");
	for (unsigned int i = 0; i < report->nr_rows; i++)
		print_row(report, &report->rows[i]);
	printf("\n");
	if (is_verbose) {
		for (unsigned int i = 0; i < report->nr_rows; i++)
			print_messages(&report->rows[i]);
		printf("\n");
	}
	print_verdict(report);
}
