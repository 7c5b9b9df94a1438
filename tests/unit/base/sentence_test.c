// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested (libdl/base/base.h): sentences are cut at a UTF-8 boundary
 * and always end, near misses of a word are found and far ones are not, option
 * texts are taken apart, statuses have names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlboost/dlboost.h>

#include "base/base.h"

static void sentence_is_cut_between_characters(void **state)
{
	/* a, e-acute, euro sign, a face: 1, 2, 3 and 4 bytes */
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
	static const size_t whole[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10 };
	char buf[16];

	(void)state;
	for (size_t room = 1; room <= 11; room++) {
		memset(buf, '#', sizeof(buf));
		dlb_sentence(buf, room, "%s", text);
		assert_int_equal(strlen(buf), whole[room - 1]);
		assert_memory_equal(buf, text, whole[room - 1]);
		assert_int_equal(buf[room], '#');
	}
	dlb_sentence(NULL, 0, "%s", text);
}

static void near_words_are_found(void **state)
{
	static const char *const words[] = { "bilinear", "bicubic", "box" };

	(void)state;
	assert_string_equal(dlb_did_you_mean("bilinaer", words, 3), "bilinear");
	assert_string_equal(dlb_did_you_mean("bicubik", words, 3), "bicubic");
	assert_string_equal(dlb_did_you_mean("bx", words, 3), "box");
	assert_null(dlb_did_you_mean("lanczos", words, 3));
	assert_null(dlb_did_you_mean("a word that is longer than any name here",
				     words, 3));
}

struct seen {
	char text[64];
	int stop_after;
};

static int note(void *arg, const char *key, const char *value)
{
	struct seen *seen = arg;
	size_t len = strlen(seen->text);

	snprintf(seen->text + len, sizeof(seen->text) - len, "[%s|%s]", key,
		 value);
	return --seen->stop_after ? 0 : -7;
}

static void options_are_taken_apart(void **state)
{
	struct seen all = { .stop_after = -1 }, two = { .stop_after = 2 };

	(void)state;
	assert_int_equal(dlb_parse_options("a=1,b,=2,c=x=y", note, &all), 0);
	assert_string_equal(all.text, "[a|1][b|][|2][c|x=y]");
	assert_int_equal(dlb_parse_options("a=1,b=2,c=3", note, &two), -7);
	assert_string_equal(two.text, "[a|1][b|2]");
	assert_int_equal(dlb_parse_options(NULL, note, &all), 0);
}

static void statuses_have_names(void **state)
{
	(void)state;
	assert_string_equal(dlboost_status_name(DLBOOST_STATUS_OK), "OK");
	assert_string_equal(dlboost_status_name(DLBOOST_STATUS_TRUNCATED),
			    "TRUNCATED");
	assert_string_equal(dlboost_status_name(16), "STALE");
	assert_string_equal(dlboost_status_name(17), "UNKNOWN");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentence_is_cut_between_characters),
		cmocka_unit_test(near_words_are_found),
		cmocka_unit_test(options_are_taken_apart),
		cmocka_unit_test(statuses_have_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
