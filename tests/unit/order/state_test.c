// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/order.rst, "State documents": what is written
 * reads back the same, whatever bytes a value holds; the example of the text is
 * read; every damage is refused with the line and the reason.
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

#include "state_equal.h"

/* The example of Documentation/order.rst */
static const char example[] =
	"dlboost-state 1\n"
	"order: 1\n"
	"fingerprint: 4bd1f1a54d2fdc90c4cbf3e1c0ffee42\n"
	"samples: 1281167\n"
	"seed: 1\n"
	"augment-seed: 1\n"
	"epoch: 3\n"
	"position: 204800\n"
	"rank: 1\n"
	"world: 8\n"
	"batch: 256\n"
	"tail: partial\n"
	"shuffle: yes\n"
	"bad-samples: 2\n"
	"profile: exact\n"
	"recipe: imagenet-train:size=224\n"
	"decoder: libjpeg-turbo 2.1.5\n"
	"checksum: d56b3e7d648148a3\n";

static struct dlb_state example_state(void)
{
	return (struct dlb_state) {
		.order_version = 1,
		.fingerprint = "4bd1f1a54d2fdc90c4cbf3e1c0ffee42",
		.nr_samples = 1281167, .seed = 1, .augment_seed = 1,
		.epoch = 3, .position = 204800, .rank = 1, .world = 8,
		.batch = 256, .tail = DLBOOST_TAIL_PARTIAL, .bad_samples = 2,
		.profile = "exact", .recipe = "imagenet-train:size=224",
		.decoder = "libjpeg-turbo 2.1.5",
	};
}

/* FNV-1a, as the text defines it */
static uint64_t checksum_of(const char *text, size_t len)
{
	uint64_t sum = 14695981039346656037u;

	while (len--) {
		sum ^= (unsigned char)*text++;
		sum *= 1099511628211u;
	}
	return sum;
}

/* Replace the checksum by the right one, so that other checks are reached */
static void seal(char *text)
{
	char *last = strstr(text, "checksum: ");

	if (last)
		snprintf(last + 10, 18, "%016lx\n",
			 (unsigned long)checksum_of(text,
						    (size_t)(last - text)));
}

/* The example with one text in place of another */
static void edit(char out[DLB_STATE_MAX_BYTES], const char *from,
		 const char *to)
{
	const char *at = strstr(example, from);

	assert_non_null(at);
	snprintf(out, DLB_STATE_MAX_BYTES, "%.*s%s%s", (int)(at - example),
		 example, to, at + strlen(from));
	seal(out);
}

static void check_refused(const char *text, const char *sentence)
{
	struct dlb_state out, untouched;
	char error[512] = "";

	memset(&out, 0x5a, sizeof(out));
	memset(&untouched, 0x5a, sizeof(untouched));
	assert_int_equal(dlb_state_parse(text, &out, error, sizeof(error)),
			 -EINVAL);
	assert_memory_equal(&out, &untouched, sizeof(out));
	assert_string_equal(error, sentence);
	assert_int_equal(dlb_state_parse(text, &out, NULL, 0), -EINVAL);
}

static void example_of_the_text_is_read(void **state)
{
	struct dlb_state wanted = example_state(), out;
	char text[DLB_STATE_MAX_BYTES], error[512] = "";

	(void)state;
	assert_int_equal(dlb_state_parse(example, &out, error, sizeof(error)),
			 0);
	assert_state_equal(&out, &wanted);
	assert_int_equal(dlb_state_format(&wanted, text, sizeof(text)),
			 sizeof(example));
	assert_string_equal(text, example);
}

static void room_is_respected(void **state)
{
	struct dlb_state example_values = example_state();
	char text[DLB_STATE_MAX_BYTES];

	(void)state;
	assert_int_equal(dlb_state_format(&example_values, NULL, 0),
			 sizeof(example));
	memset(text, '#', sizeof(text));
	assert_int_equal(dlb_state_format(&example_values, text, 10),
			 sizeof(example));
	assert_string_equal(text, "dlboost-s");
	assert_int_equal(text[10], '#');
}

