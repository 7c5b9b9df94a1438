// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The policies that are a rule, and the portfolio they form together.  Search
 * beyond rules is in search.c and exact.c.  Integer arithmetic and fixed lists
 * of candidates only, so that every machine finds the same plan.
 * Documentation/planning.rst, "Policies".
 */
#include "policy.h"

#include <errno.h>

#include "../base/base.h"

#define KIB 1024
#define MIB (1024 * 1024)
#define MAX_SIZES 12
/* More slices of all gradients are not tried */
#define MAX_SLICES 2048
/* Up to so many values of k all are tried; of more at first so many */
#define ALL_KS 24
#define FIRST_KS 8
/* Nodes of the exact search for any order below the cap */
#define SQUEEZE_NODES 100000
/* Ways to form messages that the portfolio looks at closely */
#define NR_FINALISTS 2

void dlb_pick_take(struct dlb_pick *pick, struct dlb_draft *draft)
{
	if (draft->least_bytes < pick->least_bytes)
		pick->least_bytes = draft->least_bytes;
	if (draft->period_ns == UINT64_MAX ||
	    (pick->draft && pick->draft->period_ns <= draft->period_ns)) {
		dlb_draft_destroy(draft);
		return;
	}
	dlb_draft_destroy(pick->draft);
	pick->draft = draft;
}

/* One sequence, in order on every stream; links by need or as things come */
static int try_line(struct dlb_draft *draft, uint32_t k,
		    enum dlb_line_kind kind, bool has_priority)
{
	struct dlb_rule rule = {
		.fixed = &draft->line,
		.message_key = has_priority ? draft->message_key : NULL,
	};

	dlb_draft_line(draft, k, kind);
	return dlb_draft_try(draft, &rule, k);
}

/* The same as a wish: what would wait lets others pass, and the cap is kept */
static int try_keys(struct dlb_draft *draft, uint32_t k,
		    enum dlb_line_kind kind, bool has_priority)
{
	struct dlb_rule rule = {
		.item_key = draft->item_key,
		.message_key = has_priority ? draft->message_key : NULL,
		.cap_bytes = draft->net.step->attr->memory_bytes,
	};

	dlb_draft_line(draft, k, kind);
	dlb_draft_keys(draft);
	return dlb_draft_try(draft, &rule, k);
}

static int one_line(struct dlb_pick *pick, uint64_t first_bytes,
		    uint64_t bucket_bytes, enum dlb_line_kind kind)
{
	struct dlb_draft *draft;
	int ret = dlb_draft_create(pick->step, first_bytes, bucket_bytes,
				   DLBOOST_PLAN_UNCUT, &draft);

	if (ret)
		return ret;
	ret = try_line(draft, 0, kind, false);
	dlb_pick_take(pick, draft);
	return ret;
}

int dlb_policy_ddp(struct dlb_pick *pick)
{
	uint64_t bucket_bytes = pick->step->attr->bucket_bytes;

	return one_line(pick, bucket_bytes ? bucket_bytes : MIB,
			bucket_bytes ? bucket_bytes : 25 * MIB,
			DLB_LINE_PLAIN);
}

int dlb_policy_ddp_tuned(struct dlb_pick *pick)
{
	static const uint64_t sizes[] = {
		512 * KIB, 1 * MIB, 2 * MIB, 4 * MIB, 6 * MIB, 8 * MIB,
		12 * MIB, 16 * MIB, 25 * MIB, 50 * MIB, 100 * MIB,
		DLBOOST_PLAN_UNCUT,
	};
	int ret = dlb_policy_ddp(pick);

	for (size_t i = 0; !ret && !pick->step->attr->bucket_bytes &&
	     i < ARRAY_SIZE(sizes); i++)
		ret = one_line(pick, sizes[i], sizes[i], DLB_LINE_PLAIN);
	return ret;
}

int dlb_policy_fifo_split(struct dlb_pick *pick)
{
	return one_line(pick, 1, 1, DLB_LINE_SIDE);
}

/*
 * With a barrier the order of the reductions cannot matter, only their size,
 * and that is what ddp-tuned is for: all others keep the messages of ddp, so
 * that they show what order alone gives.
 */
static bool keeps_messages(const struct dlb_step *step)
{
	return step->jobs[0].has_barrier && !step->attr->bucket_bytes &&
	       !step->attr->slice_bytes;
}

static uint64_t first_size(const struct dlb_step *step, uint64_t bucket_bytes)
{
	return keeps_messages(step) ? MIB : bucket_bytes;
}

