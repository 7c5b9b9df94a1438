// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * One sequential JPEG from its bytes to rows of a feed: entropy decoding
 * (huff.c) and reconstruction (recon.c), an MCU row at a time, so that all of
 * it stays in cache.
 *
 * Class and pixels must be libjpeg-turbo's.  They are by construction: at any
 * irregularity the picture is left undecided, and libjpeg decodes it from the
 * start.  Rows above the crop are decoded and dropped; for those below it the
 * markers decide, as in jpeg_decode.c.
 *
 * Owns nothing but the entropy decoder.  One thread.
 */
#include "jpeg_seq.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "huff.h"
#include "recon.h"

struct dlb_seq {
	struct dlb_huff *huff;
};

int dlb_seq_create(struct dlb_seq **out)
{
	struct dlb_seq *seq = calloc(1, sizeof(*seq));

	if (!seq)
		return -ENOMEM;
	if (dlb_huff_create(&seq->huff)) {
		free(seq);
		return -ENOMEM;
	}
	*out = seq;
	return 0;
}

void dlb_seq_destroy(struct dlb_seq *seq)
{
	if (!seq)
		return;
	dlb_huff_destroy(seq->huff);
	free(seq);
}

/* Reconstruction in plain C is slower than libjpeg-turbo's with SIMD */
static bool is_quick(void)
{
	return strcmp(dlb_resample_simd_name(), "c");
}

bool dlb_seq_takes(const struct dlb_source *source)
{
	const struct dlb_plan *plan = source->plan;

	return is_quick() && source->info->type == DLBOOST_IMAGE_JPEG &&
	       source->info->sof >= 0xc0 && source->info->sof <= 0xc1 &&
	       plan->rect.x0 < plan->rect.x1 && plan->rect.y0 < plan->rect.y1;
}

/* Memory for the coefficients of one MCU row */
static bool alloc_row(struct dlb_arena *arena, const struct dlb_frame *frame,
		      struct dlb_coef_row *row)
{
	for (uint32_t i = 0; i < frame->nr_components; i++) {
		const struct dlb_component *c = &frame->component[i];
		size_t nr_blocks = (size_t)c->v * c->mcu_row_blocks;

		row->blocks[i] = dlb_arena_alloc(arena, nr_blocks *
						 DLB_BLOCK_COEFS *
						 sizeof(int16_t), 64);
		row->last[i] = dlb_arena_alloc(arena, nr_blocks, 64);
		if (!row->blocks[i] || !row->last[i])
			return false;
	}
	return true;
}

/* All rows that are finished, straight into the feed's ring */
static void take_rows(struct dlb_recon *rc, struct dlb_feed *feed)
{
	uint32_t room, nr;

	do {
		uint8_t **space = dlb_feed_space(feed, &room);
		size_t stride = room > 1 ? (size_t)(space[1] - space[0]) : 0;

		nr = room ? dlb_recon_take(rc, space[0], stride, room) : 0;
		if (nr)
			dlb_feed_commit(feed, nr);
	} while (nr);
}

static int decode_rows(struct dlb_seq *seq, struct dlb_recon *rc,
		       const struct dlb_coef_row *row, struct dlb_feed *feed)
{
	int ret = 0;

	for (uint32_t y = 0; y < rc->mcu_row0 && !ret; y++)
		ret = dlb_huff_row(seq->huff, NULL, 0, 0);
	for (uint32_t y = rc->mcu_row0; y < rc->mcu_row1 && !ret; y++) {
		ret = dlb_huff_row(seq->huff, row, rc->mcu_col0, rc->mcu_col1);
		if (!ret)
			ret = dlb_recon_push(rc, row);
		if (!ret)
			take_rows(rc, feed);
	}
	return ret;
}

/* What lies below the crop must not change the class of the file */
static bool rest_is_in_order(struct dlb_seq *seq,
			     const struct dlb_source *source,
			     uint32_t nr_rows)
{
	if (nr_rows && !source->reject_warnings)
		return dlb_huff_tail_is_clean(seq->huff);
	while (nr_rows--)
		if (dlb_huff_row(seq->huff, NULL, 0, 0))
			return false;
	return !dlb_huff_finish(seq->huff);
}

unsigned int dlb_seq_decode(struct dlb_seq *seq,
			    const struct dlb_source *source)
{
	const struct dlb_rect *rect = &source->plan->rect;
	struct dlb_extent want = { rect->x0, rect->y0, rect->x1, rect->y1 };
	struct dlb_frame frame;
	struct dlb_coef_row row;
	struct dlb_recon rc;
	int ret;

	if (dlb_huff_open(seq->huff, source->bytes, source->len_bytes,
			  &frame) ||
	    frame.width != source->info->width ||
	    frame.height != source->info->height)
		return DLB_STATUS_UNDECIDED;
	ret = dlb_recon_begin(&rc, source->arena, &frame, &want);
	if (ret == -ENOMEM)
		return DLB_STATUS_OVERFLOW;
	if (ret)
		return DLB_STATUS_UNDECIDED;
	if (!alloc_row(source->arena, &frame, &row) ||
	    !dlb_feed_open(source->feed, 0, 0))
		return DLB_STATUS_OVERFLOW;
	if (decode_rows(seq, &rc, &row, source->feed) ||
	    !rest_is_in_order(seq, source, frame.mcu_rows - rc.mcu_row1))
		return DLB_STATUS_UNDECIDED;
	return DLBOOST_STATUS_OK;
}
