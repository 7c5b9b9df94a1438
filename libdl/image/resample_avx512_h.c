// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * AVX-512 kernels: the horizontal pass and its weights.  Two forms, chosen when
 * the weights are packed.  Gather: sixteen outputs of one channel in a vector;
 * a step takes up to four taps of each from a window of 32 pixels by one
 * two-source byte permute.  Dot: an output's taps lie along the vector, sixteen
 * pixels at a time; better where an output takes many.
 * See resample_avx512.h for the arithmetic, resample_int.h for the words.
 */
#include "resample_avx512.h"

#include <string.h>

#define GROUP 16u		/* outputs of a vector */
#define WINDOW 32u		/* pixels two vectors hold */
#define STEP_TAPS 4u
#define DOT_PIXELS 16u

/* Source offsets of a step, bytes: of outputs 0-7 and of outputs 8-15 */
struct where {
	uint32_t low, high;
};

struct step {
	uint8_t index[64];
	int8_t low[64];
	int8_t mid[64];
	int8_t high[64];
};

struct dot_step {
	int8_t low[DOT_PIXELS];
	int8_t mid[DOT_PIXELS];
	int8_t high[DOT_PIXELS];
};

struct hplan {
	uint32_t nr_outputs;
	uint32_t nr_steps;	/* of a group, or of an output */
	bool is_dot;
	bool is_dual;		/* each half of a group has its window */
	uint32_t data_bytes;	/* from here to the steps */
} __attribute__((aligned(64)));

static uint32_t nr_groups(uint32_t nr_outputs)
{
	return (nr_outputs + GROUP - 1) / GROUP;
}

/* Taps of outputs @begin .. @end - 1 that a step takes */
struct part {
	uint32_t begin, end;
	uint32_t taken[GROUP];	/* taps taken before, by output in the group */
};

/* First pixel of the next window, or UINT32_MAX when nothing is left */
static uint32_t next_window(const struct dlb_taps *taps, uint32_t base,
			    const struct part *part)
{
	uint32_t low = UINT32_MAX;

	for (uint32_t i = part->begin; i < part->end; i++) {
		uint32_t o = base + i;

		if (o < taps->nr && part->taken[i] < taps->count[o] &&
		    taps->first[o] + part->taken[i] < low)
			low = taps->first[o] + part->taken[i];
	}
	return low;
}

static void put_tap(struct step *step, uint32_t at, uint32_t pixel,
		    int32_t weight)
{
	struct digits512 d = digits512_of(weight);

	step->index[at] = (uint8_t)(pixel * DLB_PIXEL_BYTES);
	step->low[at] = d.low;
	step->mid[at] = d.mid;
	step->high[at] = d.high;
}

/* One step of one part; @step may be NULL */
static void take_taps(const struct dlb_taps *taps, uint32_t base,
		      struct part *part, uint32_t window, struct step *step)
{
	for (uint32_t i = part->begin; i < part->end; i++) {
		uint32_t o = base + i;

		for (uint32_t k = 0; k < STEP_TAPS && o < taps->nr &&
		     part->taken[i] < taps->count[o]; k++) {
			uint32_t tap = part->taken[i];
			uint32_t pixel = taps->first[o] + tap - window;

			if (pixel >= WINDOW)
				break;
			if (step)
				put_tap(step, i * STEP_TAPS + k, pixel,
					taps->weight[(size_t)o * taps->stride +
						     tap]);
			part->taken[i]++;
		}
	}
}

/* Steps of the group that begins at output @base; @where, @step may be NULL */
static uint32_t plan_group(const struct dlb_taps *taps, uint32_t in_px,
			   uint32_t base, bool is_dual, struct where *where,
			   struct step *step)
{
	struct part parts[2] = {
		{ .begin = 0, .end = is_dual ? GROUP / 2 : GROUP },
		{ .begin = GROUP / 2, .end = is_dual ? GROUP : GROUP / 2 },
	};
	uint32_t nr = 0;

	for (;; nr++) {
		uint32_t at[2];

		for (int p = 0; p < 2; p++)
			at[p] = next_window(taps, base, &parts[p]);
		if (at[0] == UINT32_MAX && at[1] == UINT32_MAX)
			return nr;
		for (int p = 0; p < 2; p++) {
			/* Both vectors end within the slack behind the row */
			if (at[p] > in_px - DLB_MIN_ROW_PIXELS)
				at[p] = in_px - DLB_MIN_ROW_PIXELS;
			take_taps(taps, base, &parts[p], at[p],
				  step ? &step[nr] : NULL);
		}
		if (where) {
			where[nr].low = at[0] * DLB_PIXEL_BYTES;
			where[nr].high = at[1] * DLB_PIXEL_BYTES;
		}
	}
}

