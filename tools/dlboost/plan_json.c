// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plans as JSON.  With --full a document is complete: "dlboost plan --check" can
 * verify it, and so can anybody who reads Documentation/planning.rst.
 */
#include <string.h>

#include "json.h"
#include "plan_report.h"

static struct json_object *machine_json(const struct plan_report *report)
{
	const struct dlboost_plan_attr *attr = &report->attr;
	struct json_object *obj = json_object_new_object();

	json_add_u64(obj, "ranks", attr->ranks);
	json_add_u64(obj, "local_ranks", attr->local_ranks);
	json_add_u64(obj, "link_bits_per_s", attr->link_bits_per_s);
	json_add_u64(obj, "hop_ns", attr->hop_ns);
	json_add_u64(obj, "local_bits_per_s", attr->local_bits_per_s);
	json_add_u64(obj, "local_hop_ns", attr->local_hop_ns);
	json_add_u64(obj, "nr_streams", attr->nr_streams);
	json_add_u64(obj, "overlap_permille", attr->overlap_permille);
	json_add_u64(obj, "interference_permille", attr->interference_permille);
	json_add_u64(obj, "memory_bytes", attr->memory_bytes);
	json_add_bool(obj, "has_barrier", attr->has_barrier);
	return obj;
}

static struct json_object *layer_json(const struct plan_graph *graph,
				      unsigned int i)
{
	const struct dlboost_plan_layer *layer = &graph->layers[i];
	struct json_object *obj = json_object_new_object();
	struct json_object *inputs = json_object_new_array();

	json_add_text(obj, "name", layer->name);
	json_add_text(obj, "kind", graph->kinds[i]);
	for (uint32_t j = 0; j < layer->nr_inputs; j++)
		json_object_array_add(inputs, json_text(
			graph->layers[layer->inputs[j]].name));
	json_add(obj, "inputs", inputs);
	json_add_u64(obj, "forward_ns", layer->forward_ns);
	json_add_u64(obj, "input_grad_ns", layer->input_grad_ns);
	json_add_u64(obj, "weight_grad_ns", layer->weight_grad_ns);
	json_add_u64(obj, "update_ns", layer->update_ns);
	json_add_u64(obj, "activation_bytes", layer->activation_bytes);
	json_add_u64(obj, "gradient_bytes", layer->gradient_bytes);
	json_add_u64(obj, "parameter_bytes", layer->parameter_bytes);
	json_add_u64(obj, "static_bytes", layer->static_bytes);
	json_add_bool(obj, "splittable",
		      !(layer->flags & DLBOOST_PLAN_LAYER_WHOLE));
	json_add_bool(obj, "frozen", layer->flags & DLBOOST_PLAN_LAYER_FROZEN);
	json_add_bool(obj, "global_sync",
		      layer->flags & DLBOOST_PLAN_LAYER_SYNC);
	json_add_text(obj, "tied_to",
		      layer->flags & DLBOOST_PLAN_LAYER_TIED ?
		      graph->layers[layer->tied_to].name : NULL);
	return obj;
}

static struct json_object *graphs_json(const struct plan_report *report,
				       bool is_full)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < report->nr_graphs; i++) {
		const struct plan_graph *graph = &report->graphs[i];
		struct json_object *obj = json_object_new_object(), *layers;

		json_add_text(obj, "name", graph->name);
		json_add_u64(obj, "nr_layers", graph->nr_layers);
		json_object_array_add(list, obj);
		if (!is_full)
			continue;
		json_add_u64(obj, "slot_bytes", graph->slot_bytes);
		layers = json_object_new_array();
		for (unsigned int l = 0; l < graph->nr_layers; l++)
			json_object_array_add(layers, layer_json(graph, l));
		json_add(obj, "layers", layers);
	}
	return list;
}

/*
 * The last reduction an item has to wait for: since they go in one order, that
 * one word is its gate.
 */
