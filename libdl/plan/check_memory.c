// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The checker's replay of memory: items in the order of their begin, and before
 * each begin everything is given back that has ended by then.
 * Documentation/planning.rst, "Memory".
 */
#include <errno.h>

#include "../base/base.h"
#include "check_int.h"
#include "graph.h"

/**
 * struct replay - Memory while a plan runs
 * @c: the check
 * @order: items by begin
 * @has_ended: per item of the plan
 * @has_grad: per fact: the gradient of its output is there
 * @has_weights: per fact: the gradient of its parameters is there
 * @has_slot: per graph: the next batch has its slot
 * @now_bytes: in use
 * @peak_bytes: most so far
 */
struct replay {
	const struct check *c;
	uint32_t *order;
	bool *has_ended;
	bool *has_grad;
	bool *has_weights;
	bool *has_slot;
	uint64_t now_bytes;
	uint64_t peak_bytes;
};

static bool uses_backward(const struct fact *fact)
{
	return fact->passes || fact->learns;
}

static bool is_over(const struct replay *r, uint32_t place)
{
	return place == NOWHERE || r->has_ended[place];
}

static void take_grad(struct replay *r, uint32_t i)
{
	if (!uses_backward(&r->c->facts[i]) || r->has_grad[i])
		return;
	r->has_grad[i] = true;
	r->now_bytes += r->c->facts[i].layer->gradient_bytes;
}

static void take_backward(struct replay *r, uint32_t i, uint32_t place)
{
	const struct fact *fact = &r->c->facts[i];

	/* The loss makes its own gradient; others have it from their readers */
	take_grad(r, i);
	if (place == fact->place[DLBOOST_PLAN_INPUT_GRAD])
		for (uint32_t j = 0; j < fact->layer->nr_inputs; j++)
			take_grad(r, r->c->base[fact->graph] +
				     fact->layer->inputs[j]);
	if (place == made_at(fact) && !r->has_weights[fact->owner]) {
		r->has_weights[fact->owner] = true;
		r->now_bytes +=
			r->c->facts[fact->owner].layer->parameter_bytes;
	}
}

static void take_forward(struct replay *r, uint32_t i)
{
	const struct fact *fact = &r->c->facts[i];

	if (uses_backward(fact))
		r->now_bytes += fact->layer->activation_bytes;
	if (fact->layer->nr_inputs || r->has_slot[fact->graph])
		return;
	r->has_slot[fact->graph] = true;
	r->now_bytes += r->c->graphs[fact->graph]->slot_bytes;
}

static void begin(struct replay *r, uint32_t place)
{
	const struct dlboost_plan_item *item = &r->c->view->items[place];
	uint32_t i = r->c->base[item->graph] + item->layer;

	if (item->kind == DLBOOST_PLAN_INPUT_GRAD ||
	    item->kind == DLBOOST_PLAN_WEIGHT_GRAD)
		take_backward(r, i, place);
	else if (item->kind == DLBOOST_PLAN_FORWARD)
		take_forward(r, i);
	if (r->now_bytes > r->peak_bytes)
		r->peak_bytes = r->now_bytes;
}

static void end(struct replay *r, uint32_t place)
{
	const struct dlboost_plan_item *item = &r->c->view->items[place];
	const struct fact *fact = &r->c->facts[r->c->base[item->graph] +
					       item->layer];

	r->has_ended[place] = true;
	if (item->kind == DLBOOST_PLAN_RELEASE)
		r->now_bytes -= r->c->graphs[item->graph]->slot_bytes;
	else if (item->kind == DLBOOST_PLAN_UPDATE)
		r->now_bytes -= fact->layer->parameter_bytes;
	else if (item->kind != DLBOOST_PLAN_FORWARD &&
		 is_over(r, fact->place[DLBOOST_PLAN_INPUT_GRAD]) &&
		 is_over(r, fact->place[DLBOOST_PLAN_WEIGHT_GRAD]))
		r->now_bytes -= fact->layer->activation_bytes +
				fact->layer->gradient_bytes;
}

static int by_begin(const void *a, const void *b, void *arg)
{
	const struct dlboost_plan_item *items = arg;
	const uint32_t *x = a, *y = b;
	const struct dlboost_plan_item *p = &items[*x], *q = &items[*y];
	bool p_lasts = p->end_ns > p->start_ns;
	bool q_lasts = q->end_ns > q->start_ns;

	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	if (p_lasts != q_lasts)
		return p_lasts ? 1 : -1;
	return (*x > *y) - (*x < *y);
}

/* What is there before the step begins */
static void begin_step(struct replay *r)
{
	const struct check *c = r->c;

	for (uint32_t i = 0; i < c->base[c->nr_graphs]; i++) {
		r->now_bytes += c->facts[i].layer->static_bytes;
		if (uses_backward(&c->facts[i]))
			r->now_bytes += c->facts[i].layer->activation_bytes;
	}
	for (uint32_t g = 0; g < c->nr_graphs; g++)
		r->now_bytes += c->graphs[g]->slot_bytes;
	r->peak_bytes = r->now_bytes;
}

static void replay(struct replay *r)
{
	const struct dlboost_plan_item *items = r->c->view->items;
	uint32_t nr = r->c->view->nr_items;
	uint32_t open[DLBOOST_PLAN_MAX_STREAMS];

	for (uint32_t s = 0; s < DLBOOST_PLAN_MAX_STREAMS; s++)
		open[s] = NOWHERE;
	begin_step(r);
	for (uint32_t i = 0; i < nr; i++)
		r->order[i] = i;
	qsort_r(r->order, nr, sizeof(*r->order), by_begin,
		(void *)(uintptr_t)items);
	for (uint32_t i = 0; i < nr; i++) {
		const struct dlboost_plan_item *item = &items[r->order[i]];

		for (uint32_t s = 0; s < DLBOOST_PLAN_MAX_STREAMS; s++) {
			if (open[s] == NOWHERE ||
			    items[open[s]].end_ns > item->start_ns)
				continue;
			end(r, open[s]);
			open[s] = NOWHERE;
		}
		begin(r, r->order[i]);
		open[item->stream] = r->order[i];
	}
}

int dlb_check_memory(const struct check *c)
{
	struct replay r = { .c = c };
	uint32_t nr_facts = c->base[c->nr_graphs];
	int ret = 0;

	r.order = calloc(c->view->nr_items + 1, sizeof(*r.order));
	r.has_ended = calloc(c->view->nr_items + 1, sizeof(*r.has_ended));
	r.has_grad = calloc(nr_facts, sizeof(*r.has_grad));
	r.has_weights = calloc(nr_facts, sizeof(*r.has_weights));
	r.has_slot = calloc(c->nr_graphs, sizeof(*r.has_slot));
	if (!r.order || !r.has_ended || !r.has_grad || !r.has_weights ||
	    !r.has_slot) {
		ret = -ENOMEM;
	} else {
		replay(&r);
		if (r.peak_bytes != c->view->peak_bytes)
			ret = wrong(c, "the plan takes %llu bytes, it says %llu",
				    (unsigned long long)r.peak_bytes,
				    (unsigned long long)c->view->peak_bytes);
		else if (c->attr->memory_bytes &&
			 r.peak_bytes > c->attr->memory_bytes)
			ret = wrong(c, "the plan takes %llu bytes, there are "
				    "%llu", (unsigned long long)r.peak_bytes,
				    (unsigned long long)c->attr->memory_bytes);
	}
	free(r.order);
	free(r.has_ended);
	free(r.has_grad);
	free(r.has_weights);
	free(r.has_slot);
	return ret;
}
