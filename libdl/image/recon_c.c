// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Plain C kernels of the reconstruction: the definition that the other sets are
 * compared with, and what runs where there is no better one.  Sums are unsigned
 * where parts of them may wrap; the whole never does (recon_int.h).
 */
#include "recon_int.h"

#include <string.h>

static inline uint8_t clip(int32_t value)
{
	return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

static inline int16_t clip_word(int32_t value)
{
	return value < INT16_MIN ? INT16_MIN :
	       value > INT16_MAX ? INT16_MAX : (int16_t)value;
}

/* One line of eight: sums before rounding */
static inline void transform(const int16_t d[8], uint32_t even[4],
			     uint32_t odd[4])
{
	int32_t t0 = (d[0] + d[4]) * DLB_C0, t1 = (d[0] - d[4]) * DLB_C0;
	int32_t t2 = d[2] * DLB_C6 - d[6] * DLB_C6_NEG;
	int32_t t3 = d[2] * DLB_C2 + d[6] * DLB_C6;
	uint32_t z1 = (uint32_t)((d[7] + d[1]) * -7373);
	uint32_t z2 = (uint32_t)((d[5] + d[3]) * -20995);
	uint32_t z5 = (uint32_t)(d[1] + d[3] + d[5] + d[7]) * 9633u;
	uint32_t z3 = (uint32_t)((d[7] + d[3]) * -16069) + z5;
	uint32_t z4 = (uint32_t)((d[5] + d[1]) * -3196) + z5;

	even[0] = (uint32_t)t0 + (uint32_t)t3;
	even[1] = (uint32_t)t1 + (uint32_t)t2;
	even[2] = (uint32_t)t1 - (uint32_t)t2;
	even[3] = (uint32_t)t0 - (uint32_t)t3;
	odd[0] = (uint32_t)(d[1] * 12299) + z1 + z4;
	odd[1] = (uint32_t)(d[3] * 25172) + z2 + z3;
	odd[2] = (uint32_t)(d[5] * 16819) + z2 + z4;
	odd[3] = (uint32_t)(d[7] * 2446) + z1 + z3;
}

static uint16_t columns(const int16_t *block, const int16_t *quant,
			int16_t work[64])
{
	uint16_t bits = 0;

	for (uint32_t x = 0; x < 8; x++) {
		uint32_t even[4], odd[4];
		int16_t d[8];
		int any = 0;

		for (uint32_t y = 0; y < 8; y++) {
			int32_t c = block[y * 8 + x];

			bits |= (uint16_t)(c < 0 ? -c : c);
			d[y] = (int16_t)(uint32_t)(c * quant[y * 8 + x]);
			any |= y ? c : 0;
		}
		if (!any) {
			for (uint32_t y = 0; y < 8; y++)
				work[y * 8 + x] = clip_word(d[0] * 4);
			continue;
		}
		transform(d, even, odd);
		for (uint32_t y = 0; y < 4; y++) {
			uint32_t e = even[y] + (1u << (DLB_PASS1_SHIFT - 1));

			work[y * 8 + x] = clip_word((int32_t)(e + odd[y]) >>
						    DLB_PASS1_SHIFT);
			work[(7 - y) * 8 + x] =
				clip_word((int32_t)(e - odd[y]) >>
					  DLB_PASS1_SHIFT);
		}
	}
	return bits;
}

static uint16_t rows(const int16_t work[64], uint8_t *out, size_t stride)
{
	uint32_t round = (DLB_RANGE_BIAS << DLB_PASS2_SHIFT) +
			 (1u << (DLB_PASS2_SHIFT - 1));
	uint16_t bits = 0;

	for (uint32_t y = 0; y < 8; y++, out += stride) {
		uint32_t even[4], odd[4];

		transform(work + y * 8, even, odd);
		for (uint32_t x = 0; x < 4; x++) {
			uint32_t e = even[x] + round;
			int32_t left = (int32_t)(e + odd[x]) >> DLB_PASS2_SHIFT;
			int32_t right =
				(int32_t)(e - odd[x]) >> DLB_PASS2_SHIFT;

			bits |= (uint16_t)left | (uint16_t)right;
			out[x] = clip(left - DLB_RANGE_BIAS + 128);
			out[7 - x] = clip(right - DLB_RANGE_BIAS + 128);
		}
	}
	return bits;
}

/* DC alone: both passes are exact shifts, so one rounding is left */
static void flat_block(struct dlb_idct_job *job, int32_t c, uint8_t *out)
{
	int32_t d = (int16_t)(uint32_t)(c * job->quant[0]);
	int32_t value = ((d + 4) >> 3) + DLB_RANGE_BIAS;
	uint8_t sample = clip(value - DLB_RANGE_BIAS + 128);

	job->coef_bits |= (uint16_t)(c < 0 ? -c : c);
	job->range_bits |= (uint16_t)value;
	for (uint32_t y = 0; y < 8; y++)
		memset(out + y * job->stride_bytes, sample, 8);
}

static void idct(struct dlb_idct_job *job)
{
	const int16_t *block = job->blocks;
	int16_t work[64];

	for (uint32_t i = 0; i < job->nr; i++, block += DLB_BLOCK_COEFS) {
		uint8_t *out = job->out + (size_t)i * 8;

		if (!job->last[i]) {
			flat_block(job, block[0], out);
			continue;
		}
		job->coef_bits |= columns(block, job->quant, work);
		job->range_bits |= rows(work, out, job->stride_bytes);
	}
}

static void up_h2(const uint8_t *in, uint32_t n, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t three = 3u * in[i];

		out[2 * i] = (uint8_t)((three + in[(int64_t)i - 1] + 1) >> 2);
		out[2 * i + 1] = (uint8_t)((three + in[i + 1] + 2) >> 2);
	}
}

