// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/order.rst, "Resume": the documents of all
 * ranks give one cursor; ranks that saved at different steps are refused, or
 * repeat exactly the samples counted; documents of two streams never mix.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "stream/order.h"
#include "state_equal.h"

#define MAX_RANKS 8

struct documents {
	char text[MAX_RANKS][DLB_STATE_MAX_BYTES];
	const char *texts[MAX_RANKS];
	char error[512];
	uint64_t repeated;
	struct dlb_state out;
};

static struct dlb_state base_state(void)
{
	return (struct dlb_state) {
		.order_version = 1, .fingerprint = "f", .nr_samples = 103,
		.epoch = 4, .position = 40, .world = 2, .batch = 4,
		.bad_samples = 1, .profile = "exact", .recipe = "none:size=8",
		.decoder = "libjpeg-turbo 2.1.5",
	};
}

static void put(struct documents *docs, int idx, const struct dlb_state *state)
{
	dlb_state_format(state, docs->text[idx], sizeof(docs->text[idx]));
	docs->texts[idx] = docs->text[idx];
}

static int merge(struct documents *docs, uint32_t nr, bool allow_repeat)
{
	docs->error[0] = '\0';
	docs->repeated = 999;
	return dlb_state_merge(docs->texts, nr, allow_repeat, &docs->out,
			       &docs->repeated, docs->error,
			       sizeof(docs->error));
}

static void put_ranks(struct documents *docs, uint64_t position0,
		      uint64_t position1)
{
	struct dlb_state state = base_state();

	state.position = position0;
	put(docs, 0, &state);
	state.rank = 1;
	state.position = position1;
	put(docs, 1, &state);
}

static void one_document_is_enough(void **state)
{
	struct dlb_state one = base_state();
	struct documents docs;

	(void)state;
	one.rank = 1;
	put(&docs, 0, &one);
	assert_int_equal(merge(&docs, 1, false), 0);
	assert_state_equal(&docs.out, &one);
	assert_int_equal(docs.repeated, 0);
	assert_int_equal(dlb_state_merge(docs.texts, 1, false, &docs.out, NULL,
					 NULL, 0), 0);
}

static void equal_positions_merge(void **state)
{
	struct documents docs;

	(void)state;
	put_ranks(&docs, 40, 40);
	assert_int_equal(merge(&docs, 2, false), 0);
	assert_int_equal(docs.out.position, 40);
	assert_int_equal(docs.out.epoch, 4);
	assert_int_equal(docs.out.bad_samples, 2);
	assert_int_equal(docs.repeated, 0);
}

static void different_steps_are_refused_or_counted(void **state)
{
	struct documents docs;

	(void)state;
	/* Two ranks of four: one batch ahead is four samples of one rank */
	put_ranks(&docs, 48, 40);
	assert_int_equal(merge(&docs, 2, false), -EINVAL);
	assert_string_equal(docs.error, "the ranks saved at different steps; from the earliest, epoch 4 position 40, 4 samples would repeat: allow_repeat accepts that");
	assert_int_equal(merge(&docs, 2, true), 0);
	assert_int_equal(docs.out.position, 40);
	assert_int_equal(docs.repeated, 4);

	/* At the tail: positions 96..102, of which rank 0 has four */
	put_ranks(&docs, 103, 96);
	assert_int_equal(merge(&docs, 2, true), 0);
	assert_int_equal(docs.out.position, 96);
	assert_int_equal(docs.repeated, 4);
	put_ranks(&docs, 96, 103);
	assert_int_equal(merge(&docs, 2, true), 0);
	assert_int_equal(docs.repeated, 3);
}

static void epochs_meet_at_their_border(void **state)
{
	struct dlb_state other = base_state();
	struct documents docs;

	(void)state;
	/* The end of epoch 4 is the beginning of epoch 5 */
	put_ranks(&docs, 103, 40);
	other.rank = 1;
	other.epoch = 5;
	other.position = 0;
	put(&docs, 1, &other);
	assert_int_equal(merge(&docs, 2, false), 0);
	assert_int_equal(docs.out.epoch, 5);
	assert_int_equal(docs.out.position, 0);

	/* Rank 1 has 3 samples left of epoch 4 and took 8 of epoch 5 */
	put_ranks(&docs, 96, 0);
	other.position = 16;
	put(&docs, 1, &other);
	assert_int_equal(merge(&docs, 2, false), -EINVAL);
	assert_int_equal(merge(&docs, 2, true), 0);
	assert_int_equal(docs.out.epoch, 4);
	assert_int_equal(docs.out.position, 96);
	assert_int_equal(docs.repeated, 3 + 8);

	/* Under drop the tail of epoch 4 is nobody's */
	other.tail = DLBOOST_TAIL_DROP;
	put(&docs, 1, &other);
	other.rank = 0;
	other.epoch = 4;
	other.position = 88;
	put(&docs, 0, &other);
	assert_int_equal(merge(&docs, 2, true), 0);
	assert_int_equal(docs.repeated, 4 + 8);

	other.epoch = 3;
	put(&docs, 0, &other);
	assert_int_equal(merge(&docs, 2, true), -EINVAL);
	assert_string_equal(docs.error, "the ranks saved in epochs 3 and 5; states of one save are needed");
}

