/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Shared by the two halves of the AVX-512 kernels: digits and their sums.
 */
#ifndef DLB_IMAGE_RESAMPLE_AVX512_H
#define DLB_IMAGE_RESAMPLE_AVX512_H

#include "resample_int.h"

#include <immintrin.h>

#define DLB_INLINE inline __attribute__((always_inline))

/* A weight = low + 256 * mid + 65536 * high, each a signed byte */
struct digits512 {
	int8_t low, mid, high;
};

/* Holds for |weight| < 1.99 * 2^22; those of every filter are below 1.5 */
static inline struct digits512 digits512_of(int32_t weight)
{
	struct digits512 d;

	d.low = (int8_t)weight;
	weight = (weight - d.low) >> 8;
	d.mid = (int8_t)weight;
	d.high = (int8_t)((weight - d.mid) >> 8);
	return d;
}

/* 2^21 as a number of the highest digit */
#define ROUND512 (1 << 5)

/* 2^21 + the sum of four products in each dword */
static DLB_INLINE __m512i sum512_one(__m512i x, __m512i low, __m512i mid,
				     __m512i high)
{
	__m512i sum = _mm512_set1_epi32(ROUND512);

	sum = _mm512_dpbusd_epi32(sum, x, high);
	sum = _mm512_slli_epi32(sum, 8);
	sum = _mm512_dpbusd_epi32(sum, x, mid);
	sum = _mm512_slli_epi32(sum, 8);
	return _mm512_dpbusd_epi32(sum, x, low);
}

static DLB_INLINE __m512i sum512_join(__m512i low, __m512i mid, __m512i high)
{
	high = _mm512_add_epi32(_mm512_slli_epi32(high, 8), mid);
	return _mm512_add_epi32(_mm512_slli_epi32(high, 8), low);
}

size_t dlb_avx512_hpack(const struct dlb_taps *taps, uint32_t in_px,
			void *packed);
void dlb_avx512_hrow(const void *packed, const struct dlb_lines *lines,
		     const uint8_t *row, uint8_t *out, uint8_t *tmp);
void dlb_avx512_hcopy(const struct dlb_lines *lines, const uint8_t *row,
		      uint8_t *out);

#endif /* DLB_IMAGE_RESAMPLE_AVX512_H */
