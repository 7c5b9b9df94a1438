// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Graphs and devices from JSON: the shipped ones by name, others by path.  What
 * is wrong is named with its layer.  Numbers are whole, so that a plan does not
 * depend on how a machine reads fractions.  Documentation/planning.rst,
 * "Graphs".
 */
#include <errno.h>
#include <string.h>

#include "json.h"
#include "plan_report.h"

#define MAX_FILE_BYTES ((size_t)64 << 20)
#define MAX_RATE ((uint64_t)1 << 60)

struct json_object *plan_member(const struct plan_place *place,
				struct json_object *obj, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(obj, key, &value))
		msg_error("%s: %s: '%s' is missing", place->path, place->what,
			  key);
	return value;
}

int plan_member_u64_or(const struct plan_place *place, struct json_object *obj,
		       const char *key, uint64_t max, uint64_t preset,
		       uint64_t *out)
{
	struct json_object *value = NULL;

	*out = preset;
	if (!json_object_object_get_ex(obj, key, &value))
		return TOOL_DONE;
	if (!json_object_is_type(value, json_type_int) ||
	    json_object_get_int64(value) < 0 ||
	    json_object_get_uint64(value) > max) {
		msg_error("%s: %s: '%s' is %s, not a whole number from 0 to "
			  "%llu", place->path, place->what, key,
			  json_object_to_json_string(value),
			  (unsigned long long)max);
		return TOOL_FAILED;
	}
	*out = json_object_get_uint64(value);
	return TOOL_DONE;
}

int plan_member_u64(const struct plan_place *place, struct json_object *obj,
		    const char *key, uint64_t max, uint64_t *out)
{
	if (!plan_member(place, obj, key))
		return TOOL_FAILED;
	return plan_member_u64_or(place, obj, key, max, 0, out);
}

static char *member_text(const struct plan_place *place,
			 struct json_object *obj, const char *key)
{
	struct json_object *value = plan_member(place, obj, key);
	char *copy;

	if (!value)
		return NULL;
	if (!json_object_is_type(value, json_type_string)) {
		msg_error("%s: %s: '%s' is no text", place->path, place->what,
			  key);
		return NULL;
	}
	copy = strdup(json_object_get_string(value));
	if (!copy)
		msg_error("out of memory");
	return copy;
}

struct json_object *plan_document(const char *path, const char *text,
				  const char *schema)
{
	enum json_tokener_error error;
	struct json_object *doc = json_tokener_parse_verbose(text, &error);
	struct json_object *name;

	if (!doc || !json_object_is_type(doc, json_type_object)) {
		msg_error("%s: no JSON object: %s", path, doc ? "another value" :
			  json_tokener_error_desc(error));
		json_object_put(doc);
		return NULL;
	}
	if (!json_object_object_get_ex(doc, "schema", &name) ||
	    strcmp(json_object_get_string(name) ?: "", schema)) {
		msg_error("%s: \"schema\" is not \"%s\"", path, schema);
		json_object_put(doc);
		return NULL;
	}
	return doc;
}

/* "v100" finds "v100-fp32" when nothing else begins so */
static const char *find_shipped(const struct plan_file *files, const char *name)
{
	const char *found = NULL;
	size_t len = strlen(name);

	for (; files->name; files++) {
		if (!strcmp(files->name, name))
			return files->text;
		if (strncmp(files->name, name, len) || files->name[len] != '-')
			continue;
		if (found)
			return NULL;
		found = files->text;
	}
	return found;
}

static void say_unknown(const struct plan_file *files, const char *what,
			const char *name)
{
	const char *names[32], *hint;
	size_t nr = 0;

	for (; nr < ARRAY_SIZE(names) && files[nr].name; nr++)
		names[nr] = files[nr].name;
	hint = text_did_you_mean(name, names, nr);
	if (hint)
		msg_error("no %s '%s'; did you mean '%s'?", what, name, hint);
	else
		msg_error("%s: neither a shipped %s nor a file", name, what);
}

