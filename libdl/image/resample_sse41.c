// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * SSE4.1 kernels: what a vector is for resample_madd.h, which holds the
 * arithmetic.  There is no fused multiply-add, so the standard deviation is
 * divided by.  Documentation/pixels.rst, "Resize" and "Cast".
 */
#include <immintrin.h>

#define VEC_BYTES 16
#define vec __m128i
#define vecf __m128
#define V(op) _mm_##op
#define _mm_setzero_vec _mm_setzero_si128
#define _mm_and_vec _mm_and_si128

static inline vec v_load(const void *at)
{
	return _mm_loadu_si128(at);
}

static inline void v_store(void *at, vec v)
{
	_mm_storeu_si128(at, v);
}

static inline vec v_load2(const void *low, const void *high)
{
	(void)high;
	return _mm_loadu_si128(low);
}

static inline vec v_lane_set(int a, int b, int c, int d)
{
	return _mm_setr_epi32(a, b, c, d);
}

static inline vec v_natural(vec v)
{
	return v;
}

static inline vec v_lines(vec v)
{
	return v;
}

static inline void v_store_rgb(void *at, vec v)
{
	_mm_storeu_si128(at, v);
}

static inline vecf f_load(const float *at)
{
	return _mm_loadu_ps(at);
}

static inline vecf f_set1(float f)
{
	return _mm_set1_ps(f);
}

static inline vecf f_from_int(vec v)
{
	return _mm_cvtepi32_ps(v);
}

static inline vecf f_mul(vecf a, vecf b)
{
	return _mm_mul_ps(a, b);
}

static inline vecf f_sub(vecf a, vecf b)
{
	return _mm_sub_ps(a, b);
}

static inline vecf f_mul_add(vecf a, vecf b, vecf c)
{
	return _mm_add_ps(_mm_mul_ps(a, b), c);
}

static inline vecf f_divide(vecf u, vecf rstd_hi, vecf rstd_lo, vecf std)
{
	(void)rstd_hi;
	(void)rstd_lo;
	return _mm_div_ps(u, std);
}

static inline void f_stream(void *at, vecf f)
{
	_mm_stream_ps(at, f);
}

static inline void f_store(void *at, vecf f)
{
	_mm_storeu_ps(at, f);
}

#include "resample_madd.h"

const struct dlb_kernels dlb_kernels_sse41 = {
	.name = "sse4.1",
	.id = 2,
	.hpack = hpack,
	.hrow = hrow,
	.hcopy = hcopy,
	.vpack_bytes = vpack_bytes,
	.vpack = vpack,
	.vrow = vrow,
	.vbytes = vbytes,
	.finish = finish,
};
