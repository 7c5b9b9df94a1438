// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The kernels in plain C: what all others must equal, byte for byte, and what
 * runs where no other does.  An output is (2^21 + sum) >> 22, clipped to a
 * byte, of the sum of samples times weights; sum_plainly() is that as it
 * stands.  Where no weight is negative and taps are few, which is most
 * pictures, weights are taken in pieces; else rows are summed by pairs of
 * taps, columns plainly.  Lines are in natural order here.
 * See resample_int.h for the words.
 */
#include "resample_int.h"

#include <endian.h>
#include <string.h>

#include <dlboost/recipe.h>

#define C_INLINE inline __attribute__((always_inline))
#define u16x8 uint16_t __attribute__((vector_size(16)))

/*
 * By pieces.  A weight is a * 2^14 + b * 2^9 + c * 2^4 + d: b and c have 5
 * bits, d has 4, and a is 256 at most.  All sums of samples times pieces of one
 * kind fit into 16 bits: those of b, c and d with what is carried into them are
 * below 8 * 255 * 31 + 2^11; that of a, carry and rounding included, is the
 * whole sum's upper part, below 2^16 as the weights add up to 2^22 give or take
 * a unit a tap.  Shifting from piece to piece drops the bits that one shift of
 * the whole sum would.  Every vector unit multiplies 16 bits by 16, few more.
 */
#define PIECE_TAPS 8u
#define NR_PIECES 4u

/* Sums of 16 bytes: those at even places and those at odd ones */
struct piece_sums {
	u16x8 even[NR_PIECES];
	u16x8 odd[NR_PIECES];
};

/* Of one tap; lane i is for the bytes 2 * i and 2 * i + 1 */
struct piece_weights {
	u16x8 w[NR_PIECES];
};

static void set_pieces(struct piece_weights *to, uint32_t lane, int32_t weight)
{
	to->w[0][lane] = (uint16_t)(weight >> 14);
	to->w[1][lane] = weight >> 9 & 31;
	to->w[2][lane] = weight >> 4 & 31;
	to->w[3][lane] = weight & 15;
}

static bool have_pieces(const int32_t *weight, uint32_t nr_taps)
{
	int32_t any = 0;

	if (nr_taps > PIECE_TAPS)
		return false;
	for (uint32_t k = 0; k < nr_taps; k++)
		any |= weight[k];
	return any >= 0;
}

static C_INLINE void start_pieces(struct piece_sums *sums)
{
	const u16x8 zero = { 0 };

	for (uint32_t i = 0; i < NR_PIECES; i++)
		sums->even[i] = sums->odd[i] = zero;
}

static C_INLINE void add_pieces(struct piece_sums *sums, const void *bytes,
				const struct piece_weights *weights)
{
	u16x8 both, even, odd;

	memcpy(&both, bytes, sizeof(both));
	even = both & 0xff;
	odd = both >> 8;
	for (uint32_t i = 0; i < NR_PIECES; i++) {
		sums->even[i] += even * weights->w[i];
		sums->odd[i] += odd * weights->w[i];
	}
}

/* The result is in the upper byte */
static C_INLINE u16x8 join_pieces(const u16x8 sum[NR_PIECES])
{
	u16x8 c = sum[2] + (sum[3] >> 4);
	u16x8 b = sum[1] + (c >> 5);

	return sum[0] + (b >> 5) + (1 << 7);
}

static C_INLINE void finish_pieces(const struct piece_sums *sums, void *bytes)
{
	u16x8 both = join_pieces(sums->even) >> 8 |
		     (join_pieces(sums->odd) & 0xff00);

	memcpy(bytes, &both, sizeof(both));
}

/* Outputs whose pixels are computed at once */
#define GROUP 4u

/**
 * struct c_hplan - Horizontal weights; then first and count of each output
 * @nr: outputs; room is for whole groups
 * @nr_taps: most that an output has; the others' further weights are 0
 * @data_bytes: from here to the weights
 * @is_by_pieces: weights are struct piece_weights, @nr_taps a group; else
 *	pairs, so many an output as @nr_taps needs
 */
struct c_hplan {
	uint32_t nr;
	uint32_t nr_taps;
	uint32_t data_bytes;
	bool is_by_pieces;
} __attribute__((aligned(16)));

static uint32_t round_up_group(uint32_t nr)
{
	return (nr + GROUP - 1) / GROUP * GROUP;
}

static const void *plan_weights(const struct c_hplan *plan)
{
	return (const char *)plan + plan->data_bytes;
}

static bool all_have_pieces(const struct dlb_taps *taps)
{
	for (uint32_t i = 0; i < taps->nr; i++)
		if (!have_pieces(taps->weight + (size_t)i * taps->stride,
				 taps->count[i]))
			return false;
	return true;
}

