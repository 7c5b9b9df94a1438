// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Layer graphs as they come from outside: checked, copied, put in order.  What
 * passes here can be trained, and every sum of its times fits 63 bits.  Knows
 * neither machines nor policies.  Graphs never change, so there are no locks.
 * Documentation/planning.rst, "Graphs".
 */
#include "graph.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "../base/base.h"

struct refusal {
	char *error;
	size_t error_bytes;
};

#define refuse(why, ...) \
	(dlb_sentence((why)->error, (why)->error_bytes, __VA_ARGS__), -EINVAL)

static const char *name_of(const struct dlboost_plan_layer *layer)
{
	return layer->name && *layer->name ? layer->name : "(no name)";
}

static int check_figures(const struct dlboost_plan_layer *layer,
			 const struct refusal *why)
{
	const uint64_t ns[] = { layer->forward_ns, layer->input_grad_ns,
				layer->weight_grad_ns, layer->update_ns };
	const uint64_t bytes[] = { layer->activation_bytes,
				   layer->gradient_bytes,
				   layer->parameter_bytes,
				   layer->static_bytes };

	for (size_t i = 0; i < ARRAY_SIZE(ns); i++) {
		if (ns[i] > DLBOOST_PLAN_MAX_NS)
			return refuse(why, "layer '%s': a time is above %llu ns",
				      name_of(layer),
				      (unsigned long long)DLBOOST_PLAN_MAX_NS);
		if (bytes[i] > DLBOOST_PLAN_MAX_BYTES)
			return refuse(why, "layer '%s': a size is above %llu bytes",
				      name_of(layer),
				      (unsigned long long)DLBOOST_PLAN_MAX_BYTES);
	}
	return 0;
}

static int check_layer(const struct dlboost_plan_layer *layers, uint32_t nr,
		       uint32_t idx, const struct refusal *why)
{
	const struct dlboost_plan_layer *layer = &layers[idx];

	if (layer->flags >= DLBOOST_PLAN_LAYER_SYNC << 1)
		return refuse(why, "layer '%s': unknown flag 0x%x",
			      name_of(layer), layer->flags);
	if (layer->nr_inputs && !layer->inputs)
		return refuse(why, "layer '%s': its inputs are missing",
			      name_of(layer));
	for (uint32_t i = 0; i < layer->nr_inputs; i++) {
		if (layer->inputs[i] >= nr)
			return refuse(why, "layer '%s': input %u is no layer",
				      name_of(layer), layer->inputs[i]);
		for (uint32_t j = 0; j < i; j++)
			if (layer->inputs[i] == layer->inputs[j])
				return refuse(why,
					"layer '%s': input '%s' is listed twice",
					name_of(layer),
					name_of(&layers[layer->inputs[i]]));
	}
	return check_figures(layer, why);
}

static int check_tied(const struct dlboost_plan_layer *layers, uint32_t nr,
		      uint32_t idx, const struct refusal *why)
{
	const struct dlboost_plan_layer *layer = &layers[idx], *owner;

	if (!(layer->flags & DLBOOST_PLAN_LAYER_TIED))
		return 0;
	if (layer->tied_to >= nr || layer->tied_to == idx)
		return refuse(why, "layer '%s': tied to no other layer",
			      name_of(layer));
	owner = &layers[layer->tied_to];
	if (owner->flags & DLBOOST_PLAN_LAYER_TIED)
		return refuse(why, "layer '%s': tied to '%s', which is itself "
			      "tied; name the owner", name_of(layer),
			      name_of(owner));
	if (!owner->parameter_bytes)
		return refuse(why, "layer '%s': tied to '%s', which has no "
			      "parameters", name_of(layer), name_of(owner));
	if (layer->parameter_bytes)
		return refuse(why, "layer '%s': tied to '%s' and with parameters "
			      "of its own", name_of(layer), name_of(owner));
	if ((layer->flags ^ owner->flags) & DLBOOST_PLAN_LAYER_FROZEN)
		return refuse(why, "layers '%s' and '%s' are tied, but only one "
			      "is frozen", name_of(layer), name_of(owner));
	return 0;
}

static int check_output(const struct dlboost_plan_layer *layers, uint32_t nr,
			const uint32_t *nr_readers, const struct refusal *why)
{
	const struct dlboost_plan_layer *output = NULL;
	bool is_trained = false;

	for (uint32_t i = 0; i < nr; i++) {
		if (!nr_readers[i] && output)
			return refuse(why, "nobody reads layers '%s' and '%s': a "
				      "graph has one output, the loss",
				      name_of(output), name_of(&layers[i]));
		if (!nr_readers[i])
			output = &layers[i];
		is_trained |= layers[i].parameter_bytes &&
			      !(layers[i].flags & DLBOOST_PLAN_LAYER_FROZEN);
	}
	if (!is_trained)
		return refuse(why, "no layer has parameters to train");
	return 0;
}

