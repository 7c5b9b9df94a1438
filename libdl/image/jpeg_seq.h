/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Sequential Huffman JPEG in order, by our own entropy decoder and
 * reconstruction: the quick way, which knows its limits.
 */
#ifndef DLB_IMAGE_JPEG_SEQ_H
#define DLB_IMAGE_JPEG_SEQ_H

#include "jpeg.h"

/* Beside enum dlboost_status: nothing is decided, libjpeg is to decode it */
#define DLB_STATUS_UNDECIDED ((unsigned int)DLBOOST_NR_STATUS + 1)

struct dlb_seq;

/* 0 or -ENOMEM */
int dlb_seq_create(struct dlb_seq **out);
void dlb_seq_destroy(struct dlb_seq *seq);

/* Is it worth a try?  By header and plan alone */
bool dlb_seq_takes(const struct dlb_source *source);
/*
 * Decode what @source->plan needs into @source->feed, if the file is in order.
 * OK: libjpeg would give these pixels and no warning, whatever the plan.
 * UNDECIDED: rows may have gone to the feed already; it must begin again.
 * DLB_STATUS_OVERFLOW: as dlb_jpeg_decode().
 */
unsigned int dlb_seq_decode(struct dlb_seq *seq,
			    const struct dlb_source *source);

#endif /* DLB_IMAGE_JPEG_SEQ_H */
