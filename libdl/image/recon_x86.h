/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Reconstruction kernels on vectors of one, two or four 16-byte lanes: a body
 * that recon_sse41.c, recon_avx2.c and recon_avx512.c include after they have
 * said what a vector is.  Nearly all operations stay inside a lane: one lane
 * transforms one block, so a vector transforms LANES blocks.
 *
 * The includer defines
 *	vec, VEC_BYTES			vector type, its size
 *	V(op)				intrinsic's name
 *	v_load, v_store, v_or, v_or3, v_xor, v_zero
 *	v_select(mask, a, b)		a where mask has ones, else b
 *	v_lanes(p)			16 aligned bytes to every lane
 *	v_gather(p, step)		16 aligned bytes at p, p + step words, ...
 *	v_spread(v)			dword j of lane l := dword LANES * j + l
 *	v_dot(sum, a, b)		sum + madd(a, b)
 *	v_any(v)			or of all words, 16 bits
 *	v_blend_odd(a, b)		even words of a, odd words of b
 *	v_store_rows(v, a, b)		low halves of the lanes to a, high to b,
 *					each of bytes 0 7 1 6 2 5 3 4 put in order
 *	v_store_halves(p, a, b)		lanes of a and b in turn
 */
#include "recon_int.h"

#include <string.h>

#include <immintrin.h>

#define DLB_INLINE inline __attribute__((always_inline))
/* What loops index must stay in registers */
#define UNROLLED _Pragma("GCC unroll 8")
#define LANES (VEC_BYTES / 16)

#define WORDS(low, high) \
	((int32_t)((uint32_t)(uint16_t)(low) | (uint32_t)(uint16_t)(high) << 16))
#define PAIR(low, high) V(set1_epi32)(WORDS(low, high))
#define ALIGNED16 __attribute__((aligned(16)))

/* Fraction that samples still have when they become words */
#define FRACTION_BITS (DLB_PASS2_SHIFT - 16)

/* Accumulators of a job; range: with FRACTION_BITS */
struct bits {
	vec coef, range;
};

static DLB_INLINE vec load_row(const int16_t *block, const int16_t *quant,
			       uint32_t y, uint32_t step, struct bits *bits)
{
	vec c = v_gather(block + 8 * y, step);

	bits->coef = v_or(bits->coef, V(abs_epi16)(c));
	return V(mullo_epi16)(c, v_lanes(quant + 8 * y));
}

/* Pass 1 on four columns a lane: pairs of inputs to eight outputs */
static DLB_INLINE void columns4(vec p04, vec p26, vec p13, vec p57, vec out[8])
{
	vec round = V(set1_epi32)(1 << (DLB_PASS1_SHIFT - 1));
	vec t0 = v_dot(round, p04, PAIR(DLB_C0, DLB_C0));
	vec t1 = v_dot(round, p04, PAIR(DLB_C0, -DLB_C0));
	vec t2 = V(madd_epi16)(p26, PAIR(DLB_C6, -DLB_C6_NEG));
	vec t3 = V(madd_epi16)(p26, PAIR(DLB_C2, DLB_C6));
	vec e[4], o[4];

	e[0] = V(add_epi32)(t0, t3);
	e[1] = V(add_epi32)(t1, t2);
	e[2] = V(sub_epi32)(t1, t2);
	e[3] = V(sub_epi32)(t0, t3);
	o[0] = v_dot(V(madd_epi16)(p13, PAIR(DLB_O0_1, DLB_O0_3)),
		     p57, PAIR(DLB_O0_5, DLB_O0_7));
	o[1] = v_dot(V(madd_epi16)(p13, PAIR(DLB_O1_1, DLB_O1_3)),
		     p57, PAIR(DLB_O1_5, DLB_O1_7));
	o[2] = v_dot(V(madd_epi16)(p13, PAIR(DLB_O2_1, DLB_O2_3)),
		     p57, PAIR(DLB_O2_5, DLB_O2_7));
	o[3] = v_dot(V(madd_epi16)(p13, PAIR(DLB_O3_1, DLB_O3_3)),
		     p57, PAIR(DLB_O3_5, DLB_O3_7));
	UNROLLED
	for (int i = 0; i < 4; i++) {
		out[i] = V(srai_epi32)(V(add_epi32)(e[i], o[i]),
				       DLB_PASS1_SHIFT);
		out[7 - i] = V(srai_epi32)(V(sub_epi32)(e[i], o[i]),
					   DLB_PASS1_SHIFT);
	}
}

