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
#define v_or3(a, b, c) _mm512_ternarylogic_epi32(a, b, c, 0xfe)
#define v_select(mask, a, b) _mm512_ternarylogic_epi32(mask, a, b, 0xca)
#define v_xor _mm512_xor_si512
#define v_zero _mm512_setzero_si512
#define v_lanes(p) \
	_mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)(p)))
#define v_spread(v) \
	_mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, \
						   2, 6, 10, 14, 3, 7, 11, 15), \
				 v)
#define v_blend_odd(a, b) _mm512_mask_blend_epi16(0xaaaaaaaau, a, b)
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

/* First rows of the four lanes, then second rows; bytes 0 7 1 6 2 5 3 4 */
static const uint8_t row_order[64] __attribute__((aligned(64))) = {
	0, 2, 4, 6, 7, 5, 3, 1,
	16, 18, 20, 22, 23, 21, 19, 17,
	32, 34, 36, 38, 39, 37, 35, 33,
	48, 50, 52, 54, 55, 53, 51, 49,
	8, 10, 12, 14, 15, 13, 11, 9,
	24, 26, 28, 30, 31, 29, 27, 25,
	40, 42, 44, 46, 47, 45, 43, 41,
	56, 58, 60, 62, 63, 61, 59, 57,
};

static inline void v_store_rows(__m512i v, uint8_t *a, uint8_t *b)
{
	v = _mm512_permutexvar_epi8(_mm512_load_si512(row_order), v);
	_mm256_storeu_si256((__m256i *)a, _mm512_castsi512_si256(v));
	_mm256_storeu_si256((__m256i *)b, _mm512_extracti64x4_epi64(v, 1));
}

static inline void v_store_halves(uint8_t *p, __m512i a, __m512i b)
{
	v_store(p, _mm512_permutex2var_epi64(a,
		_mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b));
	v_store(p + 64, _mm512_permutex2var_epi64(a,
		_mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b));
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
