// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlboost plan: what each order of a training step would give on a machine, and
 * what no order can beat.  Reads graphs (plan_read.c), asks the library for
 * plans and has its checker prove them; knows no policy from within.
 */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "plan_report.h"

#define MAX_GRAPHS 8
#define NR_JITTER_STEPS 50
/* The sequence of --jitter: the same in every run */
#define JITTER_SEED 1

struct plan_opts {
	const char *hardware;
	struct number batch;
	struct number ranks;
	struct number local_ranks;
	const char *link;
	const char *hop;
	const char *local_link;
	const char *local_hop;
	const char *memory;
	struct number streams;
	struct share overlap;
	struct share interference;
	struct share jitter;
	bool has_barrier;
	struct text_list policies;
	const char *bucket;
	const char *slice;
	bool is_full;
	const char *svg;
	const char *check;
};

static const char *const policy_words[] = {
	"ddp", "ddp-tuned", "fifo-split", "priority", "reverse-first-k", "list",
	"interleave", "exact", NULL,
};
static const char *const graph_words[] = {
	"alexnet", "bert-base", "densenet121", "resnet50", "vgg16", NULL,
};
static const char *const hardware_words[] = {
	"a100-tf32", "h200-bf16", "v100-fp32", NULL,
};

#define OPT(member) .offset = offsetof(struct plan_opts, member)

static const struct option_row rows[] = {
	{ .name = "hw", .type = OPTION_TEXT, .metavar = "DEVICE", OPT(hardware),
	  .choices = hardware_words,
	  .help = "device: a shipped one or a JSON file\n"
		  "(default v100-fp32)" },
	{ .name = "batch", .short_name = 'b', .type = OPTION_NUMBER,
	  .metavar = "N", OPT(batch), .min = 1, .max = 1 << 20, .preset = 64,
	  .help = "samples of a step of one rank" },
	{ .name = "ranks", .type = OPTION_NUMBER, .metavar = "N", OPT(ranks),
	  .min = 1, .max = 1 << 20, .preset = 8,
	  .help = "processes that train together" },
	{ .name = "link", .type = OPTION_TEXT, .metavar = "RATE", OPT(link),
	  .help = "bandwidth of a rank, e.g. 10Gbit, 450GB, or\n"
		  "nvlink for the device's own (default 10Gbit)" },
	{ .name = "hop", .type = OPTION_TEXT, .metavar = "TIME", OPT(hop),
	  .help = "latency of a hop, e.g. 15us (default 15us)" },
	{ .name = "local-ranks", .type = OPTION_NUMBER, .metavar = "N",
	  OPT(local_ranks), .min = 1, .max = 1 << 20, .preset = 1,
	  .help = "of the ranks in one machine" },
	{ .name = "local-link", .type = OPTION_TEXT, .metavar = "RATE",
	  OPT(local_link),
	  .help = "bandwidth inside a machine\n(default the device's own)" },
	{ .name = "local-hop", .type = OPTION_TEXT, .metavar = "TIME",
	  OPT(local_hop),
	  .help = "latency inside a machine\n(default the device's own)" },
	{ .name = "memory", .type = OPTION_TEXT, .metavar = "SIZE", OPT(memory),
	  .help = "cap, e.g. 16GiB, or none\n(default the device's own)" },
	{ .name = "streams", .type = OPTION_NUMBER, .metavar = "N",
	  OPT(streams), .min = 1, .max = DLBOOST_PLAN_MAX_STREAMS,
	  .preset = 1, .help = "compute streams" },
	{ .name = "overlap", .type = OPTION_SHARE, .metavar = "SHARE",
	  OPT(overlap),
	  .help = "what several streams do more than one" },
	{ .name = "interference", .type = OPTION_SHARE, .metavar = "SHARE",
	  OPT(interference), .has_no_preset = true,
	  .help = "how much slower compute is while a link is busy" },
	{ .name = "jitter", .type = OPTION_SHARE, .metavar = "SHARE",
	  OPT(jitter), .has_no_preset = true,
	  .help = "simulate times that vary by this much" },
	{ .name = "barrier", .type = OPTION_FLAG, OPT(has_barrier),
	  .help = "all reductions before any update (norm clipping,\n"
		  "AMP), whatever the policy would allow" },
	{ .name = "policy", .type = OPTION_LIST, .metavar = "NAME",
	  OPT(policies), .choices = policy_words,
	  .help = "only this policy; repeatable" },
	{ .name = "bucket", .type = OPTION_TEXT, .metavar = "SIZE", OPT(bucket),
	  .help = "fuse layers to messages of at least this size\n"
		  "(default planned)" },
	{ .name = "slice", .type = OPTION_TEXT, .metavar = "SIZE", OPT(slice),
	  .help = "cut messages to at most this size\n(default planned)" },
	{ .name = "full", .type = OPTION_FLAG, OPT(is_full),
	  .help = "with -j: times of layers, and every start and end" },
	{ .name = "svg", .type = OPTION_TEXT, .metavar = "FILE",
	  .complete = COMPLETE_FILE, OPT(svg),
	  .help = "draw the timeline" },
	{ .name = "check", .type = OPTION_TEXT, .metavar = "FILE",
	  .complete = COMPLETE_FILE, OPT(check),
	  .help = "verify the plans of a document of -j --full" },
	{ .name = NULL },
};