/* Which words of a lane make the pairs of pass 2, each four times */
#define WORD_PAIR(a, b) \
	{ a, a + 1, b, b + 1, a, a + 1, b, b + 1, \
	  a, a + 1, b, b + 1, a, a + 1, b, b + 1 }
#define WORD_AT(i) (2 * (i))

/*
 * Upper halves of the sums for outputs 0..3 and 7..4: words 0 7 1 6 2 5 3 4,
 * samples with their bias and two bits of fraction.  Shuffles and shifts are
 * what there is too much of, hence the blend.
 */
static DLB_INLINE vec join_row(vec left, vec right)
{
	return v_blend_odd(V(srli_epi32)(left, 16), right);
}

/* Pass 2, a row a lane */
static DLB_INLINE vec row8(vec w)
{
	static const uint8_t at04[16] ALIGNED16 =
		WORD_PAIR(WORD_AT(0), WORD_AT(4));
	static const uint8_t at26[16] ALIGNED16 =
		WORD_PAIR(WORD_AT(2), WORD_AT(6));
	static const uint8_t at13[16] ALIGNED16 =
		WORD_PAIR(WORD_AT(1), WORD_AT(3));
	static const uint8_t at57[16] ALIGNED16 =
		WORD_PAIR(WORD_AT(5), WORD_AT(7));
	static const int16_t k04[8] ALIGNED16 = {
		DLB_C0, DLB_C0, DLB_C0, -DLB_C0,
		DLB_C0, -DLB_C0, DLB_C0, DLB_C0,
	};
	static const int16_t k26[8] ALIGNED16 = {
		DLB_C2, DLB_C6, DLB_C6, -DLB_C6_NEG,
		-DLB_C6, DLB_C6_NEG, -DLB_C2, -DLB_C6,
	};
	static const int16_t k13[8] ALIGNED16 = {
		DLB_O0_1, DLB_O0_3, DLB_O1_1, DLB_O1_3,
		DLB_O2_1, DLB_O2_3, DLB_O3_1, DLB_O3_3,
	};
	static const int16_t k57[8] ALIGNED16 = {
		DLB_O0_5, DLB_O0_7, DLB_O1_5, DLB_O1_7,
		DLB_O2_5, DLB_O2_7, DLB_O3_5, DLB_O3_7,
	};
	vec e = V(set1_epi32)((DLB_RANGE_BIAS << DLB_PASS2_SHIFT) +
			      (1 << (DLB_PASS2_SHIFT - 1)));
	vec o;

	e = v_dot(e, V(shuffle_epi8)(w, v_lanes(at04)), v_lanes(k04));
	e = v_dot(e, V(shuffle_epi8)(w, v_lanes(at26)), v_lanes(k26));
	o = V(madd_epi16)(V(shuffle_epi8)(w, v_lanes(at13)), v_lanes(k13));
	o = v_dot(o, V(shuffle_epi8)(w, v_lanes(at57)), v_lanes(k57));
	return join_row(V(add_epi32)(e, o), V(sub_epi32)(e, o));
}

