// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Steps of several graphs woven into each other on one device: of the next
 * pieces of all graphs the one that leaves least idle comes first, counted over
 * the stream and the link (the rule of Layerweaver, Y. Oh et al. 2021, for other
 * resources).  Documentation/planning.rst, "Policies".
 */
#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "policy.h"

/**
 * struct weave - One weaving
 * @draft: the step; draft->line holds the graphs one after the other
 * @at: next entry of each graph in the line
 * @end: end of each graph in the line
 * @ready_ns: per node
 * @nr_left: per node
 * @free_ns: when the stream and the link are free
 * @nr_sent: messages sent
 */
struct weave {
	struct dlb_draft *draft;
	uint32_t *at;
	uint32_t *end;
	uint64_t *ready_ns;
	uint32_t *nr_left;
	uint64_t free_ns[2];
	uint32_t nr_sent;
};

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The stream is serial, so messages come up in the order of their time */
static void weave_finish(struct weave *w, uint32_t node, uint64_t end_ns)
{
	const struct dlb_net *net = &w->draft->net;

	for (uint32_t i = net->next.first[node]; i < net->next.first[node + 1];
	     i++) {
		uint32_t next = net->next.entries[i];

		w->ready_ns[next] = max_u64(w->ready_ns[next], end_ns);
		if (--w->nr_left[next] || next < net->first_message)
			continue;
		if (next < net->first_joint) {
			w->draft->trial.messages[w->nr_sent++] =
				next - net->first_message;
			w->free_ns[1] = max_u64(w->free_ns[1],
						w->ready_ns[next]) +
					net->ns[next];
			weave_finish(w, next, w->free_ns[1]);
		} else {
			weave_finish(w, next, w->ready_ns[next]);
		}
	}
}

/* What @node would leave idle: the stream before it, the link during it */
static uint64_t idle_ns(const struct weave *w, uint32_t node)
{
	const struct dlb_net *net = &w->draft->net;
	uint64_t begin = max_u64(w->free_ns[0], w->ready_ns[node]);
	uint64_t end = begin + net->ns[node], idle = begin - w->free_ns[0];

	for (uint32_t i = net->next.first[node]; i < net->next.first[node + 1];
	     i++)
		if (dlb_node_is_message(net, net->next.entries[i]))
			return idle;
	return idle + (end > w->free_ns[1] ? end - w->free_ns[1] : 0);
}

static void weave_run(struct weave *w)
{
	const struct dlb_net *net = &w->draft->net;
	struct dlb_turns *out = &w->draft->trial;
	uint32_t nr = 0;

	while (nr < net->nr_work) {
		uint32_t best = DLB_NONE, node;
		uint64_t least = UINT64_MAX;

		for (uint32_t j = 0; j < net->step->nr_jobs; j++) {
			uint64_t idle;

			if (w->at[j] == w->end[j])
				continue;
			idle = idle_ns(w, w->draft->line.items[w->at[j]]);
			if (idle < least) {
				least = idle;
				best = j;
			}
		}
		node = w->draft->line.items[w->at[best]++];
		out->items[nr++] = node;
		w->free_ns[0] = max_u64(w->free_ns[0], w->ready_ns[node]) +
				net->ns[node];
		weave_finish(w, node, w->free_ns[0]);
	}
	memcpy(out->first, w->draft->line.first, sizeof(out->first));
}

static uint32_t job_of(const struct dlb_step *step, uint32_t node)
{
	return node < 4 * step->nr_layers ? step->layers[node / 4].graph :
	       node - 4 * step->nr_layers;
}

static void find_jobs(struct weave *w)
{
	const struct dlb_net *net = &w->draft->net;

	for (uint32_t i = 0; i < net->nr_work; i++) {
		uint32_t j = job_of(net->step, w->draft->line.items[i]);

		if (!w->end[j])
			w->at[j] = i;
		w->end[j] = i + 1;
	}
}

static int try_least_idle(struct dlb_draft *draft, uint32_t k)
{
	const struct dlb_net *net = &draft->net;
	struct weave w = { .draft = draft };
	int ret = -ENOMEM;

	dlb_draft_line(draft, k, DLB_LINE_PLAIN);
	w.at = calloc(net->step->nr_jobs, sizeof(*w.at));
	w.end = calloc(net->step->nr_jobs, sizeof(*w.end));
	w.ready_ns = calloc(net->nr_nodes, sizeof(*w.ready_ns));
	w.nr_left = malloc(net->nr_nodes * sizeof(*w.nr_left));
	if (w.at && w.end && w.ready_ns && w.nr_left) {
		memcpy(w.nr_left, net->nr_before,
		       net->nr_nodes * sizeof(*w.nr_left));
		for (uint32_t i = net->first_joint; i < net->nr_nodes; i++)
			if (!net->nr_before[i])
				weave_finish(&w, i, 0);
		find_jobs(&w);
		weave_run(&w);
		dlb_draft_offer(draft, &draft->trial, k);
		ret = 0;
	}
	free(w.at);
	free(w.end);
	free(w.ready_ns);
	free(w.nr_left);
	return ret;
}

/* Graph @first has the right of way; what it leaves idle, the others fill */
static int try_first(struct dlb_draft *draft, uint32_t first)
{
	const struct dlb_step *step = draft->net.step;
	struct dlb_rule rule = {
		.item_key = draft->item_key,
		.message_key = draft->message_key,
		.cap_bytes = step->attr->memory_bytes,
	};

	dlb_draft_line(draft, 0, DLB_LINE_PLAIN);
	dlb_draft_keys(draft);
	for (uint32_t i = 0; i < draft->net.nr_work; i++) {
		uint32_t node = draft->line.items[i];

		if (job_of(step, node) != first)
			draft->item_key[node] += draft->net.nr_work;
	}
	return dlb_draft_try(draft, &rule, 0);
}

static int weave_all(struct dlb_pick *pick, uint64_t bucket_bytes,
		     uint64_t slice_bytes)
{
	struct dlb_draft *draft;
	int ret = dlb_draft_create(pick->step, bucket_bytes, bucket_bytes,
				   slice_bytes, &draft);

	if (ret)
		return ret;
	ret = try_least_idle(draft, 0);
	if (!ret)
		ret = try_least_idle(draft, dlb_step_count_dw(pick->step) / 2);
	for (uint32_t j = 0; !ret && j < pick->step->nr_jobs; j++)
		ret = try_first(draft, j);
	dlb_pick_take(pick, draft);
	return ret;
}

int dlb_policy_interleave(struct dlb_pick *pick)
{
	static const uint64_t sizes[][2] = {
		{ 1, DLBOOST_PLAN_UNCUT }, { 1 << 20, 4 << 20 },
		{ 4 << 20, 16 << 20 }, { 25 << 20, DLBOOST_PLAN_UNCUT },
	};
	const struct dlboost_plan_attr *attr = pick->step->attr;
	int ret = 0;

	if (attr->bucket_bytes || attr->slice_bytes)
		return weave_all(pick, attr->bucket_bytes ?: 1,
				 attr->slice_bytes ?: DLBOOST_PLAN_UNCUT);
	for (size_t i = 0; !ret && i < ARRAY_SIZE(sizes); i++)
		ret = weave_all(pick, sizes[i][0], sizes[i][1]);
	if (!ret && pick->draft)
		ret = dlb_search(pick->draft, attr->max_moves, pick->bound_ns);
	return ret;
}
