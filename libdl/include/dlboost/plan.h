/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Layer-wise plans of a training step: what to compute when, what to reduce
 * when, with a proof.  Documentation/planning.rst tells the model.
 */
#ifndef DLBOOST_PLAN_H
#define DLBOOST_PLAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct dlboost_plan_graph - A checked layer graph; opaque, immutable */
struct dlboost_plan_graph;
/** struct dlboost_plan - A plan and its proof; opaque, immutable */
struct dlboost_plan;

/* Most layers of the graphs of one plan together */
#define DLBOOST_PLAN_MAX_LAYERS 4096
/* Most compute streams */
#define DLBOOST_PLAN_MAX_STREAMS 4
/* Longest time and largest size that a layer may have */
#define DLBOOST_PLAN_MAX_NS ((uint64_t)1000000000000)
#define DLBOOST_PLAN_MAX_BYTES ((uint64_t)1 << 46)
/* attr.slice_bytes: gradients are never cut */
#define DLBOOST_PLAN_UNCUT UINT64_MAX

/**
 * enum dlboost_plan_layer_flags - What may not be done with a layer
 * @DLBOOST_PLAN_LAYER_WHOLE: input and weight gradient are one piece of work
 * @DLBOOST_PLAN_LAYER_FROZEN: its parameters are not trained
 * @DLBOOST_PLAN_LAYER_TIED: shares the parameters of layer @tied_to
 * @DLBOOST_PLAN_LAYER_SYNC: needs all gradients before any update (norm
 *	clipping), and with it the whole graph
 *
 * Since: 0.1
 */
enum dlboost_plan_layer_flags {
	DLBOOST_PLAN_LAYER_WHOLE = 1 << 0,
	DLBOOST_PLAN_LAYER_FROZEN = 1 << 1,
	DLBOOST_PLAN_LAYER_TIED = 1 << 2,
	DLBOOST_PLAN_LAYER_SYNC = 1 << 3,
};

/**
 * struct dlboost_plan_layer - One layer, as measured or estimated
 * @name: for messages; copied
 * @flags: bits of enum dlboost_plan_layer_flags
 * @tied_to: owner of the parameters, with %DLBOOST_PLAN_LAYER_TIED
 * @nr_inputs: entries of @inputs; 0 for a layer that reads the batch
 * @inputs: layers whose output this one reads, in any order
 * @forward_ns: forward pass
 * @input_grad_ns: gradient of the input (dX)
 * @weight_grad_ns: gradient of the weights (dW)
 * @update_ns: optimizer step of this layer
 * @activation_bytes: what the forward pass keeps for the backward pass
 * @gradient_bytes: gradient of the output
 * @parameter_bytes: gradient of the parameters, which is what is reduced; 0
 *	for a layer without parameters
 * @static_bytes: parameters and optimizer state
 *
 * Since: 0.1
 */
struct dlboost_plan_layer {
	const char *name;
	uint32_t flags;
	uint32_t tied_to;
	uint32_t nr_inputs;
	const uint32_t *inputs;
	uint64_t forward_ns;
	uint64_t input_grad_ns;
	uint64_t weight_grad_ns;
	uint64_t update_ns;
	uint64_t activation_bytes;
	uint64_t gradient_bytes;
	uint64_t parameter_bytes;
	uint64_t static_bytes;
};

/**
 * struct dlboost_plan_shape - What a layer does, for one sample
 * @flops: operations of the forward pass; as many for dX and for dW
 * @bytes: memory moved by the forward pass beside them, elements of 4 bytes
 * @backward_bytes: the same of dX
 * @activation_bytes: what is kept for the backward pass
 * @output_bytes: size of the output
 * @parameters: how many; not per sample
 * @efficiency_permille: against others of its kind, 1000 for the same
 *
 * Since: 0.1
 */
struct dlboost_plan_shape {
	uint64_t flops;
	uint64_t bytes;
	uint64_t backward_bytes;
	uint64_t activation_bytes;
	uint64_t output_bytes;
	uint64_t parameters;
	uint32_t efficiency_permille;
};