const struct dlboost_plan_view *plan_row_view(const struct plan_row *row,
					      unsigned int idx)
{
	return dlboost_plan_get_view(row->plans[idx]);
}

const struct plan_row *plan_report_row(const struct plan_report *report,
				       uint32_t policy)
{
	for (unsigned int i = 0; i < report->nr_rows; i++)
		if (report->rows[i].policy == policy)
			return &report->rows[i];
	return NULL;
}

const struct plan_row *plan_report_best(const struct plan_report *report)
{
	const struct plan_row *best = &report->rows[0];

	for (unsigned int i = 1; i < report->nr_rows; i++) {
		const struct plan_row *row = &report->rows[i];

		if (row->period_ns < best->period_ns ||
		    (row->period_ns == best->period_ns &&
		     row->peak_bytes < best->peak_bytes))
			best = row;
	}
	return best;
}

double plan_report_rho(const struct plan_report *report)
{
	uint64_t reduction_ns = 0, compute_ns = 0;
	const struct plan_row *row = report->rows;

	for (unsigned int i = 0; report->nr_rows && i < row->nr_plans; i++) {
		const struct dlboost_plan_view *view = plan_row_view(row, i);

		reduction_ns += view->bound.reduction_ns;
		compute_ns += view->bound.compute_ns;
	}
	return compute_ns ? (double)reduction_ns / (double)compute_ns : 0;
}

const char *plan_limit_name(uint32_t limit)
{
	static const char *const names[] = { "compute", "link",
					     "critical-path" };

	return limit < ARRAY_SIZE(names) ? names[limit] : "?";
}

const char *plan_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		"input_grad", "weight_grad", "update", "forward", "release",
	};

	return kind < ARRAY_SIZE(names) ? names[kind] : "?";
}

static int take_text(const struct context *ctx, const char *name,
		     const char *text, bool (*parse)(const char *, uint64_t *),
		     uint64_t *out)
{
	if (!text || parse(text, out))
		return TOOL_DONE;
	return usage_error(ctx, "--%s: '%s' is no %s", name, text,
			   parse == plan_parse_rate ? "rate such as 10Gbit" :
			   parse == plan_parse_time ? "time such as 15us" :
			   "size such as 16GiB");
}

static int take_links(const struct context *ctx, const struct plan_opts *opts,
		      const struct plan_hardware *hw,
		      struct dlboost_plan_attr *attr)
{
	int ret = TOOL_DONE;

