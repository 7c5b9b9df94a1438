// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The proof's checker: which work a step must hold, and whether a plan has each
 * piece once, in time and on a stream.  Shares nothing with the planner but the
 * caller's layers; it does not trust their order either.  No locks.
 * Documentation/planning.rst, "The proof".
 */
#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "check_int.h"
#include "graph.h"

static const char *const kind_names[] = { "dX", "dW", "update", "forward" };

static int check_machine(const struct check *c)
{
	const struct dlboost_plan_attr *attr = c->attr;

	if (attr->size != sizeof(*attr) || !attr->ranks || !attr->local_ranks ||
	    attr->ranks % attr->local_ranks || !attr->link_bits_per_s ||
	    !attr->local_bits_per_s || !attr->nr_streams ||
	    attr->nr_streams > DLBOOST_PLAN_MAX_STREAMS || !c->nr_graphs) {
		dlb_sentence(c->error, c->error_bytes,
			     "the machine is not described correctly");
		return -EINVAL;
	}
	return 0;
}

static void facts_fill(struct check *c)
{
	uint32_t nr = 0;

	for (uint32_t g = 0; g < c->nr_graphs; g++) {
		c->base[g] = nr;
		c->release[g] = NOWHERE;
		for (uint32_t l = 0; l < c->graphs[g]->nr_layers; l++) {
			struct fact *fact = &c->facts[nr++];

			fact->layer = &c->graphs[g]->layers[l];
			fact->graph = g;
			fact->owner = c->base[g] + l;
			if (fact->layer->flags & DLBOOST_PLAN_LAYER_TIED)
				fact->owner = c->base[g] +
					      fact->layer->tied_to;
			memset(fact->place, 0xff, sizeof(fact->place));
		}
	}
	c->base[c->nr_graphs] = nr;
	for (uint32_t i = 0; i < nr; i++)
		c->facts[i].learns =
			c->facts[c->facts[i].owner].layer->parameter_bytes &&
			!(c->facts[i].layer->flags & DLBOOST_PLAN_LAYER_FROZEN);
}

/* Gradients pass a layer when anything below it learns: until nothing changes */
static void facts_spread(struct check *c)
{
	bool has_changed;

	do {
		has_changed = false;
		for (uint32_t i = 0; i < c->base[c->nr_graphs]; i++) {
			struct fact *fact = &c->facts[i];

			for (uint32_t j = 0; j < fact->layer->nr_inputs; j++) {
				const struct fact *in =
					&c->facts[c->base[fact->graph] +
						  fact->layer->inputs[j]];

				if (fact->passes || !(in->learns || in->passes))
					continue;
				fact->passes = true;
				has_changed = true;
			}
		}
	} while (has_changed);
	for (uint32_t i = 0; i < c->base[c->nr_graphs]; i++) {
		struct fact *fact = &c->facts[i];
		bool is_whole = fact->layer->flags & DLBOOST_PLAN_LAYER_WHOLE;

		fact->is_split = fact->learns && !(is_whole && fact->passes);
	}
}

static bool is_wanted(const struct fact *fact, uint32_t self, uint32_t kind)
{
	switch (kind) {
	case DLBOOST_PLAN_INPUT_GRAD:
		return fact->passes;
	case DLBOOST_PLAN_WEIGHT_GRAD:
		return fact->is_split;
	case DLBOOST_PLAN_UPDATE:
		return fact->learns && fact->owner == self;
	default:
		return true;
	}
}

static uint64_t wanted_ns(const struct fact *fact, uint32_t kind)
{
	const struct dlboost_plan_layer *layer = fact->layer;

	switch (kind) {
	case DLBOOST_PLAN_INPUT_GRAD:
		return layer->input_grad_ns +
		       (fact->learns && !fact->is_split ?
			layer->weight_grad_ns : 0);
	case DLBOOST_PLAN_WEIGHT_GRAD:
		return layer->weight_grad_ns;
	case DLBOOST_PLAN_UPDATE:
		return layer->update_ns;
	default:
		return layer->forward_ns;
	}
}