/* Kahn's algorithm, lowest index first; nr <= 4096 keeps the scan cheap */
static uint32_t sort_layers(const struct dlboost_plan_layer *layers,
			    uint32_t nr, uint32_t *order, uint8_t *is_placed)
{
	uint32_t nr_placed = 0, before;

	do {
		before = nr_placed;
		for (uint32_t i = 0; i < nr; i++) {
			uint32_t j = 0;

			while (j < layers[i].nr_inputs &&
			       is_placed[layers[i].inputs[j]])
				j++;
			if (is_placed[i] || j < layers[i].nr_inputs)
				continue;
			is_placed[i] = 1;
			order[nr_placed++] = i;
		}
	} while (nr_placed > before);
	return nr_placed;
}

static int check_acyclic(const struct dlboost_plan_layer *layers, uint32_t nr,
			 uint32_t *order, const struct refusal *why)
{
	uint8_t *is_placed = calloc(nr, 1);
	uint32_t i = 0;
	int ret = 0;

	if (!is_placed)
		return -ENOMEM;
	if (sort_layers(layers, nr, order, is_placed) < nr) {
		while (is_placed[i])
			i++;
		ret = refuse(why, "layer '%s' is part of a cycle, or reads one",
			     name_of(&layers[i]));
	}
	free(is_placed);
	return ret;
}

static int check_graph(const struct dlboost_plan_layer *layers, uint32_t nr,
		       uint32_t *order, const struct refusal *why)
{
	uint32_t *nr_readers = calloc(nr, sizeof(*nr_readers));
	int ret = 0;

	if (!nr_readers)
		return -ENOMEM;
	for (uint32_t i = 0; !ret && i < nr; i++)
		ret = check_layer(layers, nr, i, why);
	for (uint32_t i = 0; !ret && i < nr; i++)
		ret = check_tied(layers, nr, i, why);
	for (uint32_t i = 0; !ret && i < nr; i++)
		for (uint32_t j = 0; j < layers[i].nr_inputs; j++)
			nr_readers[layers[i].inputs[j]]++;
	if (!ret)
		ret = check_acyclic(layers, nr, order, why);
	if (!ret)
		ret = check_output(layers, nr, nr_readers, why);
	free(nr_readers);
	return ret;
}

static int graph_copy(struct dlboost_plan_graph *graph,
		      const struct dlboost_plan_layer *layers)
{
	size_t nr_inputs = 0;
	uint32_t *inputs;

	for (uint32_t i = 0; i < graph->nr_layers; i++)
		nr_inputs += layers[i].nr_inputs;
	inputs = malloc((nr_inputs + 1) * sizeof(*inputs));
	graph->inputs = inputs;
	if (!inputs)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->nr_layers; i++) {
		struct dlboost_plan_layer *copy = &graph->layers[i];

		*copy = layers[i];
		copy->inputs = inputs;
		for (uint32_t j = 0; j < copy->nr_inputs; j++)
			*inputs++ = layers[i].inputs[j];
		copy->name = strdup(name_of(&layers[i]));
		if (!copy->name)
			return -ENOMEM;
	}
	return 0;
}

DLB_EXPORT int dlboost_plan_graph_create(
	const struct dlboost_plan_layer *layers, uint32_t nr_layers,
	uint64_t slot_bytes, char *error, size_t error_bytes,
	struct dlboost_plan_graph **out)
{
	const struct refusal why = { error, error_bytes };
	struct dlboost_plan_graph *graph;
	int ret;

	if (!nr_layers || nr_layers > DLBOOST_PLAN_MAX_LAYERS)
		return refuse(&why, "a graph has 1 to %u layers, this one %u",
			      DLBOOST_PLAN_MAX_LAYERS, nr_layers);
	if (slot_bytes > DLBOOST_PLAN_MAX_BYTES)
		return refuse(&why, "the batch is larger than %llu bytes",
			      (unsigned long long)DLBOOST_PLAN_MAX_BYTES);
	graph = calloc(1, sizeof(*graph));
	if (!graph)
		return -ENOMEM;
	graph->nr_layers = nr_layers;
	graph->slot_bytes = slot_bytes;
	graph->layers = calloc(nr_layers, sizeof(*graph->layers));
	graph->order = calloc(nr_layers, sizeof(*graph->order));
	ret = graph->layers && graph->order ?
	      check_graph(layers, nr_layers, graph->order, &why) : -ENOMEM;
	if (!ret)
		ret = graph_copy(graph, layers);
	if (ret) {
		dlboost_plan_graph_destroy(graph);
		return ret;
	}
	*out = graph;
	return 0;
}

DLB_EXPORT void dlboost_plan_graph_destroy(struct dlboost_plan_graph *graph)
{
	if (!graph)
		return;
	for (uint32_t i = 0; graph->layers && i < graph->nr_layers; i++)
		free((char *)graph->layers[i].name);
	free(graph->layers);
	free(graph->order);
	free(graph->inputs);
	free(graph);
}