/* Sizes of buckets and slices to try: the caller's, or a list */
static uint32_t bucket_sizes(const struct dlb_step *step, uint64_t *sizes)
{
	static const uint64_t list[] = { 1, 256 * KIB, MIB, 4 * MIB, 16 * MIB };

	if (keeps_messages(step)) {
		sizes[0] = 25 * MIB;
		return 1;
	}
	if (step->attr->bucket_bytes || step->attr->ranks == 1) {
		sizes[0] = step->attr->bucket_bytes ?: 1;
		return 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		sizes[i] = list[i];
	return ARRAY_SIZE(list);
}

static uint32_t slice_sizes(const struct dlb_step *step, uint64_t *sizes)
{
	static const uint64_t list[] = { MIB, 4 * MIB, 16 * MIB,
					 DLBOOST_PLAN_UNCUT };
	uint64_t bytes = 0;
	uint32_t nr = 0;

	if (step->attr->slice_bytes || step->attr->ranks == 1 ||
	    keeps_messages(step)) {
		sizes[0] = step->attr->slice_bytes ?: DLBOOST_PLAN_UNCUT;
		return 1;
	}
	for (uint32_t l = 0; l < step->nr_layers; l++)
		bytes += step->layers[l].raw->parameter_bytes;
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (bytes / list[i] < MAX_SLICES)
			sizes[nr++] = list[i];
	return nr;
}

/* @visit for every way to form messages; the pick takes the drafts */
static int each_cut(struct dlb_pick *pick,
		    int (*visit)(struct dlb_pick *pick,
				 struct dlb_draft *draft))
{
	uint64_t buckets[MAX_SIZES], slices[MAX_SIZES];
	uint32_t nr_buckets = bucket_sizes(pick->step, buckets);
	uint32_t nr_slices = slice_sizes(pick->step, slices);
	int ret = 0;

	for (uint32_t i = 0; !ret && i < nr_buckets * nr_slices; i++) {
		uint64_t bucket = buckets[i / nr_slices];
		uint64_t slice = slices[i % nr_slices];
		struct dlb_draft *draft;

		ret = dlb_draft_create(pick->step,
				       first_size(pick->step, bucket), bucket,
				       slice, &draft);
		if (!ret)
			ret = visit(pick, draft);
	}
	return ret;
}

static int visit_priority(struct dlb_pick *pick, struct dlb_draft *draft)
{
	int ret = try_line(draft, 0, DLB_LINE_PLAIN, true);

	dlb_pick_take(pick, draft);
	return ret;
}

int dlb_policy_priority(struct dlb_pick *pick)
{
	return each_cut(pick, visit_priority);
}

struct scan {
	struct dlb_draft *draft;
	int (*try)(struct dlb_draft *draft, uint32_t k,
		   enum dlb_line_kind kind, bool has_priority);
	enum dlb_line_kind kind;
	bool has_priority;
	uint64_t bound_ns;
};

static int scan_one(const struct scan *scan, uint32_t k)
{
	/* What cannot be beaten need not be searched on */
	if (scan->draft->period_ns <= scan->bound_ns)
		return 0;
	return scan->try(scan->draft, k, scan->kind, scan->has_priority);
}

/* Every k of small graphs; of others some, then ever closer to the best one */
static int scan_k(const struct scan *scan)
{
	uint32_t nr = dlb_step_count_dw(scan->draft->net.step);
	uint32_t stride = nr > ALL_KS ? nr / FIRST_KS : 1;
	int ret = 0;

	for (uint32_t k = 0; !ret && k <= nr; k += stride)
		ret = scan_one(scan, k);
	while (!ret && stride > 1) {
		uint32_t k = scan->draft->first_k;

		stride = (stride + 1) / 2;
		if (k >= stride)
			ret = scan_one(scan, k - stride);
		if (!ret && k + stride <= nr)
			ret = scan_one(scan, k + stride);
		stride = stride == 1 ? 0 : stride;
	}
	return ret;
}

static enum dlb_line_kind side_if_any(const struct dlb_draft *draft)
{
	return draft->net.nr_streams > 1 ? DLB_LINE_SIDE : DLB_LINE_PLAIN;
}

/* The few best drafts, best first */
struct finalists {
	struct dlb_draft *drafts[NR_FINALISTS];
	uint64_t least_bytes;
};

static void finalists_take(struct finalists *f, struct dlb_draft *draft)
{
	for (uint32_t i = 0; i < NR_FINALISTS; i++) {
		struct dlb_draft *moved = f->drafts[i];

		if (moved && moved->period_ns <= draft->period_ns)
			continue;
		f->drafts[i] = draft;
		draft = moved;
		if (!draft)
			return;
	}
	if (draft->least_bytes < f->least_bytes)
		f->least_bytes = draft->least_bytes;
	dlb_draft_destroy(draft);
}

static int finalists_find(struct finalists *f, const struct dlb_step *step,
			  bool has_priority)
{
	uint64_t buckets[MAX_SIZES], slices[MAX_SIZES];
	uint32_t nr_buckets = bucket_sizes(step, buckets);
	uint32_t nr_slices = slice_sizes(step, slices);
	uint32_t k = has_priority ? 0 : dlb_step_count_dw(step) / 2;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < nr_buckets * nr_slices; i++) {
		struct dlb_draft *draft;

		ret = dlb_draft_create(step,
			first_size(step, buckets[i / nr_slices]),
			buckets[i / nr_slices], slices[i % nr_slices], &draft);
		if (ret)
			return ret;
		ret = try_line(draft, 0, DLB_LINE_PLAIN, has_priority);
		if (!ret)
			ret = try_keys(draft, k, DLB_LINE_PLAIN, has_priority);
		finalists_take(f, draft);
	}
	return ret;
}

