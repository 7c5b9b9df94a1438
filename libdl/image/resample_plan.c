// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The weights of a picture's two passes in the kernels' own form, by way of the
 * worker's cache.  Knows no pixels.  See resample_plan.h for what comes out.
 */
#include "resample_plan.h"

#include <errno.h>
#include <string.h>

#include <dlboost/recipe.h>

#define KIND_HORIZONTAL 0x100u
#define KIND_VERTICAL 0x200u

/* Half of what 255 * taps / 2 < 2^21 allows, the sum of the roundings */
#define MANY_TAPS 8192u

/* Heads of the cached blocks; what follows starts on a cache line */
struct hblock {
	uint32_t x0, x1;
} __attribute__((aligned(64)));

struct vblock {
	uint32_t y0, y1;
	uint32_t max_taps;
	uint32_t ring_rows;
	uint32_t nr;
	uint64_t packed_bytes;
} __attribute__((aligned(64)));

static void axis_key(struct dlb_plan_key *key, uint32_t in, uint32_t out,
		     double box0, double box1, uint32_t filter)
{
	memset(key, 0, sizeof(*key));
	key->axis.in = in;
	key->axis.out = out;
	key->axis.box0 = box0;
	key->axis.box1 = box1;
	key->axis.filter = filter;
}

static void x_key(struct dlb_plan_key *key,
		  const struct dlb_resample_spec *spec,
		  const struct dlb_inner *inner)
{
	axis_key(key, spec->in_w, spec->resize_w, spec->box[0], spec->box[2],
		 spec->filter);
	key->out0 = inner->x;
	key->nr = inner->w;
	key->is_reversed = spec->has_flip;
}

static void y_key(struct dlb_plan_key *key,
		  const struct dlb_resample_spec *spec,
		  const struct dlb_inner *inner)
{
	axis_key(key, spec->in_h, spec->resize_h, spec->box[1], spec->box[3],
		 spec->filter);
	key->out0 = inner->y;
	key->nr = inner->h;
}

/* A pass whose input and output are equally long does not run */
static bool is_identity(const struct dlb_axis *axis)
{
	return axis->in == axis->out && axis->box0 == 0.0 &&
	       axis->box1 == axis->in;
}

static int make_taps(struct dlb_coeff_cache *cache,
		     const struct dlb_plan_key *key, struct dlb_taps *taps)
{
	void *mem = dlb_coeff_cache_scratch(cache,
				dlb_axis_fill_bytes(&key->axis, key->nr));

	if (!mem)
		return -ENOMEM;
	dlb_axis_fill(&key->axis, key->out0, key->nr, mem, taps);
	dlb_taps_trim(taps);
	if (key->is_reversed)
		dlb_taps_reverse(taps);
	return 0;
}

/* [*low, *high): the inputs that any output takes */
static void taps_extent(const struct dlb_taps *taps, uint32_t *low,
			uint32_t *high)
{
	*low = UINT32_MAX;
	*high = 0;
	for (uint32_t i = 0; i < taps->nr; i++) {
		uint32_t end = taps->first[i] + taps->count[i];

		if (taps->first[i] < *low)
			*low = taps->first[i];
		if (end > *high)
			*high = end;
	}
}

/* Columns without weights: nearest, a flip alone, or nothing at all */
static int pick_columns(struct dlb_hpass *h, struct dlb_coeff_cache *cache,
			struct dlb_arena *arena, const struct dlb_plan_key *key)
{
	uint32_t nr = key->nr, *index;
	struct dlb_taps taps;

	h->packed = NULL;
	h->index = NULL;
	h->x0 = key->out0;
	h->x1 = key->out0 + nr;
	if (is_identity(&key->axis) && !key->is_reversed)
		return 0;
	index = dlb_arena_alloc(arena, nr * sizeof(*index), 64);
	if (!index)
		return -ENOMEM;
	h->index = index;
	if (is_identity(&key->axis)) {
		for (uint32_t i = 0; i < nr; i++)
			index[i] = nr - 1 - i;
		return 0;
	}
	if (make_taps(cache, key, &taps))
		return -ENOMEM;
	taps_extent(&taps, &h->x0, &h->x1);
	for (uint32_t i = 0; i < nr; i++)
		index[i] = taps.first[i] - h->x0;
	return 0;
}

static struct hblock *make_hblock(const struct dlb_kernels *kernels,
				  struct dlb_coeff_cache *cache,
				  const struct dlb_plan_key *key)
{
	struct dlb_taps taps;
	struct hblock *block;
	uint32_t x0, x1, in_px;

	if (make_taps(cache, key, &taps))
		return NULL;
	taps_extent(&taps, &x0, &x1);
	for (uint32_t i = 0; i < taps.nr; i++)
		taps.first[i] -= x0;
	in_px = x1 - x0;
	if (in_px < DLB_MIN_ROW_PIXELS)
		in_px = DLB_MIN_ROW_PIXELS;
	block = dlb_coeff_cache_add(cache, key, sizeof(*block) +
				    kernels->hpack(&taps, in_px, NULL));
	if (!block)
		return NULL;
	block->x0 = x0;
	block->x1 = x1;
	kernels->hpack(&taps, in_px, block + 1);
	return block;
}

