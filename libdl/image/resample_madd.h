/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Kernels on PMADDWD, written once for vectors of one or two 16-byte lanes: a
 * body that resample_sse41.c and resample_avx2.c include after they have said
 * what a vector is.  A 23-bit weight is split at bit 11, samples become 16 bits
 * wide, and two taps at a time are multiplied by either half; 32-bit sums of
 * the halves, joined, are the sum of the products.
 *
 * The includer defines (vec, vecf: vector types)
 *	VEC_BYTES, V(op)	16 or 32; intrinsic name of an integer op
 *	v_load2(low, high)	16 bytes at each of two addresses, or one
 *	v_natural(), v_lines()	bytes: order of lines <-> natural
 *	v_store_rgb()		pixels, three bytes each, in natural order
 *	f_*			float arithmetic and stores
 *	HAS_HALF		f_store_half() exists
 * Lines hold blocks of VEC_BYTES in the order packing makes (natural for one
 * lane); unpacking undoes it.
 */
#include "resample_int.h"

#include <string.h>

#include <immintrin.h>

#include <dlboost/recipe.h>

#define DLB_INLINE inline __attribute__((always_inline))

#define SPLIT_BITS 11
#define LANES (VEC_BYTES / 16)
#define GROUP (4 * LANES)		/* pixels in a vector */
#define CHUNK 4u			/* taps at a time */
#define FLOATS (VEC_BYTES / 4)

struct hplan {
	uint32_t nr_outputs;
	uint32_t nr_chunks;
	uint32_t data_bytes;	/* from here to the weights */
} __attribute__((aligned(64)));

/*
 * Weights of one vector of outputs for one chunk; the lanes of vector i of a
 * group are outputs i and i + 4
 */
struct hweights {
	int16_t high01[VEC_BYTES / 2];
	int16_t high23[VEC_BYTES / 2];
	int16_t low01[VEC_BYTES / 2];
	int16_t low23[VEC_BYTES / 2];
};

static int16_t high_of(int32_t weight)
{
	return (int16_t)(weight >> SPLIT_BITS);
}

static int16_t low_of(int32_t weight)
{
	return (int16_t)(weight & ((1 << SPLIT_BITS) - 1));
}

static uint32_t round_up32(uint32_t n, uint32_t multiple)
{
	return (n + multiple - 1) / multiple * multiple;
}

/* Tap @tap of an output, whose lane is @lane, into its chunk: all channels */
static void put_tap(struct hweights *to, uint32_t lane, uint32_t tap,
		    int32_t weight)
{
	int16_t *high = tap & 2 ? to->high23 : to->high01;
	int16_t *low = tap & 2 ? to->low23 : to->low01;

	for (uint32_t c = 0; c < 4; c++) {
		high[lane * 8 + c * 2 + (tap & 1)] = high_of(weight);
		low[lane * 8 + c * 2 + (tap & 1)] = low_of(weight);
	}
}

static void pack_outputs(const struct dlb_taps *taps, uint32_t in_px,
			 struct hplan *plan)
{
	uint32_t *where = (uint32_t *)(plan + 1);
	struct hweights *weights = (void *)((char *)plan + plan->data_bytes);
	/* Whole chunks end within the slack behind the row */
	uint32_t last = in_px + DLB_MIN_ROW_PIXELS - CHUNK * plan->nr_chunks;

	for (uint32_t o = 0; o < taps->nr; o++) {
		uint32_t first = taps->first[o];
		uint32_t base = first < last ? first : last;
		uint32_t vector = o / GROUP * 4 + o % 4;

		where[o] = base * DLB_PIXEL_BYTES;
		for (uint32_t k = 0; k < taps->count[o]; k++) {
			uint32_t tap = first + k - base;

			put_tap(&weights[(size_t)vector * plan->nr_chunks +
					 tap / CHUNK],
				o % GROUP / 4, tap % CHUNK,
				taps->weight[(size_t)o * taps->stride + k]);
		}
	}
}

static size_t hpack(const struct dlb_taps *taps, uint32_t in_px, void *packed)
{
	uint32_t nr = round_up32(taps->nr, GROUP);
	struct hplan plan;
	size_t bytes;

	memset(&plan, 0, sizeof(plan));
	plan.nr_outputs = taps->nr;
	plan.nr_chunks = (dlb_taps_max(taps) + CHUNK - 1) / CHUNK;
	plan.data_bytes = sizeof(plan) + round_up32(nr * 4, 64);
	bytes = plan.data_bytes + (size_t)(nr / LANES) * plan.nr_chunks *
				  sizeof(struct hweights);
	if (packed) {
		memset(packed, 0, bytes);
		memcpy(packed, &plan, sizeof(plan));
		pack_outputs(taps, in_px, packed);
	}
	return bytes;
}

