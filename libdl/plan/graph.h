/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * A checked layer graph: the caller's layers, copied, and an order in which
 * inputs come first.
 */
#ifndef DLB_PLAN_GRAPH_H
#define DLB_PLAN_GRAPH_H

#include <dlboost/plan.h>

/**
 * struct dlboost_plan_graph - See <dlboost/plan.h>
 * @nr_layers: entries of @layers and @order
 * @slot_bytes: memory of one batch of inputs
 * @layers: as given; names and inputs are copies
 * @order: every layer after its inputs; of those possible, the lowest first
 * @inputs: memory behind the inputs of @layers
 */
struct dlboost_plan_graph {
	uint32_t nr_layers;
	uint64_t slot_bytes;
	struct dlboost_plan_layer *layers;
	uint32_t *order;
	uint32_t *inputs;
};

#endif /* DLB_PLAN_GRAPH_H */
