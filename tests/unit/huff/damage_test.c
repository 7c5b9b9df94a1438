// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises: a file in which bits were turned, bytes dropped, put in or cut off
 * is either given up, or libjpeg has no complaint about it and the same
 * coefficients; each kind of irregularity in order is given up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "huff_util.h"
#include "make.h"

#define NR_FILES 400
#define NR_DAMAGES 30

static struct checker *checker;

static size_t scan_at(struct file f)
{
	for (size_t i = 2; i + 4 < f.len;) {
		size_t len = (size_t)f.bytes[i + 2] << 8 | f.bytes[i + 3];

		if (f.bytes[i + 1] == 0xda)
			return i + 2 + len;
		i += 2 + len;
	}
	return f.len;
}

static void move_tail(struct file *f, size_t from, size_t to)
{
	memmove(f->bytes + to, f->bytes + from, f->len - from);
	f->len = f->len - from + to;
}

/* @f has room for 8 bytes more */
static void damage(struct file *f, size_t first, uint64_t *state)
{
	size_t at = first + random_below(state, (uint32_t)(f->len - first));
	uint32_t nr = 1 + random_below(state, 4);

	switch (random_below(state, 7)) {
	case 0:
	case 1:
		f->bytes[at] ^= (uint8_t)(1u << random_below(state, 8));
		break;
	case 2:
		f->bytes[at] = (uint8_t)random_next(state);
		break;
	case 3:
		f->len = at;
		break;
	case 4:
		if (at + nr < f->len)
			move_tail(f, at + nr, at);
		break;
	case 5:
		move_tail(f, at, at + nr);
		for (uint32_t i = 0; i < nr; i++)
			f->bytes[at + i] = (uint8_t)random_next(state);
		break;
	default:
		f->bytes[at] = 0xff;
		if (at + 1 < f->len)
			f->bytes[at + 1] = (uint8_t)(0xd0 +
						     random_below(state, 10));
	}
}

static void damaged_files_are_noticed(void **ctx)
{
	uint32_t counts[NR_VERDICTS] = { 0 };
	uint64_t state = 9;

	for (int i = 0; i < NR_FILES; i++) {
		struct encoding how = random_encoding(&state);
		struct file f = i & 3 ? encode(&how) : synthesise(state);
		uint8_t *copy = malloc(f.len + 8);

		for (int j = 0; j < NR_DAMAGES; j++) {
			struct file bad = { copy, f.len };
			enum verdict got;

			memcpy(copy, f.bytes, f.len);
			damage(&bad, j % 5 ? scan_at(f) : 0, &state);
			got = checker_run(checker, bad.bytes, bad.len,
					  j & 1 ? (uint32_t)state : 0);
			counts[got]++;
			if (got == VERDICT_WRONG)
				fail_msg("file %d, damage %d", i, j);
		}
		free(copy);
		free(f.bytes);
	}
	print_message("# %u equal, %u refused, %u broken\n",
		      counts[VERDICT_EQUAL], counts[VERDICT_REFUSED],
		      counts[VERDICT_BROKEN]);
	/* All outcomes were met */
	assert_true(counts[VERDICT_EQUAL] > 100);
	assert_true(counts[VERDICT_REFUSED] > 100);
	assert_true(counts[VERDICT_BROKEN] > 1000);
}

static struct file plain_file(int restart)
{
	struct encoding how = {
		.width = 64, .height = 64, .components = 3,
		.sampling = { 0x22, 0x11, 0x11 }, .quality = 80,
		.restart = restart, .content = CONTENT_EDGES, .seed = 4,
	};
	struct file f = encode(&how);

	f.bytes = realloc(f.bytes, f.len + 8);
	return f;
}

static void expect(struct file f, enum verdict wanted)
{
	assert_int_equal(checker_run(checker, f.bytes, f.len, 0), wanted);
	free(f.bytes);
}

