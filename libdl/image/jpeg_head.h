/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The header of a JPEG as our own decoder needs it: frame, tables, and where
 * the entropy-coded data begins.
 */
#ifndef DLB_IMAGE_JPEG_HEAD_H
#define DLB_IMAGE_JPEG_HEAD_H

#include "coef.h"

#define DLB_NR_TABLES 4
/* A Huffman table as DHT states it: codes of 1..16 bits, then their symbols */
#define DLB_HUFF_COUNTS 16

/**
 * struct dlb_jpeg_head - A sequential Huffman JPEG of one interleaved scan
 * @frame: geometry and quantisation
 * @dc: DHT's counts and symbols, inside the file; NULL: not defined
 * @ac: likewise
 * @dc_table: for each component which of @dc
 * @ac_table: for each component which of @ac
 * @restart_interval: MCUs, 0: none
 * @scan_at: offset of the first byte of entropy-coded data
 */
struct dlb_jpeg_head {
	struct dlb_frame frame;
	const uint8_t *dc[DLB_NR_TABLES], *ac[DLB_NR_TABLES];
	uint8_t dc_table[DLB_MAX_COMPONENTS], ac_table[DLB_MAX_COMPONENTS];
	uint32_t restart_interval;
	size_t scan_at;
};

/*
 * 0, or -EOPNOTSUPP when anything is not as an ordinary encoder writes it:
 * whatever libjpeg would warn of, refuse, or decode by another process.
 */
int dlb_jpeg_head_parse(struct dlb_jpeg_head *head, const uint8_t *bytes,
			size_t len_bytes);

/* Natural (row by row) index of each zigzag index */
extern const uint8_t dlb_zigzag[DLB_BLOCK_COEFS];

#endif /* DLB_IMAGE_JPEG_HEAD_H */
