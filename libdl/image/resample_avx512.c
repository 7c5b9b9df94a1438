// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * AVX-512 kernels (F, BW, VL, DQ, VBMI, VNNI): vertical pass, cast and the
 * exchange of layouts.  A 23-bit weight is three signed digits to the base 256,
 * so that VPDPBUSD multiplies four bytes by four digits exactly; 32-bit sums of
 * the digits, shifted, are the sum of the products.
 * Lines hold each block of 64 bytes as a 4 x 4 transposed matrix of dwords:
 * packing makes that order and unpacking undoes it, so neither costs a shuffle.
 * The horizontal pass is in resample_avx512_h.c; see resample_int.h.
 */
#include "resample_avx512.h"

#include <string.h>

#include <dlboost/recipe.h>

static size_t vpack_bytes(uint32_t nr_taps)
{
	return (size_t)((nr_taps + 3) / 4) * 12;
}

static void vpack(const int32_t *weight, uint32_t nr_taps, void *packed)
{
	uint8_t *out = packed;

	for (uint32_t k = 0; k < nr_taps; k += 4, out += 12)
		for (uint32_t i = 0; i < 4; i++) {
			struct digits512 d = digits512_of(weight[k + i]);

			out[i] = (uint8_t)d.low;
			out[4 + i] = (uint8_t)d.mid;
			out[8 + i] = (uint8_t)d.high;
		}
}

static DLB_INLINE __m512i broadcast_digits(const uint8_t *at)
{
	int32_t dword;

	memcpy(&dword, at, 4);
	return _mm512_set1_epi32(dword);
}

/* Four rows of 64 bytes -> four vectors of columns, a byte of each row */
static DLB_INLINE void interleave(const uint8_t *const *rows, size_t at,
				  __m512i column[4])
{
	__m512i r0 = _mm512_loadu_si512(rows[0] + at);
	__m512i r1 = _mm512_loadu_si512(rows[1] + at);
	__m512i r2 = _mm512_loadu_si512(rows[2] + at);
	__m512i r3 = _mm512_loadu_si512(rows[3] + at);
	__m512i a0 = _mm512_unpacklo_epi8(r0, r1);
	__m512i a1 = _mm512_unpackhi_epi8(r0, r1);
	__m512i b0 = _mm512_unpacklo_epi8(r2, r3);
	__m512i b1 = _mm512_unpackhi_epi8(r2, r3);

	column[0] = _mm512_unpacklo_epi16(a0, b0);
	column[1] = _mm512_unpackhi_epi16(a0, b0);
	column[2] = _mm512_unpacklo_epi16(a1, b1);
	column[3] = _mm512_unpackhi_epi16(a1, b1);
}

/* Sums of 64 columns before the shift by 22; up to four taps */
static DLB_INLINE void sum_four(const uint8_t *const *rows, size_t at,
				const __m512i digits[3], __m512i sum[4])
{
	__m512i column[4];

	interleave(rows, at, column);
	for (int j = 0; j < 4; j++)
		sum[j] = sum512_one(column[j], digits[0], digits[1], digits[2]);
}

static DLB_INLINE void sum_few(const struct dlb_vjob *job, size_t at,
			       __m512i sum[4])
{
	const uint8_t *weights = job->weights;
	const __m512i digits[3] = {
		broadcast_digits(weights),
		broadcast_digits(weights + 4),
		broadcast_digits(weights + 8),
	};

	sum_four(job->rows, at, digits, sum);
}

/* The same for any number of taps */
static DLB_INLINE void sum_many(const uint8_t *const *rows, size_t at,
				const uint8_t *weights, uint32_t nr_taps,
				__m512i sum[4])
{
	__m512i low[4], mid[4], high[4];

	for (int j = 0; j < 4; j++) {
		low[j] = _mm512_setzero_si512();
		mid[j] = low[j];
		high[j] = _mm512_set1_epi32(ROUND512);
	}
	for (uint32_t k = 0; k < nr_taps; k += 4, weights += 12) {
		__m512i d0 = broadcast_digits(weights);
		__m512i d1 = broadcast_digits(weights + 4);
		__m512i d2 = broadcast_digits(weights + 8);
		__m512i column[4];

		interleave(rows + k, at, column);
		for (int j = 0; j < 4; j++) {
			low[j] = _mm512_dpbusd_epi32(low[j], column[j], d0);
			mid[j] = _mm512_dpbusd_epi32(mid[j], column[j], d1);
			high[j] = _mm512_dpbusd_epi32(high[j], column[j], d2);
		}
	}
	for (int j = 0; j < 4; j++)
		sum[j] = sum512_join(low[j], mid[j], high[j]);
}

