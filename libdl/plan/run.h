/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Orders of a net, and what they give: times and memory.
 */
#ifndef DLB_PLAN_RUN_H
#define DLB_PLAN_RUN_H

#include "net.h"

/**
 * struct dlb_turns - Who comes when: the part of a plan that is chosen
 * @items: what the streams run, stream by stream
 * @first: first entry of each stream in @items, and the end of the last
 * @messages: numbers of messages in sending order
 */
struct dlb_turns {
	uint32_t *items;
	uint32_t first[DLBOOST_PLAN_MAX_STREAMS + 1];
	uint32_t *messages;
};

int dlb_turns_init(struct dlb_turns *turns, const struct dlb_net *net);
void dlb_turns_fini(struct dlb_turns *turns);
void dlb_turns_copy(struct dlb_turns *to, const struct dlb_turns *from,
		    const struct dlb_net *net);

/**
 * struct dlb_memory - What is in use at a moment
 * @is_open: per buffer
 * @nr_left: nodes that each buffer still needs
 * @now_bytes: in use
 * @peak_bytes: most so far
 */
struct dlb_memory {
	uint8_t *is_open;
	uint32_t *nr_left;
	uint64_t now_bytes;
	uint64_t peak_bytes;
};

int dlb_memory_init(struct dlb_memory *memory, const struct dlb_net *net);
void dlb_memory_fini(struct dlb_memory *memory);
void dlb_memory_reset(struct dlb_memory *memory, const struct dlb_net *net);
/* What the begin of @node would take */
uint64_t dlb_memory_need(const struct dlb_memory *memory,
			 const struct dlb_net *net, uint32_t node);
void dlb_memory_open(struct dlb_memory *memory, const struct dlb_net *net,
		     uint32_t node);
void dlb_memory_close(struct dlb_memory *memory, const struct dlb_net *net,
		      uint32_t node);

/**
 * struct dlb_run - Room for running orders of one net, and the last result
 * @start_ns: per node; of messages on the last link
 * @end_ns: per node
 * @local_start_ns: per message
 * @local_end_ns: per message
 * @ready_ns: per node
 * @nr_left: per node
 * @memory: memory
 * @period_ns: when everything is done
 * @peak_bytes: most memory in use
 */
struct dlb_run {
	uint64_t *start_ns;
	uint64_t *end_ns;
	uint64_t *local_start_ns;
	uint64_t *local_end_ns;
	uint64_t *ready_ns;
	uint32_t *nr_left;
	struct dlb_memory memory;
	uint64_t period_ns;
	uint64_t peak_bytes;
};

int dlb_run_init(struct dlb_run *run, const struct dlb_net *net);
void dlb_run_fini(struct dlb_run *run);
/*
 * Runs @turns; false when they cannot be run, because something waits for what
 * is queued behind it.
 */
bool dlb_run_turns(struct dlb_run *run, const struct dlb_net *net,
		   const struct dlb_turns *turns);

/**
 * struct dlb_rule - How a dispatcher chooses among what is ready
 * @fixed: order of the items; NULL: by @item_key
 * @item_key: per item, lowest first
 * @message_key: per message, lowest first; NULL: first in, first out
 * @cap_bytes: nothing begins that would take more; 0 for no cap
 */
struct dlb_rule {
	const struct dlb_turns *fixed;
	const uint64_t *item_key;
	const uint64_t *message_key;
	uint64_t cap_bytes;
};

/*
 * Makes an order by never leaving anything idle that something is ready for.
 * 0, -ENOMEM, or -ENOSPC when it gets stuck (in practice: below the cap).
 */
int dlb_dispatch(const struct dlb_net *net, const struct dlb_rule *rule,
		 struct dlb_turns *out);

#endif /* DLB_PLAN_RUN_H */
