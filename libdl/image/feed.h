/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Between a decoder and the resampler: row buffers that stay in cache, the
 * padding around the picture, and the turn to upright.
 */
#ifndef DLB_IMAGE_FEED_H
#define DLB_IMAGE_FEED_H

#include "plan.h"

#define DLB_FEED_ROWS 16

struct dlb_feed {
	const struct dlb_plan *plan;
	struct dlb_resampler *rs;
	struct dlb_arena *arena;
	uint64_t *resample_ns;		/* may be NULL */
	uint32_t need_w;
	uint32_t nr_rows;		/* rows of plan->rect still to come */
	uint32_t nr_held;		/* rows written, not yet pushed */
	uint32_t lead;			/* pixels the decoder writes before x0 */
	uint8_t *turn;			/* the stored rectangle when it is turned */
	size_t turn_stride;
	uint8_t *space[DLB_FEED_ROWS];	/* where the decoder writes */
	const uint8_t *push[DLB_FEED_ROWS]; /* column need.x0 of each */
};

/*
 * dlb_resample_begin() went before, with @need.  Writes the padding above the
 * picture.  False when the arena is at its cap.
 */
bool dlb_feed_begin(struct dlb_feed *feed, const struct dlb_plan *plan,
		    struct dlb_resampler *rs, struct dlb_arena *arena,
		    uint64_t *resample_ns);
/*
 * Once, before the first row: the decoder's rows begin @lead pixels left of
 * plan->rect.x0 and end @trail pixels right of plan->rect.x1.  False when the
 * arena is at its cap.
 */
bool dlb_feed_open(struct dlb_feed *feed, uint32_t lead, uint32_t trail);
/* Where the next rows of plan->rect go, at least one while rows are to come */
uint8_t **dlb_feed_space(struct dlb_feed *feed, uint32_t *nr);
/* @nr rows were written there */
void dlb_feed_commit(struct dlb_feed *feed, uint32_t nr);
/* After the last row: padding below, end of the resampling.  False as above */
bool dlb_feed_end(struct dlb_feed *feed);

#endif /* DLB_IMAGE_FEED_H */