static struct json_object *read_document(const char *name, const char *what,
					 const struct plan_file *files,
					 const char *schema, int *code)
{
	const char *shipped = find_shipped(files, name);
	struct file_buffer buffer = { 0 };
	struct json_object *doc;
	int ret;

	*code = TOOL_FAILED;
	if (shipped)
		return plan_document(name, shipped, schema);
	ret = file_buffer_read(&buffer, name, 0, -1, MAX_FILE_BYTES);
	if (!ret)
		ret = file_buffer_grow(&buffer, buffer.len_bytes + 1);
	if (ret) {
		if (ret == -ENOENT && !strchr(name, '/')) {
			say_unknown(files, what, name);
			*code = TOOL_USAGE;
		} else {
			msg_error("%s: %s", name, strerror(-ret));
			*code = exit_from_error(ret);
		}
		free(buffer.bytes);
		return NULL;
	}
	buffer.bytes[buffer.len_bytes] = '\0';
	doc = plan_document(name, (const char *)buffer.bytes, schema);
	free(buffer.bytes);
	return doc;
}

static int take_efficiency(const struct plan_place *place,
			   struct json_object *doc, struct plan_hardware *out)
{
	struct json_object *table = plan_member(place, doc,
						"efficiency_permille");
	unsigned int nr;

	if (!table || !json_object_is_type(table, json_type_object)) {
		msg_error("%s: 'efficiency_permille' is no object", place->path);
		return TOOL_FAILED;
	}
	nr = (unsigned int)json_object_object_length(table);
	out->kinds = calloc(nr + 1, sizeof(*out->kinds));
	out->efficiency_permille = calloc(nr + 1, sizeof(uint32_t));
	if (!out->kinds || !out->efficiency_permille) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	json_object_object_foreach(table, kind, value) {
		uint64_t permille;

		(void)value;
		if (plan_member_u64(place, table, kind, 1000, &permille))
			return TOOL_FAILED;
		out->efficiency_permille[out->nr_kinds] = (uint32_t)permille;
		out->kinds[out->nr_kinds] = strdup(kind);
		if (!out->kinds[out->nr_kinds++])
			return TOOL_FAILED;
	}
	return TOOL_DONE;
}

int plan_hardware_read(const char *name, struct plan_hardware *out)
{
	const struct plan_place place = { name, "device" };
	struct dlboost_plan_hardware *rates = &out->rates;
	uint64_t value[4] = { 0 };
	struct json_object *doc;
	int ret;

	memset(out, 0, sizeof(*out));
	doc = read_document(name, "device", plan_hardware_files,
			    "dlboost-hardware", &ret);
	if (!doc)
		return ret;
	out->name = member_text(&place, doc, "name");
	ret = out->name ? TOOL_DONE : TOOL_FAILED;
	ret = ret ?: plan_member_u64(&place, doc, "flops_per_s", MAX_RATE,
				     &rates->flops_per_s);
	ret = ret ?: plan_member_u64(&place, doc, "bytes_per_s", MAX_RATE,
				     &rates->bytes_per_s);
	ret = ret ?: plan_member_u64(&place, doc, "memory_bytes", MAX_RATE,
				     &out->memory_bytes);
	ret = ret ?: plan_member_u64(&place, doc, "launch_ns", 1000000000,
				     &rates->launch_ns);
	ret = ret ?: plan_member_u64(&place, doc, "memory_efficiency_permille",
				     1000, &value[0]);
	ret = ret ?: plan_member_u64(&place, doc, "element_bytes", 16,
				     &value[1]);
	ret = ret ?: plan_member_u64(&place, doc, "gradient_element_bytes", 16,
				     &value[2]);
	ret = ret ?: plan_member_u64(&place, doc, "state_bytes_per_parameter",
				     1024, &value[3]);
	ret = ret ?: plan_member_u64(&place, doc, "local_bits_per_s", MAX_RATE,
				     &out->local_bits_per_s);
	ret = ret ?: plan_member_u64(&place, doc, "local_hop_ns", 1000000000,
				     &out->local_hop_ns);
	ret = ret ?: take_efficiency(&place, doc, out);
	rates->memory_efficiency_permille = (uint32_t)value[0];
	rates->element_bytes = (uint32_t)value[1];
	rates->gradient_element_bytes = (uint32_t)value[2];
	rates->state_bytes_per_parameter = (uint32_t)value[3];
	json_object_put(doc);
	if (ret)
		plan_hardware_free(out);
	return ret;
}

