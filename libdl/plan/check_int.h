/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The checker's own view of a step.  Nothing here is shared with the planner
 * but the graph as the caller gave it.
 */
#ifndef DLB_PLAN_CHECK_INT_H
#define DLB_PLAN_CHECK_INT_H

#include <stdbool.h>
#include <stdint.h>

#include <dlboost/plan.h>

#define NOWHERE UINT32_MAX

/**
 * struct fact - What follows from the graph for one layer
 * @layer: as the caller gave it
 * @graph: its graph
 * @owner: fact of the layer that owns its parameters
 * @learns: its parameters are trained
 * @passes: a layer below learns, so a gradient of its input is wanted
 * @is_split: its weight gradient is a piece of work of its own
 * @place: where each kind of work stands in the plan, or NOWHERE
 */
struct fact {
	const struct dlboost_plan_layer *layer;
	uint32_t graph;
	uint32_t owner;
	bool learns;
	bool passes;
	bool is_split;
	uint32_t place[4];
};

/**
 * struct check - One check
 * @graphs: the graphs
 * @nr_graphs: how many
 * @attr: the machine
 * @view: the plan
 * @facts: layers of all graphs
 * @base: first fact of each graph, and the end of the last
 * @release: where the release of each graph stands
 * @error: receives the sentence
 * @error_bytes: size of @error
 */
struct check {
	const struct dlboost_plan_graph *const *graphs;
	uint32_t nr_graphs;
	const struct dlboost_plan_attr *attr;
	const struct dlboost_plan_view *view;
	struct fact *facts;
	uint32_t *base;
	uint32_t *release;
	char *error;
	size_t error_bytes;
};

/* Where the gradient of a layer's parameters is made, or NOWHERE */
static inline uint32_t made_at(const struct fact *fact)
{
	if (!fact->learns)
		return NOWHERE;
	return fact->place[fact->is_split ? DLBOOST_PLAN_WEIGHT_GRAD :
					    DLBOOST_PLAN_INPUT_GRAD];
}

#define wrong(check, ...) \
	(dlb_sentence((check)->error, (check)->error_bytes, __VA_ARGS__), \
	 -EBADMSG)

/* check_order.c, check_link.c, check_memory.c: 0, -EBADMSG or -ENOMEM */
int dlb_check_order(struct check *c);
int dlb_check_slices(const struct check *c);
int dlb_check_link(const struct check *c);
int dlb_check_memory(const struct check *c);

#endif /* DLB_PLAN_CHECK_INT_H */
