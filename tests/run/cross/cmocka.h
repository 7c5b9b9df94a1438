/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As much of cmocka's interface as the resampling tests use, for processors whose
 * cmocka Debian 12 does not offer without a second architecture in dpkg.  The
 * first failed assertion ends the program.  tests/run/aarch64.sh.
 */
#ifndef TESTS_RUN_CROSS_CMOCKA_H
#define TESTS_RUN_CROSS_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*function)(void **state);
};

enum cm_message_output { CM_OUTPUT_STDOUT, CM_OUTPUT_TAP };

#define cmocka_unit_test(f) { #f, f }

#define fail_msg(...)							\
	do {								\
		printf("# %s:%d: ", __FILE__, __LINE__);		\
		printf(__VA_ARGS__);					\
		printf("\n");						\
		fflush(stdout);						\
		exit(1);						\
	} while (0)

#define assert_true(x)							\
	do {								\
		if (!(x))						\
			fail_msg("not true: %s", #x);			\
	} while (0)

#define assert_int_equal(a, b)						\
	do {								\
		long long a_ = (long long)(a), b_ = (long long)(b);	\
									\
		if (a_ != b_)						\
			fail_msg("%lld is not %lld", a_, b_);		\
	} while (0)

#define assert_string_equal(a, b)					\
	do {								\
		if (strcmp(a, b))					\
			fail_msg("%s is not %s", a, b);			\
	} while (0)

static inline void cmocka_set_message_output(enum cm_message_output output)
{
	(void)output;
}

#define cmocka_run_group_tests(tests, setup, teardown)			\
	cm_run_all(tests, sizeof(tests) / sizeof((tests)[0]))

static inline int cm_run_all(const struct CMUnitTest *tests, size_t nr)
{
	void *state = NULL;

	printf("1..%zu\n", nr);
	for (size_t i = 0; i < nr; i++) {
		tests[i].function(&state);
		printf("ok %zu - %s\n", i + 1, tests[i].name);
	}
	return 0;
}

#endif /* TESTS_RUN_CROSS_CMOCKA_H */
