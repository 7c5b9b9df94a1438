// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The best order of a small step, by branch and bound over active schedules
 * (B. Giffler, G. Thompson 1960) of one stream and one link.  Below a memory cap
 * every ready item is tried, since the cap may ask for a schedule that is not
 * active.  States with the same work done are compared, and dominated ones
 * dropped.  Effort is bounded by a number of nodes.  Belongs to one thread.
 * Documentation/planning.rst, "Policies".
 */
#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "policy.h"

#define MAX_NODES		96
#define MAX_DONE		64
#define DEFAULT_NODES		2000000
#define TABLE_SIZE		(1 << 16)
#define MAX_STATES		200000
/* States of the same work that are kept for comparison */
#define MAX_CHAIN		24

/**
 * struct state - A partial schedule
 * @done: nodes in it
 * @free_ns: when the stream and the link are free
 * @ready_ns: per node
 * @nr_left: per node
 */
struct state {
	uint64_t done;
	uint64_t free_ns[2];
	uint64_t ready_ns[MAX_NODES];
	uint8_t nr_left[MAX_NODES];
};

/**
 * struct seen - A state met before
 * @next: the next one in its chain
 * @done: nodes done
 * @nr: entries of @ready_ns
 * @ready_ns: when the resources are free, then when each node could begin
 */
struct seen {
	struct seen *next;
	uint64_t done;
	uint32_t nr;
	uint64_t ready_ns[];
};

/**
 * struct exact - One search
 * @draft: receives the best order
 * @net: its net
 * @bit: place of each node in state.done, or DLB_NONE
 * @tail_ns: work of the stream, or longest chain, from a node's end on
 * @reach: items that a node leads to
 * @turns: the order at hand
 * @nr_at: items and messages in it
 * @bound_ns: below which nothing can be
 * @cap_bytes: memory cap, 0 for none
 * @nr_nodes: nodes met
 * @max_nodes: nodes allowed
 * @nr_states: states in @table
 * @memory: for replays
 * @table: states met before
 */
struct exact {
	struct dlb_draft *draft;
	const struct dlb_net *net;
	uint32_t bit[MAX_NODES];
	uint64_t tail_ns[MAX_NODES];
	uint64_t reach[MAX_NODES];
	struct dlb_turns turns;
	uint32_t nr_at[2];
	uint64_t bound_ns;
	uint64_t cap_bytes;
	uint32_t nr_nodes;
	uint32_t max_nodes;
	uint32_t nr_states;
	struct dlb_memory memory;
	struct seen **table;
};

static bool is_item(const struct exact *x, uint32_t node)
{
	return node < x->net->first_message;
}

static uint64_t est_ns(const struct exact *x, const struct state *s,
		       uint32_t node)
{
	uint64_t free_ns = s->free_ns[!is_item(x, node)];

	return free_ns > s->ready_ns[node] ? free_ns : s->ready_ns[node];
}

static void finish(const struct exact *x, struct state *s, uint32_t node,
		   uint64_t end_ns)
{
	const struct dlb_list *next = &x->net->next;

	for (uint32_t i = next->first[node]; i < next->first[node + 1]; i++) {
		uint32_t other = next->entries[i];

		if (s->ready_ns[other] < end_ns)
			s->ready_ns[other] = end_ns;
		if (!--s->nr_left[other] && other >= x->net->first_joint)
			finish(x, s, other, s->ready_ns[other]);
	}
}

static bool is_open(const struct exact *x, const struct state *s, uint32_t node)
{
	return x->bit[node] != DLB_NONE && !s->nr_left[node] &&
	       !(s->done >> x->bit[node] & 1);
}

/*
 * A bound for what is left: each open node with what it leads to, and the work
 * of the stream.  Ready times of what is not open yet are bounds already.
 */
static uint64_t left_ns(const struct exact *x, const struct state *s)
{
	uint64_t bound = 0, work[2] = { s->free_ns[0], s->free_ns[1] };
	uint64_t least_tail = UINT64_MAX;

	for (uint32_t i = 0; i < x->net->first_joint; i++) {
		uint64_t end_ns;

		if (x->bit[i] == DLB_NONE || (s->done >> x->bit[i] & 1))
			continue;
		end_ns = est_ns(x, s, i) + x->net->ns[i] + x->tail_ns[i];
		bound = end_ns > bound ? end_ns : bound;
		work[!is_item(x, i)] += x->net->ns[i];
		if (!is_item(x, i) && x->tail_ns[i] < least_tail)
			least_tail = x->tail_ns[i];
	}
	bound = work[0] > bound ? work[0] : bound;
	if (least_tail != UINT64_MAX && work[1] + least_tail > bound)
		bound = work[1] + least_tail;
	return bound;
}

