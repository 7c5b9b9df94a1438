/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * One training step as work and dependencies.  The step is rotated: it begins
 * with the backward pass of one batch and ends with the forward pass of the
 * next, so that whatever crosses the iteration boundary lies inside it, and
 * nothing is under way when it ends.  Its length is therefore the period.
 */
#ifndef DLB_PLAN_STEP_H
#define DLB_PLAN_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include <dlboost/plan.h>

#define DLB_NONE UINT32_MAX

/* Nodes of a layer; releases, messages and joints come behind all of them */
#define DLB_NODE_DX(layer)	(4 * (layer) + DLBOOST_PLAN_INPUT_GRAD)
#define DLB_NODE_DW(layer)	(4 * (layer) + DLBOOST_PLAN_WEIGHT_GRAD)
#define DLB_NODE_UPDATE(layer)	(4 * (layer) + DLBOOST_PLAN_UPDATE)
#define DLB_NODE_FORWARD(layer)	(4 * (layer) + DLBOOST_PLAN_FORWARD)

/**
 * struct dlb_layer - A layer of a step; inputs have lower numbers
 * @graph: which graph
 * @user_idx: its number in that graph
 * @owner: layer whose parameters it uses; itself, or the owner it is tied to
 * @lowest: lowest layer with the same owner
 * @is_tied: another layer has the same owner
 * @has_dx: somebody below wants the gradient of its input
 * @has_dw: there is a weight gradient apart from dX
 * @is_trained: has parameters of its own that are reduced and updated
 * @producer: node that makes its weight gradient, or DLB_NONE
 * @raw: figures
 */
struct dlb_layer {
	uint32_t graph;
	uint32_t user_idx;
	uint32_t owner;
	uint32_t lowest;
	bool is_tied;
	bool has_dx;
	bool has_dw;
	bool is_trained;
	uint32_t producer;
	const struct dlboost_plan_layer *raw;
};

/**
 * struct dlb_list - Lists of numbers, one after the other (CSR)
 * @first: first entry of each, and the end of the last
 * @entries: all of them
 */
struct dlb_list {
	uint32_t *first;
	uint32_t *entries;
};

/**
 * struct dlb_job - One graph's part of a step
 * @first_layer: its first layer
 * @nr_layers: how many
 * @slot_bytes: memory of one batch
 * @has_sync: every gradient before any update
 * @has_barrier: and every update before any forward pass
 */
struct dlb_job {
	uint32_t first_layer;
	uint32_t nr_layers;
	uint64_t slot_bytes;
	bool has_sync;
	bool has_barrier;
};

/**
 * struct dlb_step - What is to be done, whatever the messages
 * @attr: the machine
 * @nr_layers: of all graphs
 * @nr_jobs: graphs
 * @nr_items: layer items and releases, the absent ones included
 * @layers: inputs first, graph by graph
 * @jobs: the graphs
 * @inputs: layers each layer reads
 * @readers: layers that read each layer
 * @is_present: per item
 * @item_ns: per item
 * @base_bytes: parameters and optimizer state
 */
struct dlb_step {
	const struct dlboost_plan_attr *attr;
	uint32_t nr_layers;
	uint32_t nr_jobs;
	uint32_t nr_items;
	struct dlb_layer *layers;
	struct dlb_job *jobs;
	struct dlb_list inputs;
	struct dlb_list readers;
	uint8_t *is_present;
	uint64_t *item_ns;
	uint64_t base_bytes;
};

static inline uint32_t dlb_node_release(const struct dlb_step *step,
					uint32_t job)
{
	return 4 * step->nr_layers + job;
}

int dlb_step_init(struct dlb_step *step,
		  const struct dlboost_plan_graph *const *graphs,
		  uint32_t nr_graphs, const struct dlboost_plan_attr *attr,
		  bool has_barrier);
void dlb_step_fini(struct dlb_step *step);

/* Edges collected as pairs, then sorted into lists; from and to below @nr */
struct dlb_edges {
	uint32_t *pairs;
	uint32_t nr;
	uint32_t cap;
	bool is_short;	/* of memory */
};

void dlb_edges_add(struct dlb_edges *edges, uint32_t from, uint32_t to);
/* Lists of what each node leads to; -ENOMEM also when an edge was lost */
int dlb_list_init(struct dlb_list *list, const struct dlb_edges *edges,
		  uint32_t nr_nodes, bool is_reversed);
void dlb_list_fini(struct dlb_list *list);

#endif /* DLB_PLAN_STEP_H */
