// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/planning.rst, "The proof": the checker refuses
 * a plan in which work is exchanged, missing, there twice or too early, 1,000 of
 * 1,000 times each, and one whose ranks reduce in different orders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "plan_util.h"

#define NR_MUTANTS 1000

/* A plan that may be changed */
struct mutant {
	struct dlboost_plan_view view;
	struct dlboost_plan_item *items;
	struct dlboost_plan_message *messages;
	struct dlboost_plan_slice *slices;
};

static void *copy_of(const void *entries, uint32_t nr, size_t bytes)
{
	void *copy = malloc((nr + 1) * bytes);

	assert_non_null(copy);
	if (nr)
		memcpy(copy, entries, nr * bytes);
	return copy;
}

static void mutant_init(struct mutant *m, const struct dlboost_plan *plan)
{
	m->view = *dlboost_plan_get_view(plan);
	m->items = copy_of(m->view.items, m->view.nr_items, sizeof(*m->items));
	m->messages = copy_of(m->view.messages, m->view.nr_messages,
			      sizeof(*m->messages));
	m->slices = copy_of(m->view.slices, m->view.nr_slices,
			    sizeof(*m->slices));
	m->view.items = m->items;
	m->view.messages = m->messages;
	m->view.slices = m->slices;
}

static void mutant_fini(struct mutant *m)
{
	free(m->items);
	free(m->messages);
	free(m->slices);
}

/* What a mutation does; false when this plan gives no occasion */
static bool swap_items(struct mutant *m, struct random *random)
{
	uint32_t a = random_below(random, m->view.nr_items);
	uint32_t b = random_below(random, m->view.nr_items);
	struct dlboost_plan_item moved = m->items[a];

	m->items[a] = m->items[b];
	m->items[b] = moved;
	return a != b;
}

/* Exchanged with the times of their new places, as an editor would do it */
static bool swap_work(struct mutant *m, struct random *random)
{
	uint32_t a = random_below(random, m->view.nr_items);
	uint32_t b = random_below(random, m->view.nr_items);
	struct dlboost_plan_item x = m->items[a], y = m->items[b];

	m->items[a].kind = y.kind;
	m->items[a].layer = y.layer;
	m->items[b].kind = x.kind;
	m->items[b].layer = x.layer;
	/* Pieces of the same length may well be exchanged */
	return x.end_ns - x.start_ns != y.end_ns - y.start_ns;
}

static bool swap_messages(struct mutant *m, struct random *random)
{
	struct dlboost_plan_message moved;
	uint32_t a, b;

	if (m->view.nr_messages < 2)
		return false;
	a = random_below(random, m->view.nr_messages);
	b = random_below(random, m->view.nr_messages);
	moved = m->messages[a];
	m->messages[a] = m->messages[b];
	m->messages[b] = moved;
	return a != b;
}

static bool drop_item(struct mutant *m, struct random *random)
{
	uint32_t at = random_below(random, m->view.nr_items);

	memmove(&m->items[at], &m->items[at + 1],
		(m->view.nr_items - at - 1) * sizeof(m->items[0]));
	m->view.nr_items--;
	return true;
}

static bool drop_message(struct mutant *m, struct random *random)
{
	if (!m->view.nr_messages)
		return false;
	(void)random;
	m->view.nr_messages--;
	m->view.nr_slices = m->messages[m->view.nr_messages].first_slice;
	return true;
}

static bool double_item(struct mutant *m, struct random *random)
{
	uint32_t at = random_below(random, m->view.nr_items);
	struct dlboost_plan_item *last = &m->items[m->view.nr_items];

	/* At the end, where there is time for it */
	*last = m->items[at];
	last->stream = last[-1].stream;
	last->end_ns = last[-1].end_ns + last->end_ns - last->start_ns;
	last->start_ns = last[-1].end_ns;
	m->view.period_ns = last->end_ns;
	m->view.nr_items++;
	return true;
}

/* A forward pass a little before the update it needs has ended */
static bool early_forward(struct mutant *m, struct random *random)
{
	uint32_t at = random_below(random, m->view.nr_items), to;
	struct dlboost_plan_item forward = m->items[at];

	if (forward.kind != DLBOOST_PLAN_FORWARD)
		return false;
	for (to = 0; to < at; to++)
		if (m->items[to].kind == DLBOOST_PLAN_UPDATE &&
		    m->items[to].layer == forward.layer)
			break;
	if (to == at)
		return false;
	memmove(&m->items[to + 1], &m->items[to],
		(at - to) * sizeof(m->items[0]));
	m->items[to] = forward;
	/* Times anew, one after the other and without gaps where possible */
	for (uint32_t i = to; i <= at; i++) {
		uint64_t ns = m->items[i].end_ns - m->items[i].start_ns;

		m->items[i].start_ns = i ? m->items[i - 1].end_ns : 0;
		m->items[i].end_ns = m->items[i].start_ns + ns;
	}
	return true;
}

static bool shift_item(struct mutant *m, struct random *random)
{
	struct dlboost_plan_item *item =
		&m->items[random_below(random, m->view.nr_items)];
	uint64_t by_ns = 1 + random_below(random, 50);

	if (item->start_ns < by_ns)
		return false;
	item->start_ns -= by_ns;
	return true;
}

static bool shrink_slice(struct mutant *m, struct random *random)
{
	if (!m->view.nr_slices)
		return false;
	m->slices[random_below(random, m->view.nr_slices)].len_bytes -= 4;
	return true;
}

