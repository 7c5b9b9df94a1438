/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * A worker's memory for one picture at a time: reserved once, bump-allocated,
 * taken back as a whole.  In steady state neither malloc nor a page fault
 * happens.  The cap of the arena is the memory limit of a picture.
 * One thread at a time.
 */
#ifndef DLB_IMAGE_ARENA_H
#define DLB_IMAGE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dlb_arena {
	uint8_t *base;		/* page-aligned, @cap_bytes of address space */
	size_t cap_bytes;
	size_t used_bytes;
	size_t peak_bytes;	/* high water over the arena's life */
	size_t resident_bytes;	/* high water since memory was last given back */
	bool has_overflowed;	/* an allocation since the last reset failed */
};

/* 0 or -ENOMEM; reserves address space only */
int dlb_arena_init(struct dlb_arena *arena, size_t cap_bytes);
void dlb_arena_fini(struct dlb_arena *arena);
/*
 * NULL when the cap would be passed (and @has_overflowed is set).  @align is a
 * power of two up to 4096.  The bytes are not zeroed.
 */
void *dlb_arena_alloc(struct dlb_arena *arena, size_t bytes, size_t align);
/* All allocations are gone; memory above @keep_bytes goes back to the system */
void dlb_arena_reset(struct dlb_arena *arena, size_t keep_bytes);

/* Take back what was allocated since dlb_arena_mark() */
static inline size_t dlb_arena_mark(const struct dlb_arena *arena)
{
	return arena->used_bytes;
}

static inline void dlb_arena_release(struct dlb_arena *arena, size_t mark)
{
	arena->used_bytes = mark;
}

#endif /* DLB_IMAGE_ARENA_H */
