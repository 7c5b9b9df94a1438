// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlboost plan --check: the plans of a document of -j --full, back into the form
 * that the library's checker takes.  Trusts nothing of what it reads.
 */
#include <errno.h>
#include <string.h>

#include "json.h"
#include "plan_report.h"

#define MAX_FILE_BYTES ((size_t)1 << 30)
#define MAX_GRAPHS 8

/**
 * struct checking - One document
 * @path: its name
 * @attr: the machine in it
 * @graphs: the graphs in it
 * @nr_graphs: how many
 * @nr_plans: plans verified so far
 * @nr_wrong: plans that failed
 */
struct checking {
	const char *path;
	struct dlboost_plan_attr attr;
	struct plan_graph graphs[MAX_GRAPHS];
	unsigned int nr_graphs;
	unsigned int nr_plans;
	unsigned int nr_wrong;
};

/* One plan, as it is read */
struct reading {
	const struct checking *check;
	const struct plan_graph *graphs;
	unsigned int nr_graphs;
	struct plan_place place;
	struct dlboost_plan_view view;
	struct dlboost_plan_item *items;
	struct dlboost_plan_message *messages;
	struct dlboost_plan_slice *slices;
};

static int read_u32(const struct plan_place *place, struct json_object *obj,
		    const char *key, uint32_t *out)
{
	uint64_t value = 0;
	int ret = plan_member_u64(place, obj, key, UINT32_MAX, &value);

	*out = (uint32_t)value;
	return ret;
}

static int read_machine(struct checking *c, struct json_object *doc)
{
	const struct plan_place place = { c->path, "machine" };
	struct json_object *obj = plan_member(&place, doc, "machine");
	struct json_object *barrier;
	struct dlboost_plan_attr *a = &c->attr;
	int ret;

	*a = (struct dlboost_plan_attr)DLBOOST_PLAN_ATTR_INIT;
	if (!obj)
		return TOOL_FAILED;
	ret = read_u32(&place, obj, "ranks", &a->ranks);
	ret = ret ?: read_u32(&place, obj, "local_ranks", &a->local_ranks);
	ret = ret ?: read_u32(&place, obj, "nr_streams", &a->nr_streams);
	ret = ret ?: read_u32(&place, obj, "overlap_permille",
			      &a->overlap_permille);
	ret = ret ?: read_u32(&place, obj, "interference_permille",
			      &a->interference_permille);
	ret = ret ?: plan_member_u64(&place, obj, "link_bits_per_s", INT64_MAX,
				     &a->link_bits_per_s);
	ret = ret ?: plan_member_u64(&place, obj, "hop_ns", 1000000000,
				     &a->hop_ns);
	ret = ret ?: plan_member_u64(&place, obj, "local_bits_per_s", INT64_MAX,
				     &a->local_bits_per_s);
	ret = ret ?: plan_member_u64(&place, obj, "local_hop_ns", 1000000000,
				     &a->local_hop_ns);
	ret = ret ?: plan_member_u64(&place, obj, "memory_bytes", INT64_MAX,
				     &a->memory_bytes);
	barrier = ret ? NULL : plan_member(&place, obj, "has_barrier");
	a->has_barrier = json_object_get_boolean(barrier);
	return barrier ? ret : TOOL_FAILED;
}

static int read_graphs(struct checking *c, struct json_object *doc)
{
	const struct plan_place place = { c->path, "document" };
	struct json_object *list = plan_member(&place, doc, "graphs");
	size_t nr;
	int ret = TOOL_DONE;

	if (!list || !json_object_is_type(list, json_type_array))
		return TOOL_FAILED;
	nr = json_object_array_length(list);
	if (!nr || nr > MAX_GRAPHS) {
		msg_error("%s: %zu graphs; 1 to %d are possible", c->path, nr,
			  MAX_GRAPHS);
		return TOOL_FAILED;
	}
	for (size_t i = 0; !ret && i < nr; i++) {
		struct json_object *graph = json_object_array_get_idx(list, i);

		if (!json_object_object_get_ex(graph, "layers", NULL)) {
			msg_error("%s: no layers in it; make it with -j --full",
				  c->path);
			return TOOL_FAILED;
		}
		ret = plan_graph_take(c->path, graph, NULL, 1, &c->graphs[i]);
		c->nr_graphs += !ret;
	}
	return ret;
}

/* -1 for a name that no layer has */
static int64_t find_layer(const struct plan_graph *graph, const char *name)
{
	for (unsigned int i = 0; name && i < graph->nr_layers; i++)
		if (!strcmp(graph->layers[i].name, name))
			return i;
	return -1;
}

static int read_layer(const struct reading *r, struct json_object *obj,
		      uint32_t graph, uint32_t *out)
{
	struct json_object *name = NULL;
	int64_t layer = -1;

	json_object_object_get_ex(obj, "layer", &name);
	if (graph < r->nr_graphs)
		layer = find_layer(&r->graphs[graph],
				   json_object_get_string(name));
	if (layer < 0) {
		msg_error("%s: %s: no graph has the layer '%s'", r->place.path,
			  r->place.what, json_object_get_string(name) ?: "");
		return TOOL_FAILED;
	}
	*out = (uint32_t)layer;
	return TOOL_DONE;
}

