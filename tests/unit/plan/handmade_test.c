// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/planning.rst, "The step", "Memory" and "Costs",
 * on a chain of two layers whose plans were worked out by hand, and the
 * checker's sentences about single violations in a plan written by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "plan_util.h"

/*
 * a: F 10, dW 20, update 2, gradient 40 bytes; b: the same and dX 15.  The link
 * of two ranks carries a byte a nanosecond and has no latency.
 */
static struct dlboost_plan_graph *two_layers(uint32_t flags_a, uint32_t flags_b)
{
	static const uint32_t input = 0;
	const struct dlboost_plan_layer layers[] = {
		{ .name = "a", .flags = flags_a, .forward_ns = 10,
		  .weight_grad_ns = 20, .update_ns = 2, .activation_bytes = 100,
		  .gradient_bytes = 30, .parameter_bytes = 40 },
		{ .name = "b", .flags = flags_b, .nr_inputs = 1,
		  .inputs = &input, .forward_ns = 10, .input_grad_ns = 15,
		  .weight_grad_ns = 20, .update_ns = 2,
		  .activation_bytes = 200, .gradient_bytes = 5,
		  .parameter_bytes = 40 },
	};
	struct dlboost_plan_graph *graph = NULL;

	assert_int_equal(dlboost_plan_graph_create(layers, 2, 7, NULL, 0,
						   &graph), 0);
	return graph;
}

static struct dlboost_plan_attr two_ranks(void)
{
	struct dlboost_plan_attr attr = DLBOOST_PLAN_ATTR_INIT;

	attr.ranks = 2;
	attr.link_bits_per_s = 8000000000u;
	attr.hop_ns = 0;
	return attr;
}

static void periods_are_those_found_by_hand(void **state)
{
	/*
	 * One message of 80: dX 15, dW 20, dW 20, reduce to 135, updates to
	 * 139, forward to 159.  A message a layer: the second ends at 115.
	 * Without a barrier and with dW of a before that of b, reductions end
	 * at 75 and 115, and only update and forward pass of b follow.  With
	 * dW of b before its dX they end at 60 and 100, and update of a and
	 * both forward passes follow: 122.  No reduction can begin before 20,
	 * none of a before 35, so that neither order gets shorter.
	 */
	static const struct {
		uint32_t policy;
		uint64_t period_ns;
	} expected[] = {
		{ DLBOOST_PLAN_DDP, 159 },
		{ DLBOOST_PLAN_DDP_TUNED, 159 },
		{ DLBOOST_PLAN_FIFO_SPLIT, 139 },
		{ DLBOOST_PLAN_REVERSE_FIRST_K, 127 },
		{ DLBOOST_PLAN_LIST, 122 },
		{ DLBOOST_PLAN_EXACT, 122 },
	};
	struct dlboost_plan_graph *graph = two_layers(0, 0);
	struct dlboost_plan_attr attr = two_ranks();

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(period_of(graph, &attr, expected[i].policy),
				 expected[i].period_ns);
	dlboost_plan_graph_destroy(graph);
}

static void bounds_are_those_found_by_hand(void **state)
{
	struct dlboost_plan_graph *graph = two_layers(0, 0);
	struct dlboost_plan_attr attr = two_ranks();
	struct dlboost_plan *plan = make_plan(graph, &attr, DLBOOST_PLAN_LIST);
	const struct dlboost_plan_bound *bound =
		&dlboost_plan_get_view(plan)->bound;

	(void)state;
	assert_int_equal(bound->compute_ns, 15 + 20 + 20 + 2 + 2 + 10 + 10);
	/* dW of b, both reductions, update and forward pass of b */
	assert_int_equal(bound->link_ns, 20 + 80 + 2 + 10);
	/* dX of b, dW and reduction of a, its update, both forward passes */
	assert_int_equal(bound->critical_path_ns, 15 + 20 + 40 + 2 + 20);
	assert_int_equal(bound->period_ns, 112);
	assert_int_equal(bound->limit, DLBOOST_PLAN_LIMIT_LINK);
	assert_int_equal(bound->reduction_ns, 80);
	assert_int_equal(bound->memory_bytes, 100 + 200 + 7);
	dlboost_plan_destroy(plan);
	dlboost_plan_graph_destroy(graph);
}