static DLB_INLINE vec join_halves(vec high, vec low)
{
	vec sum = V(add_epi32)(V(slli_epi32)(high, SPLIT_BITS), low);

	return V(add_epi32)(sum, V(set1_epi32)(1 << 21));
}

static DLB_INLINE vec mul_taps(vec a, vec b, const int16_t *wa,
			       const int16_t *wb)
{
	return V(add_epi32)(V(madd_epi16)(a, v_load((const void *)wa)),
			    V(madd_epi16)(b, v_load((const void *)wb)));
}

/* One vector of outputs: (sum + 2^21) >> 22 of R, G, B, X in each lane */
static DLB_INLINE vec sum_outputs(const uint8_t *row, const uint32_t *where,
				  const struct hweights *weights,
				  uint32_t nr_chunks)
{
	const vec pair01 = v_lane_set(0x80048000, 0x80058001, 0x80068002,
				      0x80078003);
	const vec pair23 = v_lane_set(0x800c8008, 0x800d8009, 0x800e800a,
				      0x800f800b);
	const uint8_t *low_at = row + where[0];
	const uint8_t *high_at = row + where[LANES == 2 ? 4 : 0];
	vec high = V(setzero_vec)(), low = high;

	for (uint32_t c = 0; c < nr_chunks; c++, weights++) {
		vec px = v_load2(low_at + 16 * c, high_at + 16 * c);
		vec a = V(shuffle_epi8)(px, pair01);
		vec b = V(shuffle_epi8)(px, pair23);

		high = V(add_epi32)(high, mul_taps(a, b, weights->high01,
						   weights->high23));
		low = V(add_epi32)(low, mul_taps(a, b, weights->low01,
						 weights->low23));
	}
	return V(srai_epi32)(join_halves(high, low), DLB_COEFF_BITS);
}

static DLB_INLINE vec pack_sums(const vec v[4])
{
	return V(packus_epi16)(V(packs_epi32)(v[0], v[1]),
			       V(packs_epi32)(v[2], v[3]));
}

/* A group of outputs -> their pixels in natural order */
static DLB_INLINE vec sum_group(const uint8_t *row, const uint32_t *where,
				const struct hweights *weights,
				uint32_t nr_chunks)
{
	vec v[4];

	for (uint32_t i = 0; i < 4; i++)
		v[i] = sum_outputs(row, where + i, weights + i * nr_chunks,
				   nr_chunks);
	return pack_sums(v);
}

/* R, G, B and X of four pixels in each lane, four bytes of one kind together */
static DLB_INLINE vec split_pixels(vec pixels)
{
	return V(shuffle_epi8)(pixels, v_lane_set(0x0c080400, 0x0d090501,
						  0x0e0a0602, 0x0f0b0703));
}

/* Four vectors of pixels -> one vector of each plane, in the order of lines */
static DLB_INLINE void store_planes(const struct dlb_lines *lines,
				    const vec pixels[4], uint8_t *out)
{
	vec t0 = split_pixels(pixels[0]), t1 = split_pixels(pixels[1]);
	vec t2 = split_pixels(pixels[2]), t3 = split_pixels(pixels[3]);
	vec rg01 = V(unpacklo_epi32)(t0, t1), rg23 = V(unpacklo_epi32)(t2, t3);
	uint32_t red = lines->is_bgr ? 2 * lines->stride_bytes : 0;
	uint32_t blue = lines->is_bgr ? 0 : 2 * lines->stride_bytes;

	v_store(out + red, V(unpacklo_epi64)(rg01, rg23));
	v_store(out + lines->stride_bytes, V(unpackhi_epi64)(rg01, rg23));
	v_store(out + blue, V(unpacklo_epi64)(V(unpackhi_epi32)(t0, t1),
					      V(unpackhi_epi32)(t2, t3)));
}

/* Natural order for now; order_packed() follows when the row is complete */
static DLB_INLINE void store_packed(const struct dlb_lines *lines,
				    const vec pixels[4], uint8_t *out)
{
	const vec rgb = v_lane_set(0x04020100, 0x09080605, 0x0e0d0c0a, -1);
	const vec bgr = v_lane_set(0x06000102, 0x090a0405, 0x0c0d0e08, -1);
	vec ctrl = lines->is_bgr ? bgr : rgb;

	for (uint32_t j = 0; j < 4; j++)
		v_store_rgb(out + 3 * GROUP * j,
			    V(shuffle_epi8)(pixels[j], ctrl));
}