static void pack_pieces(const struct dlb_taps *taps, struct c_hplan *plan)
{
	struct piece_weights *to = (void *)((char *)plan + plan->data_bytes);

	for (uint32_t i = 0; i < taps->nr; i++) {
		const int32_t *weight = taps->weight + (size_t)i * taps->stride;
		struct piece_weights *group = to + (size_t)(i / GROUP) *
						   plan->nr_taps;

		for (uint32_t k = 0; k < taps->count[i]; k++) {
			set_pieces(group + k, i % GROUP * 2, weight[k]);
			set_pieces(group + k, i % GROUP * 2 + 1, weight[k]);
		}
	}
}

/*
 * By pairs.  One product of two samples, in the halves of 64 bits, and two
 * weights, likewise, has the sum of both products in its upper half; a start of
 * 2^31 keeps the lower half, one product of a sample and the wrong weight, from
 * borrowing.  Half the multiplications, and any sign.
 */
#define LOW_BYTES 0x000000ff000000ffu
#define PAIRS_START (1ull << (32 + 21) | 1ull << 31)

static void pack_pairs(const struct dlb_taps *taps, struct c_hplan *plan)
{
	uint64_t *to = (void *)((char *)plan + plan->data_bytes);

	for (uint32_t i = 0; i < taps->nr; i++) {
		const int32_t *weight = taps->weight + (size_t)i * taps->stride;

		/* The upper weight meets the lower sample */
		for (uint32_t k = 0; k < taps->count[i]; k++)
			to[k / 2] += (uint64_t)weight[k] << (k & 1 ? 0 : 32);
		to += (plan->nr_taps + 1) / 2;
	}
}

static size_t c_hpack(const struct dlb_taps *taps, uint32_t in_px, void *packed)
{
	uint32_t nr = round_up_group(taps->nr);
	struct c_hplan plan = {
		.nr = taps->nr,
		.nr_taps = dlb_taps_max(taps),
		.data_bytes = (uint32_t)sizeof(plan) + nr * 8,
		.is_by_pieces = all_have_pieces(taps),
	};
	size_t weight_bytes = plan.is_by_pieces ?
		(size_t)nr / GROUP * plan.nr_taps *
			sizeof(struct piece_weights) :
		(size_t)taps->nr * ((plan.nr_taps + 1) / 2) * 8;
	uint32_t *words;

	(void)in_px;
	if (!packed)
		return plan.data_bytes + weight_bytes;
	words = (uint32_t *)((struct c_hplan *)packed + 1);
	memset(packed, 0, plan.data_bytes + weight_bytes);
	memcpy(packed, &plan, sizeof(plan));
	memcpy(words, taps->first, taps->nr * sizeof(*words));
	memcpy(words + nr, taps->count, taps->nr * sizeof(*words));
	if (plan.is_by_pieces)
		pack_pieces(taps, packed);
	else
		pack_pairs(taps, packed);
	return plan.data_bytes + weight_bytes;
}

/* Past an output's own taps weights are 0 and pixels within the slack */
static C_INLINE void gather_group(const uint8_t *row, const uint32_t *first,
				  uint32_t tap, uint32_t px[GROUP])
{
	for (uint32_t i = 0; i < GROUP; i++)
		memcpy(px + i, row + ((size_t)first[i] + tap) * DLB_PIXEL_BYTES,
		       DLB_PIXEL_BYTES);
}

static void hrow_by_pieces(const struct c_hplan *plan, const uint8_t *row,
			   uint8_t *out)
{
	const uint32_t *first = (const uint32_t *)(plan + 1);
	const struct piece_weights *weights = plan_weights(plan);
	const uint32_t nr_taps = plan->nr_taps;

	for (uint32_t i = 0; i < plan->nr; i += GROUP) {
		struct piece_sums sums;

		start_pieces(&sums);
		for (uint32_t k = 0; k < nr_taps; k++, weights++) {
			uint32_t px[GROUP];

			gather_group(row, first + i, k, px);
			add_pieces(&sums, px, weights);
		}
		finish_pieces(&sums, out + (size_t)i * DLB_PIXEL_BYTES);
	}
}

static C_INLINE uint64_t load_two_pixels(const uint8_t *px)
{
	uint64_t two;

	memcpy(&two, px, sizeof(two));
	return le64toh(two);
}

static C_INLINE uint8_t clip_pairs(uint64_t sum)
{
	return dlb_round_sum((int32_t)(sum >> 32));
}