void plan_hardware_free(struct plan_hardware *hardware)
{
	for (unsigned int i = 0; i < hardware->nr_kinds; i++)
		free(hardware->kinds[i]);
	free(hardware->kinds);
	free(hardware->efficiency_permille);
	free(hardware->name);
	memset(hardware, 0, sizeof(*hardware));
}

/**
 * struct taking - A graph that is being read
 * @path: file
 * @out: the graph
 * @hardware: device, for layers given by shape
 * @batch: samples
 */
struct taking {
	const char *path;
	struct plan_graph *out;
	const struct plan_hardware *hardware;
	uint32_t batch;
};

static int find_layer(const struct plan_graph *graph, const char *name,
		      unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (!strcmp(graph->layers[i].name, name))
			return (int)i;
	return -1;
}

static int take_measured(const struct plan_place *place,
			 struct json_object *obj,
			 struct dlboost_plan_layer *layer)
{
	static const char *const keys[] = {
		"forward_ns", "input_grad_ns", "weight_grad_ns", "update_ns",
	};
	uint64_t *const ns[] = { &layer->forward_ns, &layer->input_grad_ns,
				 &layer->weight_grad_ns, &layer->update_ns };
	static const char *const sizes[] = {
		"activation_bytes", "gradient_bytes", "parameter_bytes",
		"static_bytes",
	};
	uint64_t *const bytes[] = {
		&layer->activation_bytes, &layer->gradient_bytes,
		&layer->parameter_bytes, &layer->static_bytes,
	};
	int ret = TOOL_DONE;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(keys); i++)
		ret = plan_member_u64(place, obj, keys[i], DLBOOST_PLAN_MAX_NS,
				      ns[i]);
	for (size_t i = 0; !ret && i < ARRAY_SIZE(sizes); i++)
		ret = plan_member_u64(place, obj, sizes[i],
				      DLBOOST_PLAN_MAX_BYTES, bytes[i]);
	return ret;
}

static int find_efficiency(const struct taking *t,
			   const struct plan_place *place, const char *kind,
			   uint32_t *permille)
{
	const struct plan_hardware *hw = t->hardware;
	const char *hint;

	for (unsigned int i = 0; i < hw->nr_kinds; i++)
		if (!strcmp(hw->kinds[i], kind)) {
			*permille = hw->efficiency_permille[i];
			return TOOL_DONE;
		}
	hint = text_did_you_mean(kind, (const char *const *)hw->kinds,
				 hw->nr_kinds);
	if (hint)
		msg_error("%s: %s: device %s knows no kind '%s'; did you mean "
			  "'%s'?", place->path, place->what, hw->name, kind,
			  hint);
	else
		msg_error("%s: %s: device %s knows no kind '%s' (\"other\" is "
			  "for what has no figure)", place->path, place->what,
			  hw->name, kind);
	return TOOL_FAILED;
}

static int take_shape(const struct taking *t, const struct plan_place *place,
		      struct json_object *obj, const char *kind,
		      struct dlboost_plan_layer *layer)
{
	struct dlboost_plan_hardware rates;
	struct dlboost_plan_shape shape;
	uint64_t efficiency = 0;
	int ret;

	if (!t->hardware) {
		msg_error("%s: %s: has a shape and no times; name a device "
			  "with --hw", place->path, place->what);
		return TOOL_FAILED;
	}
	rates = t->hardware->rates;
	ret = find_efficiency(t, place, kind, &rates.efficiency_permille);
	ret = ret ?: plan_member_u64(place, obj, "flops", MAX_RATE,
				     &shape.flops);
	ret = ret ?: plan_member_u64(place, obj, "bytes",
				     DLBOOST_PLAN_MAX_BYTES, &shape.bytes);
	ret = ret ?: plan_member_u64_or(place, obj, "backward_bytes",
					DLBOOST_PLAN_MAX_BYTES,
					ret ? 0 : shape.bytes,
					&shape.backward_bytes);
	ret = ret ?: plan_member_u64(place, obj, "activation_bytes",
				     DLBOOST_PLAN_MAX_BYTES,
				     &shape.activation_bytes);
	ret = ret ?: plan_member_u64(place, obj, "output_bytes",
				     DLBOOST_PLAN_MAX_BYTES,
				     &shape.output_bytes);
	ret = ret ?: plan_member_u64(place, obj, "parameters",
				     DLBOOST_PLAN_MAX_BYTES / 1024,
				     &shape.parameters);
	ret = ret ?: plan_member_u64_or(place, obj, "efficiency_permille",
					10000, 1000, &efficiency);
	if (ret)
		return ret;
	shape.efficiency_permille = (uint32_t)efficiency;
	ret = dlboost_plan_estimate(&shape, &rates, t->batch, layer);
	if (ret)
		msg_error("%s: %s: %s", place->path, place->what,
			  ret == -EOVERFLOW ? "its times are too large" :
			  "a rate or an efficiency is 0");
	return ret ? TOOL_FAILED : TOOL_DONE;
}