static void order_packed(const struct dlb_lines *lines, uint8_t *out)
{
	if (LANES == 1)
		return;
	for (uint32_t at = 0; at < 3 * lines->width; at += VEC_BYTES)
		v_store(out + at, v_lines(v_load(out + at)));
}

static DLB_INLINE void store_block(const struct dlb_lines *lines,
				   const vec pixels[4], uint8_t *out,
				   uint32_t x)
{
	if (lines->is_packed)
		store_packed(lines, pixels, out + 3 * (size_t)x);
	else
		store_planes(lines, pixels, out + x);
}

static void hcopy(const struct dlb_lines *lines, const uint8_t *row,
		  uint8_t *out)
{
	for (uint32_t x = 0; x < lines->width; x += 4 * GROUP) {
		vec pixels[4];

		for (uint32_t j = 0; j < 4; j++)
			pixels[j] = v_load(row + 4 * (size_t)(x + GROUP * j));
		store_block(lines, pixels, out, x);
	}
	if (lines->is_packed)
		order_packed(lines, out);
}

static DLB_INLINE void sum_row(const struct hplan *plan,
			       const struct dlb_lines *lines,
			       const uint8_t *row, uint8_t *out,
			       uint32_t nr_chunks)
{
	const uint32_t *where = (const uint32_t *)(plan + 1);
	const struct hweights *weights = (const void *)((const char *)plan +
							plan->data_bytes);

	for (uint32_t x = 0; x < plan->nr_outputs; x += 4 * GROUP) {
		vec pixels[4];

		for (uint32_t j = 0; j < 4; j++) {
			if (x + GROUP * j >= plan->nr_outputs) {
				pixels[j] = V(setzero_vec)();
				continue;
			}
			pixels[j] = sum_group(row, where, weights, nr_chunks);
			where += GROUP;
			weights += 4 * (size_t)nr_chunks;
		}
		store_block(lines, pixels, out, x);
	}
	if (lines->is_packed)
		order_packed(lines, out);
}

static void hrow(const void *packed, const struct dlb_lines *lines,
		 const uint8_t *row, uint8_t *out, uint8_t *tmp)
{
	const struct hplan *plan = packed;

	(void)tmp;
	if (plan->nr_chunks == 1)
		sum_row(plan, lines, row, out, 1);
	else
		sum_row(plan, lines, row, out, plan->nr_chunks);
}

/* Of four taps: the pairs (0, 2) and (1, 3), high and low halves */
struct vweights {
	int16_t high02[2], high13[2], low02[2], low13[2];
};

static size_t vpack_bytes(uint32_t nr_taps)
{
	return (size_t)((nr_taps + CHUNK - 1) / CHUNK) *
	       sizeof(struct vweights);
}

static void vpack(const int32_t *weight, uint32_t nr_taps, void *packed)
{
	struct vweights *out = packed;

	for (uint32_t k = 0; k < nr_taps; k += CHUNK, out++)
		for (uint32_t i = 0; i < 2; i++) {
			const int32_t *w = weight + k + 2 * i;

			out->high02[i] = high_of(w[0]);
			out->high13[i] = high_of(w[1]);
			out->low02[i] = low_of(w[0]);
			out->low13[i] = low_of(w[1]);
		}
}

static DLB_INLINE vec broadcast_pair(const int16_t pair[2])
{
	int32_t dword;

	memcpy(&dword, pair, 4);
	return V(set1_epi32)(dword);
}

/* Four rows -> four vectors of columns, a byte of each row in a dword */
static DLB_INLINE void interleave(const uint8_t *const *rows, size_t at,
				  vec column[4])
{
	vec r0 = v_load(rows[0] + at), r1 = v_load(rows[1] + at);
	vec r2 = v_load(rows[2] + at), r3 = v_load(rows[3] + at);
	vec a0 = V(unpacklo_epi8)(r0, r1), a1 = V(unpackhi_epi8)(r0, r1);
	vec b0 = V(unpacklo_epi8)(r2, r3), b1 = V(unpackhi_epi8)(r2, r3);

	column[0] = V(unpacklo_epi16)(a0, b0);
	column[1] = V(unpackhi_epi16)(a0, b0);
	column[2] = V(unpacklo_epi16)(a1, b1);
	column[3] = V(unpackhi_epi16)(a1, b1);
}

