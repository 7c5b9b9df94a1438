// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPU microseconds a picture of resampling, cast and layout, for each
 * instruction set this machine has; no decoding.  Input rows come from a strip that stays
 * in the cache, as a decoder's do; the tensor is one that stays there too
 * (hot) or the next of a batch (cold), which is what a stream writes.
 * Prints one line of tab-separated values a set and work.
 * usage: resample_bench [SET [PART-OF-WORK]]
 */
#include <image/resample.h>

#include "../../libdl/base/base.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <dlboost/recipe.h>

#define STRIP_ROWS 32u
#define PUSH_ROWS 8u
#define NR_COLD 128u
#define ROUNDS 7
#define HUGE_BYTES ((size_t)76 << 20)	/* above NR_COLD tensors */

struct work {
	const char *name;
	uint32_t in_w, in_h;	/* 0: random crops of a training recipe */
	uint32_t out;
	uint32_t filter;
	uint32_t dtype, layout;
	uint32_t nr_pictures;	/* of one measurement */
	bool is_cold;
};

static const struct work works[] = {
	{ "train-330x250-f32-hot", 330, 250, 224, DLBOOST_FILTER_BILINEAR,
	  DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW, 200, false },
	{ "train-crops-f32-hot", 0, 0, 224, DLBOOST_FILTER_BILINEAR,
	  DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW, 400, false },
	{ "train-crops-f32-cold", 0, 0, 224, DLBOOST_FILTER_BILINEAR,
	  DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW, 400, true },
	{ "train-crops-f32-hwc", 0, 0, 224, DLBOOST_FILTER_BILINEAR,
	  DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_HWC, 400, false },
	{ "train-crops-f16-hot", 0, 0, 224, DLBOOST_FILTER_BILINEAR,
	  DLBOOST_DTYPE_F16, DLBOOST_LAYOUT_CHW, 400, false },
	{ "train-crops-u8-hot", 0, 0, 224, DLBOOST_FILTER_BILINEAR,
	  DLBOOST_DTYPE_U8, DLBOOST_LAYOUT_CHW, 400, false },
	{ "train-crops-bicubic", 0, 0, 224, DLBOOST_FILTER_BICUBIC,
	  DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW, 400, false },
	{ "train-crops-lanczos", 0, 0, 224, DLBOOST_FILTER_LANCZOS,
	  DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW, 400, false },
	{ "enlarge-64x64-f32", 64, 64, 224, DLBOOST_FILTER_BILINEAR,
	  DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW, 200, false },
	{ "shrink-1024x768-f32", 1024, 768, 224, DLBOOST_FILTER_BILINEAR,
	  DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW, 60, false },
	{ "shrink-8mp-f32", 3264, 2448, 224, DLBOOST_FILTER_BILINEAR,
	  DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW, 8, false },
	{ "cast-224x224-f32", 224, 224, 224, DLBOOST_FILTER_BILINEAR,
	  DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW, 200, false },
};

static uint64_t random_state = 1;

