// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Edges and memory of a step with given messages.  Every dependency the planner
 * knows is written here and nowhere else (check.c has its own).  Belongs to one
 * call and one thread.  Documentation/planning.rst, "The step".
 */
#include "net.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"

struct builder {
	const struct dlb_step *step;
	struct dlb_net *net;
	struct dlb_edges edges;
	struct dlb_edges opens;
	struct dlb_edges closes;
	uint64_t *buffer_bytes;
	uint8_t *is_live;
	uint32_t nr_buffers;
};

/* Joint of a graph's reductions, and of its updates */
static uint32_t joint_reduced(const struct dlb_net *net, uint32_t job)
{
	return net->first_joint + 2 * job;
}

static uint32_t joint_updated(const struct dlb_net *net, uint32_t job)
{
	return net->first_joint + 2 * job + 1;
}

static void add_after_readers(struct builder *b, uint32_t l, uint32_t node)
{
	const uint32_t *first = b->step->readers.first + l;

	for (uint32_t i = first[0]; i < first[1]; i++)
		dlb_edges_add(&b->edges,
			      DLB_NODE_DX(b->step->readers.entries[i]), node);
}

static void add_backward(struct builder *b, uint32_t l)
{
	const struct dlb_layer *layer = &b->step->layers[l];

	if (layer->has_dx)
		add_after_readers(b, l, DLB_NODE_DX(l));
	if (layer->has_dw)
		add_after_readers(b, l, DLB_NODE_DW(l));
}

/* Tied layers add to one gradient, and always in autograd's order */
static void add_tied_order(struct builder *b)
{
	const struct dlb_step *step = b->step;
	uint32_t *last = malloc(step->nr_layers * sizeof(*last));

	if (!last) {
		b->edges.is_short = true;
		return;
	}
	for (uint32_t l = 0; l < step->nr_layers; l++)
		last[l] = DLB_NONE;
	for (uint32_t l = step->nr_layers; l-- > 0; ) {
		const struct dlb_layer *layer = &step->layers[l];

		if (layer->producer == DLB_NONE)
			continue;
		if (last[layer->owner] != DLB_NONE)
			dlb_edges_add(&b->edges, last[layer->owner],
				      layer->producer);
		last[layer->owner] = layer->producer;
	}
	free(last);
}

/* @node waits for the last gradient of each trained layer, or leads nowhere */
static void add_reductions(struct builder *b)
{
	const struct dlb_step *step = b->step;
	const struct dlb_cut *cut = b->net->cut;

	for (uint32_t l = 0; l < step->nr_layers; l++) {
		const struct dlb_layer *layer = &step->layers[l];

		if (layer->producer != DLB_NONE && !cut->nr_messages) {
			dlb_edges_add(&b->edges, layer->producer,
				      DLB_NODE_UPDATE(layer->owner));
			dlb_edges_add(&b->edges, layer->producer,
				      joint_reduced(b->net, layer->graph));
		}
	}
	for (uint32_t m = 0; m < cut->nr_messages; m++)
		dlb_edges_add(&b->edges, b->net->first_message + m,
			      joint_reduced(b->net, cut->messages[m].graph));
}

static void add_slices(struct builder *b)
{
	const struct dlb_cut *cut = b->net->cut;

	for (uint32_t m = 0; m < cut->nr_messages; m++) {
		const struct dlboost_plan_message *message = &cut->messages[m];
		uint32_t node = b->net->first_message + m;

		for (uint32_t i = 0; i < message->nr_slices; i++) {
			uint32_t l = cut->slices[message->first_slice + i].layer;
			uint32_t lowest = b->step->layers[l].lowest;

			/* Tied gradients are chained: the lowest comes last */
			dlb_edges_add(&b->edges,
				      b->step->layers[lowest].producer, node);
			dlb_edges_add(&b->edges, node, DLB_NODE_UPDATE(l));
		}
	}
}