/* @fixed: pairs of every output; 0: as many as each has */
static C_INLINE void sum_pairs(const struct c_hplan *plan, uint32_t fixed,
			       const uint8_t *row, uint8_t *out)
{
	const uint32_t *first = (const uint32_t *)(plan + 1);
	const uint32_t *count = first + round_up_group(plan->nr);
	const uint64_t *weight = plan_weights(plan);

	for (uint32_t i = 0; i < plan->nr; i++, out += DLB_PIXEL_BYTES) {
		const uint8_t *px = row + (size_t)first[i] * DLB_PIXEL_BYTES;
		uint32_t nr = fixed ? fixed : (count[i] + 1) / 2;
		uint64_t r = PAIRS_START, g = PAIRS_START, b = PAIRS_START;

		for (uint32_t k = 0; k < nr; k++) {
			uint64_t two = load_two_pixels(px + (size_t)k * 8);

			r += (two & LOW_BYTES) * weight[k];
			g += (two >> 8 & LOW_BYTES) * weight[k];
			b += (two >> 16 & LOW_BYTES) * weight[k];
		}
		out[0] = clip_pairs(r);
		out[1] = clip_pairs(g);
		out[2] = clip_pairs(b);
		weight += (plan->nr_taps + 1) / 2;
	}
}

static void hrow_by_pairs(const struct c_hplan *plan, const uint8_t *row,
			  uint8_t *out)
{
	/* Counts that filters with negative lobes often have */
	switch ((plan->nr_taps + 1) / 2) {
	case 2:
		sum_pairs(plan, 2, row, out);
		break;
	case 3:
		sum_pairs(plan, 3, row, out);
		break;
	case 4:
		sum_pairs(plan, 4, row, out);
		break;
	default:
		sum_pairs(plan, 0, row, out);
	}
}

/* Elements at a time; lines and temporary rows are padded to more */
#define BLOCK 16u

static C_INLINE void split_block(const uint8_t *px, uint8_t *r, uint8_t *g,
				 uint8_t *b)
{
	uint32_t word[BLOCK];

	memcpy(word, px, sizeof(word));
	for (uint32_t i = 0; i < BLOCK; i++)
		r[i] = (uint8_t)word[i];
	for (uint32_t i = 0; i < BLOCK; i++)
		g[i] = (uint8_t)(word[i] >> 8);
	for (uint32_t i = 0; i < BLOCK; i++)
		b[i] = (uint8_t)(word[i] >> 16);
}

static void c_hcopy(const struct dlb_lines *lines, const uint8_t *row,
		    uint8_t *out)
{
	uint32_t swap = lines->is_bgr ? 2 : 0;
	size_t stride = lines->stride_bytes;

	if (!lines->is_packed) {
		for (uint32_t i = 0; i < lines->width; i += BLOCK)
			split_block(row + (size_t)i * DLB_PIXEL_BYTES,
				    out + i + swap * stride, out + i + stride,
				    out + i + (2 - swap) * stride);
		return;
	}
	/* X falls on the next pixel's place, at last on the slack */
	for (uint32_t i = 0; i < lines->width; i++, row += 4, out += 3) {
		memcpy(out, row, DLB_PIXEL_BYTES);
		if (!lines->is_bgr)
			continue;
		out[0] = row[2];
		out[2] = row[0];
	}
}

static void c_hrow(const void *packed, const struct dlb_lines *lines,
		   const uint8_t *row, uint8_t *out, uint8_t *tmp)
{
	const struct c_hplan *plan = packed;

	if (plan->is_by_pieces)
		hrow_by_pieces(plan, row, tmp);
	else
		hrow_by_pairs(plan, row, tmp);
	c_hcopy(lines, tmp, out);
}

static size_t c_vpack_bytes(uint32_t nr_taps)
{
	return (size_t)nr_taps * sizeof(int32_t);
}

static void c_vpack(const int32_t *weight, uint32_t nr_taps, void *packed)
{
	memcpy(packed, weight, (size_t)nr_taps * sizeof(*weight));
}

/* A multiple of BLOCK, and of 3: an interleaved line keeps its phase */
#define COLUMNS 240u

/* One stretch of columns by whole weights, sums kept near */
static void sum_plainly(const uint8_t *const *rows, size_t at, uint32_t n,
			const int32_t *weight, uint32_t nr_taps, uint8_t *dst)
{
	int32_t sum[COLUMNS];

	for (uint32_t i = 0; i < n; i++)
		sum[i] = 1 << 21;
	for (uint32_t k = 0; k < nr_taps; k++) {
		const uint8_t *row = rows[k] + at;
		int32_t w = weight[k];

		for (uint32_t i = 0; i < n; i++)
			sum[i] += row[i] * w;
	}
	for (uint32_t i = 0; i < n; i++)
		dst[i] = dlb_round_sum(sum[i]);
}