/* Do outputs @begin .. @end - 1 need no more than one step? */
static bool fits_one_step(const struct dlb_taps *taps, uint32_t in_px,
			  uint32_t begin, uint32_t end)
{
	uint32_t low = in_px - DLB_MIN_ROW_PIXELS, high = 0;

	for (uint32_t o = begin; o < end && o < taps->nr; o++) {
		uint32_t last = taps->first[o] + taps->count[o];

		if (taps->count[o] > STEP_TAPS)
			return false;
		low = taps->first[o] < low ? taps->first[o] : low;
		high = last > high ? last : high;
	}
	return high <= low + WINDOW;
}

static uint32_t count_steps(const struct dlb_taps *taps, uint32_t in_px,
			    bool is_dual)
{
	uint32_t max = 1;

	for (uint32_t base = 0; base < taps->nr; base += GROUP) {
		uint32_t middle = base + (is_dual ? GROUP / 2 : GROUP), nr;

		if (fits_one_step(taps, in_px, base, middle) &&
		    fits_one_step(taps, in_px, middle, base + GROUP))
			continue;
		nr = plan_group(taps, in_px, base, is_dual, NULL, NULL);
		if (nr > max)
			max = nr;
	}
	return max;
}

/* Vector operations of sixteen outputs, roughly, as measured on Zen 4 */
static void choose_form(const struct dlb_taps *taps, uint32_t in_px,
			struct hplan *plan)
{
	uint32_t single = count_steps(taps, in_px, false);
	/* No need to look for less than one step */
	uint32_t dual = single > 1 ? count_steps(taps, in_px, true) : 1;
	uint32_t dot = (dlb_taps_max(taps) + DOT_PIXELS - 1) / DOT_PIXELS;
	uint32_t single_cost = single * 14, dual_cost = dual * 20;
	uint32_t dot_cost = GROUP * (7 * dot + 5);

	plan->is_dual = dual_cost < single_cost;
	plan->nr_steps = plan->is_dual ? dual : single;
	plan->is_dot = dot_cost < (plan->is_dual ? dual_cost : single_cost);
	if (plan->is_dot)
		plan->nr_steps = dot;
}

static uint32_t align64(uint32_t bytes)
{
	return (bytes + 63) & ~63u;
}

static void pack_gather(const struct dlb_taps *taps, uint32_t in_px,
			struct hplan *plan)
{
	struct where *where = (struct where *)(plan + 1);
	struct step *step = (void *)((char *)plan + plan->data_bytes);

	for (uint32_t base = 0; base < taps->nr; base += GROUP) {
		plan_group(taps, in_px, base, plan->is_dual, where, step);
		where += plan->nr_steps;
		step += plan->nr_steps;
	}
}

static void pack_dot(const struct dlb_taps *taps, uint32_t in_px,
		     struct hplan *plan)
{
	uint32_t *where = (uint32_t *)(plan + 1);
	struct dot_step *step = (void *)((char *)plan + plan->data_bytes);
	uint32_t last = in_px + DOT_PIXELS - DOT_PIXELS * plan->nr_steps;

	for (uint32_t o = 0; o < taps->nr; o++, step += plan->nr_steps) {
		const int32_t *weight = taps->weight + (size_t)o * taps->stride;
		uint32_t first = taps->first[o];
		uint32_t base = first < last ? first : last;

		where[o] = base * DLB_PIXEL_BYTES;
		for (uint32_t k = 0; k < taps->count[o]; k++) {
			uint32_t at = first + k - base;
			struct digits512 d = digits512_of(weight[k]);

			step[at / DOT_PIXELS].low[at % DOT_PIXELS] = d.low;
			step[at / DOT_PIXELS].mid[at % DOT_PIXELS] = d.mid;
			step[at / DOT_PIXELS].high[at % DOT_PIXELS] = d.high;
		}
	}
}

