// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/* Two layers, two ranks: what the order of their backward pass can give. */
#include <stdio.h>

#include <dlboost/dlboost.h>

static uint64_t period_ns(const struct dlboost_plan_graph *graph,
			  uint32_t policy)
{
	struct dlboost_plan_attr attr = DLBOOST_PLAN_ATTR_INIT;
	const struct dlboost_plan_view *view;
	struct dlboost_plan *plan;
	char error[256] = "";
	uint64_t ns;

	attr.policy = policy;
	attr.ranks = 2;
	if (dlboost_plan_create(&graph, 1, &attr, error, sizeof(error), &plan)) {
		fprintf(stderr, "%s\n", error);
		return 0;
	}
	view = dlboost_plan_get_view(plan);
	ns = view->period_ns;
	if (dlboost_plan_check(&graph, 1, &attr, &view, 1, error,
			       sizeof(error)))
		fprintf(stderr, "not proven: %s\n", error);
	dlboost_plan_destroy(plan);
	return ns;
}

int main(void)
{
	static const uint32_t conv = 0;
	const struct dlboost_plan_layer layers[] = {
		{ .name = "conv", .forward_ns = 4000000,
		  .weight_grad_ns = 4000000, .update_ns = 20000,
		  .parameter_bytes = 4000000 },
		{ .name = "fc", .nr_inputs = 1, .inputs = &conv,
		  .forward_ns = 1000000, .input_grad_ns = 1000000,
		  .weight_grad_ns = 1000000, .update_ns = 50000,
		  .parameter_bytes = 8000000 },
	};
	struct dlboost_plan_graph *graph;
	char error[256] = "";

	if (dlboost_plan_graph_create(layers, 2, 0, error, sizeof(error),
				      &graph)) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	printf("ddp %.3f ms, list %.3f ms\n",
	       (double)period_ns(graph, DLBOOST_PLAN_DDP) / 1e6,
	       (double)period_ns(graph, DLBOOST_PLAN_LIST) / 1e6);
	dlboost_plan_graph_destroy(graph);
	return 0;
}