static int64_t gate_of(const struct plan_graph *graph,
		       const struct dlboost_plan_view *view,
		       const struct dlboost_plan_item *item)
{
	bool wants_all = view->has_barrier;
	int64_t gate = -1;

	if (item->kind != DLBOOST_PLAN_UPDATE)
		return -1;
	for (unsigned int l = 0; l < graph->nr_layers; l++)
		wants_all |= graph->layers[l].flags & DLBOOST_PLAN_LAYER_SYNC;
	for (uint32_t m = 0; m < view->nr_messages; m++) {
		const struct dlboost_plan_message *message =
			&view->messages[m];

		if (message->graph != item->graph)
			continue;
		for (uint32_t i = 0; i < message->nr_slices; i++)
			if (wants_all ||
			    view->slices[message->first_slice + i].layer ==
			    item->layer)
				gate = m;
	}
	return gate;
}

static struct json_object *item_json(const struct plan_graph *graphs,
				     const struct dlboost_plan_view *view,
				     const struct dlboost_plan_item *item)
{
	const struct plan_graph *graph = &graphs[item->graph];
	struct json_object *obj = json_object_new_object();
	int64_t gate = gate_of(graph, view, item);

	json_add_text(obj, "kind", plan_kind_name(item->kind));
	json_add_u64(obj, "graph_idx", item->graph);
	json_add_text(obj, "layer", item->kind == DLBOOST_PLAN_RELEASE ? NULL :
		      graph->layers[item->layer].name);
	json_add_u64(obj, "stream_idx", item->stream);
	json_add_u64(obj, "start_ns", item->start_ns);
	json_add_u64(obj, "end_ns", item->end_ns);
	json_add(obj, "gate_reduction_idx",
		 gate < 0 ? NULL : json_object_new_int64(gate));
	json_add_bool(obj, "gate_batch", item->kind == DLBOOST_PLAN_FORWARD &&
		      !graph->layers[item->layer].nr_inputs);
	return obj;
}

static struct json_object *message_json(const struct plan_graph *graphs,
					const struct dlboost_plan_view *view,
					const struct dlboost_plan_message *m)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *slices = json_object_new_array();

	json_add_u64(obj, "graph_idx", m->graph);
	json_add_u64(obj, "len_bytes", m->len_bytes);
	json_add_u64(obj, "local_start_ns", m->local_start_ns);
	json_add_u64(obj, "local_end_ns", m->local_end_ns);
	json_add_u64(obj, "start_ns", m->start_ns);
	json_add_u64(obj, "end_ns", m->end_ns);
	for (uint32_t i = 0; i < m->nr_slices; i++) {
		const struct dlboost_plan_slice *slice =
			&view->slices[m->first_slice + i];
		struct json_object *part = json_object_new_object();

		json_add_text(part, "layer",
			      graphs[m->graph].layers[slice->layer].name);
		json_add_u64(part, "offset_bytes", slice->offset_bytes);
		json_add_u64(part, "len_bytes", slice->len_bytes);
		json_object_array_add(slices, part);
	}
	json_add(obj, "slices", slices);
	return obj;
}

static struct json_object *plan_full_json(const struct plan_graph *graphs,
					  unsigned int first_graph,
					  unsigned int nr_graphs,
					  const struct dlboost_plan_view *view)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *items = json_object_new_array();
	struct json_object *messages = json_object_new_array();
	char id[32];

	snprintf(id, sizeof(id), "%016llx", (unsigned long long)view->plan_id);
	json_add_text(obj, "plan_id", id);
	json_add_u64(obj, "first_graph_idx", first_graph);
	json_add_u64(obj, "nr_graphs", nr_graphs);
	json_add_bool(obj, "has_barrier", view->has_barrier);
	json_add_u64(obj, "period_ns", view->period_ns);
	json_add_u64(obj, "peak_bytes", view->peak_bytes);
	for (uint32_t i = 0; i < view->nr_items; i++)
		json_object_array_add(items, item_json(graphs + first_graph,
						       view, &view->items[i]));
	for (uint32_t m = 0; m < view->nr_messages; m++)
		json_object_array_add(messages,
				      message_json(graphs + first_graph, view,
						   &view->messages[m]));
	json_add(obj, "items", items);
	json_add(obj, "reductions", messages);
	return obj;
}