/* (sum + 2^21) >> 22 of VEC_BYTES columns */
static DLB_INLINE void sum_columns(const uint8_t *const *rows, size_t at,
				   const struct vweights *weights,
				   uint32_t nr_taps, vec out[4])
{
	const vec even = V(set1_epi32)(0x00ff00ff);
	vec high[4], low[4];

	for (uint32_t j = 0; j < 4; j++)
		high[j] = low[j] = V(setzero_vec)();
	for (uint32_t k = 0; k < nr_taps; k += CHUNK, weights++) {
		vec high02 = broadcast_pair(weights->high02);
		vec high13 = broadcast_pair(weights->high13);
		vec low02 = broadcast_pair(weights->low02);
		vec low13 = broadcast_pair(weights->low13);
		vec column[4];

		interleave(rows + k, at, column);
		for (uint32_t j = 0; j < 4; j++) {
			vec a = V(and_vec)(column[j], even);
			vec b = V(srli_epi16)(column[j], 8);

			high[j] = V(add_epi32)(high[j], V(add_epi32)(
				V(madd_epi16)(a, high02),
				V(madd_epi16)(b, high13)));
			low[j] = V(add_epi32)(low[j], V(add_epi32)(
				V(madd_epi16)(a, low02),
				V(madd_epi16)(b, low13)));
		}
	}
	for (uint32_t j = 0; j < 4; j++)
		out[j] = V(srai_epi32)(join_halves(high[j], low[j]),
				       DLB_COEFF_BITS);
}

static void vbytes(const uint8_t *const *rows, const void *weights,
		   uint32_t nr_taps, uint32_t n, uint8_t *dst)
{
	for (uint32_t at = 0; at < n; at += VEC_BYTES) {
		vec sum[4];

		sum_columns(rows, at, weights, nr_taps, sum);
		v_store(dst + at, pack_sums(sum));
	}
}

/* VEC_BYTES bytes of a line, in natural order, from byte @at of the rows on */
static DLB_INLINE vec line_bytes(const struct dlb_vjob *job, size_t at)
{
	vec sum[4];

	if (!job->nr_taps)
		return v_natural(v_load(job->rows[0] + at));
	sum_columns(job->rows, at, job->weights, job->nr_taps, sum);
	return v_natural(pack_sums(sum));
}

/* By way of a buffer, whose size is a multiple of 3: the phase stays */
static void vline_by_table(const struct dlb_vjob *job, uint32_t line)
{
	uint32_t n = dlb_lines_elements(job->lines);
	size_t base = (size_t)line * job->lines->stride_bytes;
	size_t bytes = dlb_dtype_bytes(job->cast->cast.dtype);
	uint8_t buf[192];

	for (uint32_t at = 0; at < n; at += sizeof(buf)) {
		uint32_t left = n - at < sizeof(buf) ? n - at : sizeof(buf);

		for (uint32_t i = 0; i < left; i += VEC_BYTES)
			v_store(buf + i, line_bytes(job, base + at + i));
		dlb_cast_by_table(job->cast, line, buf, left,
				  (uint8_t *)job->dst[line] + at * bytes);
	}
}

/* Constants of the cast for three phases of an interleaved line, or one */
struct consts {
	vecf mean[3], rstd_hi[3], rstd_lo[3], std[3];
	vecf inv_hi, inv_lo;
};

static DLB_INLINE void load_consts(struct consts *c,
				   const struct dlb_cast_plan *cast,
				   uint32_t line, bool is_packed)
{
	const struct dlb_cast_line *from = &cast->line[line];

	for (int i = 0; i < (is_packed ? 3 : 1); i++) {
		c->mean[i] = f_load(from->mean + i);
		c->rstd_hi[i] = f_load(from->rstd_hi + i);
		c->rstd_lo[i] = f_load(from->rstd_lo + i);
		c->std[i] = f_load(from->std + i);
	}
	c->inv_hi = f_set1(cast->inv_hi);
	c->inv_lo = f_set1(cast->inv_lo);
}

static DLB_INLINE vecf cast_vector(vec x, const struct consts *c, int phase)
{
	vecf f = f_from_int(x);
	vecf t = f_mul_add(f, c->inv_hi, f_mul(f, c->inv_lo));
	vecf u = f_sub(t, c->mean[phase]);

	return f_divide(u, c->rstd_hi[phase], c->rstd_lo[phase],
			c->std[phase]);
}