/* What makes two states with the same work done different */
static uint32_t fingerprint(const struct exact *x, const struct state *s,
			    uint64_t *out)
{
	uint32_t nr = 0;

	out[nr++] = s->free_ns[0];
	out[nr++] = s->free_ns[1];
	for (uint32_t i = 0; i < x->net->first_joint; i++)
		if (x->bit[i] != DLB_NONE && !(s->done >> x->bit[i] & 1))
			out[nr++] = est_ns(x, s, i);
	for (uint32_t i = x->net->first_joint; i < x->net->nr_nodes; i++)
		if (s->nr_left[i])
			out[nr++] = s->ready_ns[i];
	return nr;
}

static bool is_dominated(struct exact *x, const struct state *s)
{
	uint64_t print[MAX_NODES + 2];
	uint32_t nr = fingerprint(x, s, print), nr_chain = 0;
	uint64_t hash = s->done * 0x9e3779b97f4a7c15u;
	struct seen **at = &x->table[hash >> 48], *seen;

	for (; *at; at = &(*at)->next) {
		uint32_t i = 0;

		seen = *at;
		if (seen->done != s->done)
			continue;
		while (i < nr && seen->ready_ns[i] <= print[i])
			i++;
		if (i == nr)
			return true;
		nr_chain++;
	}
	if (nr_chain >= MAX_CHAIN || x->nr_states >= MAX_STATES)
		return false;
	seen = malloc(sizeof(*seen) + nr * sizeof(seen->ready_ns[0]));
	if (!seen)
		return false;
	seen->next = NULL;
	seen->done = s->done;
	seen->nr = nr;
	memcpy(seen->ready_ns, print, nr * sizeof(print[0]));
	*at = seen;
	x->nr_states++;
	return false;
}

/* Peak with one more item: on one stream the order alone decides */
static uint64_t peak_with(struct exact *x, uint32_t node)
{
	const struct dlb_turns *turns = &x->turns;

	dlb_memory_reset(&x->memory, x->net);
	for (uint32_t i = 0; i < x->nr_at[0]; i++) {
		dlb_memory_open(&x->memory, x->net, turns->items[i]);
		dlb_memory_close(&x->memory, x->net, turns->items[i]);
	}
	dlb_memory_open(&x->memory, x->net, node);
	return x->memory.peak_bytes;
}

static void search(struct exact *x, const struct state *s);

static void branch(struct exact *x, const struct state *s, uint32_t node)
{
	uint32_t side = !is_item(x, node);
	struct state next = *s;
	uint64_t end_ns = est_ns(x, s, node) + x->net->ns[node];

	if (side) {
		x->turns.messages[x->nr_at[1]] = node - x->net->first_message;
	} else {
		if (x->cap_bytes && peak_with(x, node) > x->cap_bytes)
			return;
		x->turns.items[x->nr_at[0]] = node;
	}
	next.done |= (uint64_t)1 << x->bit[node];
	next.free_ns[side] = end_ns;
	finish(x, &next, node, end_ns);
	x->nr_at[side]++;
	search(x, &next);
	x->nr_at[side]--;
}

/* The resource that could be done with something first; that moment */
static uint32_t first_side(const struct exact *x, const struct state *s,
			   uint64_t *ect_ns)
{
	ect_ns[0] = UINT64_MAX;
	ect_ns[1] = UINT64_MAX;
	for (uint32_t i = 0; i < x->net->first_joint; i++) {
		uint64_t end_ns;

		if (!is_open(x, s, i))
			continue;
		end_ns = est_ns(x, s, i) + x->net->ns[i];
		if (end_ns < ect_ns[!is_item(x, i)])
			ect_ns[!is_item(x, i)] = end_ns;
	}
	return ect_ns[1] < ect_ns[0];
}

/* Children in the order of their promise: the longest way ahead first */
static uint32_t find_children(const struct exact *x, const struct state *s,
			      uint32_t *children)
{
	uint64_t ect_ns[2];
	uint32_t side = first_side(x, s, ect_ns), nr = 0;

	for (uint32_t i = 0; i < x->net->first_joint; i++) {
		uint32_t own = !is_item(x, i), at = nr;

		if (!is_open(x, s, i) || (!x->cap_bytes && own != side))
			continue;
		/* What could begin only after something else has ended */
		if ((own || !x->cap_bytes) && est_ns(x, s, i) >= ect_ns[own] &&
		    est_ns(x, s, i) + x->net->ns[i] > ect_ns[own])
			continue;
		while (at && x->tail_ns[children[at - 1]] < x->tail_ns[i]) {
			children[at] = children[at - 1];
			at--;
		}
		children[at] = i;
		nr++;
	}
	return nr;
}

static void search(struct exact *x, const struct state *s)
{
	uint32_t children[MAX_NODES], nr;

	if (x->nr_nodes >= x->max_nodes || x->draft->period_ns <= x->bound_ns)
		return;
	x->nr_nodes++;
	if (x->nr_at[0] == x->net->nr_work &&
	    x->nr_at[1] == x->net->cut->nr_messages) {
		dlb_draft_offer(x->draft, &x->turns, 0);
		return;
	}
	if (left_ns(x, s) >= x->draft->period_ns || is_dominated(x, s))
		return;
	nr = find_children(x, s, children);
	for (uint32_t i = 0; i < nr; i++)
		branch(x, s, children[i]);
}