static int read_item(const struct reading *r, struct json_object *obj,
		     struct dlboost_plan_item *item)
{
	struct json_object *kind = plan_member(&r->place, obj, "kind");
	const char *name = json_object_get_string(kind);
	int ret;

	while (name && item->kind <= DLBOOST_PLAN_RELEASE &&
	       strcmp(plan_kind_name(item->kind), name))
		item->kind++;
	if (!name || item->kind > DLBOOST_PLAN_RELEASE) {
		msg_error("%s: %s: no kind of work is called '%s'",
			  r->place.path, r->place.what, name ? name : "");
		return TOOL_FAILED;
	}
	ret = read_u32(&r->place, obj, "graph_idx", &item->graph);
	ret = ret ?: read_u32(&r->place, obj, "stream_idx", &item->stream);
	ret = ret ?: plan_member_u64(&r->place, obj, "start_ns", INT64_MAX,
				     &item->start_ns);
	ret = ret ?: plan_member_u64(&r->place, obj, "end_ns", INT64_MAX,
				     &item->end_ns);
	if (item->kind == DLBOOST_PLAN_RELEASE)
		return ret;
	return ret ?: read_layer(r, obj, item->graph, &item->layer);
}

static struct json_object *member_list(const struct plan_place *place,
				       struct json_object *obj, const char *key)
{
	struct json_object *list = plan_member(place, obj, key);

	if (list && !json_object_is_type(list, json_type_array)) {
		msg_error("%s: %s: '%s' is no list", place->path, place->what,
			  key);
		return NULL;
	}
	return list;
}

static int read_items(struct reading *r, struct json_object *plan)
{
	struct json_object *list = member_list(&r->place, plan, "items");
	int ret = TOOL_DONE;

	if (!list)
		return TOOL_FAILED;
	r->view.nr_items = (uint32_t)json_object_array_length(list);
	r->items = calloc(r->view.nr_items + 1, sizeof(*r->items));
	r->view.items = r->items;
	for (uint32_t i = 0; r->items && !ret && i < r->view.nr_items; i++)
		ret = read_item(r, json_object_array_get_idx(list, i),
				&r->items[i]);
	return r->items ? ret : TOOL_FAILED;
}

static int read_slices(struct reading *r, struct json_object *list,
		       struct dlboost_plan_message *message)
{
	size_t nr = json_object_array_length(list);
	struct dlboost_plan_slice *grown;
	int ret = TOOL_DONE;

	grown = realloc(r->slices, (r->view.nr_slices + nr + 1) *
				   sizeof(*grown));
	if (!grown)
		return TOOL_FAILED;
	r->slices = grown;
	message->first_slice = r->view.nr_slices;
	message->nr_slices = (uint32_t)nr;
	for (size_t i = 0; !ret && i < nr; i++) {
		struct json_object *obj = json_object_array_get_idx(list, i);
		struct dlboost_plan_slice *slice =
			&r->slices[r->view.nr_slices++];

		memset(slice, 0, sizeof(*slice));
		ret = read_layer(r, obj, message->graph, &slice->layer);
		ret = ret ?: plan_member_u64(&r->place, obj, "offset_bytes",
					     INT64_MAX, &slice->offset_bytes);
		ret = ret ?: plan_member_u64(&r->place, obj, "len_bytes",
					     INT64_MAX, &slice->len_bytes);
	}
	return ret;
}

static int read_message(struct reading *r, struct json_object *obj,
			struct dlboost_plan_message *m)
{
	const struct plan_place *place = &r->place;
	struct json_object *slices = member_list(place, obj, "slices");
	int ret = slices ? TOOL_DONE : TOOL_FAILED;

	ret = ret ?: read_u32(place, obj, "graph_idx", &m->graph);
	ret = ret ?: plan_member_u64(place, obj, "len_bytes", INT64_MAX,
				     &m->len_bytes);
	ret = ret ?: plan_member_u64(place, obj, "local_start_ns", INT64_MAX,
				     &m->local_start_ns);
	ret = ret ?: plan_member_u64(place, obj, "local_end_ns", INT64_MAX,
				     &m->local_end_ns);
	ret = ret ?: plan_member_u64(place, obj, "start_ns", INT64_MAX,
				     &m->start_ns);
	ret = ret ?: plan_member_u64(place, obj, "end_ns", INT64_MAX,
				     &m->end_ns);
	return ret ?: read_slices(r, slices, m);
}