/**
 * struct dlboost_plan_hardware - What a device does, for one kind of layer
 * @flops_per_s: data sheet
 * @bytes_per_s: data sheet, memory
 * @launch_ns: fixed time of every piece of work
 * @efficiency_permille: share of @flops_per_s that this kind reaches
 * @memory_efficiency_permille: share of @bytes_per_s that is reached
 * @element_bytes: size of an activation
 * @gradient_element_bytes: size of a gradient on the link
 * @state_bytes_per_parameter: parameter and optimizer state
 *
 * Since: 0.1
 */
struct dlboost_plan_hardware {
	uint64_t flops_per_s;
	uint64_t bytes_per_s;
	uint64_t launch_ns;
	uint32_t efficiency_permille;
	uint32_t memory_efficiency_permille;
	uint32_t element_bytes;
	uint32_t gradient_element_bytes;
	uint32_t state_bytes_per_parameter;
};

/**
 * enum dlboost_plan_policy - How the order is chosen
 * @DLBOOST_PLAN_DDP: autograd's order, buckets of 25 MiB (the first 1 MiB),
 *	all reductions before the update
 * @DLBOOST_PLAN_DDP_TUNED: the same with the best bucket size
 * @DLBOOST_PLAN_FIFO_SPLIT: dX first, dW after it, first in first out, one
 *	message a layer, all reductions before the update
 * @DLBOOST_PLAN_PRIORITY: autograd's order; the link prefers what the next
 *	forward pass needs first
 * @DLBOOST_PLAN_REVERSE_FIRST_K: dW of the k lowest layers last and ascending;
 *	the link is first in first out
 * @DLBOOST_PLAN_LIST: the best of all of them and of lists by critical path,
 *	then local search
 * @DLBOOST_PLAN_INTERLEAVE: steps of several graphs woven into each other
 * @DLBOOST_PLAN_EXACT: branch and bound, for small graphs
 * @DLBOOST_PLAN_NR_POLICIES: number of values; not a policy
 *
 * Since: 0.1
 */
enum dlboost_plan_policy {
	DLBOOST_PLAN_DDP = 0,
	DLBOOST_PLAN_DDP_TUNED = 1,
	DLBOOST_PLAN_FIFO_SPLIT = 2,
	DLBOOST_PLAN_PRIORITY = 3,
	DLBOOST_PLAN_REVERSE_FIRST_K = 4,
	DLBOOST_PLAN_LIST = 5,
	DLBOOST_PLAN_INTERLEAVE = 6,
	DLBOOST_PLAN_EXACT = 7,
	DLBOOST_PLAN_NR_POLICIES = 8,
};

/**
 * struct dlboost_plan_attr - The machine, and how to plan for it
 * @size: sizeof(struct dlboost_plan_attr)
 * @policy: a value of enum dlboost_plan_policy
 * @has_barrier: 1: every reduction before any update and every update before
 *	the next forward pass, whatever the policy would allow
 * @ranks: processes that train together; 1 reduces nothing
 * @local_ranks: of them in one machine, joined by the local link; a divisor of
 *	@ranks
 * @nr_streams: compute streams of a rank
 * @overlap_permille: what two or more busy streams do together, against one
 *	alone: 1000 for a device that one stream saturates
 * @interference_permille: how much longer compute takes while a link is busy
 * @link_bits_per_s: bandwidth of a rank between machines, one direction
 * @hop_ns: latency of one hop between machines
 * @local_bits_per_s: bandwidth of a rank inside a machine
 * @local_hop_ns: latency of one hop inside a machine
 * @memory_bytes: cap; 0 for none
 * @bucket_bytes: layers are fused into messages of at least this size; 0
 *	leaves it to the policy, 1 gives each layer a message of its own
 * @slice_bytes: messages are cut to at most this size; 0 leaves it to the
 *	policy
 * @max_moves: bound of the local search, in evaluated orders; 0 for the
 *	default
 * @max_nodes: bound of the exact search, in nodes; 0 for the default
 *
 * Initialise with %DLBOOST_PLAN_ATTR_INIT.
 *
 * Since: 0.1
 */
