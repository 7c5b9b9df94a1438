// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The checker's dependencies.  Each is an edge that must hold in time, and all
 * of them together with the order of every stream and link must have no cycle:
 * then nothing waits for what is queued behind it, however long anything takes.
 * Documentation/planning.rst, "The proof".
 */
#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "check_int.h"

/**
 * struct arcs - Edges between places of the plan
 * @c: the check
 * @nr_nodes: items, then messages, then two meeting points a graph
 * @end_ns: end of each node; of meeting points, of what meets there
 * @pairs: from, to
 * @nr: edges
 * @cap: room
 * @ret: first failure
 */
struct arcs {
	const struct check *c;
	uint32_t nr_nodes;
	uint64_t *end_ns;
	uint32_t (*pairs)[2];
	size_t nr;
	size_t cap;
	int ret;
};

enum { ALL_REDUCED, ALL_UPDATED };

static uint32_t meeting(const struct arcs *a, uint32_t graph, uint32_t which)
{
	return a->c->view->nr_items + a->c->view->nr_messages + 2 * graph +
	       which;
}

static uint64_t start_of(const struct arcs *a, uint32_t node)
{
	const struct dlboost_plan_view *view = a->c->view;
	const struct dlboost_plan_message *message;

	if (node < view->nr_items)
		return view->items[node].start_ns;
	if (node >= view->nr_items + view->nr_messages)
		return UINT64_MAX;
	message = &view->messages[node - view->nr_items];
	return message->local_end_ns > message->local_start_ns ?
	       message->local_start_ns : message->start_ns;
}

static void keep(struct arcs *a, uint32_t from, uint32_t to)
{
	if (a->nr == a->cap) {
		size_t cap = a->cap ? 2 * a->cap : 1024;
		void *grown = realloc(a->pairs, cap * sizeof(*a->pairs));

		if (!grown) {
			a->ret = -ENOMEM;
			return;
		}
		a->pairs = grown;
		a->cap = cap;
	}
	a->pairs[a->nr][0] = from;
	a->pairs[a->nr][1] = to;
	a->nr++;
}

/* "forward of layer 'conv1'", for sentences */
static void describe(const struct arcs *a, uint32_t node, char *text,
		     size_t bytes)
{
	static const char *const names[] = { "dX", "dW", "update", "forward" };
	const struct check *c = a->c;
	const struct dlboost_plan_item *item = &c->view->items[node];

	if (node >= c->view->nr_items + c->view->nr_messages)
		dlb_sentence(text, bytes, "the barrier");
	else if (node >= c->view->nr_items)
		dlb_sentence(text, bytes, "reduction %u",
			     node - c->view->nr_items);
	else if (item->kind == DLBOOST_PLAN_RELEASE)
		dlb_sentence(text, bytes, "the slot's release");
	else
		dlb_sentence(text, bytes, "%s of layer '%s'", names[item->kind],
			     c->facts[c->base[item->graph] +
				      item->layer].layer->name);
}

/* @after may not begin before @before has ended */
static void need(struct arcs *a, uint32_t before, uint32_t after)
{
	char x[160], y[160];

	if (before == NOWHERE || after == NOWHERE || a->ret)
		return;
	keep(a, before, after);
	if (start_of(a, after) == UINT64_MAX &&
	    a->end_ns[after] < a->end_ns[before])
		a->end_ns[after] = a->end_ns[before];
	if (a->ret || start_of(a, after) >= a->end_ns[before])
		return;
	describe(a, before, x, sizeof(x));
	describe(a, after, y, sizeof(y));
	a->ret = wrong(a->c, "%s begins before %s has ended", y, x);
}

static void need_backward(struct arcs *a)
{
	const struct check *c = a->c;

	for (uint32_t i = 0; i < c->base[c->nr_graphs]; i++) {
		const struct fact *reader = &c->facts[i];
		uint32_t dx = reader->place[DLBOOST_PLAN_INPUT_GRAD];

		for (uint32_t j = 0; j < reader->layer->nr_inputs; j++) {
			const struct fact *in =
				&c->facts[c->base[reader->graph] +
					  reader->layer->inputs[j]];

			need(a, dx, in->place[DLBOOST_PLAN_INPUT_GRAD]);
			need(a, dx, in->place[DLBOOST_PLAN_WEIGHT_GRAD]);
		}
		if (!reader->layer->nr_inputs)
			need(a, made_at(reader), c->release[reader->graph]);
	}
}