static int read_messages(struct reading *r, struct json_object *plan)
{
	struct json_object *list = member_list(&r->place, plan, "reductions");
	int ret = TOOL_DONE;

	if (!list)
		return TOOL_FAILED;
	r->view.nr_messages = (uint32_t)json_object_array_length(list);
	r->messages = calloc(r->view.nr_messages + 1, sizeof(*r->messages));
	for (uint32_t i = 0; r->messages && !ret && i < r->view.nr_messages;
	     i++)
		ret = read_message(r, json_object_array_get_idx(list, i),
				   &r->messages[i]);
	r->view.messages = r->messages;
	r->view.slices = r->slices;
	return r->messages ? ret : TOOL_FAILED;
}

static int read_plan(struct reading *r, struct json_object *plan)
{
	const struct checking *c = r->check;
	uint32_t first = 0, nr = 0;
	struct json_object *barrier;
	int ret = read_u32(&r->place, plan, "first_graph_idx", &first);

	ret = ret ?: read_u32(&r->place, plan, "nr_graphs", &nr);
	if (!ret && (!nr || nr > c->nr_graphs || first > c->nr_graphs - nr)) {
		msg_error("%s: %s: is of graphs that are not there", c->path,
			  r->place.what);
		return TOOL_FAILED;
	}
	r->graphs = c->graphs + first;
	r->nr_graphs = nr;
	barrier = plan_member(&r->place, plan, "has_barrier");
	r->view.has_barrier = json_object_get_boolean(barrier);
	ret = ret ?: plan_member_u64(&r->place, plan, "period_ns", INT64_MAX,
				     &r->view.period_ns);
	ret = ret ?: plan_member_u64(&r->place, plan, "peak_bytes", INT64_MAX,
				     &r->view.peak_bytes);
	ret = ret ?: read_items(r, plan);
	return ret ?: read_messages(r, plan);
}

static int check_plan(struct checking *c, const char *policy,
		      struct json_object *plan)
{
	const struct dlboost_plan_graph *graphs[MAX_GRAPHS];
	struct reading r = { .check = c, .place = { c->path, policy } };
	const struct dlboost_plan_view *view = &r.view;
	char error[512] = "";
	int ret = read_plan(&r, plan);

	if (!ret) {
		for (unsigned int i = 0; i < r.nr_graphs; i++)
			graphs[i] = r.graphs[i].graph;
		ret = dlboost_plan_check(graphs, r.nr_graphs, &c->attr, &view,
					 1, error, sizeof(error));
		c->nr_plans++;
		c->nr_wrong += ret != 0;
		if (ret)
			msg_error("%s: %s: %s", c->path, policy,
				  *error ? error : strerror(-ret));
		ret = TOOL_DONE;
	}
	free(r.items);
	free(r.messages);
	free(r.slices);
	return ret;
}

static int check_policies(struct checking *c, struct json_object *doc)
{
	const struct plan_place place = { c->path, "document" };
	struct json_object *rows = member_list(&place, doc, "policies");
	int ret = rows ? TOOL_DONE : TOOL_FAILED;

	for (size_t i = 0; !ret && i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		struct json_object *name = plan_member(&place, row, "policy");
		struct json_object *plans = member_list(&place, row, "plans");

		if (!name || !plans)
			return TOOL_FAILED;
		for (size_t j = 0; !ret && j < json_object_array_length(plans);
		     j++)
			ret = check_plan(c, json_object_get_string(name),
				json_object_array_get_idx(plans, j));
	}
	return ret;
}

static void print_result(const struct context *ctx, const struct checking *c)
{
	struct json_object *doc;

	if (!ctx->has_json) {
		printf("%u plans, %u wrong\n", c->nr_plans, c->nr_wrong);
		return;
	}
	doc = json_document("dlboost-plan-check");
	json_add_text(doc, "path", c->path);
	json_add_u64(doc, "nr_plans", c->nr_plans);
	json_add_u64(doc, "nr_wrong", c->nr_wrong);
	json_print(ctx, doc);
}

int plan_check_file(const struct context *ctx, const char *path)
{
	struct checking c = { .path = path };
	struct file_buffer buffer = { 0 };
	struct json_object *doc = NULL;
	int ret = file_buffer_read(&buffer, path, 0, -1, MAX_FILE_BYTES);

	if (!ret)
		ret = file_buffer_grow(&buffer, buffer.len_bytes + 1);
	if (ret) {
		msg_error("%s: %s", path, strerror(-ret));
		free(buffer.bytes);
		return exit_from_error(ret);
	}
	buffer.bytes[buffer.len_bytes] = '\0';
	doc = plan_document(path, (const char *)buffer.bytes, "dlboost-plan");
	free(buffer.bytes);
	ret = doc ? read_machine(&c, doc) : TOOL_FAILED;
	ret = ret ?: read_graphs(&c, doc);
	ret = ret ?: check_policies(&c, doc);
	if (!ret)
		print_result(ctx, &c);
	for (unsigned int i = 0; i < c.nr_graphs; i++)
		plan_graph_free(&c.graphs[i]);
	json_object_put(doc);
	return ret ?: c.nr_wrong ? TOOL_FAILED : TOOL_DONE;
}
