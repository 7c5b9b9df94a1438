// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises (libdl/image/arena.h): allocations are aligned, do not overlap and
 * stop at the cap; reserving touches no memory; a reset gives back what is
 * above the part to keep, and no page is touched anew below it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "image/arena.h"

#define MIB ((size_t)1 << 20)

static size_t resident_pages(const void *p, size_t bytes)
{
	static unsigned char map[1 << 16];
	size_t nr = 0;

	assert_int_equal(mincore((void *)p, bytes, map), 0);
	for (size_t i = 0; i < bytes / 4096; i++)
		nr += map[i] & 1;
	return nr;
}

static void stops_at_the_cap(void **state)
{
	struct dlb_arena arena;

	assert_int_equal(dlb_arena_init(&arena, MIB), 0);
	assert_non_null(dlb_arena_alloc(&arena, MIB - 4096, 64));
	assert_false(arena.has_overflowed);
	assert_null(dlb_arena_alloc(&arena, 4097, 1));
	assert_true(arena.has_overflowed);
	assert_non_null(dlb_arena_alloc(&arena, 4096, 1));
	assert_null(dlb_arena_alloc(&arena, 1, 1));
	assert_null(dlb_arena_alloc(&arena, SIZE_MAX, 4096));
	dlb_arena_reset(&arena, MIB);
	assert_false(arena.has_overflowed);
	assert_non_null(dlb_arena_alloc(&arena, MIB, 1));
	assert_int_equal(arena.peak_bytes, MIB);
	dlb_arena_fini(&arena);
	dlb_arena_fini(&arena);
}

static void aligns_and_keeps_apart(void **state)
{
	struct dlb_arena arena;
	uint8_t *last = NULL;

	assert_int_equal(dlb_arena_init(&arena, MIB), 0);
	for (size_t align = 1; align <= 4096; align *= 2) {
		uint8_t *p = dlb_arena_alloc(&arena, 33, align);

		assert_int_equal((uintptr_t)p % align, 0);
		assert_true(!last || p >= last + 33);
		memset(p, 0x5a, 33);
		last = p;
	}
	dlb_arena_fini(&arena);
}

static void reserving_touches_nothing(void **state)
{
	struct dlb_arena arena;

	assert_int_equal(dlb_arena_init(&arena, 128 * MIB), 0);
	assert_non_null(dlb_arena_alloc(&arena, 100 * MIB, 64));
	assert_true(resident_pages(arena.base, 128 * MIB) < 16);
	dlb_arena_fini(&arena);
}

static void reset_gives_back_above_keep(void **state)
{
	struct dlb_arena arena;
	struct rusage before, after;
	uint8_t *p;

	assert_int_equal(dlb_arena_init(&arena, 64 * MIB), 0);
	memset(dlb_arena_alloc(&arena, 32 * MIB, 64), 1, 32 * MIB);
	dlb_arena_reset(&arena, 8 * MIB);
	assert_true(resident_pages(arena.base + 8 * MIB, 56 * MIB) == 0);
	getrusage(RUSAGE_SELF, &before);
	p = dlb_arena_alloc(&arena, 8 * MIB, 64);
	for (size_t i = 0; i < 8 * MIB; i += 4096)
		p[i] = 2;
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_minflt - before.ru_minflt < 16);
	dlb_arena_fini(&arena);
}

static void refuses_the_absurd(void **state)
{
	struct dlb_arena arena;

	assert_int_equal(dlb_arena_init(&arena, SIZE_MAX), -ENOMEM);
	assert_int_equal(dlb_arena_init(&arena, SIZE_MAX / 2), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stops_at_the_cap),
		cmocka_unit_test(aligns_and_keeps_apart),
		cmocka_unit_test(reserving_touches_nothing),
		cmocka_unit_test(reset_gives_back_above_keep),
		cmocka_unit_test(refuses_the_absurd),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
