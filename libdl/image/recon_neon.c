// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * NEON kernels of the reconstruction (AArch64): one block at a time, both passes
 * down the columns with a transposition between and after.  Equal to recon_c.c
 * in every byte; see recon_int.h.
 */
#include "recon_int.h"

#include <arm_neon.h>
#include <string.h>

#define CHUNK 16u

/* Accumulators of a job */
struct bits {
	uint16x8_t coef, range;
};

/* Four lines of eight at once; outputs i, 7 - i: even[i] + odd[i], - odd[i] */
static inline void transform4(const int16x4_t d[8], int32x4_t even[4],
			      int32x4_t odd[4])
{
	int32x4_t a = vmull_n_s16(d[0], DLB_C0);
	int32x4_t t0 = vmlal_n_s16(a, d[4], DLB_C0);
	int32x4_t t1 = vmlal_n_s16(a, d[4], -DLB_C0);
	int32x4_t t2 = vmlal_n_s16(vmull_n_s16(d[2], DLB_C6), d[6],
				   -DLB_C6_NEG);
	int32x4_t t3 = vmlal_n_s16(vmull_n_s16(d[2], DLB_C2), d[6], DLB_C6);
	static const int16_t k[4][4] = {
		{ DLB_O0_1, DLB_O0_3, DLB_O0_5, DLB_O0_7 },
		{ DLB_O1_1, DLB_O1_3, DLB_O1_5, DLB_O1_7 },
		{ DLB_O2_1, DLB_O2_3, DLB_O2_5, DLB_O2_7 },
		{ DLB_O3_1, DLB_O3_3, DLB_O3_5, DLB_O3_7 },
	};

	even[0] = vaddq_s32(t0, t3);
	even[1] = vaddq_s32(t1, t2);
	even[2] = vsubq_s32(t1, t2);
	even[3] = vsubq_s32(t0, t3);
	for (int i = 0; i < 4; i++) {
		int16x4_t w = vld1_s16(k[i]);

		odd[i] = vmull_lane_s16(d[1], w, 0);
		odd[i] = vmlal_lane_s16(odd[i], d[3], w, 1);
		odd[i] = vmlal_lane_s16(odd[i], d[5], w, 2);
		odd[i] = vmlal_lane_s16(odd[i], d[7], w, 3);
	}
}

static inline void transform8(const int16x8_t d[8], int32x4_t low[8],
			      int32x4_t high[8])
{
	int32x4_t even[4], odd[4];
	int16x4_t half[8];

	for (int i = 0; i < 8; i++)
		half[i] = vget_low_s16(d[i]);
	transform4(half, even, odd);
	for (int i = 0; i < 4; i++) {
		low[i] = vaddq_s32(even[i], odd[i]);
		low[7 - i] = vsubq_s32(even[i], odd[i]);
	}
	for (int i = 0; i < 8; i++)
		half[i] = vget_high_s16(d[i]);
	transform4(half, even, odd);
	for (int i = 0; i < 4; i++) {
		high[i] = vaddq_s32(even[i], odd[i]);
		high[7 - i] = vsubq_s32(even[i], odd[i]);
	}
}

static inline int16x8_t trn64(int32x4_t a, int32x4_t b, int is_second)
{
	int64x2_t x = vreinterpretq_s64_s32(a), y = vreinterpretq_s64_s32(b);

	return vreinterpretq_s16_s64(is_second ? vtrn2q_s64(x, y) :
						 vtrn1q_s64(x, y));
}

static inline void transpose(int16x8_t w[8])
{
	int16x8x2_t a[4];
	int32x4x2_t b[4];

	for (int i = 0; i < 4; i++)
		a[i] = vtrnq_s16(w[2 * i], w[2 * i + 1]);
	for (int i = 0; i < 2; i++) {
		b[2 * i] = vtrnq_s32(
			vreinterpretq_s32_s16(a[2 * i].val[0]),
			vreinterpretq_s32_s16(a[2 * i + 1].val[0]));
		b[2 * i + 1] = vtrnq_s32(
			vreinterpretq_s32_s16(a[2 * i].val[1]),
			vreinterpretq_s32_s16(a[2 * i + 1].val[1]));
	}
	for (int i = 0; i < 2; i++) {
		w[i] = trn64(b[i].val[0], b[2 + i].val[0], 0);
		w[2 + i] = trn64(b[i].val[1], b[2 + i].val[1], 0);
		w[4 + i] = trn64(b[i].val[0], b[2 + i].val[0], 1);
		w[6 + i] = trn64(b[i].val[1], b[2 + i].val[1], 1);
	}
}