struct dlboost_plan_attr {
	size_t size;
	uint32_t policy;
	uint32_t has_barrier;
	uint32_t ranks;
	uint32_t local_ranks;
	uint32_t nr_streams;
	uint32_t overlap_permille;
	uint32_t interference_permille;
	uint64_t link_bits_per_s;
	uint64_t hop_ns;
	uint64_t local_bits_per_s;
	uint64_t local_hop_ns;
	uint64_t memory_bytes;
	uint64_t bucket_bytes;
	uint64_t slice_bytes;
	uint32_t max_moves;
	uint32_t max_nodes;
};

#define DLBOOST_PLAN_ATTR_INIT {					\
	.size = sizeof(struct dlboost_plan_attr),			\
	.policy = DLBOOST_PLAN_LIST, .ranks = 1, .local_ranks = 1,	\
	.nr_streams = 1, .overlap_permille = 1000,			\
	.link_bits_per_s = 10000000000u, .hop_ns = 15000,		\
	.local_bits_per_s = 10000000000u, .local_hop_ns = 15000 }

/**
 * enum dlboost_plan_kind - What a piece of work is
 * @DLBOOST_PLAN_INPUT_GRAD: dX; with the weight gradient for whole layers
 * @DLBOOST_PLAN_WEIGHT_GRAD: dW
 * @DLBOOST_PLAN_UPDATE: optimizer step of the layer
 * @DLBOOST_PLAN_FORWARD: forward pass of the next batch
 * @DLBOOST_PLAN_RELEASE: the batch's slot goes back; takes no time
 *
 * Since: 0.1
 */
enum dlboost_plan_kind {
	DLBOOST_PLAN_INPUT_GRAD = 0,
	DLBOOST_PLAN_WEIGHT_GRAD = 1,
	DLBOOST_PLAN_UPDATE = 2,
	DLBOOST_PLAN_FORWARD = 3,
	DLBOOST_PLAN_RELEASE = 4,
};

/**
 * struct dlboost_plan_item - One piece of work at its place
 * @kind: a value of enum dlboost_plan_kind
 * @graph: which of the graphs
 * @layer: which of its layers; 0 for %DLBOOST_PLAN_RELEASE
 * @stream: compute stream
 * @start_ns: since the step began
 * @end_ns: since the step began
 *
 * Since: 0.1
 */
struct dlboost_plan_item {
	uint32_t kind;
	uint32_t graph;
	uint32_t layer;
	uint32_t stream;
	uint64_t start_ns;
	uint64_t end_ns;
};

/**
 * struct dlboost_plan_slice - Part of a layer's gradient
 * @layer: which layer
 * @reserved: 0
 * @offset_bytes: first byte
 * @len_bytes: length
 *
 * Since: 0.1
 */
struct dlboost_plan_slice {
	uint32_t layer;
	uint32_t reserved;
	uint64_t offset_bytes;
	uint64_t len_bytes;
};

/**
 * struct dlboost_plan_message - One reduction at its place
 * @graph: which of the graphs
 * @first_slice: index of its first slice
 * @nr_slices: how many slices it carries
 * @reserved: 0
 * @len_bytes: sum of its slices
 * @local_start_ns: begin on the local link; @start_ns without one
 * @local_end_ns: end on the local link; @start_ns without one
 * @start_ns: begin on the link between machines
 * @end_ns: end
 *
 * Since: 0.1
 */
struct dlboost_plan_message {
	uint32_t graph;
	uint32_t first_slice;
	uint32_t nr_slices;
	uint32_t reserved;
	uint64_t len_bytes;
	uint64_t local_start_ns;
	uint64_t local_end_ns;
	uint64_t start_ns;
	uint64_t end_ns;
};

/**
 * enum dlboost_plan_limit - Which lower bound is the largest
 * @DLBOOST_PLAN_LIMIT_COMPUTE: all work of the streams
 * @DLBOOST_PLAN_LIMIT_LINK: all reductions, from the first gradient there can
 *	be to what must follow the last one
 * @DLBOOST_PLAN_LIMIT_CRITICAL_PATH: the longest chain of dependencies
 *
 * Since: 0.1
 */
