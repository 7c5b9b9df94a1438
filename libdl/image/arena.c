// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The arena of one picture: address space reserved once, a bump pointer, and
 * nothing else.  Pages come from the system when they are first touched and
 * stay, so the next picture of the same size touches none.
 *
 * Knows nothing of pictures.  No lock: one thread at a time.  Under
 * AddressSanitizer what was taken back, and the page behind what is allocated,
 * are poisoned.
 */
#include "arena.h"

#include <errno.h>
#include <sys/mman.h>

#define ARENA_PAGE_BYTES 4096u

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>

static void arena_poison(const void *p, size_t bytes)
{
	__asan_poison_memory_region(p, bytes);
}

static void arena_unpoison(const void *p, size_t bytes)
{
	__asan_unpoison_memory_region(p, bytes);
}
#else
static void arena_poison(const void *p, size_t bytes)
{
	(void)p;
	(void)bytes;
}

static void arena_unpoison(const void *p, size_t bytes)
{
	(void)p;
	(void)bytes;
}
#endif

int dlb_arena_init(struct dlb_arena *arena, size_t cap_bytes)
{
	void *base;

	if (cap_bytes > SIZE_MAX - ARENA_PAGE_BYTES)
		return -ENOMEM;
	cap_bytes = (cap_bytes + ARENA_PAGE_BYTES - 1) &
		    ~(size_t)(ARENA_PAGE_BYTES - 1);
	base = mmap(NULL, cap_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -ENOMEM;
	*arena = (struct dlb_arena){ .base = base, .cap_bytes = cap_bytes };
	return 0;
}

void dlb_arena_fini(struct dlb_arena *arena)
{
	size_t touched = arena->peak_bytes + ARENA_PAGE_BYTES;

	if (!arena->base)
		return;
	arena_unpoison(arena->base, touched < arena->cap_bytes ?
				    touched : arena->cap_bytes);
	munmap(arena->base, arena->cap_bytes);
	*arena = (struct dlb_arena){ 0 };
}

void *dlb_arena_alloc(struct dlb_arena *arena, size_t bytes, size_t align)
{
	size_t start = (arena->used_bytes + align - 1) & ~(align - 1);
	size_t rest;

	if (start > arena->cap_bytes || bytes > arena->cap_bytes - start) {
		arena->has_overflowed = true;
		return NULL;
	}
	arena->used_bytes = start + bytes;
	if (arena->used_bytes > arena->resident_bytes)
		arena->resident_bytes = arena->used_bytes;
	if (arena->used_bytes > arena->peak_bytes)
		arena->peak_bytes = arena->used_bytes;
	arena_unpoison(arena->base + start, bytes);
	rest = arena->cap_bytes - arena->used_bytes;
	arena_poison(arena->base + arena->used_bytes,
		     rest < ARENA_PAGE_BYTES ? rest : ARENA_PAGE_BYTES);
	return arena->base + start;
}

void dlb_arena_reset(struct dlb_arena *arena, size_t keep_bytes)
{
	size_t keep = (keep_bytes + ARENA_PAGE_BYTES - 1) &
		      ~(size_t)(ARENA_PAGE_BYTES - 1);

	arena_poison(arena->base, arena->resident_bytes);
	if (keep >= keep_bytes && arena->resident_bytes > keep) {
		madvise(arena->base + keep, arena->cap_bytes - keep,
			MADV_DONTNEED);
		arena->resident_bytes = keep;
	}
	arena->used_bytes = 0;
	arena->has_overflowed = false;
}