static inline uint8x8_t clip_biased(uint16x8_t v)
{
	int16x8_t x = vreinterpretq_s16_u16(v);

	return vqmovun_s16(vsubq_s16(x, vdupq_n_s16(DLB_RANGE_BIAS - 128)));
}

static void idct_8x8(const struct dlb_idct_job *job, const int16_t *block,
		     uint8_t *out, struct bits *bits)
{
	int32x4_t low[8], high[8];
	int16x8_t w[8];

	for (int y = 0; y < 8; y++) {
		int16x8_t c = vld1q_s16(block + 8 * y);

		bits->coef = vorrq_u16(bits->coef,
				       vreinterpretq_u16_s16(vabsq_s16(c)));
		w[y] = vmulq_s16(c, vld1q_s16(job->quant + 8 * y));
	}
	transform8(w, low, high);
	for (int y = 0; y < 8; y++)
		w[y] = vcombine_s16(vqrshrn_n_s32(low[y], DLB_PASS1_SHIFT),
				    vqrshrn_n_s32(high[y], DLB_PASS1_SHIFT));
	transpose(w);
	transform8(w, low, high);
	for (int x = 0; x < 8; x++) {
		int16x8_t v = vcombine_s16(
			vmovn_s32(vrshrq_n_s32(low[x], DLB_PASS2_SHIFT)),
			vmovn_s32(vrshrq_n_s32(high[x], DLB_PASS2_SHIFT)));

		w[x] = vaddq_s16(v, vdupq_n_s16(DLB_RANGE_BIAS));
		bits->range = vorrq_u16(bits->range,
					vreinterpretq_u16_s16(w[x]));
	}
	transpose(w);
	for (int y = 0; y < 8; y++)
		vst1_u8(out + y * job->stride_bytes,
			clip_biased(vreinterpretq_u16_s16(w[y])));
}

/* DC alone: both passes are exact shifts, so one rounding is left */
static void idct_dc(const struct dlb_idct_job *job, const int16_t *block,
		    uint8_t *out, struct bits *bits)
{
	int16x8_t c = vdupq_n_s16(block[0]);
	int16x8_t d = vmulq_n_s16(c, job->quant[0]);
	int16x8_t v = vaddq_s16(vrshrq_n_s16(d, 3),
				vdupq_n_s16(DLB_RANGE_BIAS));
	uint8x8_t samples = clip_biased(vreinterpretq_u16_s16(v));

	bits->coef = vorrq_u16(bits->coef,
			       vreinterpretq_u16_s16(vabsq_s16(c)));
	bits->range = vorrq_u16(bits->range, vreinterpretq_u16_s16(v));
	for (int y = 0; y < 8; y++)
		vst1_u8(out + y * job->stride_bytes, samples);
}

static uint16_t any(uint16x8_t v)
{
	uint16x4_t half = vorr_u16(vget_low_u16(v), vget_high_u16(v));
	uint64_t x = vget_lane_u64(vreinterpret_u64_u16(half), 0);

	return (uint16_t)(x | x >> 16 | x >> 32 | x >> 48);
}

static void idct(struct dlb_idct_job *job)
{
	struct bits bits = { vdupq_n_u16(0), vdupq_n_u16(0) };
	const int16_t *block = job->blocks;

	for (uint32_t i = 0; i < job->nr; i++, block += DLB_BLOCK_COEFS) {
		uint8_t *out = job->out + (size_t)i * 8;

		if (job->last[i])
			idct_8x8(job, block, out, &bits);
		else
			idct_dc(job, block, out, &bits);
	}
	job->coef_bits |= any(bits.coef);
	job->range_bits |= any(bits.range);
}

static void up_h2(const uint8_t *in, uint32_t n, uint8_t *out)
{
	uint8x8_t three = vdup_n_u8(3);

	for (uint32_t i = 0; i < n; i += 8, in += 8, out += 16) {
		uint16x8_t x = vmull_u8(vld1_u8(in), three);
		uint16x8_t even = vaddw_u8(vaddw_u8(x, vld1_u8(in - 1)),
					   vdup_n_u8(1));
		uint16x8_t odd = vaddw_u8(x, vld1_u8(in + 1));
		uint8x8x2_t both = { {
			vshrn_n_u16(even, 2), vrshrn_n_u16(odd, 2),
		} };

		vst2_u8(out, both);
	}
}

static void up_v2(const uint8_t *near, const uint8_t *far, uint32_t n,
		  uint32_t bias, uint8_t *out)
{
	uint16x8_t round = vdupq_n_u16((uint16_t)bias);

	for (uint32_t i = 0; i < n; i += 8) {
		uint16x8_t x = vmlal_u8(round, vld1_u8(near + i),
					vdup_n_u8(3));

		x = vaddw_u8(x, vld1_u8(far + i));
		vst1_u8(out + i, vshrn_n_u16(x, 2));
	}
}