	attr->local_bits_per_s = hw->local_bits_per_s ?: 1;
	attr->local_hop_ns = hw->local_hop_ns;
	if (opts->link && !strcmp(opts->link, "nvlink")) {
		attr->link_bits_per_s = attr->local_bits_per_s;
		attr->hop_ns = attr->local_hop_ns;
	} else {
		ret = take_text(ctx, "link", opts->link, plan_parse_rate,
				&attr->link_bits_per_s);
	}
	ret = ret ?: take_text(ctx, "hop", opts->hop, plan_parse_time,
			       &attr->hop_ns);
	ret = ret ?: take_text(ctx, "local-link", opts->local_link,
			       plan_parse_rate, &attr->local_bits_per_s);
	ret = ret ?: take_text(ctx, "local-hop", opts->local_hop,
			       plan_parse_time, &attr->local_hop_ns);
	return ret;
}

static int take_machine(const struct context *ctx, const struct plan_opts *opts,
			const struct plan_hardware *hw,
			struct plan_report *report)
{
	struct dlboost_plan_attr *attr = &report->attr;
	int ret;

	*attr = (struct dlboost_plan_attr)DLBOOST_PLAN_ATTR_INIT;
	attr->has_barrier = opts->has_barrier;
	attr->ranks = (uint32_t)opts->ranks.value;
	attr->local_ranks = (uint32_t)opts->local_ranks.value;
	attr->nr_streams = (uint32_t)opts->streams.value;
	attr->overlap_permille = 1000 +
				 (uint32_t)(opts->overlap.value * 1000 + 0.5);
	attr->interference_permille =
		(uint32_t)(opts->interference.value * 1000 + 0.5);
	attr->memory_bytes = hw->memory_bytes;
	report->jitter_permille = (uint32_t)(opts->jitter.value * 1000 + 0.5);
	if (attr->ranks % attr->local_ranks)
		return usage_error(ctx, "--ranks %u do not fill machines of "
				   "--local-ranks %u", attr->ranks,
				   attr->local_ranks);
	if (opts->overlap.is_set && attr->nr_streams == 1)
		return usage_error(ctx, "--overlap needs --streams 2 or more");
	if (report->jitter_permille >= 1000)
		return usage_error(ctx, "--jitter must be below 100%%");
	ret = take_links(ctx, opts, hw, attr);
	if (opts->memory && !strcmp(opts->memory, "none"))
		attr->memory_bytes = 0;
	else
		ret = ret ?: take_text(ctx, "memory", opts->memory,
				       plan_parse_bytes, &attr->memory_bytes);
	ret = ret ?: take_text(ctx, "bucket", opts->bucket, plan_parse_bytes,
			       &attr->bucket_bytes);
	return ret ?: take_text(ctx, "slice", opts->slice, plan_parse_bytes,
				&attr->slice_bytes);
}

static int check_policies(const struct context *ctx,
			  const struct plan_opts *opts)
{
	for (unsigned int i = 0; i < opts->policies.nr; i++) {
		const char *name = opts->policies.items[i], *hint;
		unsigned int j = 0;

		while (policy_words[j] && strcmp(policy_words[j], name))
			j++;
		if (policy_words[j])
			continue;
		hint = text_did_you_mean(name, policy_words,
					 DLBOOST_PLAN_NR_POLICIES);
		if (hint)
			return usage_error(ctx, "--policy: no policy '%s'; did "
					   "you mean '%s'?", name, hint);
		return usage_error(ctx, "--policy: no policy '%s'", name);
	}
	return TOOL_DONE;
}

static bool is_asked(const struct plan_opts *opts, uint32_t policy)
{
	for (unsigned int i = 0; i < opts->policies.nr; i++)
		if (!strcmp(opts->policies.items[i],
			    dlboost_plan_policy_name(policy)))
			return true;
	return !opts->policies.nr;
}

static int jitter_plan(const struct plan_report *report, struct plan_row *row,
		       const struct dlboost_plan_graph *const *graphs,
		       unsigned int nr_graphs)
{
	const struct dlboost_plan_sim_attr sim = {
		.size = sizeof(sim), .nr_steps = NR_JITTER_STEPS,
		.jitter_permille = report->jitter_permille,
		.seed = JITTER_SEED,
	};
	uint64_t end_ns[NR_JITTER_STEPS];
	int ret;

	if (!report->jitter_permille)
		return 0;
	ret = dlboost_plan_simulate(graphs, nr_graphs, &report->attr,
				    plan_row_view(row, row->nr_plans - 1), &sim,
				    end_ns);
	if (!ret)
		row->jittered_ns += end_ns[NR_JITTER_STEPS - 1] /
				    NR_JITTER_STEPS;
	return ret;
}

