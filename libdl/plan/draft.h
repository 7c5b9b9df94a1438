/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * A draft: one way to form messages, and the best order found for it so far.
 */
#ifndef DLB_PLAN_DRAFT_H
#define DLB_PLAN_DRAFT_H

#include "run.h"

/**
 * struct dlb_draft - Messages, and the best order for them
 * @cut: messages
 * @net: the step with them
 * @run: last order that was run
 * @turns: best order so far; while @period_ns says that none is below the cap,
 *	the one with the smallest peak
 * @trial: order under trial
 * @line: a sequence of items under construction
 * @item_key: keys under construction
 * @message_key: forward pass's need of each message: lowest layer first
 * @period_ns: of @turns; UINT64_MAX when there is none yet
 * @peak_bytes: of @turns
 * @first_k: of @turns
 * @least_bytes: smallest peak of all orders tried, also of those above the cap
 */
struct dlb_draft {
	struct dlb_cut cut;
	struct dlb_net net;
	struct dlb_run run;
	struct dlb_turns turns;
	struct dlb_turns trial;
	struct dlb_turns line;
	uint64_t *item_key;
	uint64_t *message_key;
	uint64_t period_ns;
	uint64_t peak_bytes;
	uint32_t first_k;
	uint64_t least_bytes;
};

int dlb_draft_create(const struct dlb_step *step, uint64_t first_bytes,
		     uint64_t bucket_bytes, uint64_t slice_bytes,
		     struct dlb_draft **out);
void dlb_draft_destroy(struct dlb_draft *draft);

/* Run @turns; keep them when they are better and below the cap */
bool dlb_draft_offer(struct dlb_draft *draft, const struct dlb_turns *turns,
		     uint32_t first_k);
/* Dispatch by @rule and offer the result; 0 also when it got stuck */
int dlb_draft_try(struct dlb_draft *draft, struct dlb_rule *rule,
		  uint32_t first_k);

/**
 * enum dlb_line_kind - What a sequence does with the deferred dW
 * @DLB_LINE_PLAIN: after the dX chain, before the updates
 * @DLB_LINE_LATE: each just before the update that needs it
 * @DLB_LINE_SIDE: dW on stream 1, in the order they have in PLAIN
 */
enum dlb_line_kind {
	DLB_LINE_PLAIN,
	DLB_LINE_LATE,
	DLB_LINE_SIDE,
};

/*
 * Autograd's sequence, with the dW of the @k lowest layers deferred, into
 * draft->line; for streams that run what they are given in order.
 */
void dlb_draft_line(struct dlb_draft *draft, uint32_t k,
		    enum dlb_line_kind kind);
/* Keys that ask for that sequence where nothing has to wait */
void dlb_draft_keys(struct dlb_draft *draft);
uint32_t dlb_step_count_dw(const struct dlb_step *step);

#endif /* DLB_PLAN_DRAFT_H */
