// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises (Documentation/performance.rst, "Steady state"): once a decoder has
 * seen the sizes of its pictures, a picture costs no malloc and no page fault,
 * JPEG of every coding and PNG alike; damaged pictures leak nothing.
 *
 * malloc and its kin are counted by definitions of our own in front of the C
 * library's; under a sanitizer, which does the same, the file is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "decode_util.h"

#define SIDE 300

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	__has_feature(address_sanitizer)
#define HAS_COUNTERS false
static unsigned long nr_allocations;
#else
#define HAS_COUNTERS true
static volatile unsigned long nr_allocations;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t nr, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

void *malloc(size_t bytes)
{
	nr_allocations++;
	return __libc_malloc(bytes);
}

void *calloc(size_t nr, size_t bytes)
{
	nr_allocations++;
	return __libc_calloc(nr, bytes);
}

void *realloc(void *p, size_t bytes)
{
	nr_allocations++;
	return __libc_realloc(p, bytes);
}

void *memalign(size_t align, size_t bytes);

void *memalign(size_t align, size_t bytes)
{
	nr_allocations++;
	return __libc_memalign(align, bytes);
}
#endif

static struct dlboost_decoder *decoder;
static struct dlboost_recipe *recipe;
static struct blob files[8];
static uint8_t *tensor;
static size_t tensor_bytes;

static int setup(void **state)
{
	static const struct make forms[] = {
		{ .sampling = { 0x22, 0x11, 0x11 } },
		{ .sampling = { 0x21, 0x11, 0x11 }, .restart = 4 },
		{ .sampling = { 0x22, 0x11, 0x11 },
		  .coding = CODING_PROGRESSIVE },
		{ .coding = CODING_ARITHMETIC },
		{ .components = 4 },
		{ .coding = CODING_SEPARATE_SCANS },
	};
	struct dlboost_tensor_spec spec;

	for (size_t i = 0; i < 6; i++) {
		struct make how = forms[i];

		how.width = SIDE;
		how.height = SIDE;
		files[i] = make_jpeg(&how);
	}
	files[6] = make_png(SIDE, SIDE, 2, 8, false, 1);
	files[7] = make_png(SIDE, SIDE, 3, 8, true, 1);
	if (dlboost_recipe_parse("imagenet-train", NULL, 0, &recipe))
		return -1;
	dlboost_recipe_tensor(recipe, &spec);
	tensor_bytes = spec.sample_bytes;
	tensor = malloc(tensor_bytes);
	return dlboost_decoder_create(NULL, &decoder);
}

static int teardown(void **state)
{
	dlboost_decoder_destroy(decoder);
	dlboost_recipe_destroy(recipe);
	free(tensor);
	for (size_t i = 0; i < 8; i++)
		free(files[i].bytes);
	return 0;
}

/* Decode each file with @nr draws; statuses are the caller's to want */
static void decode_all(uint64_t first, uint64_t nr, size_t cut)
{
	for (uint64_t s = first; s < first + nr; s++) {
		for (size_t i = 0; i < 8; i++) {
			struct dlboost_geometry g;
			struct dlboost_result r;

			dlboost_recipe_draw(recipe, SIDE, SIDE, 1, 0, s, &g);
			dlboost_decode(decoder, files[i].bytes,
				       files[i].len - cut, recipe,
				       DLBOOST_PROFILE_EXACT, &g, tensor,
				       tensor_bytes, &r);
			if (!cut)
				assert_int_equal(r.status, DLBOOST_STATUS_OK);
			else
				assert_int_not_equal(r.status,
						     DLBOOST_STATUS_OK);
		}
	}
}

static void no_malloc(void **state)
{
	void *volatile seen;
	unsigned long before;

	decode_all(0, 8, 0);
	before = nr_allocations;
	decode_all(8, 40, 0);
	assert_int_equal(nr_allocations - before, 0);
	before = nr_allocations;
	/* A compiler may leave out a pair that nobody sees */
	seen = malloc(1);
	free(seen);
	assert_int_equal(nr_allocations - before, 1);
}

static void no_page_fault(void **state)
{
	struct rusage before, after;

	/* Warm: the largest crops of these draws come around */
	decode_all(0, 48, 0);
	getrusage(RUSAGE_SELF, &before);
	decode_all(8, 40, 0);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_minflt - before.ru_minflt < 4);
}

static long resident_kib(void)
{
	long size, resident = -1;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%ld %ld", &size, &resident) != 2)
		resident = -1;
	if (f)
		fclose(f);
	return resident * 4;
}

static void damaged_pictures_leak_nothing(void **state)
{
	long before;

	decode_all(0, 25, 3000);
	before = resident_kib();
	for (int i = 0; i < 4; i++)
		decode_all(0, 25, 3000);
	assert_true(before > 0);
	assert_true(resident_kib() - before < 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_malloc),
		cmocka_unit_test(no_page_fault),
		cmocka_unit_test(damaged_pictures_leak_nothing),
	};

	if (!HAS_COUNTERS) {
		puts("1..0 # SKIP a sanitizer has malloc and memory of its own");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
