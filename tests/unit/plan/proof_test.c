// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/planning.rst, "The proof" and "Bounds": the
 * checker accepts what every policy makes of any graph, on one stream and on
 * several, with and without barrier, cap, local links and interference; no
 * policy beats its bound; list is never worse than ddp-tuned, and with a barrier
 * never worse than ddp.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_util.h"

#define NR_GRAPHS 150

static const uint32_t policies[] = {
	DLBOOST_PLAN_DDP, DLBOOST_PLAN_DDP_TUNED, DLBOOST_PLAN_FIFO_SPLIT,
	DLBOOST_PLAN_PRIORITY, DLBOOST_PLAN_REVERSE_FIRST_K, DLBOOST_PLAN_LIST,
};
#define NR_POLICIES (sizeof(policies) / sizeof(policies[0]))

static void check_graph(const struct dlboost_plan_graph *graph,
			const struct dlboost_plan_attr *attr)
{
	uint64_t period_ns[DLBOOST_PLAN_NR_POLICIES] = { 0 };

	for (size_t i = 0; i < NR_POLICIES; i++) {
		struct dlboost_plan *plan = make_plan(graph, attr, policies[i]);
		const struct dlboost_plan_view *view;

		assert_non_null(plan);
		view = dlboost_plan_get_view(plan);
		period_ns[policies[i]] = view->period_ns;
		if (view->period_ns < view->bound.period_ns)
			fail_msg("%s takes %lu ns, below its bound of %lu",
				 dlboost_plan_policy_name(policies[i]),
				 (unsigned long)view->period_ns,
				 (unsigned long)view->bound.period_ns);
		assert_true(view->peak_bytes >= view->bound.memory_bytes);
		dlboost_plan_destroy(plan);
	}
	assert_true(period_ns[DLBOOST_PLAN_DDP_TUNED] <=
		    period_ns[DLBOOST_PLAN_DDP]);
	/* With a barrier list keeps the messages of ddp */
	if (attr->nr_streams == 1 && !attr->interference_permille)
		assert_true(period_ns[DLBOOST_PLAN_LIST] <=
			    period_ns[attr->has_barrier ? DLBOOST_PLAN_DDP :
				      DLBOOST_PLAN_DDP_TUNED]);
}

static void check_many(uint64_t seed,
		       void (*change)(struct random *random,
				      struct dlboost_plan_attr *attr))
{
	struct random random = { seed };

	for (int i = 0; i < NR_GRAPHS; i++) {
		struct shape shape = {
			.nr_layers = 1 + random_below(&random, 14),
			.is_chain = random_below(&random, 3) == 0,
			.has_flags = random_below(&random, 2),
			.least_ns = random_below(&random, 2),
		};
		struct dlboost_plan_graph *graph = random_graph(&random,
								&shape);
		struct dlboost_plan_attr attr;

		random_machine(&random, &attr);
		attr.max_moves = 400;
		change(&random, &attr);
		check_graph(graph, &attr);
		dlboost_plan_graph_destroy(graph);
	}
}

static void leave(struct random *random, struct dlboost_plan_attr *attr)
{
	(void)random;
	(void)attr;
}

static void add_barrier(struct random *random, struct dlboost_plan_attr *attr)
{
	(void)random;
	attr->has_barrier = 1;
}

static void add_streams(struct random *random, struct dlboost_plan_attr *attr)
{
	attr->nr_streams = 2 + random_below(random, 3);
	attr->overlap_permille = 1000 + random_below(random, 1000);
}

static void add_interference(struct random *random,
			     struct dlboost_plan_attr *attr)
{
	attr->interference_permille = 1 + random_below(random, 300);
}

static void every_policy_is_proven(void **state)
{
	(void)state;
	check_many(1, leave);
}

static void every_policy_is_proven_with_barrier(void **state)
{
	(void)state;
	check_many(2, add_barrier);
}

static void every_policy_is_proven_on_several_streams(void **state)
{
	(void)state;
	check_many(3, add_streams);
}

static void every_policy_is_proven_under_interference(void **state)
{
	(void)state;
	check_many(4, add_interference);
}

/* The cap lies between what every order needs and what ddp takes */
static void a_cap_is_kept(void **state)
{
	struct random random = { 5 };
	int nr_plans = 0;

	(void)state;
	for (int i = 0; i < NR_GRAPHS; i++) {
		struct shape shape = { .nr_layers = 4 + random_below(&random, 9),
				       .has_flags = true };
		struct dlboost_plan_graph *graph = random_graph(&random,
								&shape);
		struct dlboost_plan_attr attr;
		struct dlboost_plan *plan;
		uint64_t least, most;

		random_machine(&random, &attr);
		attr.max_moves = 400;
		plan = make_plan(graph, &attr, DLBOOST_PLAN_LIST);
		least = dlboost_plan_get_view(plan)->bound.memory_bytes;
		most = dlboost_plan_get_view(plan)->peak_bytes;
		dlboost_plan_destroy(plan);
		attr.memory_bytes = least + (most - least) * 7 / 10 + 1;
		for (size_t p = 0; p < NR_POLICIES; p++) {
			plan = make_plan(graph, &attr, policies[p]);
			nr_plans += plan != NULL;
			dlboost_plan_destroy(plan);
		}
		dlboost_plan_graph_destroy(graph);
	}
	/* make_plan() has checked each of them against the cap */
	assert_true(nr_plans > NR_GRAPHS);
}

static void one_serial_device_gains_nothing(void **state)
{
	struct random random = { 6 };

	(void)state;
	for (int i = 0; i < NR_GRAPHS; i++) {
		struct shape shape = { .nr_layers = 1 + random_below(&random, 14),
				       .has_flags = true };
		struct dlboost_plan_graph *graph = random_graph(&random,
								&shape);
		struct dlboost_plan_attr attr = DLBOOST_PLAN_ATTR_INIT;
		uint64_t in_order = period_of(graph, &attr, DLBOOST_PLAN_DDP);

		for (size_t p = 1; p < NR_POLICIES; p++)
			assert_int_equal(period_of(graph, &attr, policies[p]),
					 in_order);
		dlboost_plan_graph_destroy(graph);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_policy_is_proven),
		cmocka_unit_test(every_policy_is_proven_with_barrier),
		cmocka_unit_test(every_policy_is_proven_on_several_streams),
		cmocka_unit_test(every_policy_is_proven_under_interference),
		cmocka_unit_test(a_cap_is_kept),
		cmocka_unit_test(one_serial_device_gains_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
