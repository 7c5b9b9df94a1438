// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * SSE4.1 kernels of the reconstruction: recon_x86.h with one lane.  Runs only
 * where resample_dispatch.c has found the instructions.
 */
#include <stdint.h>
#include <smmintrin.h>

#define vec __m128i
#define VEC_BYTES 16
#define V(op) _mm_##op
#define v_load(p) _mm_loadu_si128((const __m128i *)(p))
#define v_store(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define v_or _mm_or_si128
#define v_or3(a, b, c) v_or(v_or(a, b), c)
#define v_select(mask, a, b) \
	v_or(_mm_and_si128(a, mask), _mm_andnot_si128(mask, b))
#define v_xor _mm_xor_si128
#define v_zero _mm_setzero_si128
#define v_lanes(p) _mm_load_si128((const __m128i *)(p))
#define v_gather(p, step) ((void)(step), v_lanes(p))
#define v_spread(v) (v)
#define v_blend_odd(a, b) _mm_blend_epi16(a, b, 0xaa)
#define v_dot(sum, a, b) _mm_add_epi32(sum, _mm_madd_epi16(a, b))

static inline uint16_t v_any(__m128i v)
{
	v = _mm_or_si128(v, _mm_srli_si128(v, 8));
	v = _mm_or_si128(v, _mm_srli_si128(v, 4));
	v = _mm_or_si128(v, _mm_srli_si128(v, 2));
	return (uint16_t)_mm_extract_epi16(v, 0);
}

/* Two rows of bytes 0 7 1 6 2 5 3 4 */
static const uint8_t row_order[16] __attribute__((aligned(16))) = {
	0, 2, 4, 6, 7, 5, 3, 1, 8, 10, 12, 14, 15, 13, 11, 9,
};

static inline void v_store_rows(__m128i v, uint8_t *a, uint8_t *b)
{
	v = _mm_shuffle_epi8(v, v_lanes(row_order));
	_mm_storel_epi64((__m128i *)a, v);
	_mm_storeh_pd((double *)b, _mm_castsi128_pd(v));
}

static inline void v_store_halves(uint8_t *p, __m128i a, __m128i b)
{
	v_store(p, a);
	v_store(p + 16, b);
}

#include "recon_x86.h"

const struct dlb_recon_kernels dlb_recon_kernels_sse41 = {
	.name = "sse4.1",
	.idct = idct,
	.up_h2 = up_h2,
	.up_v2 = up_v2,
	.up_hv2 = up_hv2,
	.ycc = ycc,
	.rgb = rgb,
	.grey = grey,
};
