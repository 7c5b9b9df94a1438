/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Between the streaming part of the resampler and its kernels, one file an
 * instruction set.  The words:
 *
 *   line	n elements, one byte each, of the tensor's row before the cast:
 *		three lines a row (planes, in the tensor's channel order) or one
 *		of 3 * width interleaved elements.  A row of lines is written by
 *		the horizontal kernels and read by the vertical ones of the same
 *		set; the order of bytes inside a line is the set's own affair.
 *   block	DLB_BLOCK_PIXELS pixels: kernels may write lines and read
 *		temporary pixel rows in whole blocks.
 *
 * All kernels of all sets give the same bytes; resample_c.c is the definition.
 */
#ifndef DLB_IMAGE_RESAMPLE_INT_H
#define DLB_IMAGE_RESAMPLE_INT_H

#include "coeffs_int.h"
#include "resample.h"

#define DLB_BLOCK_PIXELS 64u
/* What kernels may read past the last pixel of an input row */
#define DLB_ROW_SLACK_BYTES 64u
/* Input rows narrower than this are copied to a padded one first */
#define DLB_MIN_ROW_PIXELS 16u

/**
 * struct dlb_lines - Shape of a row of lines
 * @width: pixels
 * @stride_bytes: from plane to plane; multiple of 64
 * @row_bytes: all of it, with the slack that kernels may write
 * @is_packed: one interleaved line instead of three
 * @is_bgr: channel order
 */
struct dlb_lines {
	uint32_t width;
	uint32_t stride_bytes;
	uint32_t row_bytes;
	bool is_packed;
	bool is_bgr;
};

/* Constant of one line, repeated so that a vector can start at any phase */
#define DLB_PATTERN 32

/**
 * struct dlb_cast_line - Constants of one line's cast
 * @mean: subtracted after the division by 255
 * @std: divides then
 * @rstd_hi: float nearest to 1 / std
 * @rstd_lo: what @rstd_hi lacks
 *
 * Element e of an interleaved line uses entry e % 3.
 */
struct dlb_cast_line {
	float mean[DLB_PATTERN];
	float std[DLB_PATTERN];
	float rstd_hi[DLB_PATTERN];
	float rstd_lo[DLB_PATTERN];
};

/**
 * struct dlb_cast_plan - A cast made ready; valid for one dlb_cast value
 * @cast: what it was made for
 * @is_ready: made at all
 * @is_fast: (x * inv_hi + x * inv_lo - mean) / std, with the division as
 *	fma(u, rstd_hi, u * rstd_lo), gives the defined float on every value
 * @inv_hi: 1 / 255: so many leading bits that x * inv_hi is exact, or under
 *	scale=mul the float itself
 * @inv_lo: the rest; 0 under scale=mul
 * @f32: the definition: value of each byte, by channel in tensor order
 * @half: the same as f16 or bf16
 * @line: constants; [0] alone for an interleaved line
 */
struct dlb_cast_plan {
	struct dlb_cast cast;
	bool is_ready;
	bool is_fast;
	float inv_hi, inv_lo;
	float f32[3][256];
	uint16_t half[3][256];
	struct dlb_cast_line line[3];
};

void dlb_cast_plan_make(struct dlb_cast_plan *plan,
			const struct dlb_cast *cast);
uint32_t dlb_dtype_bytes(uint32_t dtype);
/*
 * The defined value of @n elements by table: element e of line @line, whose
 * bytes in natural order are @src, to @dst + e
 */
void dlb_cast_by_table(const struct dlb_cast_plan *plan, uint32_t line,
		       const uint8_t *src, uint32_t n, void *dst);
/* To nearest, ties to even */
uint16_t dlb_f32_to_f16(float value);
uint16_t dlb_f32_to_bf16(float value);

/**
 * struct dlb_vjob - One row of the tensor from rows of lines
 * @lines: shape of the rows
 * @rows: rows of lines, one for each tap; padded to a multiple of 4
 * @weights: of this output, as dlb_kernels.vpack() left them
 * @nr_taps: taps in use; 0: no weights, cast rows[0]
 * @has_clamp: sums may leave 0..255 (filters with negative lobes)
 * @is_streaming: each line's elements fill whole cache lines of a tensor too
 *	large to be read back from the cache: stores may go around it
 * @cast: ready cast
 * @dst: where each line's elements go
 */
struct dlb_vjob {
	const struct dlb_lines *lines;
	const uint8_t *const *rows;
	const void *weights;
	uint32_t nr_taps;
	bool has_clamp;
	bool is_streaming;
	const struct dlb_cast_plan *cast;
	void *dst[3];
};

/**
 * struct dlb_kernels - One instruction set
 * @name: as in DLBOOST_SIMD
 * @id: goes into the cache's keys
 * @hpack: bring horizontal taps into the kernel's form; @taps->first counts
 *	from the first needed column, @in_px columns are needed, at least
 *	DLB_MIN_ROW_PIXELS; returns bytes; @packed NULL: only measures
 * @hrow: one row of input pixels to a row of lines; @tmp: a pixel row padded to
 *	whole blocks, free to use
 * @hcopy: pixel row padded to whole blocks, as it is, to a row of lines
 * @vpack_bytes: bytes of one output's packed weights for @nr_taps at most
 * @vpack: one output's weights; @weight is readable up to a multiple of 4
 * @vrow: vertical pass, or copy, and cast
 * @vbytes: vertical pass from @rows of @n natural bytes to @n natural bytes,
 *	both readable and writable to a multiple of 64
 * @finish: a picture is complete: its bytes are visible to whoever sees what
 *	this thread writes next
 */
struct dlb_kernels {
	const char *name;
	uint32_t id;
	size_t (*hpack)(const struct dlb_taps *taps, uint32_t in_px,
			void *packed);
	void (*hrow)(const void *packed, const struct dlb_lines *lines,
		     const uint8_t *row, uint8_t *out, uint8_t *tmp);
	void (*hcopy)(const struct dlb_lines *lines, const uint8_t *row,
		      uint8_t *out);
	size_t (*vpack_bytes)(uint32_t nr_taps);
	void (*vpack)(const int32_t *weight, uint32_t nr_taps, void *packed);
	void (*vrow)(const struct dlb_vjob *job);
	void (*vbytes)(const uint8_t *const *rows, const void *weights,
		       uint32_t nr_taps, uint32_t n, uint8_t *dst);
	void (*finish)(void);
};

extern const struct dlb_kernels dlb_kernels_c;
extern const struct dlb_kernels dlb_kernels_sse41;
extern const struct dlb_kernels dlb_kernels_avx2;
extern const struct dlb_kernels dlb_kernels_avx512;
extern const struct dlb_kernels dlb_kernels_neon;

/* The chosen set */
const struct dlb_kernels *dlb_kernels_get(void);

/* Lines a row of @lines has, and elements of each */
static inline uint32_t dlb_lines_nr(const struct dlb_lines *lines)
{
	return lines->is_packed ? 1 : 3;
}

static inline uint32_t dlb_lines_elements(const struct dlb_lines *lines)
{
	return lines->is_packed ? 3 * lines->width : lines->width;
}

/* (2^21 + sum) >> 22, clipped to a byte */
static inline uint8_t dlb_round_sum(int32_t sum)
{
	int32_t value = sum >> DLB_COEFF_BITS;

	return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

#endif /* DLB_IMAGE_RESAMPLE_INT_H */