size_t dlb_avx512_hpack(const struct dlb_taps *taps, uint32_t in_px,
			void *packed)
{
	struct hplan plan;
	size_t bytes;

	memset(&plan, 0, sizeof(plan));
	plan.nr_outputs = taps->nr;
	choose_form(taps, in_px, &plan);
	plan.data_bytes = sizeof(plan);
	if (plan.is_dot) {
		uint32_t nr = (taps->nr + 3) & ~3u;

		plan.data_bytes += align64(nr * sizeof(uint32_t));
		bytes = plan.data_bytes +
			(size_t)nr * plan.nr_steps * sizeof(struct dot_step);
	} else {
		uint32_t nr = nr_groups(taps->nr) * plan.nr_steps;

		plan.data_bytes += align64(nr * sizeof(struct where));
		bytes = plan.data_bytes + (size_t)nr * sizeof(struct step);
	}
	if (!packed)
		return bytes;
	memset(packed, 0, bytes);
	memcpy(packed, &plan, sizeof(plan));
	if (plan.is_dot)
		pack_dot(taps, in_px, packed);
	else
		pack_gather(taps, in_px, packed);
	return bytes;
}

/* R, G, B and X of four pixels in each lane, four bytes of one kind together */
static DLB_INLINE __m512i split_pixels(__m512i pixels)
{
	const __m512i ctrl = _mm512_set4_epi32(0x0f0b0703, 0x0e0a0602,
					       0x0d090501, 0x0c080400);

	return _mm512_shuffle_epi8(pixels, ctrl);
}

/* Four vectors of 16 pixels -> planes of 64 in the order of lines */
static DLB_INLINE void split_block(const __m512i pixels[4], __m512i plane[3])
{
	__m512i t0 = split_pixels(pixels[0]), t1 = split_pixels(pixels[1]);
	__m512i t2 = split_pixels(pixels[2]), t3 = split_pixels(pixels[3]);
	__m512i rg01 = _mm512_unpacklo_epi32(t0, t1);
	__m512i rg23 = _mm512_unpacklo_epi32(t2, t3);

	plane[0] = _mm512_unpacklo_epi64(rg01, rg23);
	plane[1] = _mm512_unpackhi_epi64(rg01, rg23);
	plane[2] = _mm512_unpacklo_epi64(_mm512_unpackhi_epi32(t0, t1),
					 _mm512_unpackhi_epi32(t2, t3));
}

static DLB_INLINE void store_planes(const struct dlb_lines *lines,
				    const __m512i plane[3], uint8_t *out)
{
	uint32_t red = lines->is_bgr ? 2 * lines->stride_bytes : 0;
	uint32_t blue = lines->is_bgr ? 0 : 2 * lines->stride_bytes;

	_mm512_storeu_si512(out + red, plane[0]);
	_mm512_storeu_si512(out + lines->stride_bytes, plane[1]);
	_mm512_storeu_si512(out + blue, plane[2]);
}

/* Natural order for now; order_packed() follows when the row is complete */
static DLB_INLINE void store_packed(const struct dlb_lines *lines,
				    const __m512i pixels[4], uint8_t *out)
{
	/* Three bytes of each pixel: to the front of its lane, then together */
	const __m512i rgb = _mm512_set4_epi32(-1, 0x0e0d0c0a, 0x09080605,
					      0x04020100);
	const __m512i bgr = _mm512_set4_epi32(-1, 0x0c0d0e08, 0x090a0405,
					      0x06000102);
	const __m512i join = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12,
					       13, 14, 15, 15, 15, 15);
	__m512i ctrl = lines->is_bgr ? bgr : rgb;

	for (int j = 0; j < 4; j++) {
		__m512i lanes = _mm512_shuffle_epi8(pixels[j], ctrl);

		_mm512_mask_storeu_epi32(out + 48 * j, 0x0fff,
				_mm512_permutexvar_epi32(join, lanes));
	}
}

static void order_packed(const struct dlb_lines *lines, uint8_t *out)
{
	const __m512i index = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13,
						2, 6, 10, 14, 3, 7, 11, 15);

	for (uint32_t at = 0; at < 3 * lines->width; at += 64) {
		__m512i v = _mm512_loadu_si512(out + at);

		_mm512_storeu_si512(out + at,
				    _mm512_permutexvar_epi32(index, v));
	}
}

/* Planes in the order of lines -> pixels in natural order */
static DLB_INLINE void join_planes(const __m512i plane[3], __m512i pixels[4])
{
	__m512i zero = _mm512_setzero_si512();
	__m512i rg0 = _mm512_unpacklo_epi8(plane[0], plane[1]);
	__m512i rg1 = _mm512_unpackhi_epi8(plane[0], plane[1]);
	__m512i b0 = _mm512_unpacklo_epi8(plane[2], zero);
	__m512i b1 = _mm512_unpackhi_epi8(plane[2], zero);

	pixels[0] = _mm512_unpacklo_epi16(rg0, b0);
	pixels[1] = _mm512_unpackhi_epi16(rg0, b0);
	pixels[2] = _mm512_unpacklo_epi16(rg1, b1);
	pixels[3] = _mm512_unpackhi_epi16(rg1, b1);
}