/* Sums -> bytes, packed in the order of lines */
static DLB_INLINE __m512i pack_sums(const __m512i sum[4])
{
	__m512i v0 = _mm512_srai_epi32(sum[0], 22);
	__m512i v1 = _mm512_srai_epi32(sum[1], 22);
	__m512i v2 = _mm512_srai_epi32(sum[2], 22);
	__m512i v3 = _mm512_srai_epi32(sum[3], 22);

	return _mm512_packus_epi16(_mm512_packs_epi32(v0, v1),
				   _mm512_packs_epi32(v2, v3));
}

static void vbytes(const uint8_t *const *rows, const void *weights,
		   uint32_t nr_taps, uint32_t n, uint8_t *dst)
{
	/* Natural order in: unpacking and packing give it back */
	for (uint32_t at = 0; at < n; at += 64) {
		__m512i sum[4];

		sum_many(rows, at, weights, nr_taps, sum);
		_mm512_storeu_si512(dst + at, pack_sums(sum));
	}
}

/* Constants of the cast for three phases of an interleaved line, or one */
struct consts {
	__m512 mean[3], rstd_hi[3], rstd_lo[3];
	__m512 inv_hi, inv_lo;
};

/*
 * x / 255 is kept 2^32 times as large: a byte repeated four times is
 * floor(x / 255 * 2^32), never a float's tie, and its remainder is not zero
 * unless x is, so rounding up gives the float nearest to the quotient.
 */
static DLB_INLINE void load_consts(struct consts *c,
				   const struct dlb_cast_plan *cast,
				   uint32_t line, bool is_packed)
{
	const struct dlb_cast_line *from = &cast->line[line];
	bool is_big = !cast->cast.has_scale_mul;
	__m512 up = _mm512_set1_ps(is_big ? 0x1p32f : 1.0f);
	__m512 down = _mm512_set1_ps(is_big ? 0x1p-32f : 1.0f);

	for (int i = 0; i < 3; i++) {
		int at = is_packed ? i : 0;

		c->mean[i] = _mm512_mul_ps(_mm512_loadu_ps(from->mean + at),
					   up);
		c->rstd_hi[i] = _mm512_mul_ps(
			_mm512_loadu_ps(from->rstd_hi + at), down);
		c->rstd_lo[i] = _mm512_mul_ps(
			_mm512_loadu_ps(from->rstd_lo + at), down);
	}
	c->inv_hi = _mm512_set1_ps(cast->inv_hi);
	c->inv_lo = _mm512_set1_ps(cast->inv_lo);
}

/* Byte 0 of each dword, repeated */
static DLB_INLINE __m512i repeat_byte(__m512i v)
{
	const __m512i ctrl = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808,
					       0x04040404, 0x00000000);

	return _mm512_shuffle_epi8(v, ctrl);
}

/* Bits 22 to 29 of each dword, repeated */
static DLB_INLINE __m512i repeat_sum(__m512i sum)
{
	const __m512i ctrl = _mm512_set1_epi64(0x3636363616161616);

	return _mm512_multishift_epi64_epi8(ctrl, sum);
}

static DLB_INLINE __m512 normalise(__m512 t, const struct consts *c, int phase)
{
	__m512 u = _mm512_sub_ps(t, c->mean[phase]);

	return _mm512_fmadd_ps(u, c->rstd_hi[phase],
			       _mm512_mul_ps(u, c->rstd_lo[phase]));
}

static DLB_INLINE __m512 cast_repeated(__m512i repeated,
				       const struct consts *c, int phase)
{
	__m512 t = _mm512_cvt_roundepu32_ps(repeated, _MM_FROUND_TO_POS_INF |
					    _MM_FROUND_NO_EXC);

	return normalise(t, c, phase);
}

