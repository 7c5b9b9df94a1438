// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * From graphs to the work of one step: which items there are, how long they
 * take.  What depends on the choice of messages is in net.c.  Knows no policy.
 * A step belongs to one call and one thread.  Documentation/planning.rst,
 * "The step".
 */
#include "step.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "graph.h"

void dlb_edges_add(struct dlb_edges *edges, uint32_t from, uint32_t to)
{
	if (edges->nr == edges->cap) {
		uint32_t cap = edges->cap ? 2 * edges->cap : 256;
		uint32_t *grown = realloc(edges->pairs,
					  2 * (size_t)cap * sizeof(*grown));

		if (!grown) {
			edges->is_short = true;
			return;
		}
		edges->pairs = grown;
		edges->cap = cap;
	}
	edges->pairs[2 * edges->nr] = from;
	edges->pairs[2 * edges->nr + 1] = to;
	edges->nr++;
}

int dlb_list_init(struct dlb_list *list, const struct dlb_edges *edges,
		  uint32_t nr_nodes, bool is_reversed)
{
	uint32_t *at;

	list->first = calloc(nr_nodes + 2, sizeof(*list->first));
	list->entries = malloc((edges->nr + 1) * sizeof(*list->entries));
	if (!list->first || !list->entries || edges->is_short)
		return -ENOMEM;
	at = list->first + 1;
	for (uint32_t i = 0; i < edges->nr; i++)
		at[edges->pairs[2 * i + is_reversed] + 1]++;
	for (uint32_t i = 0; i < nr_nodes; i++)
		at[i + 1] += at[i];
	/* at[n] is where node n's next entry goes, and ends as its end */
	for (uint32_t i = 0; i < edges->nr; i++)
		list->entries[at[edges->pairs[2 * i + is_reversed]]++] =
			edges->pairs[2 * i + !is_reversed];
	return 0;
}

void dlb_list_fini(struct dlb_list *list)
{
	free(list->first);
	free(list->entries);
}

static int step_link_layers(struct dlb_step *step, const uint32_t *number)
{
	struct dlb_edges edges = { NULL };
	int ret;

	for (uint32_t l = 0; l < step->nr_layers; l++) {
		struct dlb_layer *layer = &step->layers[l];
		const struct dlboost_plan_layer *raw = layer->raw;
		uint32_t base = step->jobs[layer->graph].first_layer;

		for (uint32_t i = 0; i < raw->nr_inputs; i++)
			dlb_edges_add(&edges, number[base + raw->inputs[i]], l);
		layer->owner = raw->flags & DLBOOST_PLAN_LAYER_TIED ?
			       number[base + raw->tied_to] : l;
	}
	ret = dlb_list_init(&step->readers, &edges, step->nr_layers, false);
	if (!ret)
		ret = dlb_list_init(&step->inputs, &edges, step->nr_layers,
				    true);
	free(edges.pairs);
	return ret;
}

/* Layers in the order of their graphs; number[] leads from theirs to ours */
static int step_take_layers(struct dlb_step *step,
			    const struct dlboost_plan_graph *const *graphs)
{
	uint32_t *number = calloc(step->nr_layers, sizeof(*number));
	int ret;

	if (!number)
		return -ENOMEM;
	for (uint32_t j = 0; j < step->nr_jobs; j++) {
		const struct dlb_job *job = &step->jobs[j];

		for (uint32_t i = 0; i < job->nr_layers; i++) {
			uint32_t l = job->first_layer + i;
			uint32_t user_idx = graphs[j]->order[i];

			number[job->first_layer + user_idx] = l;
			step->layers[l].graph = j;
			step->layers[l].user_idx = user_idx;
			step->layers[l].raw = &graphs[j]->layers[user_idx];
			step->base_bytes += step->layers[l].raw->static_bytes;
		}
	}
	ret = step_link_layers(step, number);
	free(number);
	return ret;
}

static void step_find_tied(struct dlb_step *step)
{
	for (uint32_t l = 0; l < step->nr_layers; l++)
		step->layers[l].lowest = l;
	for (uint32_t l = step->nr_layers; l-- > 0; ) {
		struct dlb_layer *owner = &step->layers[step->layers[l].owner];

		if (step->layers[l].owner == l)
			continue;
		owner->is_tied = true;
		step->layers[l].is_tied = true;
		if (l < owner->lowest)
			owner->lowest = l;
	}
	for (uint32_t l = 0; l < step->nr_layers; l++)
		step->layers[l].lowest =
			step->layers[step->layers[l].owner].lowest;
}

static bool learns(const struct dlb_step *step, uint32_t l)
{
	const struct dlboost_plan_layer *raw = step->layers[l].raw;

	return step->layers[step->layers[l].owner].raw->parameter_bytes &&
	       !(raw->flags & DLBOOST_PLAN_LAYER_FROZEN);
}

/*
 * A layer wants a gradient of its output when it or something below it is
 * trained; it makes one of its input when something below is.
 */