static void fill_text(char *text, size_t bytes)
{
	size_t len = (size_t)(drand48() * (double)bytes);

	memset(text, 0, bytes);
	for (size_t i = 0; i < len; i++)
		text[i] = (char)(uint8_t)(1 + drand48() * 255);
}

static uint64_t any_number(void)
{
	uint64_t bits = (uint64_t)mrand48() << 32 ^ (uint32_t)mrand48();

	return bits >> (int)(drand48() * 64);
}

static void any_state_survives(void **state)
{
	char text[DLB_STATE_MAX_BYTES], error[512];
	struct dlb_state in, out;

	(void)state;
	srand48(1);
	for (int i = 0; i < 20000; i++) {
		memset(&in, 0, sizeof(in));
		in.order_version = 1;
		in.nr_samples = (any_number() & INT64_MAX) | 1;
		in.position = any_number() % (in.nr_samples + 1);
		in.seed = any_number();
		in.augment_seed = any_number();
		in.epoch = (uint32_t)any_number();
		in.world = (uint32_t)any_number() | 1;
		in.rank = (uint32_t)any_number() % in.world;
		in.batch = (uint32_t)any_number() | 1;
		in.tail = (uint32_t)any_number() % 3;
		in.no_shuffle = (uint32_t)any_number() & 1;
		in.bad_samples = any_number();
		fill_text(in.fingerprint, sizeof(in.fingerprint));
		fill_text(in.profile, sizeof(in.profile));
		fill_text(in.recipe, sizeof(in.recipe));
		fill_text(in.decoder, sizeof(in.decoder));
		assert_true(dlb_state_format(&in, text, sizeof(text)) <=
			    sizeof(text));
		if (dlb_state_parse(text, &out, error, sizeof(error)))
			fail_msg("%s\n%s", error, text);
		assert_state_equal(&in, &out);
	}
}

static void every_change_of_a_bit_is_noticed(void **state)
{
	char text[sizeof(example)];
	struct dlb_state out;

	(void)state;
	for (size_t bit = 0; bit < 8 * (sizeof(example) - 1); bit++) {
		memcpy(text, example, sizeof(text));
		text[bit / 8] ^= (char)(1 << bit % 8);
		if (!dlb_state_parse(text, &out, NULL, 0))
			fail_msg("bit %zu of byte %zu changed unnoticed",
				 bit % 8, bit / 8);
	}
}

static void every_cut_is_noticed(void **state)
{
	char text[sizeof(example)];
	struct dlb_state out;

	(void)state;
	/* The last newline alone may be missing: some transports drop it */
	for (size_t len = 0; len < sizeof(example) - 1; len++) {
		memcpy(text, example, len);
		text[len] = '\0';
		assert_int_equal(dlb_state_parse(text, &out, NULL, 0),
				 len == sizeof(example) - 2 ? 0 : -EINVAL);
	}
}

static void lines_may_come_in_any_order(void **state)
{
	struct dlb_state wanted = example_state(), out;
	char text[DLB_STATE_MAX_BYTES];

	(void)state;
	edit(text, "seed: 1\naugment-seed: 1\nepoch: 3\n",
	     "epoch: 3\naugment-seed: 1\nseed: 1\n");
	assert_int_equal(dlb_state_parse(text, &out, NULL, 0), 0);
	assert_state_equal(&out, &wanted);
}