static DLB_INLINE __m512 cast_scaled(__m512i x, const struct consts *c,
				     int phase)
{
	__m512 f = _mm512_cvtepi32_ps(x);
	__m512 t = _mm512_fmadd_ps(f, c->inv_hi, _mm512_mul_ps(f, c->inv_lo));

	return normalise(t, c, phase);
}

static DLB_INLINE __m256i half_of(__m512 f, uint32_t dtype)
{
	const __m512i one = _mm512_set1_epi32(1);
	__m512i bits, odd;

	if (dtype == DLBOOST_DTYPE_F16)
		return _mm512_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT |
				       _MM_FROUND_NO_EXC);
	/* To nearest even by hand: the instruction flushes subnormals */
	bits = _mm512_castps_si512(f);
	odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
	bits = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
	bits = _mm512_add_epi32(bits, odd);
	return _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16));
}

/* The line's end may need a mask, which is slow on Zen 4 */
static DLB_INLINE void store_f32(float *dst, uint32_t left, __m512 f,
				 bool is_streaming)
{
	if (is_streaming)
		_mm512_stream_ps(dst, f);
	else if (left >= 16)
		_mm512_storeu_ps(dst, f);
	else
		_mm512_mask_storeu_ps(dst, (__mmask16)((1u << left) - 1), f);
}

static DLB_INLINE void store_half(uint8_t *dst, uint32_t left, __m256i half,
				  bool is_streaming)
{
	if (is_streaming)
		_mm256_stream_si256((void *)dst, half);
	else if (left >= 16)
		_mm256_storeu_si256((void *)dst, half);
	else
		_mm256_mask_storeu_epi16(dst, (__mmask16)((1u << left) - 1),
					 half);
}

/* What a kernel is expanded for */
struct form {
	uint32_t dtype;
	bool is_mul;		/* scale=mul */
	bool is_streaming;
};

/*
 * 64 values in 0..255 as dwords; @left of them are wanted.  @first: phase of
 * an interleaved line; the constants of a plane are the same in each.
 */
static DLB_INLINE void cast_block(const __m512i value[4],
				  const struct consts *c, struct form form,
				  uint8_t *dst, uint32_t left, int first)
{
	for (int j = 0; j < 4; j++) {
		uint32_t at = 16u * (unsigned int)j;
		int phase = (first + j) % 3;
		__m512 f = form.is_mul ?
			   cast_scaled(value[j], c, phase) :
			   cast_repeated(repeat_byte(value[j]), c, phase);

		if (left <= at)
			return;
		if (form.dtype == DLBOOST_DTYPE_F32)
			store_f32((float *)dst + at, left - at, f,
				  form.is_streaming);
		else
			store_half(dst + 2 * (size_t)at, left - at,
				   half_of(f, form.dtype), form.is_streaming);
	}
}

static DLB_INLINE __m512i natural_order(__m512i packed)
{
	const __m512i index = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13,
						2, 6, 10, 14, 3, 7, 11, 15);

	return _mm512_permutexvar_epi32(index, packed);
}

/* Byte-masked stores run in microcode on Zen 4 */
static void store_tail(uint8_t *dst, uint32_t left, __m512i packed)
{
	uint8_t buf[64];

	_mm512_storeu_si512(buf, packed);
	memcpy(dst, buf, left);
}

static DLB_INLINE void store_bytes(uint8_t *dst, uint32_t left, __m512i packed,
				   bool is_streaming)
{
	packed = natural_order(packed);
	if (is_streaming)
		_mm512_stream_si512((void *)dst, packed);
	else if (left >= 64)
		_mm512_storeu_si512(dst, packed);
	else
		store_tail(dst, left, packed);
}

static DLB_INLINE void widen(__m512i packed, __m512i value[4])
{
	__m512i bytes = natural_order(packed);

	value[0] = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(bytes));
	value[1] = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 1));
	value[2] = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 2));
	value[3] = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 3));
}

static DLB_INLINE void clamp(__m512i sum[4])
{
	for (int j = 0; j < 4; j++) {
		__m512i v = _mm512_srai_epi32(sum[j], 22);

		v = _mm512_max_epi32(v, _mm512_setzero_si512());
		sum[j] = _mm512_min_epi32(v, _mm512_set1_epi32(255));
	}
}

