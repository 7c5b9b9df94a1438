// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Random graphs are connected, have one output and at least one trained layer;
 * everything else about them is chance.
 */
#include "plan_util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>

#define MAX_LAYERS 600
#define MAX_INPUTS 3

/* Multiply with carry (G. Marsaglia), far from the library's generators */
uint32_t random_below(struct random *random, uint32_t n)
{
	random->state = (random->state & 0xffffffff) * 4294957665u +
			(random->state >> 32);
	return (uint32_t)(((random->state & 0xffffffff) * n) >> 32);
}

static void random_figures(struct random *random, const struct shape *shape,
			   struct dlboost_plan_layer *layer)
{
	uint32_t least = shape->least_ns;

	layer->forward_ns = least + random_below(random, 1000);
	layer->input_grad_ns = least + random_below(random, 1000);
	layer->weight_grad_ns = least + random_below(random, 1000);
	layer->update_ns = least + random_below(random, 30);
	layer->activation_bytes = random_below(random, 100000);
	layer->gradient_bytes = random_below(random, 100000);
	if (random_below(random, 5))
		layer->parameter_bytes = 4 + 4 * random_below(random, 50000);
	layer->static_bytes = 3 * layer->parameter_bytes;
}

static void random_flags(struct random *random, struct dlboost_plan_layer *layers,
			 uint32_t i, uint32_t nr_frozen)
{
	struct dlboost_plan_layer *layer = &layers[i];
	uint32_t other = random_below(random, i + 1);

	if (random_below(random, 4) == 0)
		layer->flags |= DLBOOST_PLAN_LAYER_WHOLE;
	if (random_below(random, 40) == 0)
		layer->flags |= DLBOOST_PLAN_LAYER_SYNC;
	if (i < nr_frozen)
		layer->flags |= DLBOOST_PLAN_LAYER_FROZEN;
	if (i > nr_frozen && other >= nr_frozen && other < i &&
	    layers[other].parameter_bytes && random_below(random, 6) == 0) {
		layer->flags |= DLBOOST_PLAN_LAYER_TIED;
		layer->tied_to = other;
		layer->parameter_bytes = 0;
	}
}

/* The layer before, so that all are connected, and others at will */
static uint32_t random_inputs(struct random *random, const struct shape *shape,
			      uint32_t i, uint32_t *inputs)
{
	uint32_t nr = 0;

	if (!i)
		return 0;
	inputs[nr++] = i - 1;
	while (!shape->is_chain && nr < MAX_INPUTS && i > nr &&
	       random_below(random, 3) == 0) {
		uint32_t other = random_below(random, i), j = 0;

		while (j < nr && inputs[j] != other)
			j++;
		if (j < nr)
			break;
		inputs[nr++] = other;
	}
	return nr;
}

struct dlboost_plan_graph *random_graph(struct random *random,
					const struct shape *shape)
{
	static struct dlboost_plan_layer layers[MAX_LAYERS];
	static uint32_t inputs[MAX_LAYERS][MAX_INPUTS];
	static char names[MAX_LAYERS][16];
	struct dlboost_plan_graph *graph = NULL;
	uint32_t nr_frozen = 0;
	char error[200] = "";
	int ret;

	if (shape->has_flags && random_below(random, 3) == 0)
		nr_frozen = random_below(random, shape->nr_layers);
	for (uint32_t i = 0; i < shape->nr_layers; i++) {
		layers[i] = (struct dlboost_plan_layer){ .name = names[i],
							 .inputs = inputs[i] };
		snprintf(names[i], sizeof(names[i]), "layer%u", i);
		layers[i].nr_inputs = random_inputs(random, shape, i,
						    inputs[i]);
		random_figures(random, shape, &layers[i]);
		if (shape->has_flags)
			random_flags(random, layers, i, nr_frozen);
	}
	layers[shape->nr_layers - 1].parameter_bytes = 4000;
	layers[shape->nr_layers - 1].flags &= ~DLBOOST_PLAN_LAYER_TIED;
	ret = dlboost_plan_graph_create(layers, shape->nr_layers,
					random_below(random, 50000), error,
					sizeof(error), &graph);
	if (ret)
		fail_msg("graph refused: %s", error);
	return graph;
}

void random_machine(struct random *random, struct dlboost_plan_attr *attr)
{
	static const uint32_t ranks[] = { 1, 2, 3, 8, 16 };

	*attr = (struct dlboost_plan_attr)DLBOOST_PLAN_ATTR_INIT;
	attr->ranks = ranks[random_below(random, 5)];
	if (attr->ranks == 8 && random_below(random, 2))
		attr->local_ranks = 1u << random_below(random, 4);
	attr->link_bits_per_s = 100000000000u +
				random_below(random, 1000) * 10000000000u;
	attr->local_bits_per_s = 8 * attr->link_bits_per_s;
	attr->hop_ns = random_below(random, 20);
	attr->local_hop_ns = random_below(random, 5);
}

struct dlboost_plan *make_plan(const struct dlboost_plan_graph *graph,
			       const struct dlboost_plan_attr *attr,
			       uint32_t policy)
{
	struct dlboost_plan_attr with_policy = *attr;
	const struct dlboost_plan_view *view;
	struct dlboost_plan *plan = NULL;
	char error[300] = "";
	int ret;

	with_policy.policy = policy;
	ret = dlboost_plan_create(&graph, 1, &with_policy, error, sizeof(error),
				  &plan);
	if (ret == -ENOSPC && attr->memory_bytes)
		return NULL;
	if (ret)
		fail_msg("%s: %d, %s", dlboost_plan_policy_name(policy), ret,
			 error);
	view = dlboost_plan_get_view(plan);
	ret = dlboost_plan_check(&graph, 1, attr, &view, 1, error,
				 sizeof(error));
	if (ret)
		fail_msg("%s is not proven: %s",
			 dlboost_plan_policy_name(policy), error);
	return plan;
}

uint64_t period_of(const struct dlboost_plan_graph *graph,
		   const struct dlboost_plan_attr *attr, uint32_t policy)
{
	struct dlboost_plan *plan = make_plan(graph, attr, policy);
	uint64_t period_ns;

	assert_non_null(plan);
	period_ns = dlboost_plan_get_view(plan)->period_ns;
	dlboost_plan_destroy(plan);
	return period_ns;
}