static void memory_is_that_found_by_hand(void **state)
{
	struct dlboost_plan_graph *graph = two_layers(0, 0);
	struct dlboost_plan_attr attr = two_ranks();
	struct dlboost_plan *plan = make_plan(graph, &attr, DLBOOST_PLAN_DDP);

	(void)state;
	/* Both activations, the slot, both output gradients, dW of b */
	assert_int_equal(dlboost_plan_get_view(plan)->peak_bytes,
			 100 + 200 + 7 + 30 + 5 + 40);
	dlboost_plan_destroy(plan);
	dlboost_plan_graph_destroy(graph);
}

static void frozen_and_whole_layers_lose_work(void **state)
{
	struct dlboost_plan_graph *frozen =
		two_layers(DLBOOST_PLAN_LAYER_FROZEN, 0);
	struct dlboost_plan_graph *whole =
		two_layers(0, DLBOOST_PLAN_LAYER_WHOLE);
	struct dlboost_plan_attr attr = DLBOOST_PLAN_ATTR_INIT;
	struct dlboost_plan *plan;

	(void)state;
	/* Nothing below b is trained: no dX; dW and update of b, two forwards */
	plan = make_plan(frozen, &attr, DLBOOST_PLAN_LIST);
	assert_int_equal(dlboost_plan_get_view(plan)->period_ns, 20 + 2 + 20);
	assert_int_equal(dlboost_plan_get_view(plan)->nr_items, 5);
	dlboost_plan_destroy(plan);
	/* dX and dW of b are one item of 35; with the release 7 items */
	plan = make_plan(whole, &attr, DLBOOST_PLAN_LIST);
	assert_int_equal(dlboost_plan_get_view(plan)->period_ns, 79);
	assert_int_equal(dlboost_plan_get_view(plan)->nr_items, 7);
	dlboost_plan_destroy(plan);
	dlboost_plan_graph_destroy(frozen);
	dlboost_plan_graph_destroy(whole);
}

static void sync_layers_wait_for_all_gradients(void **state)
{
	struct dlboost_plan_graph *graph =
		two_layers(DLBOOST_PLAN_LAYER_SYNC, 0);
	struct dlboost_plan_attr attr = two_ranks();

	(void)state;
	/* Reductions end at 100 at best; both updates, both forward passes */
	assert_int_equal(period_of(graph, &attr, DLBOOST_PLAN_EXACT),
			 100 + 2 + 2 + 20);
	dlboost_plan_graph_destroy(graph);
}

/* dX b, dW a, dW b, update a, forward a, update b, forward b, release */
enum { DX_B, DW_A, RELEASE, DW_B, UPDATE_A, FORWARD_A, UPDATE_B, FORWARD_B,
       NR_ITEMS };

struct handmade {
	struct dlboost_plan_item items[NR_ITEMS];
	struct dlboost_plan_message messages[2];
	struct dlboost_plan_slice slices[2];
	struct dlboost_plan_view view;
};

static void handmade_init(struct handmade *h)
{
	static const struct dlboost_plan_item items[NR_ITEMS] = {
		{ DLBOOST_PLAN_INPUT_GRAD, 0, 1, 0, 0, 15 },
		{ DLBOOST_PLAN_WEIGHT_GRAD, 0, 0, 0, 15, 35 },
		{ DLBOOST_PLAN_RELEASE, 0, 0, 0, 35, 35 },
		{ DLBOOST_PLAN_WEIGHT_GRAD, 0, 1, 0, 35, 55 },
		{ DLBOOST_PLAN_UPDATE, 0, 0, 0, 75, 77 },
		{ DLBOOST_PLAN_FORWARD, 0, 0, 0, 77, 87 },
		{ DLBOOST_PLAN_UPDATE, 0, 1, 0, 115, 117 },
		{ DLBOOST_PLAN_FORWARD, 0, 1, 0, 117, 127 },
	};

	memcpy(h->items, items, sizeof(items));
	h->messages[0] = (struct dlboost_plan_message){
		0, 0, 1, 0, 40, 35, 35, 35, 75 };
	h->messages[1] = (struct dlboost_plan_message){
		0, 1, 1, 0, 40, 75, 75, 75, 115 };
	h->slices[0] = (struct dlboost_plan_slice){ 0, 0, 0, 40 };
	h->slices[1] = (struct dlboost_plan_slice){ 1, 0, 0, 40 };
	h->view = (struct dlboost_plan_view){
		.nr_items = NR_ITEMS, .nr_messages = 2, .nr_slices = 2,
		.items = h->items, .messages = h->messages,
		.slices = h->slices, .period_ns = 127,
		/* Activations, slot, both output gradients, dW of a */
		.peak_bytes = 307 + 35 + 40,
	};
}