/* The same for inputs 0..3 alone, at words @at02 and @at13 */
static DLB_INLINE vec row4(vec w, const uint8_t *at02, const uint8_t *at13)
{
	static const int16_t k02[8] ALIGNED16 = {
		DLB_C0, DLB_C2, DLB_C0, DLB_C6,
		DLB_C0, -DLB_C6, DLB_C0, -DLB_C2,
	};
	static const int16_t k13[8] ALIGNED16 = {
		DLB_O0_1, DLB_O0_3, DLB_O1_1, DLB_O1_3,
		DLB_O2_1, DLB_O2_3, DLB_O3_1, DLB_O3_3,
	};
	vec e = V(set1_epi32)((DLB_RANGE_BIAS << DLB_PASS2_SHIFT) +
			      (1 << (DLB_PASS2_SHIFT - 1)));
	vec o;

	e = v_dot(e, V(shuffle_epi8)(w, v_lanes(at02)), v_lanes(k02));
	o = V(madd_epi16)(V(shuffle_epi8)(w, v_lanes(at13)), v_lanes(k13));
	return join_row(V(add_epi32)(e, o), V(sub_epi32)(e, o));
}

/* Two rows of join_row() to samples; a product in place of a shift */
static DLB_INLINE void finish_rows(vec a, vec b, uint8_t *out, size_t stride,
				   struct bits *bits)
{
	vec shift = V(set1_epi16)(1 << (16 - FRACTION_BITS));
	vec bias = V(set1_epi16)(DLB_RANGE_BIAS - 128);

	bits->range = v_or3(bits->range, a, b);
	a = V(subs_epu16)(V(mulhi_epi16)(a, shift), bias);
	b = V(subs_epu16)(V(mulhi_epi16)(b, shift), bias);
	v_store_rows(V(packus_epi16)(a, b), out, out + stride);
}

static DLB_INLINE void idct_8x8(const struct dlb_idct_job *job,
				const int16_t *block, uint32_t step,
				uint8_t *out, struct bits *bits)
{
	const int16_t *q = job->quant;
	vec d[8], low[8], high[8], w[8];

	UNROLLED
	for (uint32_t y = 0; y < 8; y++)
		d[y] = load_row(block, q, y, step, bits);
	columns4(V(unpacklo_epi16)(d[0], d[4]), V(unpacklo_epi16)(d[2], d[6]),
		 V(unpacklo_epi16)(d[1], d[3]), V(unpacklo_epi16)(d[5], d[7]),
		 low);
	columns4(V(unpackhi_epi16)(d[0], d[4]), V(unpackhi_epi16)(d[2], d[6]),
		 V(unpackhi_epi16)(d[1], d[3]), V(unpackhi_epi16)(d[5], d[7]),
		 high);
	UNROLLED
	for (uint32_t y = 0; y < 8; y++)
		w[y] = V(packs_epi32)(low[y], high[y]);
	UNROLLED
	for (uint32_t y = 0; y < 8; y += 2)
		finish_rows(row8(w[y]), row8(w[y + 1]),
			    out + y * job->stride_bytes, job->stride_bytes,
			    bits);
}