enum dlboost_plan_limit {
	DLBOOST_PLAN_LIMIT_COMPUTE = 0,
	DLBOOST_PLAN_LIMIT_LINK = 1,
	DLBOOST_PLAN_LIMIT_CRITICAL_PATH = 2,
};

/**
 * struct dlboost_plan_bound - What no order can beat
 * @period_ns: largest of the three below
 * @limit: a value of enum dlboost_plan_limit: which one it is
 * @reserved: 0
 * @compute_ns: work of the streams
 * @link_ns: reductions with what must precede and follow them
 * @critical_path_ns: longest chain
 * @reduction_ns: time of the link for all gradients, latency left out
 * @memory_bytes: what every order needs
 *
 * Since: 0.1
 */
struct dlboost_plan_bound {
	uint64_t period_ns;
	uint32_t limit;
	uint32_t reserved;
	uint64_t compute_ns;
	uint64_t link_ns;
	uint64_t critical_path_ns;
	uint64_t reduction_ns;
	uint64_t memory_bytes;
};

/**
 * struct dlboost_plan_view - Everything a plan says; also what a checker reads
 * @policy: a value of enum dlboost_plan_policy
 * @has_barrier: 1: all reductions before any update
 * @nr_items: entries of @items
 * @nr_messages: entries of @messages
 * @nr_slices: entries of @slices
 * @first_k: k of %DLBOOST_PLAN_REVERSE_FIRST_K, else 0
 * @items: by stream, in the order in which a stream runs them
 * @messages: in the order in which every rank reduces them
 * @slices: parts of the messages
 * @bucket_bytes: size above which a message is closed
 * @slice_bytes: size to which messages are cut; %DLBOOST_PLAN_UNCUT for no cut
 * @period_ns: a step in the steady state
 * @peak_bytes: most memory in use at a time
 * @plan_id: hash of the order; equal orders have equal ids
 * @bound: what no order with this barrier can beat
 *
 * Since: 0.1
 */
struct dlboost_plan_view {
	uint32_t policy;
	uint32_t has_barrier;
	uint32_t nr_items;
	uint32_t nr_messages;
	uint32_t nr_slices;
	uint32_t first_k;
	const struct dlboost_plan_item *items;
	const struct dlboost_plan_message *messages;
	const struct dlboost_plan_slice *slices;
	uint64_t bucket_bytes;
	uint64_t slice_bytes;
	uint64_t period_ns;
	uint64_t peak_bytes;
	uint64_t plan_id;
	struct dlboost_plan_bound bound;
};

/**
 * struct dlboost_plan_sim_attr - A run of a plan with what goes wrong in life
 * @size: sizeof(struct dlboost_plan_sim_attr)
 * @nr_steps: steps to run
 * @jitter_permille: each time is scaled by a factor drawn from 1000 - this to
 *	1000 + this, by rank, step and item; below 1000
 * @seed: key of the draws
 * @is_reactive: 1: while a stream would wait, it runs the next weight gradient
 *	or update of its list that is ready
 * @batch_ready_ns: @nr_steps times since the begin of the run before which the
 *	forward pass of that step cannot begin; NULL: batches are always there
 *
 * Since: 0.1
 */
struct dlboost_plan_sim_attr {
	size_t size;
	uint32_t nr_steps;
	uint32_t jitter_permille;
	uint64_t seed;
	uint32_t is_reactive;
	const uint64_t *batch_ready_ns;
};

/**
 * enum dlboost_plan_pipeline_schedule - Order inside a pipeline of stages
 * @DLBOOST_PLAN_1F1B: one forward, one backward
 * @DLBOOST_PLAN_ZB_H1: zero bubble, with the memory of 1F1B
 *
 * Since: 0.1
 */
enum dlboost_plan_pipeline_schedule {
	DLBOOST_PLAN_1F1B = 0,
	DLBOOST_PLAN_ZB_H1 = 1,
};