/* Steele, Lea, Flood's mixer over a counter */
static double draw(void)
{
	uint64_t x = random_state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* About the crops of RandomResizedCrop over ImageNet's usual sizes */
static void draw_crop(uint32_t *w, uint32_t *h)
{
	static const uint32_t sizes[][2] = {
		{ 500, 375 }, { 375, 500 }, { 500, 333 }, { 333, 500 },
		{ 500, 400 }, { 640, 480 }, { 500, 375 }, { 500, 375 },
	};
	uint32_t idx = (uint32_t)(draw() * 8);

	do {
		double area = (0.08 + 0.92 * draw()) * sizes[idx][0] *
			      sizes[idx][1];
		double ratio = 0.75 + draw() * (4.0 / 3.0 - 0.75);
		double side = 1;

		while (side * side < area * ratio)
			side++;
		*w = (uint32_t)side;
		*h = (uint32_t)(area / side);
	} while (*w > sizes[idx][0] || *h > sizes[idx][1] || !*h);
}

struct room {
	struct dlb_coeff_cache *cache;
	struct dlb_resampler *rs;
	struct dlb_arena arena;
	uint8_t *strip;
	uint8_t *tensors;
	size_t tensor_bytes;
};

static void resample_one(struct room *room, const struct work *work,
			 uint32_t in_w, uint32_t in_h, bool has_flip,
			 uint8_t *dst)
{
	struct dlb_cast cast = {
		.dtype = work->dtype,
		.layout = work->layout,
		.has_normalise = work->dtype != DLBOOST_DTYPE_U8,
		.mean = { 0.485f, 0.456f, 0.406f },
		.std = { 0.229f, 0.224f, 0.225f },
	};
	struct dlb_resample_spec spec = {
		.in_w = in_w, .in_h = in_h,
		.box = { 0, 0, in_w, in_h },
		.resize_w = work->out, .resize_h = work->out,
		.window_w = work->out, .window_h = work->out,
		.has_flip = has_flip,
		.filter = work->filter,
		.cast = &cast,
		.dst = dst,
	};
	const uint8_t *rows[PUSH_ROWS];
	struct dlb_extent need;

	dlb_arena_reset(&room->arena, room->arena.cap_bytes);
	if (dlb_resample_begin(room->rs, &room->arena, &spec, &need))
		abort();
	for (uint32_t y = need.y0; y < need.y1; y += PUSH_ROWS) {
		uint32_t nr = need.y1 - y < PUSH_ROWS ? need.y1 - y : PUSH_ROWS;

		for (uint32_t i = 0; i < nr; i++)
			rows[i] = room->strip + ((y + i) % STRIP_ROWS) *
				  ((size_t)in_w * DLB_PIXEL_BYTES + 1);
		dlb_resample_push(room->rs, rows, nr);
	}
	dlb_resample_end(room->rs);
}

/* CPU time: others may use the machine as well */
static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static double measure(struct room *room, const struct work *work)
{
	uint64_t start;

	random_state = 7;
	start = cpu_ns();
	for (uint32_t i = 0; i < work->nr_pictures; i++) {
		uint32_t w = work->in_w, h = work->in_h;
		size_t slot = work->is_cold ? i % NR_COLD : 0;

		if (!w)
			draw_crop(&w, &h);
		resample_one(room, work, w, h, i & 1,
			     room->tensors + slot * room->tensor_bytes);
	}
	return (double)(cpu_ns() - start) / work->nr_pictures / 1000;
}

static void run_set(struct room *room, const char *name, const char *only)
{
	for (size_t i = 0; i < ARRAY_SIZE(works); i++) {
		double best;

		if (only && !strstr(works[i].name, only))
			continue;
		best = measure(room, &works[i]);
		for (int round = 0; round < ROUNDS; round++) {
			double us = measure(room, &works[i]);

			if (us < best)
				best = us;
		}
		printf("%s\t%s\t%.1f\n", name, works[i].name, best);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "avx512", "avx2", "sse4.1",
					     "neon", "c" };
	struct room room;

	room.tensor_bytes = 224u * 224 * 3 * 4;
	room.strip = malloc(STRIP_ROWS * (3264u * 4 + 1) + 64);
	/* Huge pages where the system grants them, as a stream's slots are */
	room.tensors = aligned_alloc(2u << 20, HUGE_BYTES);
	if (room.tensors)
		madvise(room.tensors, HUGE_BYTES, MADV_HUGEPAGE);
	if (!room.strip || !room.tensors ||
	    dlb_coeff_cache_create(8u << 20, &room.cache) ||
	    dlb_resampler_create(room.cache, &room.rs) ||
	    dlb_arena_init(&room.arena, 16u << 20)) {
		fprintf(stderr, "resample_bench: out of memory\n");
		return 1;
	}
	for (size_t i = 0; i < STRIP_ROWS * (3264u * 4 + 1) + 64; i++)
		room.strip[i] = (uint8_t)(draw() * 256);
	memset(room.tensors, 1, room.tensor_bytes * NR_COLD);
	printf("set\twork\tus_per_picture\n");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if ((argc < 2 || !strcmp(argv[1], names[i])) &&
		    !dlb_resample_simd_set(names[i]))
			run_set(&room, names[i], argc > 2 ? argv[2] : NULL);
	dlb_resampler_destroy(room.rs);
	dlb_coeff_cache_destroy(room.cache);
	dlb_arena_fini(&room.arena);
	free(room.strip);
	free(room.tensors);
	return 0;
}
