// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * AVX2 kernels (with FMA and F16C): what a vector is for resample_madd.h, which
 * holds the arithmetic.  Documentation/pixels.rst, "Resize" and "Cast".
 */
#include <immintrin.h>

#define VEC_BYTES 32
#define HAS_HALF
#define vec __m256i
#define vecf __m256
#define V(op) _mm256_##op
#define _mm256_setzero_vec _mm256_setzero_si256
#define _mm256_and_vec _mm256_and_si256

static inline vec v_load(const void *at)
{
	return _mm256_loadu_si256(at);
}

static inline void v_store(void *at, vec v)
{
	_mm256_storeu_si256(at, v);
}

static inline vec v_load2(const void *low, const void *high)
{
	return _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_loadu_si128(low)),
		_mm_loadu_si128(high), 1);
}

static inline vec v_lane_set(int a, int b, int c, int d)
{
	return _mm256_setr_epi32(a, b, c, d, a, b, c, d);
}

static inline vec v_natural(vec v)
{
	return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2,
								6, 3, 7));
}

static inline vec v_lines(vec v)
{
	return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 2, 4, 6, 1,
								3, 5, 7));
}

static inline void v_store_rgb(void *at, vec v)
{
	_mm_storeu_si128(at, _mm256_castsi256_si128(v));
	_mm_storeu_si128((void *)((char *)at + 12),
			 _mm256_extracti128_si256(v, 1));
}

static inline vecf f_load(const float *at)
{
	return _mm256_loadu_ps(at);
}

static inline vecf f_set1(float f)
{
	return _mm256_set1_ps(f);
}

static inline vecf f_from_int(vec v)
{
	return _mm256_cvtepi32_ps(v);
}

static inline vecf f_mul(vecf a, vecf b)
{
	return _mm256_mul_ps(a, b);
}

static inline vecf f_sub(vecf a, vecf b)
{
	return _mm256_sub_ps(a, b);
}

static inline vecf f_mul_add(vecf a, vecf b, vecf c)
{
	return _mm256_fmadd_ps(a, b, c);
}

static inline vecf f_divide(vecf u, vecf rstd_hi, vecf rstd_lo, vecf std)
{
	(void)std;
	return _mm256_fmadd_ps(u, rstd_hi, _mm256_mul_ps(u, rstd_lo));
}

static inline void f_stream(void *at, vecf f)
{
	_mm256_stream_ps(at, f);
}

static inline void f_store(void *at, vecf f)
{
	_mm256_storeu_ps(at, f);
}

static inline void f_store_half(void *at, vecf f, int is_f16)
{
	vec bits, odd;

	if (is_f16) {
		_mm_storeu_si128(at, _mm256_cvtps_ph(f,
				_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
		return;
	}
	bits = _mm256_castps_si256(f);
	odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16),
			       _mm256_set1_epi32(1));
	bits = _mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff));
	bits = _mm256_srli_epi32(_mm256_add_epi32(bits, odd), 16);
	bits = _mm256_packus_epi32(bits, bits);
	bits = _mm256_permute4x64_epi64(bits, 0x08);
	_mm_storeu_si128(at, _mm256_castsi256_si128(bits));
}

#include "resample_madd.h"

const struct dlb_kernels dlb_kernels_avx2 = {
	.name = "avx2",
	.id = 3,
	.hpack = hpack,
	.hrow = hrow,
	.hcopy = hcopy,
	.vpack_bytes = vpack_bytes,
	.vpack = vpack,
	.vrow = vrow,
	.vbytes = vbytes,
	.finish = finish,
};