/**
 * struct dlboost_plan_pipeline_attr - A pipeline of equal stages
 * @size: sizeof(struct dlboost_plan_pipeline_attr)
 * @schedule: a value of enum dlboost_plan_pipeline_schedule
 * @nr_stages: stages, 1 to 64
 * @nr_micro_batches: micro-batches of a step, @nr_stages to 4096
 * @forward_ns: forward pass of a micro-batch through one stage
 * @input_grad_ns: dX
 * @weight_grad_ns: dW
 *
 * Since: 0.1
 */
struct dlboost_plan_pipeline_attr {
	size_t size;
	uint32_t schedule;
	uint32_t nr_stages;
	uint32_t nr_micro_batches;
	uint64_t forward_ns;
	uint64_t input_grad_ns;
	uint64_t weight_grad_ns;
};

/**
 * struct dlboost_plan_pipeline - What a pipeline's schedule gives
 * @makespan_ns: simulated time of all micro-batches
 * @closed_form_ns: the formula of Documentation/planning.rst
 * @peak_micro_batches: most micro-batches a stage holds activations of
 *
 * Since: 0.1
 */
struct dlboost_plan_pipeline {
	uint64_t makespan_ns;
	uint64_t closed_form_ns;
	uint32_t peak_micro_batches;
};

/**
 * dlboost_plan_estimate() - Times and sizes of a layer from its shape
 * @shape: the layer
 * @hardware: the device
 * @batch: samples of a step
 * @layer: its times and sizes are set; with %DLBOOST_PLAN_LAYER_TIED in its
 *	flags it has a dW without parameters of its own
 *
 * A piece of work takes its launch, its operations and its memory one after
 * the other.  Documentation/planning.rst, "Costs".
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return:
 * * %0			- success
 * * %-EINVAL		- a rate, an efficiency or @batch is 0
 * * %-EOVERFLOW	- a time or size is above the limits of a layer
 */
int dlboost_plan_estimate(const struct dlboost_plan_shape *shape,
			  const struct dlboost_plan_hardware *hardware,
			  uint32_t batch, struct dlboost_plan_layer *layer);

/**
 * dlboost_plan_graph_create() - Check a layer graph and keep a copy
 * @layers: the layers, in any order
 * @nr_layers: 1 to %DLBOOST_PLAN_MAX_LAYERS
 * @slot_bytes: memory of one batch of inputs
 * @error: receives one sentence that names the layer; may be NULL
 * @error_bytes: size of @error
 * @out: receives the graph; destroy with dlboost_plan_graph_destroy()
 *
 * A graph has no cycle, one layer that nobody reads (the loss), and at least
 * one trained layer.
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return:
 * * %0		- success
 * * %-EINVAL	- no such graph can be trained; @error says why
 * * %-ENOMEM	- out of memory
 */
int dlboost_plan_graph_create(const struct dlboost_plan_layer *layers,
			      uint32_t nr_layers, uint64_t slot_bytes,
			      char *error, size_t error_bytes,
			      struct dlboost_plan_graph **out);

/**
 * dlboost_plan_graph_destroy() - Free a graph
 * @graph: from dlboost_plan_graph_create(), or NULL
 *
 * Since: 0.1
 */
void dlboost_plan_graph_destroy(struct dlboost_plan_graph *graph);

/**
 * dlboost_plan_policy_name() - Name of a policy: "reverse-first-k"
 * @policy: a value of enum dlboost_plan_policy
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return: a static string, or NULL for a number that is no policy.
 */
const char *dlboost_plan_policy_name(unsigned int policy);

/**
 * dlboost_plan_create() - Plan a training step
 * @graphs: what to train; several share the device, the link and the memory
 * @nr_graphs: entries of @graphs; more than one for %DLBOOST_PLAN_INTERLEAVE
 *	alone
 * @attr: the machine and the policy
 * @error: receives one sentence; may be NULL
 * @error_bytes: size of @error
 * @out: receives the plan; destroy with dlboost_plan_destroy()
 *
 * The result depends on the arguments alone: no clock, no floating point.
 * The graphs are not needed afterwards.
 *
 * Since: 0.1
 *
 * Context: Any thread.  Computes up to some seconds.
 *
 * Return:
 * * %0			- success
 * * %-EINVAL		- a member of @attr is out of range
 * * %-EOPNOTSUPP	- the policy does not apply to these graphs
 * * %-ENOSPC		- no order of this policy stays below the memory cap
 * * %-EOVERFLOW	- the step is longer than 2^62 ns or the memory larger
 * * %-ENOMEM		- out of memory
 */