/* Layers that share parameters, from the last one of the graph's order down */
static int need_tied(struct arcs *a, const uint32_t *depth)
{
	const struct check *c = a->c;

	for (uint32_t i = 0; i < c->base[c->nr_graphs]; i++)
		for (uint32_t j = 0; j < c->base[c->nr_graphs]; j++)
			if (i != j && c->facts[i].learns &&
			    c->facts[i].layer->flags &
				    DLBOOST_PLAN_LAYER_TIED &&
			    c->facts[i].owner == c->facts[j].owner) {
				bool is_above = depth[i] > depth[j];

				need(a, made_at(&c->facts[is_above ? i : j]),
				     made_at(&c->facts[is_above ? j : i]));
			}
	return a->ret;
}

/*
 * A layer's rank in the order of the forward pass: how many layers come before
 * it when of all possible ones the lowest is always taken.
 */
static int find_depths(const struct check *c, uint32_t *depth)
{
	uint32_t nr = c->base[c->nr_graphs], next = 0;
	bool has_changed = true;

	memset(depth, 0xff, nr * sizeof(*depth));
	while (has_changed) {
		has_changed = false;
		for (uint32_t i = 0; i < nr; i++) {
			const struct fact *fact = &c->facts[i];
			uint32_t j = 0;

			while (j < fact->layer->nr_inputs &&
			       depth[c->base[fact->graph] +
				     fact->layer->inputs[j]] != NOWHERE)
				j++;
			if (depth[i] != NOWHERE || j < fact->layer->nr_inputs)
				continue;
			depth[i] = next++;
			has_changed = true;
		}
	}
	return next == nr ? 0 : wrong(c, "the graph has a cycle");
}

/* A gradient is made by every layer that shares it, then reduced, then used */
static void need_reduced(struct arcs *a)
{
	const struct check *c = a->c;
	const struct dlboost_plan_view *view = c->view;
	bool *is_shared = calloc(c->base[c->nr_graphs], sizeof(*is_shared));

	if (!is_shared) {
		a->ret = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < c->base[c->nr_graphs]; i++)
		is_shared[c->facts[i].owner] |= c->facts[i].owner != i;
	for (uint32_t m = 0; m < view->nr_messages; m++) {
		uint32_t node = view->nr_items + m;
		uint32_t graph = view->messages[m].graph;

		need(a, node, meeting(a, graph, ALL_REDUCED));
		for (uint32_t s = 0; s < view->messages[m].nr_slices; s++) {
			uint32_t owner = c->base[graph] +
				view->slices[view->messages[m].first_slice +
					     s].layer;

			need(a, made_at(&c->facts[owner]), node);
			need(a, node,
			     c->facts[owner].place[DLBOOST_PLAN_UPDATE]);
			for (uint32_t i = 0; is_shared[owner] &&
			     i < c->base[c->nr_graphs]; i++)
				if (c->facts[i].owner == owner)
					need(a, made_at(&c->facts[i]), node);
		}
	}
	free(is_shared);
}

static bool wants_all(const struct check *c, uint32_t graph)
{
	if (c->view->has_barrier)
		return true;
	for (uint32_t i = c->base[graph]; i < c->base[graph + 1]; i++)
		if (c->facts[i].layer->flags & DLBOOST_PLAN_LAYER_SYNC)
			return true;
	return false;
}

/* Gradient before update, all of them where one wants all */
static void need_updates(struct arcs *a)
{
	const struct check *c = a->c;

	for (uint32_t i = 0; i < c->base[c->nr_graphs]; i++) {
		const struct fact *fact = &c->facts[i];
		uint32_t update =
			c->facts[fact->owner].place[DLBOOST_PLAN_UPDATE];

		need(a, made_at(fact), update);
		need(a, made_at(fact), meeting(a, fact->graph, ALL_REDUCED));
	}
	for (uint32_t i = 0; i < c->base[c->nr_graphs]; i++) {
		uint32_t graph = c->facts[i].graph;
		uint32_t update = c->facts[i].place[DLBOOST_PLAN_UPDATE];

		if (wants_all(c, graph))
			need(a, meeting(a, graph, ALL_REDUCED), update);
		need(a, update, meeting(a, graph, ALL_UPDATED));
	}
}

