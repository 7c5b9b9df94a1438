// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * NEON kernels (AArch64): products of 32 bits, four at a time.  Lines are in
 * natural order; the structure loads and stores change the layout.
 * See resample_int.h for the words.
 */
#include "resample_int.h"

#include <arm_neon.h>
#include <string.h>

#include <dlboost/recipe.h>

#define CHUNK 4u

struct hplan {
	uint32_t nr_outputs;
	uint32_t nr_weights;	/* of an output; a multiple of CHUNK */
	uint32_t words[];	/* source offsets, bytes; then the weights */
};

static size_t hpack(const struct dlb_taps *taps, uint32_t in_px, void *packed)
{
	uint32_t nr = (dlb_taps_max(taps) + CHUNK - 1) & ~(CHUNK - 1);
	size_t nr_weights = (size_t)taps->nr * nr;
	/* Whole chunks end within the slack behind the row */
	uint32_t last = in_px + DLB_MIN_ROW_PIXELS - nr;
	struct hplan *plan = packed;
	int32_t *weight;

	if (!plan)
		return sizeof(*plan) + (taps->nr + nr_weights) * 4;
	plan->nr_outputs = taps->nr;
	plan->nr_weights = nr;
	weight = (int32_t *)(plan->words + taps->nr);
	memset(weight, 0, nr_weights * sizeof(*weight));
	for (uint32_t o = 0; o < taps->nr; o++, weight += nr) {
		uint32_t first = taps->first[o];
		uint32_t base = first < last ? first : last;

		plan->words[o] = base * DLB_PIXEL_BYTES;
		memcpy(weight + first - base,
		       taps->weight + (size_t)o * taps->stride,
		       taps->count[o] * sizeof(*weight));
	}
	return sizeof(*plan) + (taps->nr + nr_weights) * 4;
}

static inline int32x4_t add_pixel(int32x4_t sum, uint16x4_t pixel,
				  int32_t weight)
{
	return vmlaq_n_s32(sum, vreinterpretq_s32_u32(vmovl_u16(pixel)),
			   weight);
}

/* R, G, B, X of one output, shifted */
static inline int32x4_t sum_output(const uint8_t *px, const int32_t *weight,
				   uint32_t nr_weights)
{
	int32x4_t sum = vdupq_n_s32(1 << 21);

	for (uint32_t k = 0; k < nr_weights; k += CHUNK, weight += CHUNK) {
		uint8x16_t v = vld1q_u8(px + k * DLB_PIXEL_BYTES);
		uint16x8_t low = vmovl_u8(vget_low_u8(v));
		uint16x8_t high = vmovl_u8(vget_high_u8(v));

		sum = add_pixel(sum, vget_low_u16(low), weight[0]);
		sum = add_pixel(sum, vget_high_u16(low), weight[1]);
		sum = add_pixel(sum, vget_low_u16(high), weight[2]);
		sum = add_pixel(sum, vget_high_u16(high), weight[3]);
	}
	return vshrq_n_s32(sum, DLB_COEFF_BITS);
}

static inline uint8x16_t pack_sums(const int32x4_t v[4])
{
	int16x8_t low = vcombine_s16(vqmovn_s32(v[0]), vqmovn_s32(v[1]));
	int16x8_t high = vcombine_s16(vqmovn_s32(v[2]), vqmovn_s32(v[3]));

	return vcombine_u8(vqmovun_s16(low), vqmovun_s16(high));
}

static void hcopy(const struct dlb_lines *lines, const uint8_t *row,
		  uint8_t *out)
{
	uint32_t red = lines->is_bgr ? 2 : 0, blue = 2 - red;

	for (uint32_t x = 0; x < lines->width; x += 16) {
		uint8x16x4_t px = vld4q_u8(row + 4 * (size_t)x);
		uint8x16x3_t rgb;

		rgb.val[red] = px.val[0];
		rgb.val[1] = px.val[1];
		rgb.val[blue] = px.val[2];
		if (lines->is_packed) {
			vst3q_u8(out + 3 * (size_t)x, rgb);
			continue;
		}
		for (uint32_t c = 0; c < 3; c++)
			vst1q_u8(out + c * lines->stride_bytes + x,
				 rgb.val[c]);
	}
}

