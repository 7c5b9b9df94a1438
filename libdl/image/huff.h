/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Our own entropy decoder: bytes of a sequential Huffman JPEG -> coefficients,
 * MCU row by MCU row.
 *
 * It decodes files that are in order, and notices when one is not: then the
 * caller drops what it has of the picture and libjpeg-turbo decodes it from
 * the start, so that both agree about every file.
 * A decoder serves one thread, one picture after another.
 */
#ifndef DLB_IMAGE_HUFF_H
#define DLB_IMAGE_HUFF_H

#include "coef.h"

struct dlb_huff;

/* 0 or -ENOMEM.  The last tables are kept: pictures often share them */
int dlb_huff_create(struct dlb_huff **out);
void dlb_huff_destroy(struct dlb_huff *huff);

/*
 * Begin a picture; @bytes stay the caller's and must live until its end.
 * 0, or -EOPNOTSUPP: not one interleaved sequential scan with all in order.
 */
int dlb_huff_open(struct dlb_huff *huff, const uint8_t *bytes,
		  size_t len_bytes, struct dlb_frame *frame);

/*
 * Decode the next MCU row.  MCUs in [@first_mcu, @end_mcu) are stored in @row,
 * the others dropped; @row NULL drops all.  0, or -EILSEQ at any irregularity,
 * and from then on, and when there is no further row.
 */
int dlb_huff_row(struct dlb_huff *huff, const struct dlb_coef_row *row,
		 uint32_t first_mcu, uint32_t end_mcu);

/* After the last row: 0 if EOI follows at once, else -EILSEQ */
int dlb_huff_finish(struct dlb_huff *huff);

/*
 * Instead of the rows that are left: whether the first marker behind the read
 * position that is no restart marker is EOI.
 */
bool dlb_huff_tail_is_clean(const struct dlb_huff *huff);

/* Code variants: "bmi2", "c"; NULL: the best one.  0 or -EOPNOTSUPP; tests */
int dlb_huff_simd_set(const char *name);
const char *dlb_huff_simd_name(void);

#endif /* DLB_IMAGE_HUFF_H */