static bool misname_slice(struct mutant *m, struct random *random)
{
	struct dlboost_plan_slice *slice;
	uint32_t other;

	if (m->view.nr_slices < 2)
		return false;
	slice = &m->slices[random_below(random, m->view.nr_slices)];
	other = m->slices[random_below(random, m->view.nr_slices)].layer;
	if (slice->layer == other)
		return false;
	slice->layer = other;
	return true;
}

static bool claim_memory(struct mutant *m, struct random *random)
{
	m->view.peak_bytes -= 1 + random_below(random, 1000);
	return true;
}

static bool claim_period(struct mutant *m, struct random *random)
{
	m->view.period_ns -= 1 + random_below(random, 100);
	return true;
}

static struct dlboost_plan *random_plan(struct random *random,
					struct dlboost_plan_graph **graph,
					struct dlboost_plan_attr *attr)
{
	static const uint32_t policies[] = {
		DLBOOST_PLAN_DDP, DLBOOST_PLAN_PRIORITY,
		DLBOOST_PLAN_REVERSE_FIRST_K, DLBOOST_PLAN_LIST,
	};
	struct shape shape = { .nr_layers = 3 + random_below(random, 10),
			       .is_chain = random_below(random, 2),
			       .least_ns = 50 };

	*graph = random_graph(random, &shape);
	random_machine(random, attr);
	attr->max_moves = 100;
	return make_plan(*graph, attr, policies[random_below(random, 4)]);
}

static void check_mutations(uint64_t seed, bool (*mutate)(struct mutant *m,
							  struct random *random))
{
	struct random random = { seed };
	int nr_refused = 0, nr = 0;

	while (nr < NR_MUTANTS) {
		struct dlboost_plan_graph *graph;
		struct dlboost_plan_attr attr;
		struct dlboost_plan *plan = random_plan(&random, &graph, &attr);

		for (int i = 0; i < 25 && nr < NR_MUTANTS; i++) {
			const struct dlboost_plan_view *view;
			char error[300] = "";
			struct mutant m;

			mutant_init(&m, plan);
			view = &m.view;
			if (mutate(&m, &random)) {
				int ret = dlboost_plan_check(
					(const struct dlboost_plan_graph *const *)
					&graph, 1, &attr, &view, 1, error,
					sizeof(error));

				nr++;
				nr_refused += ret == -EBADMSG && *error;
			}
			mutant_fini(&m);
		}
		dlboost_plan_destroy(plan);
		dlboost_plan_graph_destroy(graph);
	}
	assert_int_equal(nr_refused, NR_MUTANTS);
}

#define MUTATION(name, seed) \
	static void name##_is_refused(void **state) \
	{ \
		(void)state; \
		check_mutations(seed, name); \
	}

MUTATION(swap_items, 11)
MUTATION(swap_work, 12)
MUTATION(swap_messages, 13)
MUTATION(drop_item, 14)
MUTATION(drop_message, 15)
MUTATION(double_item, 16)
MUTATION(early_forward, 17)
MUTATION(shift_item, 18)
MUTATION(shrink_slice, 19)
MUTATION(misname_slice, 20)
MUTATION(claim_memory, 21)
MUTATION(claim_period, 22)

static void ranks_that_reduce_in_other_orders_are_refused(void **state)
{
	struct random random = { 23 };
	int nr = 0;

	(void)state;
	while (nr < 100) {
		const struct dlboost_plan_view *views[3];
		struct dlboost_plan_graph *graph;
		struct dlboost_plan_attr attr;
		struct dlboost_plan *a = random_plan(&random, &graph, &attr);
		struct dlboost_plan *b = make_plan(graph, &attr,
						   DLBOOST_PLAN_FIFO_SPLIT);
		char error[300] = "";
		int ret;

		views[0] = dlboost_plan_get_view(a);
		views[1] = views[0];
		views[2] = dlboost_plan_get_view(b);
		if (attr.ranks > 1 &&
		    views[0]->nr_messages != views[2]->nr_messages) {
			ret = dlboost_plan_check(
				(const struct dlboost_plan_graph *const *)&graph,
				1, &attr, views, 2, error, sizeof(error));
			assert_int_equal(ret, 0);
			ret = dlboost_plan_check(
				(const struct dlboost_plan_graph *const *)&graph,
				1, &attr, views, 3, error, sizeof(error));
			assert_int_equal(ret, -EBADMSG);
			assert_non_null(strstr(error, "rank 2"));
			nr++;
		}
		dlboost_plan_destroy(a);
		dlboost_plan_destroy(b);
		dlboost_plan_graph_destroy(graph);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swap_items_is_refused),
		cmocka_unit_test(swap_work_is_refused),
		cmocka_unit_test(swap_messages_is_refused),
		cmocka_unit_test(drop_item_is_refused),
		cmocka_unit_test(drop_message_is_refused),
		cmocka_unit_test(double_item_is_refused),
		cmocka_unit_test(early_forward_is_refused),
		cmocka_unit_test(shift_item_is_refused),
		cmocka_unit_test(shrink_slice_is_refused),
		cmocka_unit_test(misname_slice_is_refused),
		cmocka_unit_test(claim_memory_is_refused),
		cmocka_unit_test(claim_period_is_refused),
		cmocka_unit_test(ranks_that_reduce_in_other_orders_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