/* Only the 4 x 4 lowest frequencies: half the columns, half the products */
static DLB_INLINE void idct_4x4(const struct dlb_idct_job *job,
				const int16_t *block, uint32_t step,
				uint8_t *out, struct bits *bits)
{
	static const uint8_t at02[2][16] ALIGNED16 = {
		WORD_PAIR(WORD_AT(0), WORD_AT(2)),
		WORD_PAIR(WORD_AT(4), WORD_AT(6)),
	};
	static const uint8_t at13[2][16] ALIGNED16 = {
		WORD_PAIR(WORD_AT(1), WORD_AT(3)),
		WORD_PAIR(WORD_AT(5), WORD_AT(7)),
	};
	const int16_t *q = job->quant;
	vec round = V(set1_epi32)(1 << (DLB_PASS1_SHIFT - 1));
	vec d[4], e[4], o[4], p02, p13, w[8];

	UNROLLED
	for (uint32_t y = 0; y < 4; y++)
		d[y] = load_row(block, q, y, step, bits);
	p02 = V(unpacklo_epi16)(d[0], d[2]);
	p13 = V(unpacklo_epi16)(d[1], d[3]);
	e[0] = v_dot(round, p02, PAIR(DLB_C0, DLB_C2));
	e[1] = v_dot(round, p02, PAIR(DLB_C0, DLB_C6));
	e[2] = v_dot(round, p02, PAIR(DLB_C0, -DLB_C6));
	e[3] = v_dot(round, p02, PAIR(DLB_C0, -DLB_C2));
	o[0] = V(madd_epi16)(p13, PAIR(DLB_O0_1, DLB_O0_3));
	o[1] = V(madd_epi16)(p13, PAIR(DLB_O1_1, DLB_O1_3));
	o[2] = V(madd_epi16)(p13, PAIR(DLB_O2_1, DLB_O2_3));
	o[3] = V(madd_epi16)(p13, PAIR(DLB_O3_1, DLB_O3_3));
	UNROLLED
	for (int i = 0; i < 4; i++) {
		w[i] = V(srai_epi32)(V(add_epi32)(e[i], o[i]),
				     DLB_PASS1_SHIFT);
		w[7 - i] = V(srai_epi32)(V(sub_epi32)(e[i], o[i]),
					 DLB_PASS1_SHIFT);
	}
	UNROLLED
	for (uint32_t y = 0; y < 8; y += 2) {
		vec two = V(packs_epi32)(w[y], w[y + 1]);

		finish_rows(row4(two, at02[0], at13[0]),
			    row4(two, at02[1], at13[1]),
			    out + y * job->stride_bytes, job->stride_bytes,
			    bits);
	}
}

/* DC alone: both passes are exact shifts, so one rounding is left */
static DLB_INLINE void idct_dc(const struct dlb_idct_job *job,
			       const int16_t *block, uint32_t step,
			       uint8_t *out, struct bits *bits)
{
	static const uint8_t first[16] ALIGNED16 = {
		0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1,
	};
	vec c = V(shuffle_epi8)(v_gather(block, step), v_lanes(first));
	vec d = V(mullo_epi16)(c, V(set1_epi16)(job->quant[0]));
	vec x = V(add_epi16)(
		V(srai_epi16)(V(adds_epi16)(d, V(set1_epi16)(4)), 3),
		V(set1_epi16)(DLB_RANGE_BIAS));
	vec bias = V(set1_epi16)(DLB_RANGE_BIAS - 128);

	bits->coef = v_or(bits->coef, V(abs_epi16)(c));
	bits->range = v_or(bits->range,
			   V(slli_epi16)(x, FRACTION_BITS));
	x = V(subs_epu16)(x, bias);
	x = V(packus_epi16)(x, x);
	for (uint32_t y = 0; y < 8; y += 2, out += 2 * job->stride_bytes)
		v_store_rows(x, out, out + job->stride_bytes);
}

/* The block at @block in every lane (@step 0), or one a lane */
static DLB_INLINE void idct_group(const struct dlb_idct_job *job, uint32_t i,
				  uint32_t nr, uint32_t step,
				  struct bits *bits)
{
	const int16_t *block = job->blocks + (size_t)i * DLB_BLOCK_COEFS;
	uint8_t *out = job->out + (size_t)i * 8;
	uint8_t last = 0;

	for (uint32_t k = 0; k < nr; k++)
		last = job->last[i + k] > last ? job->last[i + k] : last;
	if (!last)
		idct_dc(job, block, step, out, bits);
	else if (last <= DLB_LAST_4X4)
		idct_4x4(job, block, step, out, bits);
	else
		idct_8x8(job, block, step, out, bits);
}

/* A lone block writes a whole vector too: what follows is overwritten later */
static void idct(struct dlb_idct_job *job)
{
	struct bits bits = { v_zero(), v_zero() };
	uint32_t i = 0;

	for (; job->nr - i >= LANES; i += LANES)
		idct_group(job, i, LANES, DLB_BLOCK_COEFS, &bits);
	for (; i < job->nr; i++)
		idct_group(job, i, 1, 0, &bits);
	job->coef_bits |= v_any(bits.coef);
	job->range_bits |= v_any(bits.range) >> FRACTION_BITS;
}