/* One stream has to do everything that a node leads to, one after the other */
static void find_tails(struct exact *x)
{
	const struct dlb_net *net = x->net;
	uint64_t path[MAX_NODES] = { 0 };
	bool has_changed;

	do {
		has_changed = false;
		for (uint32_t i = 0; i < net->nr_nodes; i++)
			for (uint32_t e = net->next.first[i];
			     e < net->next.first[i + 1]; e++) {
				uint32_t next = net->next.entries[e];
				uint64_t reach = x->reach[next];
				uint64_t ns = path[next] + net->ns[next];

				if (next < net->first_message)
					reach |= (uint64_t)1 << x->bit[next];
				has_changed |= path[i] < ns ||
					       (reach & ~x->reach[i]);
				path[i] = path[i] < ns ? ns : path[i];
				x->reach[i] |= reach;
			}
	} while (has_changed);
	for (uint32_t i = 0; i < net->nr_nodes; i++) {
		for (uint32_t j = 0; j < net->first_message; j++)
			if (x->bit[j] != DLB_NONE &&
			    (x->reach[i] >> x->bit[j] & 1))
				x->tail_ns[i] += net->ns[j];
		if (x->tail_ns[i] < path[i])
			x->tail_ns[i] = path[i];
	}
}

static bool is_small(const struct dlb_net *net)
{
	return net->nr_streams == 1 && !net->is_shared && !net->local_ns &&
	       net->nr_nodes <= MAX_NODES &&
	       net->nr_work + net->cut->nr_messages <= MAX_DONE;
}

static int exact_init(struct exact *x, struct state *s)
{
	const struct dlb_net *net = x->net;
	uint32_t nr = 0;

	x->table = calloc(TABLE_SIZE, sizeof(*x->table));
	if (!x->table || dlb_turns_init(&x->turns, net) ||
	    dlb_memory_init(&x->memory, net))
		return -ENOMEM;
	for (uint32_t i = 0; i < net->nr_nodes; i++) {
		bool is_done = i >= net->first_joint ||
			       (i < net->first_message &&
				!net->step->is_present[i]);

		x->bit[i] = is_done ? DLB_NONE : nr++;
		s->nr_left[i] = (uint8_t)net->nr_before[i];
	}
	for (uint32_t i = 1; i <= DLBOOST_PLAN_MAX_STREAMS; i++)
		x->turns.first[i] = net->nr_work;
	for (uint32_t i = net->first_joint; i < net->nr_nodes; i++)
		if (!net->nr_before[i])
			finish(x, s, i, 0);
	find_tails(x);
	return 0;
}

static void exact_fini(struct exact *x)
{
	for (uint32_t i = 0; x->table && i < TABLE_SIZE; i++)
		while (x->table[i]) {
			struct seen *next = x->table[i]->next;

			free(x->table[i]);
			x->table[i] = next;
		}
	free(x->table);
	dlb_turns_fini(&x->turns);
	dlb_memory_fini(&x->memory);
}

int dlb_exact(struct dlb_draft *draft, uint64_t bound_ns, uint32_t max_nodes,
	      bool *is_proven)
{
	struct exact x = {
		.draft = draft, .net = &draft->net, .bound_ns = bound_ns,
		.max_nodes = max_nodes ? max_nodes : DEFAULT_NODES,
		.cap_bytes = draft->net.step->attr->memory_bytes,
	};
	struct state s = { 0 };
	int ret;

	if (!is_small(x.net))
		return -EOPNOTSUPP;
	ret = exact_init(&x, &s);
	if (!ret) {
		search(&x, &s);
		*is_proven = x.nr_nodes < x.max_nodes;
	}
	exact_fini(&x);
	return ret;
}

/*
 * The yardstick begins with the best list and its messages, so that it is never
 * worse; messages of one layer each are tried too.
 */
int dlb_policy_exact(struct dlb_pick *pick, bool *is_proven)
{
	uint32_t max_nodes = pick->step->attr->max_nodes;
	struct dlb_draft *draft;
	bool is_second_proven = true;
	int ret = dlb_policy_list(pick);

	if (ret)
		return ret;
	ret = dlb_draft_create(pick->step, 1, 1, DLBOOST_PLAN_UNCUT, &draft);
	if (ret)
		return ret;
	ret = dlb_exact(draft, pick->bound_ns, max_nodes, is_proven);
	if (!ret && pick->draft &&
	    (pick->draft->cut.bucket_bytes != 1 ||
	     pick->draft->cut.slice_bytes != DLBOOST_PLAN_UNCUT))
		ret = dlb_exact(pick->draft, pick->bound_ns, max_nodes,
				&is_second_proven);
	*is_proven &= is_second_proven;
	dlb_pick_take(pick, draft);
	return ret;
}
