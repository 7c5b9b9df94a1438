/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * One resampling from end to end, for the tests: pictures from a counter-based
 * generator (make_resample_vectors.py has the same), rows in memory whose end
 * is guarded, the tensor between guard bytes.
 */
#ifndef DLB_TESTS_RESAMPLE_CASE_H
#define DLB_TESTS_RESAMPLE_CASE_H

#include <image/resample.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD_BYTES 64
#define GUARD_VALUE 0xa5
#define SLACK_BYTES 64

enum picture_kind {
	PICTURE_NOISE,
	PICTURE_EXTREMES,	/* 0 and 255 only: overshoots are clipped */
};

/* Steele, Lea, Flood, "Fast splittable pseudorandom number generators" */
static inline uint64_t mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static inline uint32_t below(uint64_t seed, uint32_t idx, uint32_t n)
{
	return (uint32_t)((mix64(seed << 20 | idx) >> 32) * (uint64_t)n >> 32);
}

/* Byte @idx of the picture */
static inline uint8_t picture_byte(uint64_t seed, uint32_t kind, uint64_t idx)
{
	uint8_t byte = (uint8_t)(mix64((seed << 32) + idx / 8) >>
				 8 * (idx % 8));

	return kind == PICTURE_EXTREMES ? (byte & 1 ? 255 : 0) : byte;
}

struct picture {
	uint32_t w, h;
	uint8_t *mem;
	size_t mem_bytes;
	size_t row_bytes;
	uint8_t *pixels;	/* rows of R, G, B, noise */
};

/*
 * The last row ends exactly SLACK_BYTES before a page that cannot be read, so
 * that reading further is a fault.
 */
static inline void picture_make(struct picture *p, uint32_t w, uint32_t h,
				uint64_t seed, uint32_t kind)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), body;

	p->w = w;
	p->h = h;
	p->row_bytes = (size_t)w * DLB_PIXEL_BYTES;
	body = (p->row_bytes * h + SLACK_BYTES + page - 1) / page * page;
	p->mem_bytes = body + page;
	p->mem = mmap(NULL, p->mem_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->mem == MAP_FAILED || mprotect(p->mem + body, page, PROT_NONE)) {
		perror("mmap");
		abort();
	}
	p->pixels = p->mem + body - SLACK_BYTES - p->row_bytes * h;
	for (uint64_t i = 0; i < (uint64_t)w * h; i++) {
		for (uint32_t c = 0; c < 3; c++)
			p->pixels[4 * i + c] = picture_byte(seed, kind,
							    3 * i + c);
		p->pixels[4 * i + 3] = (uint8_t)(i * 37);
	}
}

static inline void picture_free(struct picture *p)
{
	munmap(p->mem, p->mem_bytes);
}

struct tensor {
	uint8_t *mem;		/* with guards around */
	uint8_t *data;
	size_t bytes;
};

static inline void tensor_make(struct tensor *t, size_t bytes,
			       size_t misalign)
{
	size_t all = (bytes + 2 * GUARD_BYTES + misalign + 63) / 64 * 64;

	t->mem = aligned_alloc(64, all);
	if (!t->mem)
		abort();
	memset(t->mem, GUARD_VALUE, all);
	t->bytes = bytes;
	t->data = t->mem + GUARD_BYTES + misalign;
}

static inline bool tensor_guards_hold(const struct tensor *t)
{
	for (size_t i = 0; i < GUARD_BYTES; i++)
		if (t->data[-1 - (ptrdiff_t)i] != GUARD_VALUE ||
		    t->data[t->bytes + i] != GUARD_VALUE)
			return false;
	return true;
}

static inline void tensor_free(struct tensor *t)
{
	free(t->mem);
}

static inline size_t cast_bytes(const struct dlb_cast *cast)
{
	return cast->dtype == DLBOOST_DTYPE_F32 ? 4 :
	       cast->dtype == DLBOOST_DTYPE_U8 ? 1 : 2;
}

/* ImageNet's, as published recipes write them */
static inline struct dlb_cast cast_of(uint32_t dtype, uint32_t layout)
{
	struct dlb_cast cast = {
		.dtype = dtype,
		.layout = layout,
		.has_normalise = dtype != DLBOOST_DTYPE_U8,
		.mean = { 0.485f, 0.456f, 0.406f },
		.std = { 0.229f, 0.224f, 0.225f },
	};

	return cast;
}

/* What a worker has */
struct bench {
	struct dlb_coeff_cache *cache;
	struct dlb_resampler *rs;
	struct dlb_arena arena;
};

static inline void bench_make(struct bench *b, size_t cache_bytes,
			      size_t arena_bytes)
{
	if (dlb_coeff_cache_create(cache_bytes, &b->cache) ||
	    dlb_resampler_create(b->cache, &b->rs) ||
	    dlb_arena_init(&b->arena, arena_bytes))
		abort();
}

static inline void bench_free(struct bench *b)
{
	dlb_resampler_destroy(b->rs);
	dlb_coeff_cache_destroy(b->cache);
	dlb_arena_fini(&b->arena);
}

/* Push the needed rows, at most @batch at a time; 0 or a negative errno */
static inline int run_case(struct bench *b, const struct picture *p,
			   const struct dlb_resample_spec *spec,
			   uint32_t batch)
{
	const uint8_t *rows[32];
	struct dlb_extent need;
	int ret;

	dlb_arena_reset(&b->arena, b->arena.cap_bytes);
	ret = dlb_resample_begin(b->rs, &b->arena, spec, &need);
	if (ret)
		return ret;
	for (uint32_t y = need.y0; y < need.y1; y += batch) {
		uint32_t nr = need.y1 - y < batch ? need.y1 - y : batch;

		for (uint32_t i = 0; i < nr; i++)
			rows[i] = p->pixels + (y + i) * p->row_bytes +
				  (size_t)need.x0 * DLB_PIXEL_BYTES;
		dlb_resample_push(b->rs, rows, nr);
	}
	dlb_resample_end(b->rs);
	return 0;
}

static inline void spec_whole(struct dlb_resample_spec *spec, uint32_t in_w,
			      uint32_t in_h, uint32_t out_w, uint32_t out_h,
			      uint32_t filter)
{
	memset(spec, 0, sizeof(*spec));
	spec->in_w = in_w;
	spec->in_h = in_h;
	spec->box[2] = in_w;
	spec->box[3] = in_h;
	spec->resize_w = spec->window_w = out_w;
	spec->resize_h = spec->window_h = out_h;
	spec->filter = filter;
	/* Nearest has no passes to order */
	spec->is_vertical_first = filter != DLBOOST_FILTER_NEAREST &&
		dlb_resample_vertical_first(in_w, in_h, out_h);
}

/* Names of the sets this machine can run; plain C is the last one */
static inline uint32_t list_sets(const char *names[5])
{
	static const char *const all[] = { "avx512", "avx2", "sse4.1", "neon",
					   "c" };
	uint32_t nr = 0;

	for (uint32_t i = 0; i < 5; i++)
		if (!dlb_resample_simd_set(all[i]))
			names[nr++] = all[i];
	return nr;
}

#endif /* DLB_TESTS_RESAMPLE_CASE_H */