static void sum_by_pieces(const uint8_t *const *rows, size_t at, uint32_t n,
			  const struct piece_weights *weights, uint32_t nr_taps,
			  uint8_t *dst)
{
	for (uint32_t i = 0; i < n; i += BLOCK) {
		struct piece_sums sums;

		start_pieces(&sums);
		for (uint32_t k = 0; k < nr_taps; k++)
			add_pieces(&sums, rows[k] + at + i, weights + k);
		finish_pieces(&sums, dst + i);
	}
}

/* One output's weights, ready for any stretch of columns */
struct c_vweights {
	const int32_t *whole;
	uint32_t nr_taps;
	bool is_by_pieces;
	struct piece_weights pieces[PIECE_TAPS];
};

static void set_vweights(struct c_vweights *to, const int32_t *weight,
			 uint32_t nr_taps)
{
	to->whole = weight;
	to->nr_taps = nr_taps;
	to->is_by_pieces = have_pieces(weight, nr_taps);
	if (!to->is_by_pieces)
		return;
	for (uint32_t k = 0; k < nr_taps; k++)
		for (uint32_t lane = 0; lane < 8; lane++)
			set_pieces(to->pieces + k, lane, weight[k]);
}

static void c_sum_columns(const uint8_t *const *rows, size_t at, uint32_t n,
			  const struct c_vweights *weights, uint8_t *dst)
{
	if (weights->is_by_pieces)
		sum_by_pieces(rows, at, n, weights->pieces, weights->nr_taps,
			      dst);
	else
		sum_plainly(rows, at, n, weights->whole, weights->nr_taps, dst);
}

static void c_vbytes(const uint8_t *const *rows, const void *weights,
		     uint32_t nr_taps, uint32_t n, uint8_t *dst)
{
	struct c_vweights ready;

	set_vweights(&ready, weights, nr_taps);
	for (uint32_t at = 0; at < n; at += COLUMNS) {
		uint32_t left = n - at < COLUMNS ? n - at : COLUMNS;

		c_sum_columns(rows, at, left, &ready, dst + at);
	}
}

/* One division a float instead of a look-up; cast.c has proved it equal */
static void cast_plane(const struct dlb_cast_plan *cast, uint32_t line,
		       const uint8_t *restrict src, uint32_t n,
		       float *restrict dst)
{
	const float hi = cast->inv_hi, lo = cast->inv_lo;
	const float mean = cast->line[line].mean[0];
	const float std = cast->line[line].std[0];

	for (uint32_t i = 0; i < n; i++) {
		float x = src[i];

		dst[i] = (x * hi + x * lo - mean) / std;
	}
}

static void c_vline(const struct dlb_vjob *job, uint32_t line,
		    const uint8_t *src, uint32_t at, uint32_t n)
{
	const struct dlb_cast_plan *cast = job->cast;
	size_t bytes = dlb_dtype_bytes(cast->cast.dtype);
	uint8_t *dst = (uint8_t *)job->dst[line] + at * bytes;

	if (cast->is_fast && cast->cast.dtype == DLBOOST_DTYPE_F32 &&
	    !job->lines->is_packed && !((uintptr_t)dst & 3)) {
		cast_plane(cast, line, src, n, (float *)dst);
		return;
	}
	dlb_cast_by_table(cast, line, src, n, dst);
}

static void c_vrow(const struct dlb_vjob *job)
{
	uint32_t n = dlb_lines_elements(job->lines);
	struct c_vweights weights;
	uint8_t bytes[COLUMNS];

	set_vweights(&weights, job->weights, job->nr_taps);
	for (uint32_t line = 0; line < dlb_lines_nr(job->lines); line++) {
		size_t base = (size_t)line * job->lines->stride_bytes;

		for (uint32_t at = 0; at < n; at += COLUMNS) {
			uint32_t left = n - at < COLUMNS ? n - at : COLUMNS;

			if (!job->nr_taps) {
				c_vline(job, line, job->rows[0] + base + at, at,
					left);
				continue;
			}
			c_sum_columns(job->rows, base + at, left, &weights,
				      bytes);
			c_vline(job, line, bytes, at, left);
		}
	}
}

/* Plain stores: nothing to order */
static void c_finish(void)
{
}

const struct dlb_kernels dlb_kernels_c = {
	.name = "c",
	.id = 1,
	.hpack = c_hpack,
	.hrow = c_hrow,
	.hcopy = c_hcopy,
	.vpack_bytes = c_vpack_bytes,
	.vpack = c_vpack,
	.vrow = c_vrow,
	.vbytes = c_vbytes,
	.finish = c_finish,
};