/* One plan more for @row: made, proven, simulated */
static int row_add_plan(struct plan_report *report, struct plan_row *row,
			unsigned int first, unsigned int nr, char *error,
			size_t error_bytes)
{
	const struct dlboost_plan_graph *graphs[MAX_GRAPHS];
	struct dlboost_plan_attr attr = report->attr;
	const struct dlboost_plan_view *view;
	struct dlboost_plan *plan;
	int ret;

	for (unsigned int i = 0; i < nr; i++)
		graphs[i] = report->graphs[first + i].graph;
	attr.policy = row->policy;
	ret = dlboost_plan_create(graphs, nr, &attr, error, error_bytes, &plan);
	if (ret)
		return ret;
	row->plans[row->nr_plans++] = plan;
	view = dlboost_plan_get_view(plan);
	row->period_ns += view->period_ns;
	row->bound_ns += view->bound.period_ns;
	ret = dlboost_plan_check(graphs, nr, &attr, &view, 1, error,
				 error_bytes);
	if (ret == -EBADMSG) {
		msg_error("%s: %s", dlboost_plan_policy_name(row->policy),
			  error);
		row->is_proven = false;
		ret = 0;
	}
	return ret ?: jitter_plan(report, row, graphs, nr);
}

/* One graph computes while what the others keep stays where it is */
static uint64_t turns_peak(const struct plan_row *row)
{
	uint64_t peak = 0, kept = 0;

	for (unsigned int i = 0; i < row->nr_plans; i++)
		kept += plan_row_view(row, i)->bound.memory_bytes;
	for (unsigned int i = 0; i < row->nr_plans; i++) {
		const struct dlboost_plan_view *view = plan_row_view(row, i);
		uint64_t bytes = kept - view->bound.memory_bytes +
				 view->peak_bytes;

		peak = bytes > peak ? bytes : peak;
	}
	return peak;
}

static void row_fini(struct plan_row *row)
{
	for (unsigned int i = 0; i < row->nr_plans; i++)
		dlboost_plan_destroy(row->plans[i]);
	free(row->plans);
}

/* A policy that does not apply is left out, with a note */
static int add_row(struct plan_report *report, uint32_t policy,
		   bool is_asked_for)
{
	struct plan_row row = { .policy = policy, .is_proven = true };
	bool is_one = policy == DLBOOST_PLAN_INTERLEAVE;
	char error[512] = "";
	int ret = 0;

	/* Nobody misses it where there is nothing to interleave */
	if (is_one && report->nr_graphs == 1 && !is_asked_for)
		return TOOL_DONE;
	row.plans = calloc(report->nr_graphs, sizeof(struct dlboost_plan *));
	if (!row.plans)
		ret = -ENOMEM;
	for (unsigned int i = 0; !ret && i < (is_one ? 1 : report->nr_graphs);
	     i++)
		ret = row_add_plan(report, &row, i,
				   is_one ? report->nr_graphs : 1, error,
				   sizeof(error));
	if (!ret) {
		row.peak_bytes = turns_peak(&row);
		report->rows[report->nr_rows++] = row;
		return TOOL_DONE;
	}
	row_fini(&row);
	if (ret == -EOPNOTSUPP || ret == -ENOSPC) {
		msg_note("%s is left out: %s", dlboost_plan_policy_name(policy),
			 error);
		return TOOL_DONE;
	}
	msg_error("%s: %s", dlboost_plan_policy_name(policy),
		  *error ? error : strerror(-ret));
	return TOOL_FAILED;
}

