/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Coefficients to pixels: dequantisation, inverse DCT, upsampling and colour of
 * a rectangle of the picture, streaming.  MCU rows go in from top to bottom,
 * finished pixel rows come out; no plane of the picture is ever held.
 *
 *	dlb_recon_begin(&rc, arena, &frame, &rect);
 *	for (row = rc.mcu_row0; row < rc.mcu_row1; row++) {
 *		... fill the columns rc.mcu_col0 .. rc.mcu_col1 of @coefs ...
 *		dlb_recon_push(&rc, &coefs);
 *		while ((nr = dlb_recon_take(&rc, dst, stride, max_rows)))
 *			... use nr rows ...
 *	}
 *
 * The pixels are libjpeg-turbo's (JDCT_ISLOW, fancy upsampling, JCS_EXT_RGBX):
 * every byte, for every rectangle.
 */
#ifndef DLB_IMAGE_RECON_H
#define DLB_IMAGE_RECON_H

#include "coef.h"
#include "resample.h"

struct dlb_recon_kernels;

/* How one component becomes as large as the picture */
enum dlb_recon_mode {
	DLB_RECON_FULL,		/* it is */
	DLB_RECON_H2,		/* triangle, two pixels a sample across */
	DLB_RECON_V2,		/* triangle, two rows a row */
	DLB_RECON_HV2,		/* both */
	DLB_RECON_REPEAT,	/* each sample h_ratio * v_ratio times */
};

/**
 * struct dlb_recon_plane - One component's part of the rectangle
 * @mode: upsampling
 * @h_ratio: pixels a sample, across
 * @v_ratio: pixels a sample, down
 * @v: rows of blocks an MCU row
 * @width: samples of the component
 * @height: rows of the component
 * @x0: first sample that is needed, neighbours for the triangle included
 * @x1: behind the last one
 * @y0: first row that is needed
 * @y1: behind the last one
 * @block0: first column of blocks to transform; the strip begins with it
 * @block1: behind the last one
 * @mcu_row_blocks: as in struct dlb_component
 * @stride_bytes: from row to row of the strip
 * @strip: sample @block0 * 8 of the first row of the MCU row at hand; the row
 *	before it holds the last row of the MCU row above
 * @wide: one row upsampled, where the mode needs it
 * @quant: quantisation table, natural order
 * @coef_mask: a coefficient with any of these bits in its absolute value may
 *	not fit 16 bits once dequantised
 */
struct dlb_recon_plane {
	enum dlb_recon_mode mode;
	uint32_t h_ratio, v_ratio;
	uint32_t v;
	uint32_t width, height;
	uint32_t x0, x1, y0, y1;
	uint32_t block0, block1;
	uint32_t mcu_row_blocks;
	uint32_t stride_bytes;
	uint8_t *strip;
	uint8_t *wide;
	int16_t *quant;
	uint16_t coef_mask;
};

/**
 * struct dlb_recon - A rectangle being reconstructed
 * @mcu_row0: first MCU row to push
 * @mcu_row1: behind the last one
 * @mcu_col0: first MCU whose blocks are read
 * @mcu_col1: behind the last one
 *
 * The rest is private.
 */
struct dlb_recon {
	uint32_t mcu_row0, mcu_row1;
	uint32_t mcu_col0, mcu_col1;

	const struct dlb_recon_kernels *kernels;
	struct dlb_extent rect;
	uint32_t mcu_height;
	uint32_t next_mcu_row;		/* to be pushed */
	uint32_t next_y;		/* to be taken */
	uint32_t ready_y;		/* rows below are not ready */
	uint32_t nr_planes;
	bool is_rgb;
	bool has_context;		/* some plane looks one row down */
	struct dlb_recon_plane plane[3];
};

/*
 * Start on @rect, which lies in the picture and is not empty.  Memory comes
 * from @arena; @frame and @arena need to stay for the picture's time.
 *
 * 0; -ENOMEM: @arena is at its cap; -EOPNOTSUPP: two or four components, or
 * fractional sampling, both libjpeg's business; -ERANGE: see dlb_recon_push()
 */
int dlb_recon_begin(struct dlb_recon *rc, struct dlb_arena *arena,
		    const struct dlb_frame *frame,
		    const struct dlb_extent *rect);
/*
 * Push MCU row @mcu_row0, then the next ones.  All rows that were ready must
 * have been taken.  Read are, of the blocks in the MCU columns needed, those
 * that hold samples of the picture.
 *
 * 0; -ERANGE: the coefficients are so large that builds of libjpeg-turbo (with
 * and without SIMD) disagree about the pixels: let libjpeg decode the picture
 */
int dlb_recon_push(struct dlb_recon *rc, const struct dlb_coef_row *row);
/*
 * Write up to @max_rows finished rows of the rectangle, the next ones, to @dst;
 * exactly rect.x1 - rect.x0 pixels each, the fourth byte 255.  Returns how
 * many; 0: push the next MCU row, or all rows were taken.
 */
uint32_t dlb_recon_take(struct dlb_recon *rc, uint8_t *dst, size_t stride_bytes,
			uint32_t max_rows);

#endif /* DLB_IMAGE_RECON_H */