static void expect(const struct handmade *h,
		   const struct dlboost_plan_attr *attr, const char *said)
{
	struct dlboost_plan_graph *graph = two_layers(0, 0);
	const struct dlboost_plan_view *view = &h->view;
	char error[300] = "";
	int ret = dlboost_plan_check(
		(const struct dlboost_plan_graph *const *)&graph, 1, attr,
		&view, 1, error, sizeof(error));

	dlboost_plan_graph_destroy(graph);
	assert_int_equal(ret, said ? -EBADMSG : 0);
	if (said && !strstr(error, said))
		fail_msg("says '%s', not '%s'", error, said);
}

static void a_plan_by_hand_is_proven(void **state)
{
	struct dlboost_plan_attr attr = two_ranks();
	struct handmade h;

	(void)state;
	handmade_init(&h);
	expect(&h, &attr, NULL);
}

static void move_in_time(struct dlboost_plan_item *item, int64_t by_ns)
{
	item->start_ns += (uint64_t)by_ns;
	item->end_ns += (uint64_t)by_ns;
}

static void each_violation_has_its_sentence(void **state)
{
	struct dlboost_plan_attr attr = two_ranks(), small = attr, all = attr;
	struct handmade h;

	(void)state;
	handmade_init(&h);
	move_in_time(&h.items[FORWARD_B], -2);
	move_in_time(&h.items[UPDATE_B], -2);
	h.view.period_ns = 125;
	expect(&h, &attr, "update of layer 'b' begins before reduction 1 has");

	handmade_init(&h);
	h.items[FORWARD_A] = h.items[UPDATE_A];
	h.items[UPDATE_A] = (struct dlboost_plan_item){
		DLBOOST_PLAN_FORWARD, 0, 0, 0, 55, 65 };
	expect(&h, &attr, "forward of layer 'a' begins before update of layer");

	handmade_init(&h);
	h.messages[0].start_ns = h.messages[0].local_start_ns =
		h.messages[0].local_end_ns = 34;
	h.messages[0].end_ns = 74;
	expect(&h, &attr, "reduction 0 begins before dW of layer 'a' has");

	handmade_init(&h);
	h.items[DX_B].end_ns = 14;
	expect(&h, &attr, "dX of layer 'b' takes 15 ns");

	handmade_init(&h);
	h.items[DW_B].layer = 0;
	expect(&h, &attr, "dW of layer 'a' is there twice");

	handmade_init(&h);
	h.items[DW_A].kind = DLBOOST_PLAN_INPUT_GRAD;
	expect(&h, &attr, "layer 'a' has no dX");

	handmade_init(&h);
	h.items[RELEASE] = h.items[DW_B];
	h.view.nr_items--;
	memmove(&h.items[DW_B], &h.items[UPDATE_A],
		(NR_ITEMS - UPDATE_A) * sizeof(h.items[0]));
	expect(&h, &attr, "slot of graph 0 is never released");

	handmade_init(&h);
	h.slices[1].offset_bytes = 8;
	expect(&h, &attr, "gradient of layer 'b' is not reduced once");

	handmade_init(&h);
	h.messages[1].end_ns--;
	expect(&h, &attr, "reduction 1 has not the time");

	handmade_init(&h);
	h.view.peak_bytes--;
	expect(&h, &attr, "the plan takes 382 bytes");

	handmade_init(&h);
	small.memory_bytes = 381;
	expect(&h, &small, "there are 381");

	handmade_init(&h);
	h.view.period_ns = 126;
	expect(&h, &attr, "the step ends after 127 ns");

	handmade_init(&h);
	all.has_barrier = 1;
	expect(&h, &all, "no barrier");
	h.view.has_barrier = 1;
	expect(&h, &all, "update of layer 'a' begins before the barrier has");
}

