// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * What no order can beat: the work of the streams, the longest chain, and the
 * link, whose every reduction has work before it and work after it (J. Jackson's
 * preemptive one-machine bound, as J. Carlier uses it, 1982).  Messages may be
 * cut and fused at will here, and each costs latency once.
 * Documentation/planning.rst, "Bounds".
 */
#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "policy.h"

/* A reduction: what must come before it, its time, what must come after it */
struct bound_job {
	uint64_t head_ns;
	uint64_t ns;
	uint64_t tail_ns;
};

/**
 * struct bound - Work of a bound
 * @net: the step with one message for each layer
 * @order: nodes, each after those it waits for
 * @nr_words: words of a set of items
 * @sets: per node, the items that are certain to come before (or after) it
 * @path: per node, the longest chain before (or after) it
 */
struct bound {
	struct dlb_net net;
	uint32_t *order;
	uint32_t nr_words;
	uint64_t *sets;
	uint64_t *path;
};

static int sort_nodes(struct bound *b)
{
	const struct dlb_net *net = &b->net;
	uint32_t *left = malloc(net->nr_nodes * sizeof(*left));
	uint32_t nr = 0;

	if (!left)
		return -ENOMEM;
	memcpy(left, net->nr_before, net->nr_nodes * sizeof(*left));
	for (uint32_t i = 0; i < net->nr_nodes; i++)
		if (!left[i])
			b->order[nr++] = i;
	for (uint32_t at = 0; at < nr; at++)
		for (uint32_t i = net->next.first[b->order[at]];
		     i < net->next.first[b->order[at] + 1]; i++)
			if (!--left[net->next.entries[i]])
				b->order[nr++] = net->next.entries[i];
	free(left);
	return nr == net->nr_nodes ? 0 : -EINVAL;
}

static uint64_t work_of(const struct bound *b, const uint64_t *set)
{
	uint64_t ns = 0;

	for (uint32_t w = 0; w < b->nr_words; w++)
		for (uint64_t bits = set[w]; bits; bits &= bits - 1)
			ns += b->net.ns[64 * w +
					(uint32_t)__builtin_ctzll(bits)];
	return ns;
}

/* Several streams that together do more than one */
static uint64_t device_ns(const struct bound *b, uint64_t work_ns)
{
	const struct dlboost_plan_attr *attr = b->net.step->attr;

	if (attr->nr_streams == 1 || attr->overlap_permille <= 1000)
		return work_ns;
	return work_ns / attr->overlap_permille * 1000;
}

/*
 * Slices of a gradient pass both links at the same time, so that a reduction
 * takes as long as its slower link, and the latency of both.
 */
static uint64_t reduction_ns(const struct dlboost_plan_attr *attr,
			     uint64_t bytes)
{
	uint64_t local_lag, last_lag, local_ns, last_ns;

	dlb_cost_latency(attr, &local_lag, &last_lag);
	dlb_cost_bytes(attr, bytes, &local_ns, &last_ns);
	return (local_ns > last_ns ? local_ns : last_ns) + local_lag + last_lag;
}

/*
 * For every node, the items that lead to it and the longest chain, or with
 * @is_reversed what it leads to.  Neither includes the node itself.
 */
static void spread(struct bound *b, bool is_reversed)
{
	const struct dlb_net *net = &b->net;
	const struct dlb_list *next = is_reversed ? &net->before : &net->next;

	memset(b->sets, 0, (size_t)net->nr_nodes * b->nr_words * 8);
	memset(b->path, 0, net->nr_nodes * sizeof(*b->path));
	for (uint32_t at = 0; at < net->nr_nodes; at++) {
		uint32_t node = b->order[is_reversed ?
					 net->nr_nodes - 1 - at : at];
		uint64_t *from = b->sets + (size_t)node * b->nr_words;
		uint64_t path = b->path[node] + net->ns[node];

		for (uint32_t i = next->first[node]; i < next->first[node + 1];
		     i++) {
			uint32_t other = next->entries[i];
			uint64_t *to = b->sets + (size_t)other * b->nr_words;

			for (uint32_t w = 0; w < b->nr_words; w++)
				to[w] |= from[w];
			if (node < net->first_message)
				to[node / 64] |= (uint64_t)1 << node % 64;
			if (b->path[other] < path)
				b->path[other] = path;
		}
	}
}

static uint64_t around_ns(const struct bound *b, uint32_t node)
{
	uint64_t work = device_ns(b, work_of(b, b->sets + (size_t)node *
						b->nr_words));

	return work > b->path[node] ? work : b->path[node];
}

static int by_head(const void *a, const void *b)
{
	const struct bound_job *x = a, *y = b;

	return (x->head_ns > y->head_ns) - (x->head_ns < y->head_ns);
}

/*
 * Preemptive schedule by largest tail: optimal, hence a bound.  Quadratic in
 * the number of layers.
 */