static void up_v2(const uint8_t *near, const uint8_t *far, uint32_t n,
		  uint32_t bias, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = (uint8_t)((3u * near[i] + far[i] + bias) >> 2);
}

static void up_hv2(const uint8_t *near, const uint8_t *far, uint32_t n,
		   uint8_t *out)
{
	uint32_t left = 3u * near[-1] + far[-1];
	uint32_t here = 3u * near[0] + far[0];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t right = 3u * near[i + 1] + far[i + 1];

		out[2 * i] = (uint8_t)((3 * here + left + 8) >> 4);
		out[2 * i + 1] = (uint8_t)((3 * here + right + 7) >> 4);
		left = here;
		here = right;
	}
}

static void ycc(const uint8_t *const planes[3], uint32_t n, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i++, out += DLB_PIXEL_BYTES) {
		int32_t y = planes[0][i];
		int32_t cb = 2 * (planes[1][i] - 128);
		int32_t cr = 2 * (planes[2][i] - 128);
		int32_t green = cb * DLB_MUL_GREEN_CB + cr * DLB_MUL_GREEN_CR;

		out[0] = clip(y + ((cr * DLB_MUL_RED + (1 << 14)) >> 15));
		out[1] = clip(y + ((green + (1 << 15)) >> 16));
		out[2] = clip(y + ((cb * DLB_MUL_BLUE + (1 << 14)) >> 15));
		out[3] = 255;
	}
}

static void rgb(const uint8_t *const planes[3], uint32_t n, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i++, out += DLB_PIXEL_BYTES) {
		out[0] = planes[0][i];
		out[1] = planes[1][i];
		out[2] = planes[2][i];
		out[3] = 255;
	}
}

static void grey(const uint8_t *const planes[3], uint32_t n, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i++, out += DLB_PIXEL_BYTES) {
		memset(out, planes[0][i], 3);
		out[3] = 255;
	}
}

const struct dlb_recon_kernels dlb_recon_kernels_c = {
	.name = "c",
	.idct = idct,
	.up_h2 = up_h2,
	.up_v2 = up_v2,
	.up_hv2 = up_hv2,
	.ycc = ycc,
	.rgb = rgb,
	.grey = grey,
};
