/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * A step with its messages: nodes, edges, times and memory, ready to be run in
 * any order.
 */
#ifndef DLB_PLAN_NET_H
#define DLB_PLAN_NET_H

#include "step.h"

/**
 * struct dlb_cut - How the gradients are fused and cut into messages
 * @bucket_bytes: a message is closed once it is as large
 * @slice_bytes: and cut to at most this
 * @nr_messages: entries of @messages
 * @nr_slices: entries of @slices
 * @messages: graph, slices and length; times are not set
 * @slices: parts, their layers numbered as in the step
 */
struct dlb_cut {
	uint64_t bucket_bytes;
	uint64_t slice_bytes;
	uint32_t nr_messages;
	uint32_t nr_slices;
	uint32_t cap_messages;
	uint32_t cap_slices;
	struct dlboost_plan_message *messages;
	struct dlboost_plan_slice *slices;
};

/* The first message of each graph is closed at @first_bytes, as in DDP */
int dlb_cut_init(struct dlb_cut *cut, const struct dlb_step *step,
		 uint64_t first_bytes, uint64_t bucket_bytes,
		 uint64_t slice_bytes);
void dlb_cut_fini(struct dlb_cut *cut);

/**
 * struct dlb_net - Nodes: items, then messages, then joints
 * @step: what it was made of
 * @cut: its messages
 * @nr_nodes: all
 * @nr_work: items present
 * @nr_streams: compute streams
 * @first_message: node of message 0
 * @first_joint: node of the first joint, which takes no time and no resource
 * @ns: time of each node; of messages on the last link
 * @local_ns: time of each message on the local link, or NULL
 * @is_shared: streams and links slow each other down
 * @next: nodes that wait for each node
 * @before: nodes that each node waits for
 * @nr_before: how many
 * @nr_buffers: pieces of memory
 * @buffer_bytes: size of each
 * @nr_closers: nodes that must have ended before it is free; 0: kept
 * @is_live: it is in use when the step begins
 * @opens: buffers that are in use once a node begins
 * @closes: buffers that need a node
 */
struct dlb_net {
	const struct dlb_step *step;
	const struct dlb_cut *cut;
	uint32_t nr_nodes;
	uint32_t nr_work;
	uint32_t nr_streams;
	uint32_t first_message;
	uint32_t first_joint;
	uint64_t *ns;
	uint64_t *local_ns;
	bool is_shared;
	struct dlb_list next;
	struct dlb_list before;
	uint32_t *nr_before;
	uint32_t nr_buffers;
	uint64_t *buffer_bytes;
	uint32_t *nr_closers;
	uint8_t *is_live;
	struct dlb_list opens;
	struct dlb_list closes;
};

int dlb_net_init(struct dlb_net *net, const struct dlb_step *step,
		 const struct dlb_cut *cut);
void dlb_net_fini(struct dlb_net *net);

/* Memory in use when the step begins */
uint64_t dlb_net_live_bytes(const struct dlb_net *net);

static inline bool dlb_node_is_message(const struct dlb_net *net, uint32_t node)
{
	return node >= net->first_message && node < net->first_joint;
}

/* cost.c: ceil(@a * @b / @c), or UINT64_MAX when it is larger */
uint64_t dlb_mul_div_up(uint64_t a, uint64_t b, uint64_t c);
/* Time of a reduction on the local link and on the last one; 0 without one */
void dlb_cost_message(const struct dlboost_plan_attr *attr, uint64_t bytes,
		      uint64_t *local_ns, uint64_t *link_ns);
/* The same without latency and never too long, for bounds */
void dlb_cost_bytes(const struct dlboost_plan_attr *attr, uint64_t bytes,
		    uint64_t *local_ns, uint64_t *link_ns);
void dlb_cost_latency(const struct dlboost_plan_attr *attr, uint64_t *local_ns,
		      uint64_t *link_ns);

#endif /* DLB_PLAN_NET_H */