void dlb_avx512_hcopy(const struct dlb_lines *lines, const uint8_t *row,
		      uint8_t *out)
{
	for (uint32_t x = 0; x < lines->width; x += DLB_BLOCK_PIXELS) {
		__m512i pixels[4], plane[3];

		for (int j = 0; j < 4; j++)
			pixels[j] = _mm512_loadu_si512(row + 4 * (size_t)x +
						       64 * j);
		if (lines->is_packed) {
			store_packed(lines, pixels, out + 3 * (size_t)x);
			continue;
		}
		split_block(pixels, plane);
		store_planes(lines, plane, out + x);
	}
	if (lines->is_packed)
		order_packed(lines, out);
}

/* Bytes of one channel for a step: four of each output */
static DLB_INLINE __m512i fetch(const uint8_t *row, const struct where *where,
				__m512i index, bool is_dual)
{
	const uint8_t *low = row + where->low, *high = row + where->high;
	__m512i x = _mm512_permutex2var_epi8(_mm512_loadu_si512(low), index,
					     _mm512_loadu_si512(low + 64));

	if (!is_dual)
		return x;
	return _mm512_mask_mov_epi32(x, 0xff00,
		_mm512_permutex2var_epi8(_mm512_loadu_si512(high), index,
					 _mm512_loadu_si512(high + 64)));
}

static DLB_INLINE void gather_one(const uint8_t *row, const struct where *where,
				  const struct step *step, bool is_dual,
				  __m512i sum[3])
{
	__m512i index = _mm512_load_si512(step->index);
	__m512i low = _mm512_load_si512(step->low);
	__m512i mid = _mm512_load_si512(step->mid);
	__m512i high = _mm512_load_si512(step->high);

	for (int c = 0; c < 3; c++) {
		__m512i at = _mm512_add_epi8(index, _mm512_set1_epi8((char)c));

		sum[c] = sum512_one(fetch(row, where, at, is_dual), low, mid,
				    high);
	}
}

static DLB_INLINE void gather_many(const uint8_t *row,
				   const struct where *where,
				   const struct step *step, uint32_t nr_steps,
				   bool is_dual, __m512i sum[3])
{
	__m512i low[3], mid[3], high[3];

	for (int c = 0; c < 3; c++) {
		low[c] = _mm512_setzero_si512();
		mid[c] = low[c];
		high[c] = _mm512_set1_epi32(ROUND512);
	}
	for (uint32_t s = 0; s < nr_steps; s++, where++, step++) {
		__m512i index = _mm512_load_si512(step->index);

		for (int c = 0; c < 3; c++) {
			__m512i at = _mm512_add_epi8(index,
					_mm512_set1_epi8((char)c));
			__m512i x = fetch(row, where, at, is_dual);

			low[c] = _mm512_dpbusd_epi32(low[c], x,
					_mm512_load_si512(step->low));
			mid[c] = _mm512_dpbusd_epi32(mid[c], x,
					_mm512_load_si512(step->mid));
			high[c] = _mm512_dpbusd_epi32(high[c], x,
					_mm512_load_si512(step->high));
		}
	}
	for (int c = 0; c < 3; c++)
		sum[c] = sum512_join(low[c], mid[c], high[c]);
}

/* @nr_steps and @is_dual are constants where this is expanded, or 0 for any */
static DLB_INLINE void gather_row(const struct hplan *plan,
				  const struct dlb_lines *lines,
				  const uint8_t *row, uint8_t *out,
				  bool is_single_step, bool is_dual)
{
	const struct where *where = (const struct where *)(plan + 1);
	const struct step *step = (const void *)((const char *)plan +
						 plan->data_bytes);
	uint32_t nr_steps = plan->nr_steps;

	for (uint32_t x = 0; x < plan->nr_outputs; x += DLB_BLOCK_PIXELS) {
		__m512i byte[3][4], plane[3];

		for (uint32_t j = 0; j < 4; j++) {
			__m512i sum[3];

			if (x + GROUP * j >= plan->nr_outputs) {
				for (int c = 0; c < 3; c++)
					byte[c][j] = _mm512_setzero_si512();
				continue;
			}
			if (is_single_step)
				gather_one(row, where, step, is_dual, sum);
			else
				gather_many(row, where, step, nr_steps,
					    is_dual, sum);
			where += nr_steps;
			step += nr_steps;
			for (int c = 0; c < 3; c++)
				byte[c][j] = _mm512_srai_epi32(sum[c], 22);
		}
		for (int c = 0; c < 3; c++)
			plane[c] = _mm512_packus_epi16(
				_mm512_packs_epi32(byte[c][0], byte[c][1]),
				_mm512_packs_epi32(byte[c][2], byte[c][3]));
		if (lines->is_packed) {
			__m512i pixels[4];

			join_planes(plane, pixels);
			store_packed(lines, pixels, out + 3 * (size_t)x);
		} else {
			store_planes(lines, plane, out + x);
		}
	}
	if (lines->is_packed)
		order_packed(lines, out);
}