/* Weights of two bytes side by side */
#define TRIANGLE V(set1_epi16)(0x0103)
#define TRIANGLE3 V(set1_epi16)(0x0309)

/* Words of even and odd pixels, shifted and joined to bytes side by side */
static DLB_INLINE vec join_pixels(vec even, vec odd, int shift)
{
	vec low = V(srli_epi16)(even, shift);
	vec high = V(slli_epi16)(odd, 8 - shift);

	return v_select(V(set1_epi16)((int16_t)0xff00), high, low);
}

static DLB_INLINE vec up_h2_half(vec left, vec right)
{
	vec even = V(maddubs_epi16)(left, TRIANGLE);
	vec odd = V(maddubs_epi16)(right, TRIANGLE);

	return join_pixels(V(add_epi16)(even, V(set1_epi16)(1)),
			   V(add_epi16)(odd, V(set1_epi16)(2)), 2);
}

static void up_h2(const uint8_t *in, uint32_t n, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i += VEC_BYTES) {
		vec x = v_load(in + i);
		vec left = v_load(in + i - 1), right = v_load(in + i + 1);

		v_store_halves(out + 2 * (size_t)i,
			       up_h2_half(V(unpacklo_epi8)(x, left),
					  V(unpacklo_epi8)(x, right)),
			       up_h2_half(V(unpackhi_epi8)(x, left),
					  V(unpackhi_epi8)(x, right)));
	}
}

static void up_v2(const uint8_t *near, const uint8_t *far, uint32_t n,
		  uint32_t bias, uint8_t *out)
{
	vec round = V(set1_epi16)((int16_t)bias);

	for (uint32_t i = 0; i < n; i += VEC_BYTES) {
		vec a = v_load(near + i), b = v_load(far + i);
		vec low = V(maddubs_epi16)(V(unpacklo_epi8)(a, b), TRIANGLE);
		vec high = V(maddubs_epi16)(V(unpackhi_epi8)(a, b), TRIANGLE);

		low = V(srli_epi16)(V(add_epi16)(low, round), 2);
		high = V(srli_epi16)(V(add_epi16)(high, round), 2);
		v_store(out + i, V(packus_epi16)(low, high));
	}
}

/* Near and far rows side by side: at the sample, before it, behind it */
static DLB_INLINE vec up_hv2_half(vec at, vec left, vec right)
{
	vec three = V(maddubs_epi16)(at, TRIANGLE3);
	vec even = V(add_epi16)(three, V(maddubs_epi16)(left, TRIANGLE));
	vec odd = V(add_epi16)(three, V(maddubs_epi16)(right, TRIANGLE));

	return join_pixels(V(add_epi16)(even, V(set1_epi16)(8)),
			   V(add_epi16)(odd, V(set1_epi16)(7)), 4);
}

static void up_hv2(const uint8_t *near, const uint8_t *far, uint32_t n,
		   uint8_t *out)
{
	for (uint32_t i = 0; i < n; i += VEC_BYTES) {
		vec a = v_load(near + i), b = v_load(far + i);
		vec al = v_load(near + i - 1), bl = v_load(far + i - 1);
		vec ar = v_load(near + i + 1), br = v_load(far + i + 1);

		v_store_halves(out + 2 * (size_t)i,
			       up_hv2_half(V(unpacklo_epi8)(a, b),
					   V(unpacklo_epi8)(al, bl),
					   V(unpacklo_epi8)(ar, br)),
			       up_hv2_half(V(unpackhi_epi8)(a, b),
					   V(unpackhi_epi8)(al, bl),
					   V(unpackhi_epi8)(ar, br)));
	}
}

/* Bytes 4j..4j+3 of a lane, each twice as a word */
#define TWICE(j) \
	{ 4 * (j), 128, 4 * (j), 128, 4 * (j) + 1, 128, 4 * (j) + 1, 128, \
	  4 * (j) + 2, 128, 4 * (j) + 2, 128, 4 * (j) + 3, 128, \
	  4 * (j) + 3, 128 }

