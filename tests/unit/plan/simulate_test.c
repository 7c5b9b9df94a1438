// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/planning.rst, "Simulation" and "Pipelines": a
 * plan repeats with its period; on one serial device a late batch costs every
 * order the same, to the nanosecond; jitter is drawn the same in every run;
 * pipelines take what their closed forms say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "plan_util.h"

#define NR_STEPS 8

static void simulate(const struct dlboost_plan_graph *graph,
		     const struct dlboost_plan_attr *attr,
		     const struct dlboost_plan *plan,
		     const struct dlboost_plan_sim_attr *sim, uint64_t *end_ns)
{
	assert_int_equal(dlboost_plan_simulate(&graph, 1, attr,
					       dlboost_plan_get_view(plan), sim,
					       end_ns), 0);
}

static void a_plan_repeats_with_its_period(void **state)
{
	static const uint32_t policies[] = { DLBOOST_PLAN_DDP,
		DLBOOST_PLAN_PRIORITY, DLBOOST_PLAN_LIST };
	const struct dlboost_plan_sim_attr sim = { .size = sizeof(sim),
						   .nr_steps = NR_STEPS };
	struct random random = { 51 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct shape shape = { .nr_layers = 2 + random_below(&random, 9),
				       .has_flags = true };
		struct dlboost_plan_graph *graph = random_graph(&random,
								&shape);
		struct dlboost_plan_attr attr;
		struct dlboost_plan *plan;
		uint64_t end_ns[NR_STEPS];

		random_machine(&random, &attr);
		attr.max_moves = 200;
		plan = make_plan(graph, &attr, policies[i % 3]);
		simulate(graph, &attr, plan, &sim, end_ns);
		for (uint64_t n = 0; n < NR_STEPS; n++)
			assert_int_equal(end_ns[n], (n + 1) *
				dlboost_plan_get_view(plan)->period_ns);
		dlboost_plan_destroy(plan);
		dlboost_plan_graph_destroy(graph);
	}
}

/*
 * What must be computed after the gate of step n opens: the forward pass of its
 * batch and all of the steps after it.  In order, nothing else can wait.
 */
static void a_late_batch_gains_nothing_on_one_device(void **state)
{
	struct random random = { 52 };

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct shape shape = { .nr_layers = 2 + random_below(&random, 9),
				       .is_chain = true };
		struct dlboost_plan_graph *graph = random_graph(&random,
								&shape);
		struct dlboost_plan_attr attr = DLBOOST_PLAN_ATTR_INIT;
		struct dlboost_plan *in_order, *list;
		uint64_t ready_ns[NR_STEPS], a[NR_STEPS], b[NR_STEPS];
		struct dlboost_plan_sim_attr sim = {
			.size = sizeof(sim), .nr_steps = NR_STEPS,
			.is_reactive = 1, .batch_ready_ns = ready_ns,
		};
		uint64_t gate_ns = 0;

		in_order = make_plan(graph, &attr, DLBOOST_PLAN_DDP);
		list = make_plan(graph, &attr, DLBOOST_PLAN_REVERSE_FIRST_K);
		for (int n = 0; n < NR_STEPS; n++) {
			gate_ns += random_below(&random, 2 * (uint32_t)
				dlboost_plan_get_view(list)->period_ns);
			ready_ns[n] = gate_ns;
		}
		simulate(graph, &attr, list, &sim, b);
		sim.is_reactive = 0;
		simulate(graph, &attr, in_order, &sim, a);
		assert_memory_equal(a, b, sizeof(a));
		dlboost_plan_destroy(in_order);
		dlboost_plan_destroy(list);
		dlboost_plan_graph_destroy(graph);
	}
}