/* Streams and links may slow each other down; then a time is a least time */
static bool is_slowed(const struct check *c)
{
	return c->attr->nr_streams > 1 || c->attr->interference_permille;
}

static int check_release(struct check *c, uint32_t at)
{
	const struct dlboost_plan_item *item = &c->view->items[at];

	if (c->release[item->graph] != NOWHERE)
		return wrong(c, "the slot of graph %u is released twice",
			     item->graph);
	if (item->end_ns != item->start_ns)
		return wrong(c, "the release of the slot of graph %u takes time",
			     item->graph);
	c->release[item->graph] = at;
	return 0;
}

static int check_work(struct check *c, uint32_t at)
{
	const struct dlboost_plan_item *item = &c->view->items[at];
	uint32_t self = c->base[item->graph] + item->layer;
	struct fact *fact = &c->facts[self];
	uint64_t ns, want_ns = wanted_ns(fact, item->kind);

	if (fact->place[item->kind] != NOWHERE)
		return wrong(c, "%s of layer '%s' is there twice",
			     kind_names[item->kind], fact->layer->name);
	if (!is_wanted(fact, self, item->kind))
		return wrong(c, "layer '%s' has no %s, but the plan has",
			     fact->layer->name, kind_names[item->kind]);
	ns = item->end_ns - item->start_ns;
	if (item->end_ns < item->start_ns || ns < want_ns ||
	    (ns > want_ns && !is_slowed(c)))
		return wrong(c, "%s of layer '%s' takes %llu ns, the plan says "
			     "%llu to %llu", kind_names[item->kind],
			     fact->layer->name, (unsigned long long)want_ns,
			     (unsigned long long)item->start_ns,
			     (unsigned long long)item->end_ns);
	fact->place[item->kind] = at;
	return 0;
}

static int check_item(struct check *c, uint32_t at)
{
	const struct dlboost_plan_item *item = &c->view->items[at];
	const struct dlboost_plan_item *last = at ? item - 1 : NULL;

	if (item->graph >= c->nr_graphs ||
	    item->kind > DLBOOST_PLAN_RELEASE ||
	    (item->kind != DLBOOST_PLAN_RELEASE &&
	     item->layer >= c->graphs[item->graph]->nr_layers))
		return wrong(c, "item %u is of no layer", at);
	if (item->stream >= c->attr->nr_streams ||
	    (last && item->stream < last->stream))
		return wrong(c, "item %u is on stream %u, where it cannot be", at,
			     item->stream);
	if (last && last->stream == item->stream &&
	    item->start_ns < last->end_ns)
		return wrong(c, "item %u begins on stream %u before the one in "
			     "front of it ends", at, item->stream);
	return item->kind == DLBOOST_PLAN_RELEASE ? check_release(c, at) :
						    check_work(c, at);
}

static int check_items(struct check *c)
{
	int ret = 0;

	for (uint32_t at = 0; !ret && at < c->view->nr_items; at++)
		ret = check_item(c, at);
	for (uint32_t i = 0; !ret && i < c->base[c->nr_graphs]; i++)
		for (uint32_t kind = 0; kind < 4; kind++)
			if (is_wanted(&c->facts[i], i, kind) &&
			    c->facts[i].place[kind] == NOWHERE)
				return wrong(c, "%s of layer '%s' is missing",
					     kind_names[kind],
					     c->facts[i].layer->name);
	for (uint32_t g = 0; !ret && g < c->nr_graphs; g++)
		if (c->release[g] == NOWHERE)
			return wrong(c, "the slot of graph %u is never released",
				     g);
	return ret;
}