static int take_flag(const struct plan_place *place, struct json_object *obj,
		     const char *key, bool preset, bool *out)
{
	struct json_object *value = NULL;

	*out = preset;
	if (!json_object_object_get_ex(obj, key, &value))
		return TOOL_DONE;
	if (!json_object_is_type(value, json_type_boolean)) {
		msg_error("%s: %s: '%s' is neither true nor false",
			  place->path, place->what, key);
		return TOOL_FAILED;
	}
	*out = json_object_get_boolean(value);
	return TOOL_DONE;
}

static int take_flags(const struct plan_place *place, struct json_object *obj,
		      struct dlboost_plan_layer *layer)
{
	bool is_splittable, is_frozen, has_sync;
	struct json_object *tied;
	int ret = take_flag(place, obj, "splittable", true, &is_splittable);

	ret = ret ?: take_flag(place, obj, "frozen", false, &is_frozen);
	ret = ret ?: take_flag(place, obj, "global_sync", false, &has_sync);
	if (ret)
		return ret;
	layer->flags = (is_splittable ? 0 : DLBOOST_PLAN_LAYER_WHOLE) |
		       (is_frozen ? DLBOOST_PLAN_LAYER_FROZEN : 0) |
		       (has_sync ? DLBOOST_PLAN_LAYER_SYNC : 0);
	if (json_object_object_get_ex(obj, "tied_to", &tied) && tied)
		layer->flags |= DLBOOST_PLAN_LAYER_TIED;
	return TOOL_DONE;
}

static int take_layer(const struct taking *t, struct json_object *obj,
		      unsigned int i)
{
	struct dlboost_plan_layer *layer = &t->out->layers[i];
	struct plan_place place = { t->path, "layer" };
	char number[32];
	int ret;

	snprintf(number, sizeof(number), "layer %u", i);
	place.what = number;
	if (!json_object_is_type(obj, json_type_object)) {
		msg_error("%s: %s is no object", t->path, number);
		return TOOL_FAILED;
	}
	layer->name = member_text(&place, obj, "name");
	if (!layer->name)
		return TOOL_FAILED;
	place.what = layer->name;
	if (find_layer(t->out, layer->name, i) >= 0) {
		msg_error("%s: layer '%s' is there twice", t->path,
			  layer->name);
		return TOOL_FAILED;
	}
	t->out->kinds[i] = member_text(&place, obj, "kind");
	ret = t->out->kinds[i] ? take_flags(&place, obj, layer) : TOOL_FAILED;
	if (ret)
		return ret;
	if (!json_object_object_get_ex(obj, "flops", NULL)) {
		t->out->is_measured = true;
		return take_measured(&place, obj, layer);
	}
	return take_shape(t, &place, obj, t->out->kinds[i], layer);
}

static int take_name(const struct taking *t, unsigned int i, const char *key,
		     struct json_object *value, uint32_t *out)
{
	int found = -1;

	if (json_object_is_type(value, json_type_string))
		found = find_layer(t->out, json_object_get_string(value),
				   t->out->nr_layers);
	if (found < 0) {
		msg_error("%s: layer '%s': '%s' names no layer: %s", t->path,
			  t->out->layers[i].name, key,
			  json_object_to_json_string(value));
		return TOOL_FAILED;
	}
	*out = (uint32_t)found;
	return TOOL_DONE;
}