static void add_forward(struct builder *b, uint32_t l)
{
	const struct dlb_step *step = b->step;
	const struct dlb_layer *layer = &step->layers[l];
	const struct dlb_job *job = &step->jobs[layer->graph];
	const uint32_t *first = step->inputs.first + l;
	uint32_t node = DLB_NODE_FORWARD(l);

	for (uint32_t i = first[0]; i < first[1]; i++)
		dlb_edges_add(&b->edges,
			      DLB_NODE_FORWARD(step->inputs.entries[i]), node);
	if (layer->is_trained && job->has_sync)
		dlb_edges_add(&b->edges, joint_reduced(b->net, layer->graph),
			      DLB_NODE_UPDATE(l));
	if (layer->is_trained)
		dlb_edges_add(&b->edges, DLB_NODE_UPDATE(l),
			      joint_updated(b->net, layer->graph));
	if (step->layers[layer->owner].is_trained)
		dlb_edges_add(&b->edges, DLB_NODE_UPDATE(layer->owner), node);
	if (job->has_barrier)
		dlb_edges_add(&b->edges, joint_updated(b->net, layer->graph),
			      node);
}

/* The slot is free once the layers that read the batch need it no more */
static void add_release(struct builder *b, uint32_t l)
{
	const struct dlb_layer *layer = &b->step->layers[l];
	uint32_t release = dlb_node_release(b->step, layer->graph);

	if (layer->raw->nr_inputs)
		return;
	if (layer->producer != DLB_NONE)
		dlb_edges_add(&b->edges, layer->producer, release);
}

static uint32_t add_buffer(struct builder *b, uint64_t bytes, bool is_live)
{
	b->buffer_bytes[b->nr_buffers] = bytes;
	b->is_live[b->nr_buffers] = is_live;
	return b->nr_buffers++;
}

static void add_users(struct builder *b, uint32_t l, uint32_t buffer,
		      struct dlb_edges *edges)
{
	if (b->step->layers[l].has_dx)
		dlb_edges_add(edges, DLB_NODE_DX(l), buffer);
	if (b->step->layers[l].has_dw)
		dlb_edges_add(edges, DLB_NODE_DW(l), buffer);
}

static void add_layer_memory(struct builder *b, uint32_t l)
{
	const struct dlb_step *step = b->step;
	const struct dlb_layer *layer = &step->layers[l];
	const uint32_t *first = step->readers.first + l;
	uint32_t buffer;

	if (!layer->has_dx && !layer->has_dw)
		return;
	buffer = add_buffer(b, layer->raw->activation_bytes, true);
	add_users(b, l, buffer, &b->closes);
	/* What the next forward pass keeps is another copy, used a step later */
	buffer = add_buffer(b, layer->raw->activation_bytes, false);
	dlb_edges_add(&b->opens, DLB_NODE_FORWARD(l), buffer);

	buffer = add_buffer(b, layer->raw->gradient_bytes, false);
	add_users(b, l, buffer, &b->closes);
	for (uint32_t i = first[0]; i < first[1]; i++)
		dlb_edges_add(&b->opens, DLB_NODE_DX(step->readers.entries[i]),
			      buffer);
	if (first[0] == first[1])
		add_users(b, l, buffer, &b->opens);
}

static void add_parameter_memory(struct builder *b)
{
	const struct dlb_step *step = b->step;
	uint32_t *buffer = malloc(step->nr_layers * sizeof(*buffer));

	if (!buffer) {
		b->opens.is_short = true;
		return;
	}
	for (uint32_t l = 0; l < step->nr_layers; l++) {
		if (!step->layers[l].is_trained)
			continue;
		buffer[l] = add_buffer(b, step->layers[l].raw->parameter_bytes,
				       false);
		dlb_edges_add(&b->closes, DLB_NODE_UPDATE(l), buffer[l]);
	}
	for (uint32_t l = 0; l < step->nr_layers; l++)
		if (step->layers[l].producer != DLB_NONE)
			dlb_edges_add(&b->opens, step->layers[l].producer,
				      buffer[step->layers[l].owner]);
	free(buffer);
}

static void add_slot_memory(struct builder *b, uint32_t j)
{
	const struct dlb_job *job = &b->step->jobs[j];
	uint32_t buffer = add_buffer(b, job->slot_bytes, true);

	dlb_edges_add(&b->closes, dlb_node_release(b->step, j), buffer);
	buffer = add_buffer(b, job->slot_bytes, false);
	for (uint32_t i = 0; i < job->nr_layers; i++)
		if (!b->step->layers[job->first_layer + i].raw->nr_inputs)
			dlb_edges_add(&b->opens,
				      DLB_NODE_FORWARD(job->first_layer + i),
				      buffer);
}

