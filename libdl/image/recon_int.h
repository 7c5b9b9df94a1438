/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Between the streaming part of the reconstruction and its kernels, one file an
 * instruction set.  All sets give the same bytes; recon_c.c is the definition.
 *
 * The inverse DCT is the accurate integer method of Loeffler, Ligtenberg and
 * Moschytz with 13-bit constants, as in IJG's jidctint.c.  Its integer sums are
 * linear in the samples, so any grouping of the products gives the same bits as
 * long as nothing overflows; with 16-bit input 32-bit sums cannot (61213 * 2^15
 * and the rounding stay below 2^31).
 *
 * Where libjpeg-turbo's C and SIMD code agree: products with the quantisation
 * table fit 16 bits, and every sample before clipping lies in -512..511 (the C
 * code wraps beyond, the SIMD code does not).  The second implies the rest: by
 * Parseval a block of such samples has no coefficient above 4104 and no
 * intermediate above 16416, so no 16-bit sum of two in any build overflows; and
 * an intermediate that saturates here, at 32767, forces a sample beyond 1000.
 */
#ifndef DLB_IMAGE_RECON_INT_H
#define DLB_IMAGE_RECON_INT_H

#include "recon.h"

/* Kernels may read and write so many bytes behind (not before) a row's end */
#define DLB_RECON_SLACK_BYTES 128u
/* Before a strip's first sample: keeps rows aligned, holds the left border */
#define DLB_RECON_LEFT_BYTES 64u

/* Constants of the inverse DCT: cosines times sqrt(2) * 2^13, as IJG sums them */
#define DLB_C0 8192
#define DLB_C2 10703
#define DLB_C6 4433
#define DLB_C6_NEG 10704	/* 15137 - 4433: not DLB_C2, by rounding */
/* Odd outputs: contribution of inputs 1, 3, 5, 7 to each pair of outputs */
#define DLB_O0_1 11363
#define DLB_O0_3 9633
#define DLB_O0_5 6437
#define DLB_O0_7 2260
#define DLB_O1_1 9633
#define DLB_O1_3 (-2259)
#define DLB_O1_5 (-11362)
#define DLB_O1_7 (-6436)
#define DLB_O2_1 6437
#define DLB_O2_3 (-11362)
#define DLB_O2_5 2261
#define DLB_O2_7 9633
#define DLB_O3_1 2260
#define DLB_O3_3 (-6436)
#define DLB_O3_5 9633
#define DLB_O3_7 (-11363)

#define DLB_PASS1_SHIFT 11
#define DLB_PASS2_SHIFT 18
/* Samples plus this many have none of the bits below, or are out of range */
#define DLB_RANGE_BIAS 512
#define DLB_RANGE_MASK 0xfc00u
/* Last zigzag index inside the 4 x 4 lowest frequencies */
#define DLB_LAST_4X4 9

/*
 * Colour, for 2 * (c - 128), c the chroma: products that round like IJG's 16-bit
 * tables for all 256 values (recon_test.c)
 */
#define DLB_MUL_RED 22971	/* 1.402 * 2^14 */
#define DLB_MUL_BLUE 29033	/* 1.772 * 2^14 */
#define DLB_MUL_GREEN_CB (-11277)	/* -0.34414 * 2^15 */
#define DLB_MUL_GREEN_CR (-23401)	/* -0.71414 * 2^15 */

/**
 * struct dlb_idct_job - Blocks that lie side by side, to samples
 * @blocks: coefficients, 16-byte aligned
 * @last: zigzag index of each block's last one; what lies behind is not read
 * @nr: blocks
 * @quant: 64 entries, 64-byte aligned, each at most 32767
 * @out: first sample of the first row; 8 rows
 * @stride_bytes: from row to row
 * @coef_bits: all bits of the absolute values are or-ed to it
 * @range_bits: all bits of the samples before clipping, plus DLB_RANGE_BIAS
 */
struct dlb_idct_job {
	const int16_t *blocks;
	const uint8_t *last;
	uint32_t nr;
	const int16_t *quant;
	uint8_t *out;
	size_t stride_bytes;
	uint16_t coef_bits;
	uint16_t range_bits;
};

/**
 * struct dlb_recon_kernels - One instruction set
 * @name: as in DLBOOST_SIMD
 * @idct: inverse DCT of a row of blocks
 * @up_h2: triangle, @n samples to 2 * @n; in[-1] and in[n] are readable
 * @up_v2: triangle between @near and @far; @bias 1 for the upper row of a pair,
 *	2 for the lower
 * @up_hv2: triangle in both directions; borders as with @up_h2
 * @ycc: YCbCr to R, G, B, 255; writes exactly @n pixels
 * @rgb: the same for planes that are R, G, B
 * @grey: the same for one plane
 */
struct dlb_recon_kernels {
	const char *name;
	void (*idct)(struct dlb_idct_job *job);
	void (*up_h2)(const uint8_t *in, uint32_t n, uint8_t *out);
	void (*up_v2)(const uint8_t *near, const uint8_t *far, uint32_t n,
		      uint32_t bias, uint8_t *out);
	void (*up_hv2)(const uint8_t *near, const uint8_t *far, uint32_t n,
		       uint8_t *out);
	void (*ycc)(const uint8_t *const planes[3], uint32_t n, uint8_t *out);
	void (*rgb)(const uint8_t *const planes[3], uint32_t n, uint8_t *out);
	void (*grey)(const uint8_t *const planes[3], uint32_t n, uint8_t *out);
};

extern const struct dlb_recon_kernels dlb_recon_kernels_c;
extern const struct dlb_recon_kernels dlb_recon_kernels_sse41;
extern const struct dlb_recon_kernels dlb_recon_kernels_avx2;
extern const struct dlb_recon_kernels dlb_recon_kernels_avx512;
extern const struct dlb_recon_kernels dlb_recon_kernels_neon;

/* The set of the name that the resampler's choice has: one choice a process */
const struct dlb_recon_kernels *dlb_recon_kernels_get(void);

#endif /* DLB_IMAGE_RECON_INT_H */
