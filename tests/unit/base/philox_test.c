// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/order.rst, "Philox": the generator is
 * Random123's Philox4x32-10 (known answers from its tests/kat_vectors), and a
 * word of a sample stands where the address says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/philox.h"

static void known_answers_of_random123(void **state)
{
	static const struct {
		uint64_t key;
		uint32_t counter[4], out[4];
	} known[] = {
		{ 0, { 0, 0, 0, 0 },
		  { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
		{ UINT64_MAX,
		  { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
		  { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
		{ 0x299f31d0a4093822,
		  { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
		  { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
	};
	uint32_t out[4];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		dlb_philox(known[i].key, known[i].counter, out);
		assert_memory_equal(out, known[i].out, sizeof(out));
	}
}

static void word_stands_at_its_address(void **state)
{
	static const uint32_t counter[4] = { 0x9abcdef0, 0x12345678, 7, 33 };
	uint32_t out[4];

	(void)state;
	dlb_philox(99, counter, out);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(dlb_draw_word(99, 7, 0x123456789abcdef0,
					       132 + i), out[i]);
}

static void numbers_stay_in_their_range(void **state)
{
	(void)state;
	assert_true(dlb_draw_uniform(0) == 0.0);
	assert_true(dlb_draw_uniform(0xff) == 0.0);
	assert_true(dlb_draw_uniform(0x80000000) == 0.5);
	assert_true(dlb_draw_uniform(UINT32_MAX) == 1.0 - 1.0 / (1 << 24));
	assert_int_equal(dlb_draw_below(0, 5), 0);
	assert_int_equal(dlb_draw_below(UINT32_MAX, 5), 4);
	assert_int_equal(dlb_draw_below(UINT32_MAX, UINT32_MAX),
			 UINT32_MAX - 1);
	assert_int_equal(dlb_draw_below(UINT32_MAX, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers_of_random123),
		cmocka_unit_test(word_stands_at_its_address),
		cmocka_unit_test(numbers_stay_in_their_range),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