/* Values 0..255 of VEC_BYTES columns as dwords */
static DLB_INLINE void line_values(const struct dlb_vjob *job, size_t at,
				   uint32_t nr_taps, vec value[4])
{
	if (!nr_taps) {
		vec zero = V(setzero_vec)();
		vec v = v_load(job->rows[0] + at);
		vec low = V(unpacklo_epi8)(v, zero);
		vec high = V(unpackhi_epi8)(v, zero);

		value[0] = V(unpacklo_epi16)(low, zero);
		value[1] = V(unpackhi_epi16)(low, zero);
		value[2] = V(unpacklo_epi16)(high, zero);
		value[3] = V(unpackhi_epi16)(high, zero);
		return;
	}
	sum_columns(job->rows, at, job->weights, nr_taps, value);
	if (job->has_clamp)
		for (uint32_t j = 0; j < 4; j++)
			value[j] = V(min_epi32)(V(set1_epi32)(255),
				V(max_epi32)(value[j], V(setzero_vec)()));
}

static DLB_INLINE void store_floats(void *dst, uint32_t dtype, vecf f,
				    bool is_streaming)
{
#ifdef HAS_HALF
	if (dtype != DLBOOST_DTYPE_F32) {
		f_store_half(dst, f, dtype == DLBOOST_DTYPE_F16);
		return;
	}
#else
	(void)dtype;
#endif
	if (is_streaming)
		f_stream(dst, f);
	else
		f_store(dst, f);
}

/* @nr_taps: a constant where the common case is expanded */
static DLB_INLINE void vline_float(const struct dlb_vjob *job, uint32_t line,
				   uint32_t nr_taps, uint32_t dtype,
				   bool is_packed, bool is_streaming)
{
	uint32_t n = dlb_lines_elements(job->lines);
	size_t base = (size_t)line * job->lines->stride_bytes;
	size_t bytes = dtype == DLBOOST_DTYPE_F32 ? 4 : 2;
	uint8_t *dst = job->dst[line];
	float buf[VEC_BYTES];
	struct consts c;

	load_consts(&c, job->cast, line, is_packed);
	for (uint32_t at = 0; at < n; at += VEC_BYTES) {
		bool is_whole = n - at >= VEC_BYTES;
		uint8_t *to = is_whole ? dst : (uint8_t *)buf;
		vec value[4];

		line_values(job, base + at, nr_taps, value);
		for (uint32_t j = 0; j < 4; j++) {
			uint32_t first = at + FLOATS * j;
			int phase = is_packed ? (int)(first % 3) : 0;

			store_floats(to + FLOATS * j * bytes, dtype,
				     cast_vector(value[j], &c, phase),
				     is_streaming);
		}
		if (!is_whole)
			memcpy(dst, buf, (n - at) * bytes);
		dst += VEC_BYTES * bytes;
	}
}

static void vline_u8(const struct dlb_vjob *job, uint32_t line)
{
	uint32_t n = dlb_lines_elements(job->lines), at;
	size_t base = (size_t)line * job->lines->stride_bytes;
	uint8_t *dst = job->dst[line], buf[VEC_BYTES];

	for (at = 0; at + VEC_BYTES <= n; at += VEC_BYTES)
		v_store(dst + at, line_bytes(job, base + at));
	if (at < n) {
		v_store(buf, line_bytes(job, base + at));
		memcpy(dst + at, buf, n - at);
	}
}

static void vline_any_float(const struct dlb_vjob *job, uint32_t line)
{
	uint32_t dtype = job->cast->cast.dtype, nr_taps = job->nr_taps;
	bool is_packed = job->lines->is_packed;
	bool is_common = dtype == DLBOOST_DTYPE_F32 && nr_taps &&
			 nr_taps <= CHUNK;

	if (is_common && job->is_streaming && !is_packed)
		vline_float(job, line, CHUNK, DLBOOST_DTYPE_F32, false, true);
	else if (is_common && is_packed)
		vline_float(job, line, CHUNK, DLBOOST_DTYPE_F32, true, false);
	else if (is_common)
		vline_float(job, line, CHUNK, DLBOOST_DTYPE_F32, false, false);
	else if (is_packed)
		vline_float(job, line, nr_taps, dtype, true, false);
	else
		vline_float(job, line, nr_taps, dtype, false, false);
}

static void vrow(const struct dlb_vjob *job)
{
	uint32_t dtype = job->cast->cast.dtype;
	bool has_vectors = dtype == DLBOOST_DTYPE_F32;

#ifdef HAS_HALF
	has_vectors = true;
#endif
	for (uint32_t line = 0; line < dlb_lines_nr(job->lines); line++) {
		if (dtype == DLBOOST_DTYPE_U8)
			vline_u8(job, line);
		else if (job->cast->is_fast && has_vectors)
			vline_any_float(job, line);
		else
			vline_by_table(job, line);
	}
}

/* Streaming stores are ordered by no other fence */
static void finish(void)
{
	_mm_sfence();
}
