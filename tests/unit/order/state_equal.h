/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Equality of two states member by member: what lies between the members is
 * whatever the compiler left there.
 */
#ifndef TESTS_UNIT_ORDER_STATE_EQUAL_H
#define TESTS_UNIT_ORDER_STATE_EQUAL_H

#include "stream/state.h"

static inline void assert_state_equal(const struct dlb_state *a,
				      const struct dlb_state *b)
{
	assert_int_equal(a->order_version, b->order_version);
	assert_string_equal(a->fingerprint, b->fingerprint);
	assert_int_equal(a->nr_samples, b->nr_samples);
	assert_int_equal(a->seed, b->seed);
	assert_int_equal(a->augment_seed, b->augment_seed);
	assert_int_equal(a->epoch, b->epoch);
	assert_int_equal(a->position, b->position);
	assert_int_equal(a->rank, b->rank);
	assert_int_equal(a->world, b->world);
	assert_int_equal(a->batch, b->batch);
	assert_int_equal(a->tail, b->tail);
	assert_int_equal(a->no_shuffle, b->no_shuffle);
	assert_int_equal(a->bad_samples, b->bad_samples);
	assert_string_equal(a->profile, b->profile);
	assert_string_equal(a->recipe, b->recipe);
	assert_string_equal(a->decoder, b->decoder);
}

#endif /* TESTS_UNIT_ORDER_STATE_EQUAL_H */