static void need_forward(struct arcs *a)
{
	const struct check *c = a->c;

	for (uint32_t i = 0; i < c->base[c->nr_graphs]; i++) {
		const struct fact *fact = &c->facts[i];
		uint32_t forward = fact->place[DLBOOST_PLAN_FORWARD];

		need(a, c->facts[fact->owner].place[DLBOOST_PLAN_UPDATE],
		     forward);
		for (uint32_t j = 0; j < fact->layer->nr_inputs; j++)
			need(a, c->facts[c->base[fact->graph] +
					 fact->layer->inputs[j]]
				     .place[DLBOOST_PLAN_FORWARD], forward);
		if (c->view->has_barrier)
			need(a, meeting(a, fact->graph, ALL_UPDATED), forward);
	}
}

/* What stands in one list comes one after the other; times are checked */
static void keep_queues(struct arcs *a)
{
	const struct dlboost_plan_view *view = a->c->view;

	for (uint32_t i = 1; i < view->nr_items; i++)
		if (view->items[i].stream == view->items[i - 1].stream)
			keep(a, i - 1, i);
	for (uint32_t i = 1; i < view->nr_messages; i++)
		keep(a, view->nr_items + i - 1, view->nr_items + i);
}

static int by_from(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Take away what waits for nothing until nothing is left, or a cycle is */
static int check_no_cycle(struct arcs *a)
{
	uint32_t *nr_waits = calloc(a->nr_nodes, sizeof(*nr_waits));
	uint32_t *todo = calloc(a->nr_nodes, sizeof(*todo));
	size_t *first = calloc(a->nr_nodes + 2, sizeof(*first));
	uint32_t nr = 0;
	int ret = nr_waits && todo && first ? 0 : -ENOMEM;

	if (!ret) {
		qsort(a->pairs, a->nr, sizeof(*a->pairs), by_from);
		for (size_t i = 0; i < a->nr; i++) {
			nr_waits[a->pairs[i][1]]++;
			first[a->pairs[i][0] + 1]++;
		}
		for (uint32_t i = 0; i < a->nr_nodes; i++) {
			first[i + 1] += first[i];
			if (!nr_waits[i])
				todo[nr++] = i;
		}
		for (uint32_t at = 0; at < nr; at++)
			for (size_t i = first[todo[at]];
			     i < first[todo[at] + 1]; i++)
				if (!--nr_waits[a->pairs[i][1]])
					todo[nr++] = a->pairs[i][1];
		if (nr < a->nr_nodes)
			ret = wrong(a->c, "order and dependencies make a cycle: "
				    "something waits for what is queued behind "
				    "it");
	}
	free(nr_waits);
	free(todo);
	free(first);
	return ret;
}

static int need_everything(struct arcs *a, uint32_t *depth)
{
	int ret = find_depths(a->c, depth);

	if (ret)
		return ret;
	need_backward(a);
	if (!a->ret)
		need_tied(a, depth);
	if (!a->ret)
		need_reduced(a);
	if (!a->ret)
		need_updates(a);
	if (!a->ret)
		need_forward(a);
	if (!a->ret)
		keep_queues(a);
	return a->ret;
}

int dlb_check_order(struct check *c)
{
	const struct dlboost_plan_view *view = c->view;
	struct arcs a = { .c = c };
	uint32_t *depth = calloc(c->base[c->nr_graphs], sizeof(*depth));
	int ret = -ENOMEM;

	a.nr_nodes = view->nr_items + view->nr_messages + 2 * c->nr_graphs;
	a.end_ns = calloc(a.nr_nodes, sizeof(*a.end_ns));
	if (depth && a.end_ns) {
		for (uint32_t i = 0; i < view->nr_items; i++)
			a.end_ns[i] = view->items[i].end_ns;
		for (uint32_t i = 0; i < view->nr_messages; i++)
			a.end_ns[view->nr_items + i] = view->messages[i].end_ns;
		ret = need_everything(&a, depth);
		if (!ret)
			ret = check_no_cycle(&a);
	}
	free(depth);
	free(a.end_ns);
	free(a.pairs);
	return ret;
}