static void refusals_name_line_and_reason(void **state)
{
	static const struct {
		const char *from, *to, *sentence;
	} edits[] = {
		{ "dlboost-state 1", "dlboost-state 2", "state document, line 1: format \"2\" is not known; this version reads \"1\"" },
		{ "dlboost-state 1", "hello", "state document, line 1: not a state document, which begins with \"dlboost-state 1\"" },
		{ "seed: 1\n", "seeed: 1\n", "state document, line 5: unknown key \"seeed\"" },
		{ "seed: 1\n", "s\x1b[31m: 1\n", "state document, line 5: unknown key \"s?[31m\"" },
		{ "seed: 1\n", "seed: 1\nseed: 1\n", "state document, line 6: seed is there twice" },
		{ "seed: 1\n", "seed:1\n", "state document, line 5: \"seed:1\" is not \"key: value\"" },
		{ "seed: 1\n", "\n", "state document, line 5: \"\" is not \"key: value\"" },
		{ "seed: 1\n", ": 1\n", "state document, line 5: unknown key \"\"" },
		{ "\nseed: 1\n", "\n", "state document, line 17: the document has no seed" },
		{ "\nseed: 1\n", "\nseed: 01\n", "state document, line 5: seed is \"01\", which is no number from 0 to 18446744073709551615" },
		{ "\nseed: 1\n", "\nseed: 18446744073709551616\n", "state document, line 5: seed is \"18446744073709551616\", which is no number from 0 to 18446744073709551615" },
		{ "\nseed: 1\n", "\nseed: -1\n", "state document, line 5: seed is \"-1\", which is no number from 0 to 18446744073709551615" },
		{ "\nseed: 1\n", "\nseed: 1\r\n", "state document, line 5: seed is \"1?\", which is no number from 0 to 18446744073709551615" },
		{ "order: 1", "order: 2", "state document, line 2: order is \"2\", which is no number from 1 to 1" },
		{ "samples: 1281167", "samples: 0", "state document, line 4: samples is \"0\", which is no number from 1 to 9223372036854775807" },
		{ "epoch: 3", "epoch: 4294967296", "state document, line 7: epoch is \"4294967296\", which is no number from 0 to 4294967295" },
		{ "position: 204800", "position: 1281168", "state document, line 18: position 1281168 is past the end of 1281167 samples" },
		{ "rank: 1", "rank: 8", "state document, line 18: rank 8 does not exist in a world of 8" },
		{ "world: 8", "world: 0", "state document, line 10: world is \"0\", which is no number from 1 to 4294967295" },
		{ "batch: 256", "batch: 0", "state document, line 11: batch is \"0\", which is no number from 1 to 4294967295" },
		{ "tail: partial", "tail: part", "state document, line 12: tail is \"part\", which this version does not know" },
		{ "shuffle: yes", "shuffle: ", "state document, line 13: shuffle is \"\", which this version does not know" },
		{ "profile: exact", "profile: exactexactexact1", "state document, line 15: profile is longer than 15 bytes or not escaped as %XX" },
		{ "profile: exact", "profile: e%4", "state document, line 15: profile is longer than 15 bytes or not escaped as %XX" },
		{ "profile: exact", "profile: e%4g", "state document, line 15: profile is longer than 15 bytes or not escaped as %XX" },
		{ "profile: exact", "profile: e%6a", "state document, line 15: profile is longer than 15 bytes or not escaped as %XX" },
		{ "profile: exact", "profile: e%00", "state document, line 15: profile is longer than 15 bytes or not escaped as %XX" },
		{ "profile: exact", "profile: \xc3\xa9", "state document, line 15: profile is longer than 15 bytes or not escaped as %XX" },
		{ "checksum: ", "checksun: ", "state document, line 18: unknown key \"checksun\"" },
	};
	char text[DLB_STATE_MAX_BYTES], big[DLB_STATE_MAX_BYTES + 2];

	(void)state;
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		edit(text, edits[i].from, edits[i].to);
		check_refused(text, edits[i].sentence);
	}
	check_refused("", "state document, line 1: the document is empty");
	snprintf(text, sizeof(text), "%s", example);
	strstr(text, "seed: 1")[6] = '2';
	check_refused(text, "state document, line 18: the checksum is not that of the text above: the document was damaged or edited");
	snprintf(text, sizeof(text), "%s\n", example);
	check_refused(text, "state document, line 19: something follows the checksum");
	snprintf(text, sizeof(text), "%.*s", (int)(strstr(example, "checksum") - example), example);
	check_refused(text, "state document, line 17: the document ends without its checksum: its end is missing");
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	check_refused(big, "state document: longer than 4096 bytes, so it is none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(example_of_the_text_is_read),
		cmocka_unit_test(room_is_respected),
		cmocka_unit_test(any_state_survives),
		cmocka_unit_test(every_change_of_a_bit_is_noticed),
		cmocka_unit_test(every_cut_is_noticed),
		cmocka_unit_test(lines_may_come_in_any_order),
		cmocka_unit_test(refusals_name_line_and_reason),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