static void end_must_be_at_once(void **ctx)
{
	struct file f = plain_file(0);

	/* What follows EOI is not part of the picture */
	memcpy(f.bytes + f.len, "\x12\xff\x00\xff\xd9", 5);
	f.len += 5;
	expect(f, VERDICT_EQUAL);
	/* Fill bytes may come before a marker */
	f = plain_file(0);
	memcpy(f.bytes + f.len - 2, "\xff\xff\xff\xd9", 4);
	f.len += 2;
	expect(f, VERDICT_EQUAL);
	f = plain_file(0);
	memcpy(f.bytes + f.len - 2, "\x55\xff\xd9", 3);
	f.len += 1;
	expect(f, VERDICT_BROKEN);
	f = plain_file(0);
	memcpy(f.bytes + f.len - 2, "\xff\x00\xff\xd9", 4);
	f.len += 2;
	expect(f, VERDICT_BROKEN);
	for (int cut = 1; cut <= 3; cut++) {
		f = plain_file(0);
		f.len -= (size_t)cut;
		expect(f, VERDICT_BROKEN);
	}
	/* A comment between the scan and EOI */
	f = plain_file(0);
	memcpy(f.bytes + f.len - 2, "\xff\xfe\x00\x02\xff\xd9", 6);
	f.len += 4;
	expect(f, VERDICT_BROKEN);
}

static uint8_t *nth_restart(struct file f, int n)
{
	for (size_t i = scan_at(f); i + 1 < f.len; i++)
		if (f.bytes[i] == 0xff && (f.bytes[i + 1] & 0xf8) == 0xd0 &&
		    !n--)
			return f.bytes + i;
	return NULL;
}

static void restarts_must_be_in_order(void **ctx)
{
	struct file f = plain_file(2);
	uint8_t *at;

	expect(f, VERDICT_EQUAL);
	f = plain_file(2);
	at = nth_restart(f, 3);
	assert_non_null(at);
	at[1] ^= 1;
	expect(f, VERDICT_BROKEN);
	f = plain_file(2);
	at = nth_restart(f, 2);
	move_tail(&f, (size_t)(at - f.bytes) + 2, (size_t)(at - f.bytes));
	expect(f, VERDICT_BROKEN);
	/* A byte too many before it */
	f = plain_file(2);
	at = nth_restart(f, 2);
	move_tail(&f, (size_t)(at - f.bytes), (size_t)(at - f.bytes) + 1);
	at[0] = 0x3c;
	expect(f, VERDICT_BROKEN);
}

static void tail_is_judged_by_its_marker(void **ctx)
{
	struct file f = plain_file(2);
	struct dlb_frame frame;
	struct dlb_huff *huff;

	assert_int_equal(dlb_huff_create(&huff), 0);
	assert_int_equal(dlb_huff_open(huff, f.bytes, f.len, &frame), 0);
	assert_int_equal(dlb_huff_row(huff, NULL, 0, 0), 0);
	assert_true(dlb_huff_tail_is_clean(huff));
	f.bytes[f.len - 1] = 0xda;
	assert_int_equal(dlb_huff_open(huff, f.bytes, f.len, &frame), 0);
	assert_int_equal(dlb_huff_row(huff, NULL, 0, 0), 0);
	assert_false(dlb_huff_tail_is_clean(huff));
	assert_int_equal(dlb_huff_open(huff, f.bytes, f.len - 1, &frame), 0);
	assert_int_equal(dlb_huff_row(huff, NULL, 0, 0), 0);
	assert_false(dlb_huff_tail_is_clean(huff));
	dlb_huff_destroy(huff);
	free(f.bytes);
}

static void rows_end(void **ctx)
{
	struct file f = plain_file(0);
	struct dlb_frame frame;
	struct dlb_huff *huff;

	assert_int_equal(dlb_huff_create(&huff), 0);
	assert_true(dlb_huff_row(huff, NULL, 0, 0) < 0);
	assert_true(dlb_huff_finish(huff) < 0);
	assert_int_equal(dlb_huff_open(huff, f.bytes, f.len, &frame), 0);
	assert_true(dlb_huff_finish(huff) < 0);
	assert_int_equal(dlb_huff_open(huff, f.bytes, f.len, &frame), 0);
	for (uint32_t y = 0; y < frame.mcu_rows; y++)
		assert_int_equal(dlb_huff_row(huff, NULL, 0, 0), 0);
	assert_true(dlb_huff_row(huff, NULL, 0, 0) < 0);
	assert_int_equal(dlb_huff_finish(huff), 0);
	assert_true(dlb_huff_finish(huff) < 0);
	dlb_huff_destroy(huff);
	free(f.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_files_are_noticed),
		cmocka_unit_test(end_must_be_at_once),
		cmocka_unit_test(restarts_must_be_in_order),
		cmocka_unit_test(tail_is_judged_by_its_marker),
		cmocka_unit_test(rows_end),
	};
	int ret;

	checker = checker_create();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	checker_destroy(checker);
	return ret;
}
