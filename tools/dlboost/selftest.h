/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dlboost selftest in parts: cmd_selftest.c runs a case, selftest_builtin.c and
 * selftest_golden.c say which.
 */
#ifndef DLBOOST_TOOL_SELFTEST_H
#define DLBOOST_TOOL_SELFTEST_H

#include "tool.h"

#define SELFTEST_MAX_FAILURES 100

struct selftest_failure {
	char *what;
	char *reason;
};

struct selftest {
	const struct context *ctx;
	struct dlboost_engine *engine;
	uint64_t nr_passed;
	uint64_t nr_failed;
	struct selftest_failure failures[SELFTEST_MAX_FAILURES];
};

/**
 * struct selftest_case - One picture under one recipe
 * @what: name for messages
 * @bytes: the file
 * @nr_bytes: its length
 * @recipe: recipe text
 * @geometry: per-sample part
 * @sha256: what the tensor must hash to, or NULL
 * @expected: what the tensor must be, if @sha256 is NULL
 * @expected_bytes: its length; 0 when not known beforehand
 */
struct selftest_case {
	const char *what;
	const void *bytes;
	size_t nr_bytes;
	const char *recipe;
	const struct dlboost_geometry *geometry;
	const char *sha256;
	const void *expected;
	size_t expected_bytes;
};

void selftest_run_case(struct selftest *t, const struct selftest_case *c);
void selftest_pass(struct selftest *t);
void selftest_fail(struct selftest *t, const char *what, const char *fmt, ...)
	TOOL_PRINTF(3, 4);
void selftest_builtin(struct selftest *t);
/* malloc'ed folder of the golden table, or NULL */
char *selftest_find_golden(void);
/* An exit code: a table that cannot be read is a failure of its own */
int selftest_golden(struct selftest *t, const char *folder);

#endif /* DLBOOST_TOOL_SELFTEST_H */