static void add_gain(struct json_object *obj, const char *key,
		     const struct plan_row *row, const struct plan_row *base)
{
	json_add(obj, key, base ? json_real((double)base->period_ns /
					    (double)row->period_ns, 6) : NULL);
}

/* 0 stands for nothing fused, null for nothing cut */
static void add_sizes(struct json_object *obj,
		      const struct dlboost_plan_view *view)
{
	json_add_u64(obj, "nr_reductions", view->nr_messages);
	json_add(obj, "bucket_bytes", view->bucket_bytes == DLBOOST_PLAN_UNCUT ?
		 NULL : json_object_new_uint64(view->bucket_bytes <= 1 ? 0 :
					       view->bucket_bytes));
	json_add(obj, "slice_bytes", view->slice_bytes == DLBOOST_PLAN_UNCUT ?
		 NULL : json_object_new_uint64(view->slice_bytes));
	json_add_u64(obj, "first_k", view->first_k);
}

static struct json_object *row_json(const struct plan_report *report,
				    const struct plan_row *row, bool is_full)
{
	const struct dlboost_plan_view *view = plan_row_view(row, 0);
	struct json_object *obj = json_object_new_object(), *plans;

	json_add_text(obj, "policy", dlboost_plan_policy_name(row->policy));
	json_add_u64(obj, "period_ns", row->period_ns);
	json_add_u64(obj, "peak_bytes", row->peak_bytes);
	json_add_u64(obj, "bound_ns", row->bound_ns);
	json_add_bool(obj, "proof_ok", row->is_proven);
	add_gain(obj, "gain_over_ddp", row,
		 plan_report_row(report, DLBOOST_PLAN_DDP));
	add_gain(obj, "gain_over_ddp_tuned", row,
		 plan_report_row(report, DLBOOST_PLAN_DDP_TUNED));
	json_add_text(obj, "limit", plan_limit_name(view->bound.limit));
	json_add_u64(obj, "bound_compute_ns", view->bound.compute_ns);
	json_add_u64(obj, "bound_link_ns", view->bound.link_ns);
	json_add_u64(obj, "bound_critical_path_ns",
		     view->bound.critical_path_ns);
	json_add_u64(obj, "bound_memory_bytes", view->bound.memory_bytes);
	json_add_bool(obj, "has_barrier", view->has_barrier);
	add_sizes(obj, view);
	json_add(obj, "jittered_period_ns", report->jitter_permille ?
		 json_object_new_uint64(row->jittered_ns) : NULL);
	if (!is_full)
		return obj;
	plans = json_object_new_array();
	for (unsigned int i = 0; i < row->nr_plans; i++)
		json_object_array_add(plans, plan_full_json(report->graphs, i,
			row->nr_plans == 1 ? report->nr_graphs : 1,
			plan_row_view(row, i)));
	json_add(obj, "plans", plans);
	return obj;
}

struct json_object *plan_json(const struct plan_report *report, bool is_full)
{
	struct json_object *doc = json_document("dlboost-plan");
	struct json_object *rows = json_object_new_array();

	json_add(doc, "graphs", graphs_json(report, is_full));
	json_add_text(doc, "hardware", report->hardware);
	json_add(doc, "batch", report->hardware ?
		 json_object_new_uint64(report->batch) : NULL);
	json_add(doc, "machine", machine_json(report));
	json_add_real(doc, "rho", plan_report_rho(report), 6);
	json_add_real(doc, "jitter", (double)report->jitter_permille / 1000, 3);
	for (unsigned int i = 0; i < report->nr_rows; i++)
		json_object_array_add(rows, row_json(report, &report->rows[i],
						     is_full));
	json_add(doc, "policies", rows);
	return doc;
}
