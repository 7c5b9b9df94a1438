// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/planning.rst, "Policies": on small graphs list
 * is within stated distances of the best order there is, with and without a
 * memory cap, and exact finds that order within its bound on effort.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "plan_util.h"

/* DLBOOST_TEST_PLAN_GRAPHS asks for more than an everyday run has time for */
#define NR_GRAPHS 200

struct gaps {
	uint32_t *ppm;
	uint32_t nr;
	uint32_t nr_solved;
	uint32_t nr_tried;
};

static int by_size(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* One message a layer, so that exact and list choose among the same orders */
static void add_gap(struct gaps *gaps, const struct dlboost_plan_graph *graph,
		    const struct dlboost_plan_attr *attr)
{
	struct dlboost_plan_attr exact_attr = *attr;
	struct dlboost_plan *list = make_plan(graph, attr, DLBOOST_PLAN_LIST);
	struct dlboost_plan *exact = NULL;
	const struct dlboost_plan_view *a, *b;
	char error[300] = "";
	int ret;

	exact_attr.policy = DLBOOST_PLAN_EXACT;
	ret = dlboost_plan_create(&graph, 1, &exact_attr, error, sizeof(error),
				  &exact);
	gaps->nr_tried++;
	if (!ret && list) {
		b = dlboost_plan_get_view(exact);
		assert_int_equal(dlboost_plan_check(&graph, 1, attr, &b, 1,
						    error, sizeof(error)), 0);
		a = dlboost_plan_get_view(list);
		assert_true(b->period_ns <= a->period_ns);
		assert_true(b->period_ns >= b->bound.period_ns);
		gaps->ppm[gaps->nr++] = (uint32_t)((a->period_ns - b->period_ns) *
						   1000000 / b->period_ns);
		gaps->nr_solved++;
	} else {
		/* Without a plan below the cap, neither finds one */
		if (ret != -EOPNOTSUPP && (ret != -ENOSPC || list))
			fail_msg("list %s a plan, exact says %d: %s",
				 list ? "has" : "has not", ret, error);
		gaps->nr_solved += ret == -ENOSPC;
	}
	dlboost_plan_destroy(list);
	dlboost_plan_destroy(exact);
}

/* 70 % of what the order adds to what every order needs */
static uint64_t capped(const struct dlboost_plan_view *view)
{
	uint64_t least = view->bound.memory_bytes;

	return least + (view->peak_bytes - least) * 7 / 10;
}

static void measure(struct gaps *gaps, uint64_t seed, uint32_t nr_graphs,
		    bool has_cap)
{
	struct random random = { seed };

	gaps->ppm = calloc(nr_graphs, sizeof(*gaps->ppm));
	assert_non_null(gaps->ppm);
	for (uint32_t i = 0; i < nr_graphs; i++) {
		struct shape shape = { .nr_layers = 2 + random_below(&random, 5),
				       .is_chain = random_below(&random, 2),
				       .least_ns = 10 };
		struct dlboost_plan_graph *graph = random_graph(&random,
								&shape);
		struct dlboost_plan_attr attr;

		random_machine(&random, &attr);
		attr.ranks = attr.ranks == 1 ? 2 : attr.ranks;
		attr.local_ranks = 1;
		attr.bucket_bytes = 1;
		attr.slice_bytes = DLBOOST_PLAN_UNCUT;
		if (has_cap) {
			struct dlboost_plan *plan =
				make_plan(graph, &attr,
					  DLBOOST_PLAN_REVERSE_FIRST_K);

			attr.memory_bytes = capped(
				dlboost_plan_get_view(plan));
			dlboost_plan_destroy(plan);
		}
		add_gap(gaps, graph, &attr);
		dlboost_plan_graph_destroy(graph);
	}
	qsort(gaps->ppm, gaps->nr, sizeof(*gaps->ppm), by_size);
}

static uint32_t nr_graphs(void)
{
	const char *text = getenv("DLBOOST_TEST_PLAN_GRAPHS");

	return text ? (uint32_t)atoi(text) : NR_GRAPHS;
}

static void print_gaps(const struct gaps *gaps)
{
	print_message("# %u of %u solved; gap of list in ppm: median %u, p95 "
		      "%u, worst %u of %u\n", gaps->nr_solved, gaps->nr_tried,
		      gaps->nr ? gaps->ppm[gaps->nr / 2] : 0,
		      gaps->nr ? gaps->ppm[gaps->nr * 95 / 100] : 0,
		      gaps->nr ? gaps->ppm[gaps->nr - 1] : 0, gaps->nr);
}

static void list_is_near_exact(void **state)
{
	struct gaps gaps = { NULL };

	(void)state;
	measure(&gaps, 31, nr_graphs(), false);
	print_gaps(&gaps);
	assert_true(gaps.nr_solved * 100 >= gaps.nr_tried * 95);
	assert_true(gaps.ppm[gaps.nr / 2] <= 10000);
	assert_true(gaps.ppm[gaps.nr * 95 / 100] <= 50000);
	assert_true(gaps.ppm[gaps.nr - 1] <= 100000);
	free(gaps.ppm);
}

static void list_is_near_exact_below_a_cap(void **state)
{
	struct gaps gaps = { NULL };

	(void)state;
	measure(&gaps, 32, nr_graphs(), true);
	print_gaps(&gaps);
	assert_true(gaps.nr_solved * 100 >= gaps.nr_tried * 95);
	if (gaps.nr)
		assert_true(gaps.ppm[gaps.nr * 95 / 100] <= 80000);
	free(gaps.ppm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_is_near_exact),
		cmocka_unit_test(list_is_near_exact_below_a_cap),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