/* Hands the finalists over to the pick */
static void finalists_fini(struct finalists *f, struct dlb_pick *pick)
{
	if (f->least_bytes < pick->least_bytes)
		pick->least_bytes = f->least_bytes;
	for (uint32_t i = 0; i < NR_FINALISTS; i++)
		if (f->drafts[i])
			dlb_pick_take(pick, f->drafts[i]);
}

int dlb_policy_reverse_first_k(struct dlb_pick *pick)
{
	struct finalists f = { .least_bytes = UINT64_MAX };
	int ret = finalists_find(&f, pick->step, false);

	for (uint32_t i = 0; !ret && i < NR_FINALISTS && f.drafts[i]; i++) {
		struct scan scan = { f.drafts[i], try_line,
				     side_if_any(f.drafts[i]), false,
				     pick->bound_ns };

		ret = scan_k(&scan);
	}
	finalists_fini(&f, pick);
	return ret;
}

/* Longest way from each node to the end of the step */
static int find_tails(const struct dlb_net *net, uint64_t *tail)
{
	uint32_t *left = malloc(net->nr_nodes * sizeof(*left));
	uint32_t *stack = malloc(net->nr_nodes * sizeof(*stack));
	uint32_t nr = 0;

	if (!left || !stack) {
		free(left);
		free(stack);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < net->nr_nodes; i++) {
		tail[i] = net->ns[i];
		left[i] = net->next.first[i + 1] - net->next.first[i];
		if (!left[i])
			stack[nr++] = i;
	}
	while (nr) {
		uint32_t node = stack[--nr];

		for (uint32_t i = net->before.first[node];
		     i < net->before.first[node + 1]; i++) {
			uint32_t before = net->before.entries[i];

			if (tail[before] < net->ns[before] + tail[node])
				tail[before] = net->ns[before] + tail[node];
			if (!--left[before])
				stack[nr++] = before;
		}
	}
	free(left);
	free(stack);
	return 0;
}

/* By critical path: whatever has the longest way ahead of it comes first */
static int try_critical_path(struct dlb_draft *draft)
{
	const struct dlb_net *net = &draft->net;
	uint64_t *tail = malloc(net->nr_nodes * sizeof(*tail));
	struct dlb_rule rule = {
		.item_key = draft->item_key,
		.message_key = draft->message_key,
		.cap_bytes = net->step->attr->memory_bytes,
	};
	int ret = tail ? find_tails(net, tail) : -ENOMEM;

	if (!ret) {
		for (uint32_t i = 0; i < net->step->nr_items; i++)
			draft->item_key[i] = INT64_MAX - tail[i];
		ret = dlb_draft_try(draft, &rule, 0);
	}
	free(tail);
	return ret;
}

static int try_portfolio(struct dlb_draft *draft, uint64_t bound_ns)
{
	const struct scan scans[] = {
		{ draft, try_keys, DLB_LINE_PLAIN, true, bound_ns },
		{ draft, try_keys, DLB_LINE_LATE, true, bound_ns },
		{ draft, try_line, side_if_any(draft), false, bound_ns },
	};
	int ret = try_critical_path(draft);

	for (size_t i = 0; !ret && i < ARRAY_SIZE(scans); i++)
		ret = scan_k(&scans[i]);
	return ret;
}

/* In order with the messages of ddp and ddp-tuned: never worse than those */
static int take_in_order(struct dlb_pick *pick)
{
	if (pick->step->attr->bucket_bytes || pick->step->attr->slice_bytes)
		return one_line(pick, pick->step->attr->bucket_bytes ?: MIB,
				pick->step->attr->bucket_bytes ?: 25 * MIB,
				DLB_LINE_PLAIN);
	return keeps_messages(pick->step) ? dlb_policy_ddp(pick) :
					    dlb_policy_ddp_tuned(pick);
}

/* An order below the cap, where no rule has one */
static int squeeze(const struct dlb_pick *pick, struct dlb_draft *draft)
{
	bool is_proven;
	int ret = dlb_search(draft, pick->step->attr->max_moves,
			     pick->bound_ns);

	if (ret || draft->period_ns != UINT64_MAX)
		return ret;
	ret = dlb_exact(draft, pick->bound_ns, SQUEEZE_NODES, &is_proven);
	return ret == -EOPNOTSUPP ? 0 : ret;
}

int dlb_policy_list(struct dlb_pick *pick)
{
	struct finalists f = { .least_bytes = UINT64_MAX };
	int ret = finalists_find(&f, pick->step, true);

	for (uint32_t i = 0; !ret && i < NR_FINALISTS && f.drafts[i]; i++) {
		ret = try_portfolio(f.drafts[i], pick->bound_ns);
		if (!ret && f.drafts[i]->period_ns == UINT64_MAX)
			ret = squeeze(pick, f.drafts[i]);
	}
	finalists_fini(&f, pick);
	if (!ret)
		ret = take_in_order(pick);
	if (!ret && pick->draft)
		ret = dlb_search(pick->draft, pick->step->attr->max_moves,
				 pick->bound_ns);
	return ret;
}