/* Bytes of a line in natural order by way of a buffer, then the table */
static void vrow_by_table(const struct dlb_vjob *job, uint32_t line)
{
	uint32_t n = dlb_lines_elements(job->lines);
	size_t base = (size_t)line * job->lines->stride_bytes;
	size_t bytes = dlb_dtype_bytes(job->cast->cast.dtype);
	uint8_t buf[192];

	/* 192 is a multiple of 3: an interleaved line keeps its phase */
	for (uint32_t at = 0; at < n; at += 192) {
		uint32_t left = n - at < 192 ? n - at : 192;

		for (uint32_t i = 0; i < left; i += 64) {
			__m512i sum[4], packed;

			packed = _mm512_loadu_si512(job->rows[0] + base + at +
						    i);
			if (job->nr_taps) {
				sum_many(job->rows, base + at + i,
					 job->weights, job->nr_taps, sum);
				packed = pack_sums(sum);
			}
			_mm512_storeu_si512(buf + i, natural_order(packed));
		}
		dlb_cast_by_table(job->cast, line, buf, left,
				  (uint8_t *)job->dst[line] + at * bytes);
	}
}

static DLB_INLINE void line_values(const struct dlb_vjob *job, size_t at,
				   __m512i value[4])
{
	if (!job->nr_taps) {
		widen(_mm512_loadu_si512(job->rows[0] + at), value);
		return;
	}
	if (job->nr_taps <= 4)
		sum_few(job, at, value);
	else
		sum_many(job->rows, at, job->weights, job->nr_taps, value);
	clamp(value);
}

/* Any number of taps, any filter; three blocks at a time, so phases fit */
static DLB_INLINE void vline_any(const struct dlb_vjob *job, uint32_t line,
				 struct form form)
{
	uint32_t n = dlb_lines_elements(job->lines);
	size_t base = (size_t)line * job->lines->stride_bytes;
	size_t bytes = form.dtype == DLBOOST_DTYPE_F32 ? 4 : 2;
	uint8_t *dst = job->dst[line];
	struct consts c;

	load_consts(&c, job->cast, line, job->lines->is_packed);
	for (uint32_t at = 0; at < n; at += 192)
		for (uint32_t b = 0; b < 3 && at + 64 * b < n; b++) {
			uint32_t from = at + 64 * b;
			__m512i value[4];

			line_values(job, base + from, value);
			cast_block(value, &c, form, dst + from * bytes,
				   n - from, (int)b);
		}
}