static int check_period(const struct check *c)
{
	const struct dlboost_plan_view *view = c->view;
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < view->nr_items; i++)
		if (view->items[i].end_ns > last_ns)
			last_ns = view->items[i].end_ns;
	for (uint32_t i = 0; i < view->nr_messages; i++)
		if (view->messages[i].end_ns > last_ns)
			last_ns = view->messages[i].end_ns;
	if (last_ns != view->period_ns)
		return wrong(c, "the step ends after %llu ns, the plan says "
			     "%llu", (unsigned long long)last_ns,
			     (unsigned long long)view->period_ns);
	return 0;
}

static int check_view(struct check *c)
{
	int ret;

	if (c->attr->has_barrier && !c->view->has_barrier)
		return wrong(c, "the plan has no barrier, the machine wants one");
	facts_fill(c);
	facts_spread(c);
	ret = check_items(c);
	if (!ret)
		ret = dlb_check_slices(c);
	if (!ret)
		ret = dlb_check_link(c);
	if (!ret)
		ret = dlb_check_order(c);
	if (!ret)
		ret = check_period(c);
	if (!ret)
		ret = dlb_check_memory(c);
	return ret;
}

static bool is_same_message(const struct dlboost_plan_view *a,
			    const struct dlboost_plan_view *b, uint32_t i)
{
	const struct dlboost_plan_message *x = &a->messages[i];
	const struct dlboost_plan_message *y = &b->messages[i];

	if (x->graph != y->graph || x->nr_slices != y->nr_slices)
		return false;
	for (uint32_t j = 0; j < x->nr_slices; j++) {
		const struct dlboost_plan_slice *s =
			&a->slices[x->first_slice + j];
		const struct dlboost_plan_slice *t =
			&b->slices[y->first_slice + j];

		if (s->layer != t->layer || s->len_bytes != t->len_bytes ||
		    s->offset_bytes != t->offset_bytes)
			return false;
	}
	return true;
}

/* Every view has passed by now, so its slices are where they should be */
static int check_ranks(struct check *c,
		       const struct dlboost_plan_view *const *views,
		       uint32_t nr_views)
{
	for (uint32_t r = 1; r < nr_views; r++) {
		uint32_t i = 0;

		if (views[r]->nr_messages != views[0]->nr_messages)
			return wrong(c, "rank %u has %u reductions, rank 0 has "
				     "%u", r, views[r]->nr_messages,
				     views[0]->nr_messages);
		while (i < views[0]->nr_messages &&
		       is_same_message(views[0], views[r], i))
			i++;
		if (i < views[0]->nr_messages)
			return wrong(c, "rank %u reduces something else than "
				     "rank 0 at place %u: they would wait for "
				     "each other for ever", r, i);
	}
	return 0;
}

DLB_EXPORT int dlboost_plan_check(
	const struct dlboost_plan_graph *const *graphs, uint32_t nr_graphs,
	const struct dlboost_plan_attr *attr,
	const struct dlboost_plan_view *const *views, uint32_t nr_views,
	char *error, size_t error_bytes)
{
	struct check c = {
		.graphs = graphs, .nr_graphs = nr_graphs, .attr = attr,
		.error = error, .error_bytes = error_bytes,
	};
	uint32_t nr_layers = 0;
	int ret = check_machine(&c);

	if (ret)
		return ret;
	for (uint32_t g = 0; g < nr_graphs; g++)
		nr_layers += graphs[g]->nr_layers;
	c.facts = calloc(nr_layers, sizeof(*c.facts));
	c.base = calloc(nr_graphs + 1, sizeof(*c.base));
	c.release = calloc(nr_graphs, sizeof(*c.release));
	ret = c.facts && c.base && c.release ? 0 : -ENOMEM;
	for (uint32_t r = 0; !ret && r < nr_views; r++) {
		memset(c.facts, 0, nr_layers * sizeof(*c.facts));
		c.view = views[r];
		ret = check_view(&c);
	}
	if (!ret)
		ret = check_ranks(&c, views, nr_views);
	free(c.facts);
	free(c.base);
	free(c.release);
	return ret;
}
