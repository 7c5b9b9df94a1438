// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * AVX-512 kernels of the reconstruction: recon_x86.h with four lanes, and VNNI
 * for sums of products.  Runs only where resample_dispatch.c has found the
 * instructions.
 */
#include <stdint.h>
#include <immintrin.h>

#define vec __m512i
#define VEC_BYTES 64
#define V(op) _mm512_##op
#define v_load(p) _mm512_loadu_si512(p)
#define v_store(p, v) _mm512_storeu_si512(p, v)
#define v_or _mm512_or_si512
#define v_and _mm512_and_si512
#define v_xor _mm512_xor_si512
#define v_zero _mm512_setzero_si512
#define v_lanes(p) \
	_mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)(p)))
#define v_widen(p) \
	_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(p)))
#define v_spread(v) \
	_mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, \
						   2, 6, 10, 14, 3, 7, 11, 15), \
				 v)
#define v_dot(sum, a, b) _mm512_dpwssd_epi32(sum, a, b)

static inline __m512i v_gather(const int16_t *p, uint32_t step)
{
	const __m128i *a = (const __m128i *)p;
	const __m128i *b = (const __m128i *)(p + step);
	const __m128i *c = (const __m128i *)(p + 2 * step);
	const __m128i *d = (const __m128i *)(p + 3 * step);
	__m256i low = _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_load_si128(a)), _mm_load_si128(b),
		1);
	__m256i high = _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_load_si128(c)), _mm_load_si128(d),
		1);

	return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

static inline uint16_t v_any(__m512i v)
{
	uint32_t bits = (uint32_t)_mm512_reduce_or_epi32(v);

	return (uint16_t)(bits | bits >> 16);
}

static inline void v_store_rows(__m512i v, uint8_t *a, uint8_t *b)
{
	v = _mm512_permutexvar_epi64(
		_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), v);
	_mm256_storeu_si256((__m256i *)a, _mm512_castsi512_si256(v));
	_mm256_storeu_si256((__m256i *)b, _mm512_extracti64x4_epi64(v, 1));
}

#include "recon_x86.h"

const struct dlb_recon_kernels dlb_recon_kernels_avx512 = {
	.name = "avx512",
	.idct = idct,
	.up_h2 = up_h2,
	.up_v2 = up_v2,
	.up_hv2 = up_hv2,
	.ycc = ycc,
	.rgb = rgb,
	.grey = grey,
};
