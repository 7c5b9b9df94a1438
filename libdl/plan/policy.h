/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Policies: from a step to the best draft of one kind.
 */
#ifndef DLB_PLAN_POLICY_H
#define DLB_PLAN_POLICY_H

#include "draft.h"

/**
 * struct dlb_pick - What a policy has to choose from, and chose
 * @step: the step
 * @bound_ns: no order is shorter
 * @draft: the best draft so far, owned; NULL when there is none
 * @least_bytes: smallest peak of any order tried
 */
struct dlb_pick {
	const struct dlb_step *step;
	uint64_t bound_ns;
	struct dlb_draft *draft;
	uint64_t least_bytes;
};

/* Takes over @draft: kept when it is better, destroyed otherwise */
void dlb_pick_take(struct dlb_pick *pick, struct dlb_draft *draft);

/* Each: 0 or -ENOMEM; pick->draft stays NULL when nothing was below the cap */
int dlb_policy_ddp(struct dlb_pick *pick);
int dlb_policy_ddp_tuned(struct dlb_pick *pick);
int dlb_policy_fifo_split(struct dlb_pick *pick);
int dlb_policy_priority(struct dlb_pick *pick);
int dlb_policy_reverse_first_k(struct dlb_pick *pick);
int dlb_policy_list(struct dlb_pick *pick);
int dlb_policy_interleave(struct dlb_pick *pick);
/* @is_proven: false when the bound on its effort was met */
int dlb_policy_exact(struct dlb_pick *pick, bool *is_proven);

/*
 * search.c: better orders for @draft by moving single entries; an order below
 * the cap where there is none yet
 */
int dlb_search(struct dlb_draft *draft, uint32_t max_moves, uint64_t bound_ns);
/* exact.c: the best order for @draft, proven unless @max_nodes were too few */
int dlb_exact(struct dlb_draft *draft, uint64_t bound_ns, uint32_t max_nodes,
	      bool *is_proven);
/* bound.c */
int dlb_bound(const struct dlb_step *step, struct dlboost_plan_bound *out);

#endif /* DLB_PLAN_POLICY_H */
