// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * AVX2 kernels of the reconstruction: recon_x86.h with two lanes.  Runs only
 * where resample_dispatch.c has found the instructions.
 */
#include <stdint.h>
#include <immintrin.h>

#define vec __m256i
#define VEC_BYTES 32
#define V(op) _mm256_##op
#define v_load(p) _mm256_loadu_si256((const __m256i *)(p))
#define v_store(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define v_or _mm256_or_si256
#define v_or3(a, b, c) v_or(v_or(a, b), c)
#define v_select(mask, a, b) \
	v_or(_mm256_and_si256(a, mask), _mm256_andnot_si256(mask, b))
#define v_xor _mm256_xor_si256
#define v_zero _mm256_setzero_si256
#define v_lanes(p) \
	_mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(p)))
#define v_gather(p, step) \
	_mm256_inserti128_si256(_mm256_castsi128_si256( \
		_mm_load_si128((const __m128i *)(p))), \
		_mm_load_si128((const __m128i *)((p) + (step))), 1)
#define v_spread(v) \
	_mm256_permutevar8x32_epi32(v, \
		_mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7))
#define v_blend_odd(a, b) _mm256_blend_epi16(a, b, 0xaa)
#define v_dot(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))

static inline uint16_t v_any(__m256i v)
{
	__m128i x = _mm_or_si128(_mm256_castsi256_si128(v),
				 _mm256_extracti128_si256(v, 1));

	x = _mm_or_si128(x, _mm_srli_si128(x, 8));
	x = _mm_or_si128(x, _mm_srli_si128(x, 4));
	x = _mm_or_si128(x, _mm_srli_si128(x, 2));
	return (uint16_t)_mm_extract_epi16(x, 0);
}

/* Two rows of bytes 0 7 1 6 2 5 3 4 */
static const uint8_t row_order[16] __attribute__((aligned(16))) = {
	0, 2, 4, 6, 7, 5, 3, 1, 8, 10, 12, 14, 15, 13, 11, 9,
};

static inline void v_store_rows(__m256i v, uint8_t *a, uint8_t *b)
{
	v = _mm256_shuffle_epi8(v, v_lanes(row_order));
	v = _mm256_permute4x64_epi64(v, 0xd8);
	_mm_storeu_si128((__m128i *)a, _mm256_castsi256_si128(v));
	_mm_storeu_si128((__m128i *)b, _mm256_extracti128_si256(v, 1));
}

static inline void v_store_halves(uint8_t *p, __m256i a, __m256i b)
{
	v_store(p, _mm256_permute2x128_si256(a, b, 0x20));
	v_store(p + 32, _mm256_permute2x128_si256(a, b, 0x31));
}

#include "recon_x86.h"

const struct dlb_recon_kernels dlb_recon_kernels_avx2 = {
	.name = "avx2",
	.idct = idct,
	.up_h2 = up_h2,
	.up_v2 = up_v2,
	.up_hv2 = up_hv2,
	.ycc = ycc,
	.rgb = rgb,
	.grey = grey,
};
