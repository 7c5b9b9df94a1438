/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dlboost plan: graphs and machines as files, plans as table, JSON and picture.
 * Documentation/planning.rst defines the formats.
 */
#ifndef DLBOOST_TOOL_PLAN_REPORT_H
#define DLBOOST_TOOL_PLAN_REPORT_H

#include "options.h"

struct json_object;

/* One file that is part of the command: make_plan_data.py */
struct plan_file {
	const char *name;
	const char *text;
};

extern const struct plan_file plan_graph_files[];
extern const struct plan_file plan_hardware_files[];

/**
 * struct plan_hardware - A device
 * @name: its name
 * @kinds: kinds of layers with an efficiency of their own
 * @efficiency_permille: for each of them
 * @nr_kinds: how many
 * @rates: everything else; its efficiency is filled in by kind
 * @memory_bytes: memory of the device
 * @local_bits_per_s: link inside a machine
 * @local_hop_ns: and its latency
 */
struct plan_hardware {
	char *name;
	char **kinds;
	uint32_t *efficiency_permille;
	unsigned int nr_kinds;
	struct dlboost_plan_hardware rates;
	uint64_t memory_bytes;
	uint64_t local_bits_per_s;
	uint64_t local_hop_ns;
};

/**
 * struct plan_graph - A graph with what the library does not keep
 * @name: its name
 * @graph: for the planner
 * @layers: times, sizes, flags; names and inputs are owned
 * @kinds: per layer
 * @nr_layers: how many
 * @slot_bytes: memory of one batch
 * @is_measured: times come from the file
 */
struct plan_graph {
	char *name;
	struct dlboost_plan_graph *graph;
	struct dlboost_plan_layer *layers;
	char **kinds;
	unsigned int nr_layers;
	uint64_t slot_bytes;
	bool is_measured;
};

/* plan_read.c: an exit code; what is wrong has been said */
int plan_hardware_read(const char *name, struct plan_hardware *out);
void plan_hardware_free(struct plan_hardware *hardware);
int plan_graph_read(const char *name, const struct plan_hardware *hardware,
		    uint32_t batch, struct plan_graph *out);
void plan_graph_free(struct plan_graph *graph);
/* The layers of a document, as they stand in "graphs" of --full */
int plan_graph_take(const char *path, struct json_object *doc,
		    const struct plan_hardware *hardware, uint32_t batch,
		    struct plan_graph *out);
/* plan_parse.c: "10Gbit", "450GB"; "15us"; "16GiB"; false when it is none */
bool plan_parse_rate(const char *text, uint64_t *bits_per_s);
bool plan_parse_time(const char *text, uint64_t *ns);
bool plan_parse_bytes(const char *text, uint64_t *bytes);

/* Members of JSON objects; say what is wrong in the name of @path and @what */
struct plan_place {
	const char *path;
	const char *what;
};

struct json_object *plan_member(const struct plan_place *place,
				struct json_object *obj, const char *key);
int plan_member_u64(const struct plan_place *place, struct json_object *obj,
		    const char *key, uint64_t max, uint64_t *out);
/* As above; @preset when it is absent */
int plan_member_u64_or(const struct plan_place *place, struct json_object *obj,
		       const char *key, uint64_t max, uint64_t preset,
		       uint64_t *out);
/* NULL when it is no document of @schema, which has then been said */
struct json_object *plan_document(const char *path, const char *text,
				  const char *schema);

/**
 * struct plan_row - What one policy gives
 * @policy: a value of enum dlboost_plan_policy
 * @plans: one for all graphs, or one for each
 * @nr_plans: how many
 * @period_ns: sum over @plans
 * @bound_ns: sum over @plans
 * @peak_bytes: of all graphs together
 * @jittered_ns: mean period with jitter; 0 without
 * @is_proven: the checker accepts every plan
 */
struct plan_row {
	uint32_t policy;
	struct dlboost_plan **plans;
	unsigned int nr_plans;
	uint64_t period_ns;
	uint64_t bound_ns;
	uint64_t peak_bytes;
	uint64_t jittered_ns;
	bool is_proven;
};

/**
 * struct plan_report - Everything that is printed
 * @hardware: name of the device; NULL for measured graphs
 * @batch: samples of a step of a rank
 * @attr: the machine
 * @jitter_permille: of --jitter
 * @graphs: the graphs
 * @nr_graphs: how many
 * @rows: the policies that apply
 * @nr_rows: how many
 */
struct plan_report {
	const char *hardware;
	uint32_t batch;
	struct dlboost_plan_attr attr;
	uint32_t jitter_permille;
	struct plan_graph *graphs;
	unsigned int nr_graphs;
	struct plan_row rows[DLBOOST_PLAN_NR_POLICIES];
	unsigned int nr_rows;
};

const struct dlboost_plan_view *plan_row_view(const struct plan_row *row,
					      unsigned int idx);
const struct plan_row *plan_report_row(const struct plan_report *report,
				       uint32_t policy);
/* The shortest period; of equal ones the smallest peak */
const struct plan_row *plan_report_best(const struct plan_report *report);
/* Time of the link against time of compute, over all graphs */
double plan_report_rho(const struct plan_report *report);

/* plan_table.c, plan_json.c, plan_svg.c, plan_check.c */
void plan_table_print(const struct plan_report *report, bool is_verbose);
struct json_object *plan_json(const struct plan_report *report, bool is_full);
int plan_svg_write(const struct plan_report *report, const char *path);
int plan_check_file(const struct context *ctx, const char *path);

const char *plan_limit_name(uint32_t limit);
const char *plan_kind_name(uint32_t kind);

#endif /* DLBOOST_TOOL_PLAN_REPORT_H */
