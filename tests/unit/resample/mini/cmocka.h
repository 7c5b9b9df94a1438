/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * As much of cmocka's interface as these tests use, for machines that have no
 * cmocka (neon_qemu.sh).  The first failure ends the program.
 */
#ifndef DLB_TESTS_MINI_CMOCKA_H
#define DLB_TESTS_MINI_CMOCKA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
};

#define cmocka_unit_test(f) { #f, f }

#define fail_msg(...) \
	do { \
		fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
		fprintf(stderr, __VA_ARGS__); \
		fprintf(stderr, "\n"); \
		exit(1); \
	} while (0)

#define assert_true(c) \
	do { \
		if (!(c)) \
			fail_msg("not true: %s", #c); \
	} while (0)

#define assert_int_equal(a, b) \
	do { \
		long long a_ = (long long)(a), b_ = (long long)(b); \
		if (a_ != b_) \
			fail_msg("%s is %lld, not %lld", #a, a_, b_); \
	} while (0)

#define assert_in_range(v, low, high) \
	do { \
		unsigned long long v_ = (unsigned long long)(v); \
		if (v_ < (unsigned long long)(low) || \
		    v_ > (unsigned long long)(high)) \
			fail_msg("%s is %llu", #v, v_); \
	} while (0)

#define assert_non_null(p) assert_true((p) != NULL)
#define assert_string_equal(a, b) assert_true(!strcmp(a, b))
#define assert_memory_equal(a, b, n) assert_true(!memcmp(a, b, n))
#define assert_memory_not_equal(a, b, n) assert_true(memcmp(a, b, n))

static inline int mini_run(const struct CMUnitTest *tests, size_t nr,
			   int (*setup)(void **state),
			   int (*teardown)(void **state))
{
	void *state = NULL;

	if (setup && setup(&state))
		fail_msg("setup failed");
	for (size_t i = 0; i < nr; i++) {
		tests[i].run(&state);
		printf("# %s\n", tests[i].name);
	}
	return teardown && teardown(&state) ? 1 : 0;
}

#define cmocka_run_group_tests(tests, setup, teardown) \
	mini_run(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

#endif /* DLB_TESTS_MINI_CMOCKA_H */