static void jitter_is_reproducible_and_costs_time(void **state)
{
	struct random random = { 53 };
	struct shape shape = { .nr_layers = 10, .least_ns = 5000 };
	struct dlboost_plan_graph *graph = random_graph(&random, &shape);
	struct dlboost_plan_attr attr = DLBOOST_PLAN_ATTR_INIT;
	struct dlboost_plan_sim_attr sim = { .size = sizeof(sim),
					     .nr_steps = NR_STEPS };
	uint64_t none[NR_STEPS], some[NR_STEPS], again[NR_STEPS];
	struct dlboost_plan *plan;

	(void)state;
	attr.ranks = 8;
	attr.hop_ns = 100;
	plan = make_plan(graph, &attr, DLBOOST_PLAN_LIST);
	simulate(graph, &attr, plan, &sim, none);
	sim.jitter_permille = 200;
	sim.seed = 9;
	simulate(graph, &attr, plan, &sim, some);
	simulate(graph, &attr, plan, &sim, again);
	assert_memory_equal(some, again, sizeof(some));
	/* The slowest of eight ranks is slower than the plan, but not by all */
	assert_true(some[NR_STEPS - 1] > none[NR_STEPS - 1]);
	assert_true(some[NR_STEPS - 1] < none[NR_STEPS - 1] * 12 / 10);
	sim.seed = 10;
	simulate(graph, &attr, plan, &sim, again);
	assert_memory_not_equal(some, again, sizeof(some));
	dlboost_plan_destroy(plan);
	dlboost_plan_graph_destroy(graph);
}

static void wrong_simulations_are_refused(void **state)
{
	struct random random = { 54 };
	struct shape shape = { .nr_layers = 3 };
	const struct dlboost_plan_graph *graph = random_graph(&random, &shape);
	struct dlboost_plan_attr attr = DLBOOST_PLAN_ATTR_INIT;
	struct dlboost_plan *plan = make_plan(graph, &attr, DLBOOST_PLAN_DDP);
	struct dlboost_plan_view view = *dlboost_plan_get_view(plan);
	struct dlboost_plan_sim_attr sim = { .size = sizeof(sim),
					     .nr_steps = 1 };
	uint64_t end_ns;

	(void)state;
	sim.jitter_permille = 1000;
	assert_int_equal(dlboost_plan_simulate(&graph, 1, &attr, &view, &sim,
					       &end_ns), -EINVAL);
	sim.jitter_permille = 0;
	sim.nr_steps = 0;
	assert_int_equal(dlboost_plan_simulate(&graph, 1, &attr, &view, &sim,
					       &end_ns), -EINVAL);
	sim.nr_steps = 1;
	view.nr_items--;
	assert_int_equal(dlboost_plan_simulate(&graph, 1, &attr, &view, &sim,
					       &end_ns), -EBADMSG);
	dlboost_plan_destroy(plan);
	dlboost_plan_graph_destroy((struct dlboost_plan_graph *)graph);
}

static void run_pipeline(uint32_t schedule, uint32_t p, uint32_t m,
			 const uint64_t ns[3], struct dlboost_plan_pipeline *out)
{
	const struct dlboost_plan_pipeline_attr attr = {
		.size = sizeof(attr), .schedule = schedule, .nr_stages = p,
		.nr_micro_batches = m, .forward_ns = ns[0],
		.input_grad_ns = ns[1], .weight_grad_ns = ns[2],
	};

	assert_int_equal(dlboost_plan_run_pipeline(&attr, out), 0);
}

static void pipelines_fit_their_closed_forms(void **state)
{
	static const uint64_t times[][3] = {
		{ 10, 10, 10 }, { 10, 12, 8 }, { 12, 10, 8 }, { 10, 20, 5 },
		{ 7, 9, 7 },
	};
	struct dlboost_plan_pipeline out;

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		for (uint64_t p = 1; p <= 16; p++)
			for (uint64_t m = p; m <= 4 * p + 1; m += p) {
				const uint64_t *ns = times[i];
				uint64_t t = ns[0] + ns[1] + ns[2];

				run_pipeline(DLBOOST_PLAN_1F1B, (uint32_t)p,
					     (uint32_t)m, ns, &out);
				assert_int_equal(out.makespan_ns,
						 m * t + (p - 1) * t);
				assert_int_equal(out.closed_form_ns,
						 out.makespan_ns);
				assert_int_equal(out.peak_micro_batches, p);
				run_pipeline(DLBOOST_PLAN_ZB_H1, (uint32_t)p,
					     (uint32_t)m, ns, &out);
				assert_int_equal(out.makespan_ns, m * t +
					(p - 1) * (ns[0] + ns[1] - ns[2]));
				assert_int_equal(out.closed_form_ns,
						 out.makespan_ns);
				assert_int_equal(out.peak_micro_batches, p);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_repeats_with_its_period),
		cmocka_unit_test(a_late_batch_gains_nothing_on_one_device),
		cmocka_unit_test(jitter_is_reproducible_and_costs_time),
		cmocka_unit_test(wrong_simulations_are_refused),
		cmocka_unit_test(pipelines_fit_their_closed_forms),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
