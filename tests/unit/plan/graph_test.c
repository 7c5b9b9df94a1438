// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/planning.rst, "Graphs": what cannot be trained
 * is refused with a sentence that names the layer; so is what cannot be planned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "plan_util.h"

static const uint32_t to_a[] = { 0 }, to_b[] = { 1 }, to_c[] = { 2 };
static const uint32_t to_a_twice[] = { 0, 0 }, to_none[] = { 7 };

/* a, b and c in a chain */
static void chain(struct dlboost_plan_layer layers[3])
{
	static const char *const names[] = { "a", "b", "c" };

	memset(layers, 0, 3 * sizeof(layers[0]));
	for (int i = 0; i < 3; i++) {
		layers[i].name = names[i];
		layers[i].forward_ns = 1;
		layers[i].parameter_bytes = 4;
		layers[i].nr_inputs = i > 0;
		layers[i].inputs = i == 1 ? to_a : to_b;
	}
}

static void expect(const struct dlboost_plan_layer *layers, const char *said)
{
	struct dlboost_plan_graph *graph = NULL;
	char error[300] = "";
	int ret = dlboost_plan_graph_create(layers, 3, 0, error, sizeof(error),
					    &graph);

	assert_int_equal(ret, said ? -EINVAL : 0);
	assert_true(said ? !graph : !!graph);
	if (said && !strstr(error, said))
		fail_msg("says '%s', not '%s'", error, said);
	dlboost_plan_graph_destroy(graph);
}

static void a_chain_is_taken(void **state)
{
	struct dlboost_plan_layer layers[3];

	(void)state;
	chain(layers);
	expect(layers, NULL);
}

static void what_cannot_be_trained_is_refused(void **state)
{
	struct dlboost_plan_layer l[3];

	(void)state;
	chain(l);
	l[0].nr_inputs = 1;
	l[0].inputs = to_c;
	expect(l, "layer 'a' is part of a cycle");

	chain(l);
	l[1].inputs = to_b;
	expect(l, "layer 'b' is part of a cycle");

	chain(l);
	l[2].nr_inputs = 0;
	expect(l, "nobody reads layers 'b' and 'c'");

	chain(l);
	l[2].inputs = to_none;
	expect(l, "layer 'c': input 7 is no layer");

	chain(l);
	l[1].nr_inputs = 2;
	l[1].inputs = to_a_twice;
	expect(l, "layer 'b': input 'a' is listed twice");

	chain(l);
	l[1].forward_ns = DLBOOST_PLAN_MAX_NS + 1;
	expect(l, "layer 'b': a time is above");

	chain(l);
	l[1].activation_bytes = UINT64_MAX;
	expect(l, "layer 'b': a size is above");

	chain(l);
	l[1].flags = 1 << 20;
	expect(l, "layer 'b': unknown flag");

	chain(l);
	l[0].parameter_bytes = l[1].parameter_bytes = l[2].parameter_bytes = 0;
	expect(l, "no layer has parameters");
}

static void wrong_ties_are_refused(void **state)
{
	struct dlboost_plan_layer l[3];

	(void)state;
	chain(l);
	l[2].flags = DLBOOST_PLAN_LAYER_TIED;
	l[2].tied_to = 2;
	expect(l, "layer 'c': tied to no other layer");

	chain(l);
	l[2].flags = DLBOOST_PLAN_LAYER_TIED;
	expect(l, "layer 'c': tied to 'a' and with parameters");

	chain(l);
	l[2].flags = DLBOOST_PLAN_LAYER_TIED;
	l[2].parameter_bytes = 0;
	expect(l, NULL);
	l[0].flags = DLBOOST_PLAN_LAYER_FROZEN;
	expect(l, "layers 'c' and 'a' are tied, but only one is frozen");

	chain(l);
	l[1].flags = l[2].flags = DLBOOST_PLAN_LAYER_TIED;
	l[1].parameter_bytes = l[2].parameter_bytes = 0;
	l[2].tied_to = 1;
	expect(l, "layer 'c': tied to 'b', which is itself tied");
}

static void expect_machine(struct dlboost_plan_attr attr, int error,
			   const char *said)
{
	struct random random = { 41 };
	struct shape shape = { .nr_layers = 30 };
	struct dlboost_plan_graph *graph = random_graph(&random, &shape);
	struct dlboost_plan *plan = NULL;
	char sentence[300] = "";
	int ret = dlboost_plan_create(
		(const struct dlboost_plan_graph *const *)&graph, 1, &attr,
		sentence, sizeof(sentence), &plan);

	dlboost_plan_graph_destroy(graph);
	assert_int_equal(ret, error);
	assert_null(plan);
	if (!strstr(sentence, said))
		fail_msg("says '%s', not '%s'", sentence, said);
}

static void what_cannot_be_planned_is_refused(void **state)
{
	const struct dlboost_plan_attr good = DLBOOST_PLAN_ATTR_INIT;
	struct dlboost_plan_attr a;

	(void)state;
	a = good;
	a.size = 8;
	expect_machine(a, -EINVAL, "attr has 8 bytes");
	a = good;
	a.policy = 99;
	expect_machine(a, -EINVAL, "no policy 99");
	a = good;
	a.ranks = 0;
	expect_machine(a, -EINVAL, "0 ranks");
	a = good;
	a.ranks = 6;
	a.local_ranks = 4;
	expect_machine(a, -EINVAL, "6 ranks do not fill machines of 4");
	a = good;
	a.link_bits_per_s = 0;
	expect_machine(a, -EINVAL, "without bandwidth");
	a = good;
	a.nr_streams = 5;
	expect_machine(a, -EINVAL, "5 streams");
	a = good;
	a.overlap_permille = 1001;
	expect_machine(a, -EINVAL, "1001/1000");
	a = good;
	a.ranks = 8;
	a.slice_bytes = 1;
	expect_machine(a, -EINVAL, "more than 65536 messages");
	a = good;
	a.policy = DLBOOST_PLAN_EXACT;
	expect_machine(a, -EOPNOTSUPP, "exact plans small graphs");
	a = good;
	a.policy = DLBOOST_PLAN_INTERLEAVE;
	expect_machine(a, -EOPNOTSUPP, "two graphs or more");
	a = good;
	a.ranks = 1000;
	a.hop_ns = 1000000000;
	expect_machine(a, -EOVERFLOW, "more than");
	a = good;
	a.memory_bytes = 1;
	expect_machine(a, -ENOSPC, "the cap is 1");
}

static void a_layer_may_come_before_its_inputs(void **state)
{
	struct dlboost_plan_layer l[3];
	struct dlboost_plan_graph *graph = NULL;
	struct dlboost_plan_attr attr = DLBOOST_PLAN_ATTR_INIT;

	(void)state;
	/* c reads nothing, b reads c, a reads b */
	chain(l);
	l[2].nr_inputs = 0;
	l[1].inputs = to_c;
	l[0].nr_inputs = 1;
	l[0].inputs = to_b;
	attr.ranks = 4;
	assert_int_equal(dlboost_plan_graph_create(l, 3, 0, NULL, 0, &graph),
			 0);
	dlboost_plan_destroy(make_plan(graph, &attr, DLBOOST_PLAN_LIST));
	dlboost_plan_graph_destroy(graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_is_taken),
		cmocka_unit_test(what_cannot_be_trained_is_refused),
		cmocka_unit_test(wrong_ties_are_refused),
		cmocka_unit_test(what_cannot_be_planned_is_refused),
		cmocka_unit_test(a_layer_may_come_before_its_inputs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