static void reductions_cost_what_a_ring_costs(void **state)
{
	struct dlboost_plan_graph *graph = two_layers(0, 0);
	struct dlboost_plan_attr attr = two_ranks();
	struct dlboost_plan *plan;
	const struct dlboost_plan_message *m;

	(void)state;
	/*
	 * 8 ranks in 2 machines, 80 bytes.  Inside, a ring of 4 at 2 bytes a ns:
	 * 6/4 x 80 / 2 = 60, and 6 hops of 3.  Between, a ring of 2 on a quarter
	 * of the bytes at 1 byte a ns: 2/2 x 20 = 20, and 2 hops of 5.
	 */
	attr.ranks = 8;
	attr.local_ranks = 4;
	attr.local_bits_per_s = 16000000000u;
	attr.local_hop_ns = 3;
	attr.hop_ns = 5;
	plan = make_plan(graph, &attr, DLBOOST_PLAN_DDP);
	m = dlboost_plan_get_view(plan)->messages;
	assert_int_equal(dlboost_plan_get_view(plan)->nr_messages, 1);
	assert_int_equal(m->local_end_ns - m->local_start_ns, 60 + 18);
	assert_int_equal(m->end_ns - m->start_ns, 20 + 10);
	dlboost_plan_destroy(plan);
	dlboost_plan_graph_destroy(graph);
}

static void estimates_are_those_found_by_hand(void **state)
{
	/* 2 flops a ns at 50 %, 4 bytes a ns at 50 %, 100 ns a launch */
	const struct dlboost_plan_hardware hw = {
		.flops_per_s = 2000000000u, .bytes_per_s = 4000000000u,
		.launch_ns = 100, .efficiency_permille = 500,
		.memory_efficiency_permille = 500, .element_bytes = 2,
		.gradient_element_bytes = 4, .state_bytes_per_parameter = 12,
	};
	const struct dlboost_plan_shape shape = {
		.flops = 1000, .bytes = 400, .backward_bytes = 800,
		.activation_bytes = 40, .output_bytes = 20, .parameters = 50,
		.efficiency_permille = 1000,
	};
	struct dlboost_plan_layer layer = { .name = "x" };

	(void)state;
	assert_int_equal(dlboost_plan_estimate(&shape, &hw, 3, &layer), 0);
	/* 3 x 1000 at 1; parameters 100 and 3 x 200 bytes at 2 */
	assert_int_equal(layer.forward_ns, 100 + 3000 + 350);
	assert_int_equal(layer.input_grad_ns, 100 + 3000 + 650);
	assert_int_equal(layer.weight_grad_ns, 100 + 3000 + 100);
	assert_int_equal(layer.update_ns, 100 + 500);
	assert_int_equal(layer.activation_bytes, 60);
	assert_int_equal(layer.gradient_bytes, 30);
	assert_int_equal(layer.parameter_bytes, 200);
	assert_int_equal(layer.static_bytes, 600);
	assert_int_equal(dlboost_plan_estimate(&shape, &hw, 0, &layer),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods_are_those_found_by_hand),
		cmocka_unit_test(bounds_are_those_found_by_hand),
		cmocka_unit_test(memory_is_that_found_by_hand),
		cmocka_unit_test(frozen_and_whole_layers_lose_work),
		cmocka_unit_test(sync_layers_wait_for_all_gradients),
		cmocka_unit_test(a_plan_by_hand_is_proven),
		cmocka_unit_test(each_violation_has_its_sentence),
		cmocka_unit_test(reductions_cost_what_a_ring_costs),
		cmocka_unit_test(estimates_are_those_found_by_hand),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