static void hrow(const void *packed, const struct dlb_lines *lines,
		 const uint8_t *row, uint8_t *out, uint8_t *tmp)
{
	const struct hplan *plan = packed;
	const int32_t *weight = (const int32_t *)(plan->words +
						  plan->nr_outputs);

	for (uint32_t o = 0; o < plan->nr_outputs; o += 4) {
		int32x4_t sum[4] = { vdupq_n_s32(0), vdupq_n_s32(0),
				     vdupq_n_s32(0), vdupq_n_s32(0) };

		for (uint32_t i = 0; i < 4 && o + i < plan->nr_outputs; i++) {
			sum[i] = sum_output(row + plan->words[o + i], weight,
					    plan->nr_weights);
			weight += plan->nr_weights;
		}
		vst1q_u8(tmp + 4 * (size_t)o, pack_sums(sum));
	}
	hcopy(lines, tmp, out);
}

static size_t vpack_bytes(uint32_t nr_taps)
{
	return (size_t)nr_taps * sizeof(int32_t);
}

static void vpack(const int32_t *weight, uint32_t nr_taps, void *packed)
{
	memcpy(packed, weight, (size_t)nr_taps * sizeof(*weight));
}

/* Sixteen columns, shifted */
static inline void sum_columns(const uint8_t *const *rows, size_t at,
			       const int32_t *weight, uint32_t nr_taps,
			       int32x4_t sum[4])
{
	for (int j = 0; j < 4; j++)
		sum[j] = vdupq_n_s32(1 << 21);
	for (uint32_t k = 0; k < nr_taps; k++) {
		uint8x16_t v = vld1q_u8(rows[k] + at);
		uint16x8_t low = vmovl_u8(vget_low_u8(v));
		uint16x8_t high = vmovl_u8(vget_high_u8(v));

		sum[0] = add_pixel(sum[0], vget_low_u16(low), weight[k]);
		sum[1] = add_pixel(sum[1], vget_high_u16(low), weight[k]);
		sum[2] = add_pixel(sum[2], vget_low_u16(high), weight[k]);
		sum[3] = add_pixel(sum[3], vget_high_u16(high), weight[k]);
	}
	for (int j = 0; j < 4; j++)
		sum[j] = vshrq_n_s32(sum[j], DLB_COEFF_BITS);
}

static void vbytes(const uint8_t *const *rows, const void *weights,
		   uint32_t nr_taps, uint32_t n, uint8_t *dst)
{
	for (uint32_t at = 0; at < n; at += 16) {
		int32x4_t sum[4];

		sum_columns(rows, at, weights, nr_taps, sum);
		vst1q_u8(dst + at, pack_sums(sum));
	}
}

/* Sixteen bytes of a line, from byte @at of the rows on */
static inline uint8x16_t line_bytes(const struct dlb_vjob *job, size_t at)
{
	int32x4_t sum[4];

	if (!job->nr_taps)
		return vld1q_u8(job->rows[0] + at);
	sum_columns(job->rows, at, job->weights, job->nr_taps, sum);
	return pack_sums(sum);
}

/* @idx-th four of sixteen bytes, as floats */
static inline float32x4_t widen(uint8x16_t bytes, int idx)
{
	uint16x8_t half = vmovl_u8(idx & 2 ? vget_high_u8(bytes) :
					     vget_low_u8(bytes));

	return vcvtq_f32_u32(vmovl_u16(idx & 1 ? vget_high_u16(half) :
						 vget_low_u16(half)));
}

static inline uint16x4_t half_of(float32x4_t f, uint32_t dtype)
{
	uint32x4_t bits = vreinterpretq_u32_f32(f), odd;

	if (dtype == DLBOOST_DTYPE_F16)
		return vreinterpret_u16_f16(vcvt_f16_f32(f));
	odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
	bits = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
	return vshrn_n_u32(bits, 16);
}

