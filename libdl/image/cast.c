// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The cast's definition as a table of all 256 values, and the proof that the
 * kernels' cheaper arithmetic gives the same floats.  Three float operations,
 * each rounded, as torchvision's ToTensor and Normalize do on the CPU; compiled
 * without contraction.  Documentation/pixels.rst, "Cast".
 */
#include "resample_int.h"

#include <math.h>
#include <string.h>

#include <dlboost/recipe.h>

uint32_t dlb_dtype_bytes(uint32_t dtype)
{
	switch (dtype) {
	case DLBOOST_DTYPE_F32:
		return 4;
	case DLBOOST_DTYPE_F16:
	case DLBOOST_DTYPE_BF16:
		return 2;
	default:
		return 1;
	}
}

static uint32_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* @bits >> @shift, to nearest, ties to even; 0 < @shift < 32 */
static uint32_t shift_to_even(uint32_t bits, unsigned int shift)
{
	uint32_t half = 1u << (shift - 1);
	uint32_t odd = (bits >> shift) & 1;

	return (bits + half - 1 + odd) >> shift;
}

uint16_t dlb_f32_to_f16(float value)
{
	uint32_t bits = float_bits(value);
	uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
	uint32_t exponent = bits >> 23 & 0xff;
	uint32_t fraction = bits & 0x7fffff;
	uint32_t half;

	if (exponent == 0xff)
		return sign | 0x7c00 | (fraction ? 0x200 | fraction >> 13 : 0);
	if (exponent > 142)
		return sign | 0x7c00;
	if (exponent < 102)
		return sign;
	if (exponent < 113)	/* a subnormal half */
		return sign | (uint16_t)shift_to_even(fraction | 0x800000,
						      126 - exponent);
	half = shift_to_even(((exponent - 112) << 23) | fraction, 13);
	return sign | (uint16_t)half;
}

uint16_t dlb_f32_to_bf16(float value)
{
	uint32_t bits = float_bits(value);

	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)shift_to_even(bits, 16);
}

static float cast_defined(const struct dlb_cast *cast, unsigned int colour,
			  uint8_t value)
{
	float x = value;

	x = cast->has_scale_mul ? x * (1.0f / 255.0f) : x / 255.0f;
	if (!cast->has_normalise)
		return x;
	x = x - cast->mean[colour];
	return x / cast->std[colour];
}

/* Tensor channel -> colour */
static unsigned int colour_of(const struct dlb_cast *cast, unsigned int channel)
{
	return cast->is_bgr ? 2 - channel : channel;
}

static void fill_line(struct dlb_cast_plan *plan, unsigned int line,
		      unsigned int idx, unsigned int channel)
{
	const struct dlb_cast *cast = &plan->cast;
	unsigned int colour = colour_of(cast, channel);
	float std = cast->has_normalise ? cast->std[colour] : 1.0f;
	struct dlb_cast_line *to = &plan->line[line];

	to->mean[idx] = cast->has_normalise ? cast->mean[colour] : 0.0f;
	to->std[idx] = std;
	to->rstd_hi[idx] = 1.0f / std;
	/* 1/std - hi without a longer type: (1 - hi * std) / std, fused */
	to->rstd_lo[idx] = fmaf(-to->rstd_hi[idx], std, 1.0f) / std;
}

static bool is_same_float(float a, float b)
{
	return float_bits(a) == float_bits(b);
}

/* What the kernels compute, operation by operation */
static bool fast_is_exact(const struct dlb_cast_plan *plan, unsigned int line,
			  unsigned int idx, unsigned int channel)
{
	const struct dlb_cast_line *c = &plan->line[line];

	for (unsigned int value = 0; value < 256; value++) {
		float x = (float)value, low = x * plan->inv_lo;
		float fused = fmaf(x, plan->inv_hi, low);
		float apart = x * plan->inv_hi;
		float u = fused - c->mean[idx];
		float rest = u * c->rstd_lo[idx];
		float want = plan->f32[channel][value];
		/* The same 2^32 times as large, as one kernel keeps it */
		float big = fused * 0x1p32f - c->mean[idx] * 0x1p32f;
		float big_rest = big * (c->rstd_lo[idx] * 0x1p-32f);

		apart = apart + low;
		if (!is_same_float(fused, apart) ||
		    !is_same_float(u / c->std[idx], want) ||
		    !is_same_float(fmaf(u, c->rstd_hi[idx], rest), want) ||
		    !is_same_float(fmaf(big, c->rstd_hi[idx] * 0x1p-32f,
					big_rest), want))
			return false;
	}
	return true;
}

void dlb_cast_plan_make(struct dlb_cast_plan *plan, const struct dlb_cast *cast)
{
	bool is_packed = cast->layout == DLBOOST_LAYOUT_HWC;
	bool is_bf16 = cast->dtype == DLBOOST_DTYPE_BF16;

	plan->cast = *cast;
	plan->is_fast = true;
	/* 0x10101 times a byte repeats it in 24 bits: an exact product */
	plan->inv_hi = cast->has_scale_mul ? 1.0f / 255.0f : 0x1.0101p-8f;
	plan->inv_lo = cast->has_scale_mul ? 0.0f :
		       (float)(1.0 / 255.0 - 0x1.0101p-8);
	for (unsigned int c = 0; c < 3; c++) {
		for (unsigned int value = 0; value < 256; value++) {
			float f = cast_defined(cast, colour_of(cast, c),
					       (uint8_t)value);

			plan->f32[c][value] = f;
			plan->half[c][value] = is_bf16 ? dlb_f32_to_bf16(f) :
							 dlb_f32_to_f16(f);
		}
		for (unsigned int i = 0; i < DLB_PATTERN; i++)
			fill_line(plan, c, i, is_packed ? i % 3 : c);
	}
	for (unsigned int c = 0; c < 3; c++)
		plan->is_fast &= is_packed ? fast_is_exact(plan, 0, c, c) :
					     fast_is_exact(plan, c, 0, c);
	plan->is_ready = true;
}

void dlb_cast_by_table(const struct dlb_cast_plan *plan, uint32_t line,
		       const uint8_t *src, uint32_t n, void *dst)
{
	bool is_packed = plan->cast.layout == DLBOOST_LAYOUT_HWC;
	uint32_t dtype = plan->cast.dtype, c = is_packed ? 0 : line;
	float *f32 = dst;
	uint16_t *half = dst;

	if (dtype == DLBOOST_DTYPE_U8) {
		memcpy(dst, src, n);
		return;
	}
	for (uint32_t e = 0; e < n; e++) {
		if (dtype == DLBOOST_DTYPE_F32)
			memcpy(f32 + e, &plan->f32[c][src[e]], 4);
		else
			memcpy(half + e, &plan->half[c][src[e]], 2);
		if (is_packed)
			c = c == 2 ? 0 : c + 1;
	}
}