static void streams_do_not_mix(void **state)
{
	struct dlb_state changed[] = {
		base_state(), base_state(), base_state(), base_state(),
		base_state(), base_state(), base_state(), base_state(),
		base_state(), base_state(),
	};
	static const char *const keys[] = {
		"fingerprint", "samples", "seed", "augment-seed", "world",
		"batch", "tail", "shuffle", "profile", "recipe",
	};
	struct dlb_state first = base_state();
	struct documents docs;
	char wanted[128];

	(void)state;
	changed[0].fingerprint[0]++;
	changed[1].nr_samples++;
	changed[2].seed++;
	changed[3].augment_seed++;
	changed[4].world++;
	changed[5].batch++;
	changed[6].tail++;
	changed[7].no_shuffle++;
	changed[8].profile[0]++;
	changed[9].recipe[0]++;
	put(&docs, 0, &first);
	for (int i = 0; i < 10; i++) {
		changed[i].rank = 1;
		put(&docs, 1, &changed[i]);
		assert_int_equal(merge(&docs, 2, true), -EINVAL);
		snprintf(wanted, sizeof(wanted),
			 "state documents 1 and 2 differ in %s, so they are not of one stream",
			 keys[i]);
		assert_string_equal(docs.error, wanted);
	}
}

static void bad_sets_of_documents_are_refused(void **state)
{
	struct documents docs;

	(void)state;
	put_ranks(&docs, 40, 40);
	docs.texts[1] = docs.text[0];
	assert_int_equal(merge(&docs, 2, true), -EINVAL);
	assert_string_equal(docs.error, "two of the state documents are of rank 0; give one for each rank");
	docs.texts[1] = "junk";
	assert_int_equal(merge(&docs, 2, true), -EINVAL);
	assert_string_equal(docs.error, "2 of 2: state document, line 1: not a state document, which begins with \"dlboost-state 1\"");
	docs.texts[0] = "junk";
	assert_int_equal(merge(&docs, 1, true), -EINVAL);
	assert_string_equal(docs.error, "state document, line 1: not a state document, which begins with \"dlboost-state 1\"");
	assert_int_equal(merge(&docs, 0, true), -EINVAL);
	assert_string_equal(docs.error, "no state document given");
}

static void decoders_may_differ(void **state)
{
	struct dlb_state other = base_state();
	struct documents docs;

	(void)state;
	put_ranks(&docs, 40, 40);
	other.rank = 1;
	other.decoder[0]++;
	put(&docs, 1, &other);
	assert_int_equal(merge(&docs, 2, false), 0);
	assert_string_equal(docs.out.decoder, "libjpeg-turbo 2.1.5");
}

/* Rank @st->rank takes some batches and saves; @seen counts its samples */
static void take_and_save(struct dlb_state *st, uint32_t *seen,
			  struct documents *docs)
{
	struct dlb_shard shard = {
		.nr_samples = st->nr_samples, .rank = st->rank,
		.batch = st->batch, .world = st->world,
	};
	uint64_t nr = dlb_shard_nr_batches(&shard);
	uint64_t k = (uint64_t)(drand48() * (double)nr);
	bool is_duplicate;

	for (uint64_t b = 0; b < k; b++) {
		uint32_t count = dlb_shard_batch_count(&shard, b);

		for (uint32_t i = 0; i < count; i++)
			seen[dlb_shard_position(&shard, b, i, &is_duplicate)]++;
	}
	st->position = dlb_shard_cursor(&shard, k);
	put(docs, (int)st->rank, st);
}

/* Ranks stop anywhere; what the count says repeats is what repeats */
static void repeats_are_counted_exactly(void **state)
{
	(void)state;
	srand48(3);
	for (int n = 0; n < 5000; n++) {
		uint32_t seen[200] = { 0 };
		struct dlb_state st = base_state();
		struct documents docs;
		uint64_t repeats = 0;

		st.nr_samples = 1 + (uint64_t)(drand48() * 200);
		st.world = 1 + (uint32_t)(drand48() * MAX_RANKS);
		st.batch = 1 + (uint32_t)(drand48() * 6);
		for (st.rank = 0; st.rank < st.world; st.rank++)
			take_and_save(&st, seen, &docs);
		assert_int_equal(merge(&docs, st.world, true), 0);
		for (uint64_t p = 0; p < st.nr_samples; p++) {
			if (p >= docs.out.position)
				repeats += seen[p];
			else
				assert_int_equal(seen[p], 1);
		}
		assert_int_equal(docs.repeated, repeats);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_document_is_enough),
		cmocka_unit_test(equal_positions_merge),
		cmocka_unit_test(different_steps_are_refused_or_counted),
		cmocka_unit_test(epochs_meet_at_their_border),
		cmocka_unit_test(streams_do_not_mix),
		cmocka_unit_test(bad_sets_of_documents_are_refused),
		cmocka_unit_test(decoders_may_differ),
		cmocka_unit_test(repeats_are_counted_exactly),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