static inline uint16x8_t column_sum(const uint8_t *near, const uint8_t *far)
{
	return vaddw_u8(vmull_u8(vld1_u8(near), vdup_n_u8(3)), vld1_u8(far));
}

static void up_hv2(const uint8_t *near, const uint8_t *far, uint32_t n,
		   uint8_t *out)
{
	for (uint32_t i = 0; i < n; i += 8, near += 8, far += 8, out += 16) {
		uint16x8_t x = vmulq_n_u16(column_sum(near, far), 3);
		uint16x8_t even = vaddq_u16(x, column_sum(near - 1, far - 1));
		uint16x8_t odd = vaddq_u16(x, column_sum(near + 1, far + 1));
		uint8x8x2_t both = { {
			vrshrn_n_u16(even, 4),
			vshrn_n_u16(vaddq_u16(odd, vdupq_n_u16(7)), 4),
		} };

		vst2_u8(out, both);
	}
}

/* 2 * (c - 128) */
static inline int16x8_t centred(uint8x8_t c)
{
	return vreinterpretq_s16_u16(vsubq_u16(vshll_n_u8(c, 1),
					       vdupq_n_u16(256)));
}

static inline int16x4_t green4(int16x4_t cb, int16x4_t cr)
{
	int32x4_t sum = vmull_n_s16(cb, DLB_MUL_GREEN_CB);

	return vrshrn_n_s32(vmlal_n_s16(sum, cr, DLB_MUL_GREEN_CR), 16);
}

static inline void ycc8(const uint8_t *const planes[3], uint32_t i,
			uint8x8_t rgb[3])
{
	int16x8_t y = vreinterpretq_s16_u16(
		vmovl_u8(vld1_u8(planes[0] + i)));
	int16x8_t cb = centred(vld1_u8(planes[1] + i));
	int16x8_t cr = centred(vld1_u8(planes[2] + i));
	int16x8_t g = vcombine_s16(
		green4(vget_low_s16(cb), vget_low_s16(cr)),
		green4(vget_high_s16(cb), vget_high_s16(cr)));

	rgb[0] = vqmovun_s16(vaddq_s16(y, vqrdmulhq_n_s16(cr, DLB_MUL_RED)));
	rgb[1] = vqmovun_s16(vaddq_s16(y, g));
	rgb[2] = vqmovun_s16(vaddq_s16(y, vqrdmulhq_n_s16(cb, DLB_MUL_BLUE)));
}

static inline void ycc_chunk(const uint8_t *const planes[3], uint32_t i,
			     uint8_t *out)
{
	uint8x8_t low[3], high[3];
	uint8x16x4_t px;

	ycc8(planes, i, low);
	ycc8(planes, i + 8, high);
	for (int c = 0; c < 3; c++)
		px.val[c] = vcombine_u8(low[c], high[c]);
	px.val[3] = vdupq_n_u8(255);
	vst4q_u8(out, px);
}

static inline void rgb_chunk(const uint8_t *const planes[3], uint32_t i,
			     uint8_t *out)
{
	uint8x16x4_t px = { {
		vld1q_u8(planes[0] + i), vld1q_u8(planes[1] + i),
		vld1q_u8(planes[2] + i), vdupq_n_u8(255),
	} };

	vst4q_u8(out, px);
}

static inline void grey_chunk(const uint8_t *const planes[3], uint32_t i,
			      uint8_t *out)
{
	const uint8_t *const same[3] = { planes[0], planes[0], planes[0] };

	rgb_chunk(same, i, out);
}

/* Whole chunks to @out, the rest by way of a chunk on the stack */
#define DEFINE_COLOUR(name)						\
static void name(const uint8_t *const planes[3], uint32_t n, uint8_t *out) \
{									\
	uint8_t rest[4 * CHUNK];					\
	uint32_t i = 0;							\
									\
	for (; i + CHUNK <= n; i += CHUNK)				\
		name##_chunk(planes, i, out + (size_t)i * DLB_PIXEL_BYTES); \
	if (i == n)							\
		return;							\
	name##_chunk(planes, i, rest);					\
	memcpy(out + (size_t)i * DLB_PIXEL_BYTES, rest,			\
	       (n - i) * DLB_PIXEL_BYTES);				\
}

DEFINE_COLOUR(ycc)
DEFINE_COLOUR(rgb)
DEFINE_COLOUR(grey)

const struct dlb_recon_kernels dlb_recon_kernels_neon = {
	.name = "neon",
	.idct = idct,
	.up_h2 = up_h2,
	.up_v2 = up_v2,
	.up_hv2 = up_hv2,
	.ycc = ycc,
	.rgb = rgb,
	.grey = grey,
};
