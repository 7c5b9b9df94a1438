/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Where entropy decoding and reconstruction meet: the frame of a sequential
 * Huffman JPEG and its coefficients, one MCU row at a time.  huff.c fills,
 * recon.c consumes; neither knows the other, both know this file.
 */
#ifndef DLB_IMAGE_COEF_H
#define DLB_IMAGE_COEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DLB_MAX_COMPONENTS 4
#define DLB_BLOCK_COEFS 64

/**
 * struct dlb_component - One colour component of a frame
 * @h: horizontal sampling factor, 1..4
 * @v: vertical sampling factor, 1..4
 * @id: component identifier of the file
 * @width: samples a row that belong to the picture: ceil(W * h / hmax)
 * @height: rows that belong to the picture
 * @mcu_row_blocks: blocks in one row of blocks of an MCU row, padding included
 *	(a multiple of @h when scans are interleaved)
 * @quant: quantisation table in natural order
 */
struct dlb_component {
	uint8_t h, v, id;
	uint32_t width, height;
	uint32_t mcu_row_blocks;
	uint16_t quant[DLB_BLOCK_COEFS];
};

/**
 * struct dlb_frame - What reconstruction needs of the frame header
 * @width: pixels
 * @height: pixels
 * @nr_components: 1, 3 or 4
 * @h_max: largest horizontal factor
 * @v_max: largest vertical factor
 * @mcu_rows: MCU rows
 * @mcu_cols: MCUs a row
 * @is_rgb: three components that are R, G, B (by libjpeg's own guess), not YCC
 * @component: the components
 */
struct dlb_frame {
	uint32_t width, height;
	uint32_t nr_components;
	uint32_t h_max, v_max;
	uint32_t mcu_rows, mcu_cols;
	bool is_rgb;
	struct dlb_component component[DLB_MAX_COMPONENTS];
};

/**
 * struct dlb_coef_row - The coefficients of one MCU row
 * @blocks: for each component v rows of mcu_row_blocks blocks of 64 quantised
 *	coefficients in natural (row by row) order, 64-byte aligned
 * @last: for each block the zigzag index of its last coefficient that is not
 *	zero (0: DC alone), so that reconstruction can take short cuts; more in a
 *	file that codes zeros before the end of a block
 *
 * Only blocks in the columns asked for are filled.
 */
struct dlb_coef_row {
	int16_t *blocks[DLB_MAX_COMPONENTS];
	uint8_t *last[DLB_MAX_COMPONENTS];
};

#endif /* DLB_IMAGE_COEF_H */