static inline float32x4_t cast_four(const struct dlb_cast_plan *cast,
				    const struct dlb_cast_line *c,
				    uint32_t phase, float32x4_t x)
{
	float32x4_t t = vfmaq_n_f32(vmulq_n_f32(x, cast->inv_lo), x,
				    cast->inv_hi);
	float32x4_t u = vsubq_f32(t, vld1q_f32(c->mean + phase));
	float32x4_t rest = vmulq_f32(u, vld1q_f32(c->rstd_lo + phase));

	return vfmaq_f32(rest, u, vld1q_f32(c->rstd_hi + phase));
}

/* Sixteen elements to @dst */
static inline void cast_sixteen(const struct dlb_vjob *job, uint32_t line,
				uint32_t at, uint8x16_t bytes, uint8_t *dst)
{
	const struct dlb_cast_plan *cast = job->cast;
	uint32_t dtype = cast->cast.dtype;

	for (uint32_t j = 0; j < 4; j++) {
		uint32_t phase = job->lines->is_packed ? (at + 4 * j) % 3 : 0;
		float32x4_t f = cast_four(cast, &cast->line[line], phase,
					  widen(bytes, (int)j));

		if (dtype == DLBOOST_DTYPE_F32)
			vst1q_f32((float *)(dst + 16 * j), f);
		else
			vst1_u16((uint16_t *)(dst + 8 * j),
				 half_of(f, dtype));
	}
}

static void vline(const struct dlb_vjob *job, uint32_t line)
{
	const struct dlb_cast_plan *cast = job->cast;
	uint32_t n = dlb_lines_elements(job->lines);
	size_t base = (size_t)line * job->lines->stride_bytes;
	size_t bytes = dlb_dtype_bytes(cast->cast.dtype);
	uint8_t *dst = job->dst[line], buf[64];

	for (uint32_t at = 0; at < n; at += 16, dst += 16 * bytes) {
		uint8x16_t v = line_bytes(job, base + at);
		bool is_whole = n - at >= 16;
		uint8_t *to = is_whole ? dst : buf;

		if (bytes == 1)
			vst1q_u8(to, v);
		else
			cast_sixteen(job, line, at, v, to);
		if (!is_whole)
			memcpy(dst, buf, (n - at) * bytes);
	}
}

/* By way of a buffer, whose size is a multiple of 3: the phase stays */
static void vline_by_table(const struct dlb_vjob *job, uint32_t line)
{
	uint32_t n = dlb_lines_elements(job->lines);
	size_t base = (size_t)line * job->lines->stride_bytes;
	size_t bytes = dlb_dtype_bytes(job->cast->cast.dtype);
	uint8_t buf[192];

	for (uint32_t at = 0; at < n; at += sizeof(buf)) {
		uint32_t left = n - at < sizeof(buf) ? n - at : sizeof(buf);

		for (uint32_t i = 0; i < left; i += 16)
			vst1q_u8(buf + i, line_bytes(job, base + at + i));
		dlb_cast_by_table(job->cast, line, buf, left,
				  (uint8_t *)job->dst[line] + at * bytes);
	}
}

static void vrow(const struct dlb_vjob *job)
{
	bool is_table = job->cast->cast.dtype != DLBOOST_DTYPE_U8 &&
			!job->cast->is_fast;

	for (uint32_t line = 0; line < dlb_lines_nr(job->lines); line++) {
		if (is_table)
			vline_by_table(job, line);
		else
			vline(job, line);
	}
}

/* Plain stores: nothing to order */
static void finish(void)
{
}

const struct dlb_kernels dlb_kernels_neon = {
	.name = "neon",
	.id = 5,
	.hpack = hpack,
	.hrow = hrow,
	.hcopy = hcopy,
	.vpack_bytes = vpack_bytes,
	.vpack = vpack,
	.vrow = vrow,
	.vbytes = vbytes,
	.finish = finish,
};