int dlb_hpass_plan(struct dlb_hpass *h, const struct dlb_kernels *kernels,
		   struct dlb_coeff_cache *cache, struct dlb_arena *arena,
		   const struct dlb_resample_spec *spec,
		   const struct dlb_inner *inner)
{
	struct dlb_plan_key key;
	struct hblock *block;

	x_key(&key, spec, inner);
	if (is_identity(&key.axis) || spec->filter == DLBOOST_FILTER_NEAREST)
		return pick_columns(h, cache, arena, &key);

	key.kind = KIND_HORIZONTAL | kernels->id;
	block = dlb_coeff_cache_find(cache, &key);
	if (!block)
		block = make_hblock(kernels, cache, &key);
	if (!block)
		return -ENOMEM;
	h->x0 = block->x0;
	h->x1 = block->x1;
	h->packed = block + 1;
	h->index = NULL;
	return 0;
}

static int pick_rows(struct dlb_vpass *v, struct dlb_coeff_cache *cache,
		     struct dlb_arena *arena, const struct dlb_plan_key *key)
{
	uint32_t nr = key->nr, *first;
	struct dlb_taps taps;

	memset(v, 0, sizeof(*v));
	first = dlb_arena_alloc(arena, nr * sizeof(*first), 64);
	if (!first)
		return -ENOMEM;
	v->first = first;
	v->y0 = key->out0;
	v->y1 = key->out0 + nr;
	if (is_identity(&key->axis)) {
		for (uint32_t i = 0; i < nr; i++)
			first[i] = key->out0 + i;
		return 0;
	}
	if (make_taps(cache, key, &taps))
		return -ENOMEM;
	taps_extent(&taps, &v->y0, &v->y1);
	memcpy(first, taps.first, nr * sizeof(*first));
	return 0;
}

/*
 * An output is written when its own rows and those of all before it are there;
 * until then its first row must not be overwritten.
 */
static uint32_t count_ring_rows(const struct dlb_taps *taps)
{
	uint32_t seen = 0, rows = 1;

	for (uint32_t i = 0; i < taps->nr; i++) {
		uint32_t end = taps->first[i] + taps->count[i];

		if (end > seen)
			seen = end;
		if (seen - taps->first[i] > rows)
			rows = seen - taps->first[i];
	}
	return rows;
}

/* Weights of one output, zero up to a multiple of 4, as vpack() reads them */
static void pack_output(const struct dlb_kernels *kernels,
			const struct dlb_taps *taps, uint32_t i, void *packed)
{
	const int32_t *weight = taps->weight + (size_t)i * taps->stride;
	uint32_t whole = taps->count[i] & ~3u, rest = taps->count[i] & 3;
	int32_t tail[4] = { 0 };

	/* A set that packs by fours needs its last four padded */
	if (whole)
		kernels->vpack(weight, whole, packed);
	if (!rest)
		return;
	memcpy(tail, weight + whole, rest * sizeof(*tail));
	kernels->vpack(tail, rest, (uint8_t *)packed +
				   (whole ? kernels->vpack_bytes(whole) : 0));
}

static struct vblock *make_vblock(const struct dlb_kernels *kernels,
				  struct dlb_coeff_cache *cache,
				  const struct dlb_plan_key *key)
{
	struct dlb_taps taps;
	struct vblock *block;
	uint32_t max_taps, *words;
	size_t bytes;
	uint8_t *packed;

	if (make_taps(cache, key, &taps))
		return NULL;
	max_taps = dlb_taps_max(&taps);
	bytes = kernels->vpack_bytes(max_taps);
	block = dlb_coeff_cache_add(cache, key, sizeof(*block) +
				    taps.nr * (8 + bytes));
	if (!block)
		return NULL;
	taps_extent(&taps, &block->y0, &block->y1);
	block->max_taps = max_taps;
	block->ring_rows = count_ring_rows(&taps);
	block->nr = taps.nr;
	block->packed_bytes = bytes;
	words = (uint32_t *)(block + 1);
	memcpy(words, taps.first, taps.nr * sizeof(*words));
	memcpy(words + taps.nr, taps.count, taps.nr * sizeof(*words));
	packed = (uint8_t *)(words + 2 * (size_t)taps.nr);
	memset(packed, 0, taps.nr * bytes);
	for (uint32_t i = 0; i < taps.nr; i++)
		pack_output(kernels, &taps, i, packed + i * bytes);
	return block;
}

int dlb_vpass_plan(struct dlb_vpass *v, const struct dlb_kernels *kernels,
		   struct dlb_coeff_cache *cache, struct dlb_arena *arena,
		   const struct dlb_resample_spec *spec,
		   const struct dlb_inner *inner)
{
	struct dlb_plan_key key;
	struct vblock *block;

	y_key(&key, spec, inner);
	if (is_identity(&key.axis) || spec->filter == DLBOOST_FILTER_NEAREST)
		return pick_rows(v, cache, arena, &key);

	key.kind = KIND_VERTICAL | kernels->id;
	block = dlb_coeff_cache_find(cache, &key);
	if (!block)
		block = make_vblock(kernels, cache, &key);
	if (!block)
		return -ENOMEM;
	v->y0 = block->y0;
	v->y1 = block->y1;
	v->max_taps = block->max_taps;
	v->ring_rows = block->ring_rows;
	v->first = (const uint32_t *)(block + 1);
	v->count = v->first + block->nr;
	v->packed = (const uint8_t *)(v->count + block->nr);
	v->packed_bytes = block->packed_bytes;
	/* Rounded weights of very many taps may add up to more than 1 */
	v->has_clamp = spec->filter == DLBOOST_FILTER_BICUBIC ||
		       spec->filter == DLBOOST_FILTER_LANCZOS ||
		       block->max_taps > MANY_TAPS;
	return 0;
}