static void step_find_gradients(struct dlb_step *step, bool *wants)
{
	for (uint32_t l = 0; l < step->nr_layers; l++) {
		struct dlb_layer *layer = &step->layers[l];
		const uint32_t *first = step->inputs.first + l;
		bool is_whole = layer->raw->flags & DLBOOST_PLAN_LAYER_WHOLE;

		for (uint32_t i = first[0]; i < first[1]; i++)
			layer->has_dx |= wants[step->inputs.entries[i]];
		wants[l] = layer->has_dx || learns(step, l);
		layer->has_dw = learns(step, l) &&
				!(is_whole && layer->has_dx);
		layer->is_trained = learns(step, l) && layer->owner == l;
		layer->producer = !learns(step, l) ? DLB_NONE :
				  layer->has_dw ? DLB_NODE_DW(l) :
				  DLB_NODE_DX(l);
	}
}

static void step_time_items(struct dlb_step *step)
{
	for (uint32_t l = 0; l < step->nr_layers; l++) {
		const struct dlb_layer *layer = &step->layers[l];
		const struct dlboost_plan_layer *raw = layer->raw;
		uint64_t *ns = &step->item_ns[4 * l];
		uint8_t *is_present = &step->is_present[4 * l];

		is_present[DLBOOST_PLAN_INPUT_GRAD] = layer->has_dx;
		is_present[DLBOOST_PLAN_WEIGHT_GRAD] = layer->has_dw;
		is_present[DLBOOST_PLAN_UPDATE] = layer->is_trained;
		is_present[DLBOOST_PLAN_FORWARD] = 1;
		ns[DLBOOST_PLAN_INPUT_GRAD] = raw->input_grad_ns;
		if (layer->producer == DLB_NODE_DX(l))
			ns[DLBOOST_PLAN_INPUT_GRAD] += raw->weight_grad_ns;
		ns[DLBOOST_PLAN_WEIGHT_GRAD] = raw->weight_grad_ns;
		ns[DLBOOST_PLAN_UPDATE] = raw->update_ns;
		ns[DLBOOST_PLAN_FORWARD] = raw->forward_ns;
		for (uint32_t kind = 0; kind < 4; kind++)
			ns[kind] = is_present[kind] ? ns[kind] : 0;
	}
	for (uint32_t j = 0; j < step->nr_jobs; j++)
		step->is_present[dlb_node_release(step, j)] = 1;
}

static void step_take_jobs(struct dlb_step *step,
			   const struct dlboost_plan_graph *const *graphs,
			   bool has_barrier)
{
	uint32_t nr = 0;

	for (uint32_t j = 0; j < step->nr_jobs; j++) {
		struct dlb_job *job = &step->jobs[j];

		job->first_layer = nr;
		job->nr_layers = graphs[j]->nr_layers;
		job->slot_bytes = graphs[j]->slot_bytes;
		job->has_barrier = has_barrier;
		job->has_sync = has_barrier;
		for (uint32_t l = 0; l < graphs[j]->nr_layers; l++)
			job->has_sync |= graphs[j]->layers[l].flags &
					 DLBOOST_PLAN_LAYER_SYNC;
		nr += job->nr_layers;
	}
}

int dlb_step_init(struct dlb_step *step,
		  const struct dlboost_plan_graph *const *graphs,
		  uint32_t nr_graphs, const struct dlboost_plan_attr *attr,
		  bool has_barrier)
{
	bool *wants;
	int ret;

	memset(step, 0, sizeof(*step));
	step->attr = attr;
	step->nr_jobs = nr_graphs;
	for (uint32_t j = 0; j < nr_graphs; j++)
		step->nr_layers += graphs[j]->nr_layers;
	step->nr_items = 4 * step->nr_layers + nr_graphs;
	step->layers = calloc(step->nr_layers, sizeof(*step->layers));
	step->jobs = calloc(nr_graphs, sizeof(*step->jobs));
	step->is_present = calloc(step->nr_items, 1);
	step->item_ns = calloc(step->nr_items, sizeof(*step->item_ns));
	wants = calloc(step->nr_layers, sizeof(*wants));
	ret = step->layers && step->jobs && step->is_present &&
	      step->item_ns && wants ? 0 : -ENOMEM;
	if (!ret) {
		step_take_jobs(step, graphs, has_barrier);
		ret = step_take_layers(step, graphs);
	}
	if (!ret) {
		step_find_tied(step);
		step_find_gradients(step, wants);
		step_time_items(step);
	}
	free(wants);
	if (ret)
		dlb_step_fini(step);
	return ret;
}

void dlb_step_fini(struct dlb_step *step)
{
	free(step->layers);
	free(step->jobs);
	free(step->is_present);
	free(step->item_ns);
	dlb_list_fini(&step->inputs);
	dlb_list_fini(&step->readers);
	memset(step, 0, sizeof(*step));
}