/* Names become numbers once all names are known */
static int link_layer(const struct taking *t, struct json_object *obj,
		      unsigned int i)
{
	struct dlboost_plan_layer *layer = &t->out->layers[i];
	struct plan_place place = { t->path, layer->name };
	struct json_object *list = plan_member(&place, obj, "inputs"), *tied;
	uint32_t *inputs;
	int ret = TOOL_DONE;

	if (!list || !json_object_is_type(list, json_type_array)) {
		msg_error("%s: layer '%s': 'inputs' is no list", t->path,
			  layer->name);
		return TOOL_FAILED;
	}
	inputs = calloc(json_object_array_length(list) + 1, sizeof(*inputs));
	if (!inputs)
		return TOOL_FAILED;
	layer->inputs = inputs;
	layer->nr_inputs = (uint32_t)json_object_array_length(list);
	for (uint32_t j = 0; !ret && j < layer->nr_inputs; j++)
		ret = take_name(t, i, "inputs",
				json_object_array_get_idx(list, j), &inputs[j]);
	if (!ret && (layer->flags & DLBOOST_PLAN_LAYER_TIED)) {
		json_object_object_get_ex(obj, "tied_to", &tied);
		ret = take_name(t, i, "tied_to", tied, &layer->tied_to);
	}
	return ret;
}

static int take_layers(const struct taking *t, struct json_object *list)
{
	struct plan_graph *out = t->out;
	char error[512] = "";
	int ret = TOOL_DONE;

	out->nr_layers = (unsigned int)json_object_array_length(list);
	out->layers = calloc(out->nr_layers + 1, sizeof(*out->layers));
	out->kinds = calloc(out->nr_layers + 1, sizeof(*out->kinds));
	if (!out->layers || !out->kinds) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	for (unsigned int i = 0; !ret && i < out->nr_layers; i++)
		ret = take_layer(t, json_object_array_get_idx(list, i), i);
	for (unsigned int i = 0; !ret && i < out->nr_layers; i++)
		ret = link_layer(t, json_object_array_get_idx(list, i), i);
	if (ret)
		return ret;
	ret = dlboost_plan_graph_create(out->layers, out->nr_layers,
					out->slot_bytes, error, sizeof(error),
					&out->graph);
	if (ret)
		msg_error("%s: %s", t->path, *error ? error : strerror(-ret));
	return ret ? TOOL_FAILED : TOOL_DONE;
}

int plan_graph_take(const char *path, struct json_object *doc,
		    const struct plan_hardware *hardware, uint32_t batch,
		    struct plan_graph *out)
{
	const struct plan_place place = { path, "graph" };
	const struct taking t = { path, out, hardware, batch };
	struct json_object *list = plan_member(&place, doc, "layers");
	uint64_t sample_bytes = 0;
	int ret;

	memset(out, 0, sizeof(*out));
	if (!list || !json_object_is_type(list, json_type_array)) {
		msg_error("%s: 'layers' is no list", path);
		return TOOL_FAILED;
	}
	out->name = member_text(&place, doc, "name");
	ret = out->name ? TOOL_DONE : TOOL_FAILED;
	ret = ret ?: plan_member_u64_or(&place, doc, "sample_bytes",
					(uint64_t)1 << 32, 0, &sample_bytes);
	ret = ret ?: plan_member_u64_or(&place, doc, "slot_bytes",
					DLBOOST_PLAN_MAX_BYTES,
					sample_bytes * batch, &out->slot_bytes);
	ret = ret ?: take_layers(&t, list);
	if (ret)
		plan_graph_free(out);
	return ret;
}

int plan_graph_read(const char *name, const struct plan_hardware *hardware,
		    uint32_t batch, struct plan_graph *out)
{
	struct json_object *doc;
	int ret;

	doc = read_document(name, "graph", plan_graph_files, "dlboost-graph",
			    &ret);
	if (!doc)
		return ret;
	ret = plan_graph_take(name, doc, hardware, batch, out);
	json_object_put(doc);
	return ret;
}

void plan_graph_free(struct plan_graph *graph)
{
	for (unsigned int i = 0; i < graph->nr_layers; i++) {
		if (graph->layers) {
			free((char *)graph->layers[i].name);
			free((uint32_t *)graph->layers[i].inputs);
		}
		if (graph->kinds)
			free(graph->kinds[i]);
	}
	free(graph->layers);
	free(graph->kinds);
	free(graph->name);
	dlboost_plan_graph_destroy(graph->graph);
	memset(graph, 0, sizeof(*graph));
}