static void add_everything(struct builder *b)
{
	add_tied_order(b);
	add_reductions(b);
	add_slices(b);
	for (uint32_t l = 0; l < b->step->nr_layers; l++) {
		add_backward(b, l);
		add_forward(b, l);
		add_release(b, l);
		add_layer_memory(b, l);
	}
	add_parameter_memory(b);
	for (uint32_t j = 0; j < b->step->nr_jobs; j++)
		add_slot_memory(b, j);
}

static int net_take_times(struct dlb_net *net)
{
	const struct dlb_step *step = net->step;
	const struct dlb_cut *cut = net->cut;
	bool has_local = false;

	net->local_ns = calloc(cut->nr_messages + 1, sizeof(*net->local_ns));
	if (!net->local_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < step->nr_items; i++) {
		net->ns[i] = step->item_ns[i];
		net->nr_work += step->is_present[i];
	}
	for (uint32_t m = 0; m < cut->nr_messages; m++) {
		dlb_cost_message(step->attr, cut->messages[m].len_bytes,
				 &net->local_ns[m],
				 &net->ns[net->first_message + m]);
		has_local |= net->local_ns[m];
	}
	if (!has_local) {
		free(net->local_ns);
		net->local_ns = NULL;
	}
	return 0;
}

static int net_take_lists(struct dlb_net *net, struct builder *b)
{
	int ret = dlb_list_init(&net->next, &b->edges, net->nr_nodes, false);

	if (!ret)
		ret = dlb_list_init(&net->before, &b->edges, net->nr_nodes,
				    true);
	if (!ret)
		ret = dlb_list_init(&net->opens, &b->opens, net->nr_nodes,
				    false);
	if (!ret)
		ret = dlb_list_init(&net->closes, &b->closes, net->nr_nodes,
				    false);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < net->nr_nodes; i++)
		net->nr_before[i] = net->before.first[i + 1] -
				    net->before.first[i];
	net->nr_buffers = b->nr_buffers;
	net->nr_closers = calloc(b->nr_buffers + 1, sizeof(*net->nr_closers));
	if (!net->nr_closers)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->closes.nr; i++)
		net->nr_closers[b->closes.pairs[2 * i + 1]]++;
	return 0;
}

int dlb_net_init(struct dlb_net *net, const struct dlb_step *step,
		 const struct dlb_cut *cut)
{
	struct builder b = { .step = step, .net = net };
	uint32_t max_buffers = 4 * step->nr_layers + 2 * step->nr_jobs;
	int ret;

	memset(net, 0, sizeof(*net));
	net->step = step;
	net->cut = cut;
	net->nr_streams = step->attr->nr_streams;
	net->is_shared = step->attr->nr_streams > 1 ||
			 (step->attr->interference_permille &&
			  cut->nr_messages);
	net->first_message = step->nr_items;
	net->first_joint = net->first_message + cut->nr_messages;
	net->nr_nodes = net->first_joint + 2 * step->nr_jobs;
	net->ns = calloc(net->nr_nodes, sizeof(*net->ns));
	net->nr_before = calloc(net->nr_nodes, sizeof(*net->nr_before));
	net->buffer_bytes = calloc(max_buffers, sizeof(*net->buffer_bytes));
	net->is_live = calloc(max_buffers, 1);
	b.buffer_bytes = net->buffer_bytes;
	b.is_live = net->is_live;
	ret = net->ns && net->nr_before && b.buffer_bytes && b.is_live ?
	      net_take_times(net) : -ENOMEM;
	if (!ret) {
		add_everything(&b);
		ret = net_take_lists(net, &b);
	}
	free(b.edges.pairs);
	free(b.opens.pairs);
	free(b.closes.pairs);
	if (ret)
		dlb_net_fini(net);
	return ret;
}

void dlb_net_fini(struct dlb_net *net)
{
	free(net->ns);
	free(net->local_ns);
	free(net->nr_before);
	free(net->buffer_bytes);
	free(net->nr_closers);
	free(net->is_live);
	dlb_list_fini(&net->next);
	dlb_list_fini(&net->before);
	dlb_list_fini(&net->opens);
	dlb_list_fini(&net->closes);
	memset(net, 0, sizeof(*net));
}

uint64_t dlb_net_live_bytes(const struct dlb_net *net)
{
	uint64_t bytes = net->step->base_bytes;

	for (uint32_t i = 0; i < net->nr_buffers; i++)
		bytes += net->is_live[i] ? net->buffer_bytes[i] : 0;
	return bytes;
}
