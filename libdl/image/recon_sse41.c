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
#define v_and _mm_and_si128
#define v_xor _mm_xor_si128
#define v_zero _mm_setzero_si128
#define v_lanes(p) _mm_load_si128((const __m128i *)(p))
#define v_gather(p, step) ((void)(step), v_lanes(p))
#define v_widen(p) _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(p)))
#define v_spread(v) (v)
#define v_dot(sum, a, b) _mm_add_epi32(sum, _mm_madd_epi16(a, b))

static inline uint16_t v_any(__m128i v)
{
	v = _mm_or_si128(v, _mm_srli_si128(v, 8));
	v = _mm_or_si128(v, _mm_srli_si128(v, 4));
	v = _mm_or_si128(v, _mm_srli_si128(v, 2));
	return (uint16_t)_mm_extract_epi16(v, 0);
}

static inline void v_store_rows(__m128i v, uint8_t *a, uint8_t *b)
{
	_mm_storel_epi64((__m128i *)a, v);
	_mm_storeh_pd((double *)b, _mm_castsi128_pd(v));
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