static uint64_t jackson_ns(struct bound_job *jobs, uint32_t nr)
{
	uint64_t now_ns = 0, bound_ns = 0;
	uint32_t arrived = 0, nr_left = nr;

	qsort(jobs, nr, sizeof(*jobs), by_head);
	while (nr_left) {
		struct bound_job *best = NULL;
		uint64_t run_ns;

		while (arrived < nr && jobs[arrived].head_ns <= now_ns)
			arrived++;
		for (uint32_t i = 0; i < arrived; i++)
			if (jobs[i].ns != UINT64_MAX &&
			    (!best || jobs[i].tail_ns > best->tail_ns))
				best = &jobs[i];
		if (!best) {
			now_ns = jobs[arrived].head_ns;
			continue;
		}
		run_ns = best->ns;
		if (arrived < nr && jobs[arrived].head_ns - now_ns < run_ns)
			run_ns = jobs[arrived].head_ns - now_ns;
		now_ns += run_ns;
		best->ns -= run_ns;
		if (best->ns)
			continue;
		best->ns = UINT64_MAX;
		nr_left--;
		if (now_ns + best->tail_ns > bound_ns)
			bound_ns = now_ns + best->tail_ns;
	}
	return bound_ns;
}

/* Heads, times and tails of every reduction on both links */
static void fill_jobs(struct bound *b, struct bound_job *local,
		      struct bound_job *last)
{
	const struct dlb_net *net = &b->net;
	const struct dlb_cut *cut = net->cut;
	const struct dlboost_plan_attr *attr = net->step->attr;
	uint64_t local_lag, last_lag;

	dlb_cost_latency(attr, &local_lag, &last_lag);
	spread(b, false);
	for (uint32_t m = 0; m < cut->nr_messages; m++) {
		uint64_t head = around_ns(b, net->first_message + m);

		dlb_cost_bytes(attr, cut->messages[m].len_bytes, &local[m].ns,
			       &last[m].ns);
		local[m].head_ns = head + local_lag;
		last[m].head_ns = local[m].head_ns + last_lag;
	}
	spread(b, true);
	for (uint32_t m = 0; m < cut->nr_messages; m++) {
		last[m].tail_ns = around_ns(b, net->first_message + m);
		local[m].tail_ns = last[m].tail_ns + last_lag;
	}
}

static int bound_link(struct bound *b, struct dlboost_plan_bound *out)
{
	uint32_t nr = b->net.cut->nr_messages;
	struct bound_job *local = calloc(nr + 1, sizeof(*local));
	struct bound_job *last = calloc(nr + 1, sizeof(*last));
	uint64_t local_ns;

	if (!local || !last) {
		free(local);
		free(last);
		return -ENOMEM;
	}
	fill_jobs(b, local, last);
	for (uint32_t m = 0; m < nr; m++)
		out->reduction_ns += last[m].ns + (b->net.local_ns ?
						   local[m].ns : 0);
	out->link_ns = jackson_ns(last, nr);
	local_ns = b->net.local_ns ? jackson_ns(local, nr) : 0;
	if (local_ns > out->link_ns)
		out->link_ns = local_ns;
	free(local);
	free(last);
	return 0;
}

/* The longest chain; spread() has left what follows each node */
static void bound_path(const struct bound *b, struct dlboost_plan_bound *out)
{
	for (uint32_t i = 0; i < b->net.nr_nodes; i++)
		if (b->path[i] + b->net.ns[i] > out->critical_path_ns)
			out->critical_path_ns = b->path[i] + b->net.ns[i];
}

static void bound_finish(const struct bound *b, struct dlboost_plan_bound *out)
{
	uint64_t work_ns = 0;

	for (uint32_t i = 0; i < b->net.first_message; i++)
		work_ns += b->net.step->is_present[i] ? b->net.ns[i] : 0;
	out->compute_ns = device_ns(b, work_ns);
	out->memory_bytes = dlb_net_live_bytes(&b->net);
	out->period_ns = out->compute_ns;
	out->limit = DLBOOST_PLAN_LIMIT_COMPUTE;
	if (out->critical_path_ns > out->period_ns) {
		out->period_ns = out->critical_path_ns;
		out->limit = DLBOOST_PLAN_LIMIT_CRITICAL_PATH;
	}
	if (out->link_ns > out->period_ns) {
		out->period_ns = out->link_ns;
		out->limit = DLBOOST_PLAN_LIMIT_LINK;
	}
}

static void bound_fini(struct bound *b)
{
	dlb_net_fini(&b->net);
	free(b->order);
	free(b->sets);
	free(b->path);
}

int dlb_bound(const struct dlb_step *step, struct dlboost_plan_bound *out)
{
	struct bound b = { .nr_words = step->nr_items / 64 + 1 };
	struct dlb_cut cut;
	int ret = dlb_cut_init(&cut, step, 1, 1, DLBOOST_PLAN_UNCUT);

	memset(out, 0, sizeof(*out));
	if (ret)
		return ret;
	ret = dlb_net_init(&b.net, step, &cut);
	if (!ret) {
		b.order = malloc(b.net.nr_nodes * sizeof(*b.order));
		b.sets = malloc((size_t)b.net.nr_nodes * b.nr_words * 8);
		b.path = malloc(b.net.nr_nodes * sizeof(*b.path));
		for (uint32_t m = 0; m < cut.nr_messages; m++)
			b.net.ns[b.net.first_message + m] = reduction_ns(
				step->attr, cut.messages[m].len_bytes);
		ret = b.order && b.sets && b.path ? sort_nodes(&b) : -ENOMEM;
	}
	if (!ret)
		ret = bound_link(&b, out);
	if (!ret) {
		bound_path(&b, out);
		bound_finish(&b, out);
	}
	bound_fini(&b);
	dlb_cut_fini(&cut);
	return ret;
}