static void vline_form(const struct dlb_vjob *job, uint32_t line)
{
	const struct dlb_cast *cast = &job->cast->cast;
	bool is_streaming = job->is_streaming;

#define FORM(type, mul) \
	((struct form){ DLBOOST_DTYPE_##type, mul, is_streaming })
	if (cast->dtype == DLBOOST_DTYPE_F16 && cast->has_scale_mul)
		vline_any(job, line, FORM(F16, true));
	else if (cast->dtype == DLBOOST_DTYPE_F16)
		vline_any(job, line, FORM(F16, false));
	else if (cast->dtype == DLBOOST_DTYPE_BF16 && cast->has_scale_mul)
		vline_any(job, line, FORM(BF16, true));
	else if (cast->dtype == DLBOOST_DTYPE_BF16)
		vline_any(job, line, FORM(BF16, false));
	else if (cast->has_scale_mul)
		vline_any(job, line, FORM(F32, true));
	else
		vline_any(job, line, FORM(F32, false));
#undef FORM
}

/* Sums of a block to floats; @first: phase of an interleaved line */
static DLB_INLINE void f32_block(const __m512i sum[4], const struct consts *c,
				 float *dst, uint32_t left, int first,
				 bool is_streaming)
{
	for (int j = 0; j < 4; j++) {
		__m512 f = cast_repeated(repeat_sum(sum[j]), c,
					 (first + j) % 3);

		if (left > 16u * (unsigned int)j)
			store_f32(dst + 16 * j, left - 16u * (unsigned int)j,
				  f, is_streaming);
	}
}

/* The common case: up to four taps, no clamp, f32 by true division */
static DLB_INLINE void vline_f32(const struct dlb_vjob *job, uint32_t line,
				 bool is_streaming)
{
	uint32_t n = dlb_lines_elements(job->lines), at;
	size_t base = (size_t)line * job->lines->stride_bytes;
	const uint8_t *weights = job->weights;
	const __m512i digits[3] = {
		broadcast_digits(weights),
		broadcast_digits(weights + 4),
		broadcast_digits(weights + 8),
	};
	float *dst = job->dst[line];
	__m512i sum[4];
	struct consts c;

	load_consts(&c, job->cast, line, false);
	for (at = 0; at + 64 <= n; at += 64) {
		sum_four(job->rows, base + at, digits, sum);
		f32_block(sum, &c, dst + at, 64, 0, is_streaming);
	}
	if (at < n) {
		sum_four(job->rows, base + at, digits, sum);
		f32_block(sum, &c, dst + at, n - at, 0, is_streaming);
	}
}

/* The same for an interleaved line, three blocks at a time: the phases fit */
static DLB_INLINE void vline_f32_packed(const struct dlb_vjob *job,
					bool is_streaming)
{
	uint32_t n = dlb_lines_elements(job->lines);
	const uint8_t *weights = job->weights;
	const __m512i digits[3] = {
		broadcast_digits(weights),
		broadcast_digits(weights + 4),
		broadcast_digits(weights + 8),
	};
	float *dst = job->dst[0];
	struct consts c;

	load_consts(&c, job->cast, 0, true);
	for (uint32_t at = 0; at < n; at += 192)
		for (uint32_t b = 0; b < 3 && at + 64 * b < n; b++) {
			__m512i sum[4];

			sum_four(job->rows, at + 64 * b, digits, sum);
			f32_block(sum, &c, dst + at + 64 * b, n - at - 64 * b,
				  (int)b, is_streaming);
		}
}

static void vline_u8(const struct dlb_vjob *job, uint32_t line)
{
	uint32_t n = dlb_lines_elements(job->lines);
	size_t base = (size_t)line * job->lines->stride_bytes;
	uint8_t *dst = job->dst[line];

	for (uint32_t at = 0; at < n; at += 64) {
		__m512i packed = _mm512_loadu_si512(job->rows[0] + base + at);
		__m512i sum[4];

		if (job->nr_taps > 4) {
			sum_many(job->rows, base + at, job->weights,
				 job->nr_taps, sum);
			packed = pack_sums(sum);
		} else if (job->nr_taps) {
			sum_few(job, base + at, sum);
			packed = pack_sums(sum);
		}
		store_bytes(dst + at, n - at, packed, job->is_streaming);
	}
}

static void vline_common(const struct dlb_vjob *job, uint32_t line)
{
	if (job->lines->is_packed) {
		if (job->is_streaming)
			vline_f32_packed(job, true);
		else
			vline_f32_packed(job, false);
	} else if (job->is_streaming) {
		vline_f32(job, line, true);
	} else {
		vline_f32(job, line, false);
	}
}

static void vrow(const struct dlb_vjob *job)
{
	const struct dlb_cast_plan *cast = job->cast;
	bool is_common = cast->cast.dtype == DLBOOST_DTYPE_F32 &&
			 !cast->cast.has_scale_mul && !job->has_clamp &&
			 job->nr_taps && job->nr_taps <= 4;

	for (uint32_t line = 0; line < dlb_lines_nr(job->lines); line++) {
		if (cast->cast.dtype == DLBOOST_DTYPE_U8)
			vline_u8(job, line);
		else if (!cast->is_fast)
			vrow_by_table(job, line);
		else if (is_common)
			vline_common(job, line);
		else
			vline_form(job, line);
	}
}

/* Streaming stores are ordered by no other fence */
static void finish(void)
{
	_mm_sfence();
}

const struct dlb_kernels dlb_kernels_avx512 = {
	.name = "avx512",
	.id = 4,
	.hpack = dlb_avx512_hpack,
	.hrow = dlb_avx512_hrow,
	.hcopy = dlb_avx512_hcopy,
	.vpack_bytes = vpack_bytes,
	.vpack = vpack,
	.vrow = vrow,
	.vbytes = vbytes,
	.finish = finish,
};