static int read_graphs(const struct plan_opts *opts,
		       const struct plan_hardware *hw, unsigned int nr_args,
		       char **args, struct plan_report *report)
{
	bool is_measured = true;
	int ret = TOOL_DONE;

	for (unsigned int i = 0; !ret && i < nr_args; i++) {
		ret = plan_graph_read(args[i], hw, report->batch,
				      &report->graphs[i]);
		if (ret)
			break;
		report->nr_graphs++;
		is_measured &= report->graphs[i].is_measured;
		if (report->graphs[i].is_measured && opts->batch.is_set)
			msg_note("%s holds measured times; --batch does not "
				 "change them", args[i]);
	}
	report->hardware = is_measured ? NULL : hw->name;
	return ret;
}

static int print_report(const struct context *ctx, const struct plan_opts *opts,
			const struct plan_report *report)
{
	bool is_proven = true;
	int ret = TOOL_DONE;

	for (unsigned int i = 0; i < report->nr_rows; i++)
		is_proven &= report->rows[i].is_proven;
	if (!report->nr_rows) {
		msg_error("no policy applies");
		return TOOL_FAILED;
	}
	if (ctx->has_json)
		json_print(ctx, plan_json(report, opts->is_full));
	else
		plan_table_print(report, ctx->is_verbose);
	if (opts->svg)
		ret = plan_svg_write(report, opts->svg);
	return is_proven ? ret : TOOL_FAILED;
}

static int plan_graphs(const struct context *ctx, const struct plan_opts *opts,
		       unsigned int nr_args, char **args)
{
	struct plan_graph graphs[MAX_GRAPHS] = { { NULL } };
	struct plan_report report = {
		.batch = (uint32_t)opts->batch.value, .graphs = graphs,
	};
	struct plan_hardware hw;
	int ret = plan_hardware_read(opts->hardware ?: "v100-fp32", &hw);

	if (ret)
		return ret;
	ret = take_machine(ctx, opts, &hw, &report);
	ret = ret ?: read_graphs(opts, &hw, nr_args, args, &report);
	for (uint32_t i = 0; !ret && i < DLBOOST_PLAN_NR_POLICIES; i++)
		if (is_asked(opts, i))
			ret = add_row(&report, i, opts->policies.nr);
	if (!ret)
		ret = print_report(ctx, opts, &report);
	for (unsigned int i = 0; i < report.nr_rows; i++)
		row_fini(&report.rows[i]);
	for (unsigned int i = 0; i < report.nr_graphs; i++)
		plan_graph_free(&graphs[i]);
	plan_hardware_free(&hw);
	return ret;
}

static int run_plan(const struct context *ctx, void *arg, unsigned int nr_args,
		    char **args)
{
	const struct plan_opts *opts = arg;
	int ret;

	if (opts->check)
		return nr_args ? usage_error(ctx, "--check takes no GRAPH") :
				 plan_check_file(ctx, opts->check);
	if (!nr_args)
		return usage_error(ctx, "GRAPH... is missing");
	if (opts->is_full && !ctx->has_json)
		return usage_error(ctx, "--full needs -j");
	if (opts->svg && !strcmp(opts->svg, "-"))
		return usage_error(ctx, "--svg needs a file");
	ret = check_policies(ctx, opts);
	if (!ret && opts->svg) {
		ret = file_check_writable(opts->svg);
		if (ret) {
			msg_error("%s cannot be written: %s", opts->svg,
				  strerror(-ret));
			return exit_from_error(ret);
		}
	}
	return ret ?: plan_graphs(ctx, opts, nr_args, args);
}

const struct command cmd_plan = {
	.name = "plan",
	.arguments = "GRAPH...",
	.summary = "Predict what layer-wise orders of a training step give",
	.details = "GRAPH is a shipped graph (alexnet, bert-base,\n"
		   "densenet121, resnet50, vgg16) or a JSON file.\n"
		   "Several graphs share the device.",
	.options = rows,
	.opts_bytes = sizeof(struct plan_opts),
	.max_arguments = MAX_GRAPHS,
	.complete = COMPLETE_WORDS,
	.words = graph_words,
	.run = run_plan,
};