int dlboost_plan_create(const struct dlboost_plan_graph *const *graphs,
			uint32_t nr_graphs,
			const struct dlboost_plan_attr *attr, char *error,
			size_t error_bytes, struct dlboost_plan **out);

/**
 * dlboost_plan_destroy() - Free a plan
 * @plan: from dlboost_plan_create(), or NULL
 *
 * Since: 0.1
 */
void dlboost_plan_destroy(struct dlboost_plan *plan);

/**
 * dlboost_plan_get_view() - Read a plan
 * @plan: the plan
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return: what the plan says; owned by @plan.
 */
const struct dlboost_plan_view *dlboost_plan_get_view(
	const struct dlboost_plan *plan);

/**
 * dlboost_plan_check() - Verify a plan, wherever it comes from
 * @graphs: the graphs it was made for
 * @nr_graphs: entries of @graphs
 * @attr: the machine; the policy does not matter
 * @views: the plan as each rank has it
 * @nr_views: entries of @views, at least 1
 * @error: receives one sentence that names the layer or rank; may be NULL
 * @error_bytes: size of @error
 *
 * Checks that each piece of work is there once; that order and dependencies
 * together have no cycle, so that nothing waits for what is queued behind it;
 * that every byte of every gradient is reduced once and before its update,
 * which comes before the layer's next forward pass; that times, memory and
 * period are what the order gives; that all ranks reduce in one order.
 * Shares no code with the planner.
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return:
 * * %0		- the plan is proven
 * * %-EBADMSG	- it is wrong; @error says where
 * * %-EINVAL	- a member of @attr is out of range
 * * %-ENOMEM	- out of memory
 */
int dlboost_plan_check(const struct dlboost_plan_graph *const *graphs,
		       uint32_t nr_graphs,
		       const struct dlboost_plan_attr *attr,
		       const struct dlboost_plan_view *const *views,
		       uint32_t nr_views, char *error, size_t error_bytes);

/**
 * dlboost_plan_simulate() - Run a plan for some steps
 * @graphs: the graphs it was made for
 * @nr_graphs: entries of @graphs
 * @attr: the machine it was made for
 * @view: a plan that dlboost_plan_check() accepts
 * @sim_attr: jitter, late batches
 * @step_end_ns: receives @sim_attr->nr_steps times: when the slowest rank ends
 *
 * Every rank draws its own jitter; a reduction begins when the last rank is
 * ready.  Pieces of work take the time they have in the plan.
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return:
 * * %0			- success
 * * %-EINVAL		- a member of @sim_attr is out of range
 * * %-EBADMSG		- the plan's order cannot be run
 * * %-EOPNOTSUPP	- @sim_attr->is_reactive with several streams
 * * %-ENOMEM		- out of memory
 */
int dlboost_plan_simulate(const struct dlboost_plan_graph *const *graphs,
			  uint32_t nr_graphs,
			  const struct dlboost_plan_attr *attr,
			  const struct dlboost_plan_view *view,
			  const struct dlboost_plan_sim_attr *sim_attr,
			  uint64_t *step_end_ns);

/**
 * dlboost_plan_run_pipeline() - Simulate a pipeline's schedule
 * @attr: the pipeline
 * @out: receives times
 *
 * Simulated only: nothing executes such a plan yet.
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return:
 * * %0		- success
 * * %-EINVAL	- a member of @attr is out of range
 * * %-ENOMEM	- out of memory
 */
int dlboost_plan_run_pipeline(const struct dlboost_plan_pipeline_attr *attr,
			      struct dlboost_plan_pipeline *out);

#ifdef __cplusplus
}
#endif
#endif /* DLBOOST_PLAN_H */
