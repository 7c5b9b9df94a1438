// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises: a name of any bytes becomes one line of UTF-8 that shows each byte
 * it could not show as it is, and keeps its end when it must be cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/text.h"

static const char *quote(const char *name)
{
	static char buf[128];

	return dlb_text_quote(buf, sizeof(buf), name, strlen(name));
}

static void shows_every_byte(void **state)
{
	(void)state;
	assert_string_equal(quote("a b.jpg"), "a b.jpg");
	assert_string_equal(quote("k\xc3\xa4se.jpg"), "k\xc3\xa4se.jpg");
	assert_string_equal(quote("a\nb\tc\\d"), "a\\nb\\tc\\\\d");
	assert_string_equal(quote("\x1b[31m\x7f"), "\\x1B[31m\\x7F");
	assert_string_equal(quote("k\xe4se"), "k\\xE4se");
	/* Overlong, surrogate, beyond U+10FFFF, cut short */
	assert_string_equal(quote("\xc0\xaf"), "\\xC0\\xAF");
	assert_string_equal(quote("\xe0\x80\xaf"), "\\xE0\\x80\\xAF");
	assert_string_equal(quote("\xed\xa0\x80"), "\\xED\\xA0\\x80");
	assert_string_equal(quote("\xf4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");
	assert_string_equal(quote("\xf0\x9f\x92"), "\\xF0\\x9F\\x92");
	assert_string_equal(quote("\xf0\x9f\x92\xa9"), "\xf0\x9f\x92\xa9");
}

static void keeps_the_end(void **state)
{
	char buf[16];

	(void)state;
	dlb_text_quote(buf, sizeof(buf), "0123456789abcde", 15);
	assert_string_equal(buf, "0123456789abcde");
	dlb_text_quote(buf, sizeof(buf), "0123456789abcdef", 16);
	assert_string_equal(buf, "...456789abcdef");
	/* No character is cut in two */
	dlb_text_quote(buf, sizeof(buf), "0123\xf0\x9f\x92\xa9" "56789abcde",
		       18);
	assert_string_equal(buf, "...56789abcde");
	dlb_text_quote(buf, sizeof(buf), "0123\n\n\n\n\n\n\n\n", 12);
	assert_string_equal(buf, "...\\n\\n\\n\\n\\n\\n");
}

static void any_buffer_is_enough(void **state)
{
	(void)state;
	for (size_t room = 1; room < 40; room++) {
		char *buf = malloc(room);

		assert_non_null(buf);
		dlb_text_quote(buf, room, "\xff\n\xc3\xa4" "abcdefgh", 12);
		assert_true(strlen(buf) < room);
		free(buf);
	}
}

static void buffers_grow_across_the_map_border(void **state)
{
	struct dlb_buffer buffer = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 300000; i++)
		assert_int_equal(dlb_buffer_append(&buffer, &i, sizeof(i)), 0);
	for (uint32_t i = 0; i < 300000; i++)
		if (((uint32_t *)buffer.data)[i] != i)
			fail();
	assert_null(dlb_buffer_extend(&buffer, SIZE_MAX));
	assert_null(dlb_buffer_extend(&buffer, SIZE_MAX / 2));
	assert_int_equal(buffer.len_bytes, 1200000);
	dlb_buffer_free(&buffer);
	assert_null(buffer.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_every_byte),
		cmocka_unit_test(keeps_the_end),
		cmocka_unit_test(any_buffer_is_enough),
		cmocka_unit_test(buffers_grow_across_the_map_border),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
