/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Seeded random layer graphs, and calls that must succeed.
 */
#ifndef PLAN_UTIL_H
#define PLAN_UTIL_H

#include <stdbool.h>
#include <stdint.h>

#include <dlboost/plan.h>

struct random {
	uint64_t state;
};

/* [0, n) */
uint32_t random_below(struct random *random, uint32_t n);

/**
 * struct shape - What random graphs look like
 * @nr_layers: layers
 * @is_chain: no forks
 * @has_flags: whole, frozen, tied and, rarely, sync layers
 * @least_ns: shortest time; 0 lets times be nothing
 */
struct shape {
	uint32_t nr_layers;
	bool is_chain;
	bool has_flags;
	uint32_t least_ns;
};

struct dlboost_plan_graph *random_graph(struct random *random,
					const struct shape *shape);
/* A machine whose link is about as busy as its compute */
void random_machine(struct random *random, struct dlboost_plan_attr *attr);

/* A plan that must be there and proven; NULL when it does not fit the cap */
struct dlboost_plan *make_plan(const struct dlboost_plan_graph *graph,
			       const struct dlboost_plan_attr *attr,
			       uint32_t policy);
uint64_t period_of(const struct dlboost_plan_graph *graph,
		   const struct dlboost_plan_attr *attr, uint32_t policy);

#endif /* PLAN_UTIL_H */