/* Dword i of the 16 bytes at @at, four times, in lane i */
static DLB_INLINE __m512i spread_digits(const int8_t *at)
{
	const __m512i ctrl = _mm512_setr_epi32(
		0x03020100, 0x03020100, 0x03020100, 0x03020100,
		0x07060504, 0x07060504, 0x07060504, 0x07060504,
		0x0b0a0908, 0x0b0a0908, 0x0b0a0908, 0x0b0a0908,
		0x0f0e0d0c, 0x0f0e0d0c, 0x0f0e0d0c, 0x0f0e0d0c);
	__m128i digits = _mm_loadu_si128((const __m128i *)at);

	return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(digits), ctrl);
}

/* One output: R, G, B, X in each lane, to be added up over the lanes */
static DLB_INLINE __m512i dot_output(const uint8_t *row,
				     const struct dot_step *step,
				     uint32_t nr_steps)
{
	__m512i low = _mm512_setzero_si512(), mid = low, high = low;

	for (uint32_t s = 0; s < nr_steps; s++, row += 64, step++) {
		__m512i x = split_pixels(_mm512_loadu_si512(row));

		low = _mm512_dpbusd_epi32(low, x, spread_digits(step->low));
		mid = _mm512_dpbusd_epi32(mid, x, spread_digits(step->mid));
		high = _mm512_dpbusd_epi32(high, x, spread_digits(step->high));
	}
	return sum512_join(low, mid, high);
}

/* Sums of the lanes of a, b, c, d in lanes 0, 1, 2, 3 */
static DLB_INLINE __m512i add_lanes(__m512i a, __m512i b, __m512i c, __m512i d)
{
	__m512i ab = _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x44),
				      _mm512_shuffle_i32x4(a, b, 0xee));
	__m512i cd = _mm512_add_epi32(_mm512_shuffle_i32x4(c, d, 0x44),
				      _mm512_shuffle_i32x4(c, d, 0xee));

	return _mm512_add_epi32(_mm512_shuffle_i32x4(ab, cd, 0x88),
				_mm512_shuffle_i32x4(ab, cd, 0xdd));
}

/* To pixels in natural order */
static void dot_row(const struct hplan *plan, const uint8_t *row, uint8_t *out)
{
	const uint32_t *where = (const uint32_t *)(plan + 1);
	const struct dot_step *step = (const void *)((const char *)plan +
						     plan->data_bytes);
	uint32_t nr_steps = plan->nr_steps;

	for (uint32_t x = 0; x < plan->nr_outputs; x += 4, where += 4) {
		__m512i sum[4], value;

		for (int i = 0; i < 4; i++, step += nr_steps)
			sum[i] = dot_output(row + where[i], step, nr_steps);
		value = add_lanes(sum[0], sum[1], sum[2], sum[3]);
		value = _mm512_add_epi32(value, _mm512_set1_epi32(1 << 21));
		value = _mm512_srai_epi32(value, 22);
		value = _mm512_max_epi32(value, _mm512_setzero_si512());
		_mm_storeu_si128((__m128i *)(out + 4 * (size_t)x),
				 _mm512_cvtusepi32_epi8(value));
	}
}

void dlb_avx512_hrow(const void *packed, const struct dlb_lines *lines,
		     const uint8_t *row, uint8_t *out, uint8_t *tmp)
{
	const struct hplan *plan = packed;

	if (plan->is_dot) {
		dot_row(plan, row, tmp);
		dlb_avx512_hcopy(lines, tmp, out);
	} else if (plan->nr_steps == 1) {
		if (plan->is_dual)
			gather_row(plan, lines, row, out, true, true);
		else
			gather_row(plan, lines, row, out, true, false);
	} else if (plan->is_dual) {
		gather_row(plan, lines, row, out, false, true);
	} else {
		gather_row(plan, lines, row, out, false, false);
	}
}