/* LANES * 4 pixels: @y twice, @c: 2 * (Cr - 128), 2 * (Cb - 128), words each */
static DLB_INLINE vec ycc_group(vec y, vec c)
{
	static const uint8_t order[16] ALIGNED16 = {
		0, 9, 1, 8, 2, 11, 3, 10, 4, 13, 5, 12, 6, 15, 7, 14,
	};
	vec red_blue = V(mulhrs_epi16)(c, PAIR(DLB_MUL_RED, DLB_MUL_BLUE));
	vec green = v_dot(V(set1_epi32)(1 << 15), c,
			  PAIR(DLB_MUL_GREEN_CR, DLB_MUL_GREEN_CB));

	/* The shifted sum is the upper word; the lower becomes 255 below */
	green = v_select(V(set1_epi32)((int32_t)0xffff0000u), green,
			 V(set1_epi32)(0x7fff));
	red_blue = V(add_epi16)(red_blue, y);
	green = V(adds_epi16)(green, y);
	return V(shuffle_epi8)(V(packus_epi16)(red_blue, green),
			       v_lanes(order));
}

static DLB_INLINE void ycc_chunk(const uint8_t *const planes[3], uint32_t i,
				 uint8_t *out)
{
	static const uint8_t twice[4][16] ALIGNED16 = {
		TWICE(0), TWICE(1), TWICE(2), TWICE(3),
	};
	vec sign = V(set1_epi8)((char)0x80), zero = v_zero();
	vec y = v_spread(v_load(planes[0] + i));
	vec cb = v_xor(v_spread(v_load(planes[1] + i)), sign);
	vec cr = v_xor(v_spread(v_load(planes[2] + i)), sign);
	vec c[4], low = V(unpacklo_epi8)(cr, cb);
	vec high = V(unpackhi_epi8)(cr, cb);

	c[0] = V(unpacklo_epi8)(zero, low);
	c[1] = V(unpackhi_epi8)(zero, low);
	c[2] = V(unpacklo_epi8)(zero, high);
	c[3] = V(unpackhi_epi8)(zero, high);
	for (int j = 0; j < 4; j++)
		v_store(out + j * VEC_BYTES,
			ycc_group(V(shuffle_epi8)(y, v_lanes(twice[j])),
				  V(srai_epi16)(c[j], 7)));
}

static DLB_INLINE void rgb_chunk(const uint8_t *const planes[3], uint32_t i,
				 uint8_t *out)
{
	vec r = v_spread(v_load(planes[0] + i));
	vec g = v_spread(v_load(planes[1] + i));
	vec b = v_spread(v_load(planes[2] + i));
	vec x = V(set1_epi8)((char)0xff);
	vec rg = V(unpacklo_epi8)(r, g), bx = V(unpacklo_epi8)(b, x);

	v_store(out, V(unpacklo_epi16)(rg, bx));
	v_store(out + VEC_BYTES, V(unpackhi_epi16)(rg, bx));
	rg = V(unpackhi_epi8)(r, g);
	bx = V(unpackhi_epi8)(b, x);
	v_store(out + 2 * VEC_BYTES, V(unpacklo_epi16)(rg, bx));
	v_store(out + 3 * VEC_BYTES, V(unpackhi_epi16)(rg, bx));
}

static DLB_INLINE void grey_chunk(const uint8_t *const planes[3], uint32_t i,
				  uint8_t *out)
{
	const uint8_t *const same[3] = { planes[0], planes[0], planes[0] };

	rgb_chunk(same, i, out);
}

/* Whole chunks to @out, the rest by way of a chunk on the stack */
#define DEFINE_COLOUR(name)						\
static void name(const uint8_t *const planes[3], uint32_t n, uint8_t *out) \
{									\
	uint8_t rest[4 * VEC_BYTES] __attribute__((aligned(64)));	\
	uint32_t i = 0;							\
									\
	for (; i + VEC_BYTES <= n; i += VEC_BYTES)			\
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
