// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Rows on their way from a decoder to the resampler.  An upright picture goes
 * through a ring of DLB_FEED_ROWS rows; a turned one is collected first, since
 * its first upright row may need its last stored one.
 *
 * Row starts are 16 bytes past a multiple of 64: rows aligned to 32 bytes make
 * libjpeg-turbo write them past the cache.  Owns no memory (the arena does),
 * knows no file format.  One thread.
 */
#include "feed.h"

#include <string.h>

#include "../base/base.h"

/* The resampler may read this far past a row's end */
#define SLACK_BYTES 64
#define ROW_OFFSET_BYTES 16

static size_t align_up(size_t bytes, size_t align)
{
	return (bytes + align - 1) & ~(align - 1);
}

static void fill_pixels(const struct dlb_feed *feed, uint8_t *p, uint32_t nr)
{
	memset(p, feed->plan->spec.fill, (size_t)nr * DLB_PIXEL_BYTES);
}

static void push(struct dlb_feed *feed, const uint8_t *const *rows, uint32_t nr)
{
	uint64_t start_ns;

	if (!feed->resample_ns) {
		dlb_resample_push(feed->rs, rows, nr);
		return;
	}
	start_ns = dlb_now_ns();
	dlb_resample_push(feed->rs, rows, nr);
	*feed->resample_ns += dlb_now_ns() - start_ns;
}

/* Rows of padding alone, above or below the picture */
static void push_fill(struct dlb_feed *feed, uint32_t nr_rows)
{
	const uint8_t *rows[DLB_FEED_ROWS];

	while (nr_rows) {
		uint32_t nr = nr_rows < DLB_FEED_ROWS ? nr_rows : DLB_FEED_ROWS;

		for (uint32_t i = 0; i < nr; i++)
			rows[i] = feed->push[DLB_FEED_ROWS - 1];
		push(feed, rows, nr);
		nr_rows -= nr;
	}
}

/* The last row of the ring holds padding until the picture needs it */
static bool alloc_fill_row(struct dlb_feed *feed)
{
	uint8_t *row = dlb_arena_alloc(feed->arena, SLACK_BYTES +
				       (size_t)feed->need_w * DLB_PIXEL_BYTES,
				       64);

	if (!row)
		return false;
	fill_pixels(feed, row, feed->need_w);
	feed->push[DLB_FEED_ROWS - 1] = row;
	return true;
}

bool dlb_feed_begin(struct dlb_feed *feed, const struct dlb_plan *plan,
		    struct dlb_resampler *rs, struct dlb_arena *arena,
		    uint64_t *resample_ns)
{
	uint32_t middle = plan->is_swapped ? plan->rect.y1 - plan->rect.y0 :
					     plan->rect.x1 - plan->rect.x0;

	feed->plan = plan;
	feed->rs = rs;
	feed->arena = arena;
	feed->resample_ns = resample_ns;
	feed->need_w = plan->fill_left + middle + plan->fill_right;
	feed->nr_rows = plan->rect.y1 - plan->rect.y0;
	feed->nr_held = 0;
	feed->turn = NULL;
	if (!plan->fill_top)
		return true;
	if (!alloc_fill_row(feed))
		return false;
	push_fill(feed, plan->fill_top);
	return true;
}

static bool is_turned(const struct dlb_plan *plan)
{
	return plan->is_swapped || plan->is_x_mirrored || plan->is_y_mirrored;
}

static bool open_turned(struct dlb_feed *feed, size_t row_pixels)
{
	size_t nr = feed->nr_rows;
	uint8_t *base;

	feed->turn_stride = align_up(row_pixels * DLB_PIXEL_BYTES +
				     ROW_OFFSET_BYTES, 64);
	base = dlb_arena_alloc(feed->arena, feed->turn_stride * nr +
			       ROW_OFFSET_BYTES, 64);
	if (!base)
		return false;
	feed->turn = base + ROW_OFFSET_BYTES;
	return true;
}

/*
 * A row of the ring: [padding or lead] [picture] [padding or trail] [slack].
 * Padding and lead exclude each other: padding means that the picture's edge
 * is needed, and there is nothing left of it.
 */
static bool open_ring(struct dlb_feed *feed, size_t left, size_t row_pixels)
{
	const struct dlb_plan *plan = feed->plan;
	size_t skip = (left - feed->lead) * DLB_PIXEL_BYTES;
	size_t head = align_up(skip, 64) + ROW_OFFSET_BYTES;
	/* An odd number of cache lines: the rows share no cache sets */
	size_t stride = align_up(head + row_pixels * DLB_PIXEL_BYTES +
				 SLACK_BYTES, 64) | 64;
	uint8_t *base = dlb_arena_alloc(feed->arena, stride * DLB_FEED_ROWS,
					64);

	if (!base)
		return false;
	for (uint32_t i = 0; i < DLB_FEED_ROWS; i++) {
		uint8_t *space = base + i * stride + head;
		uint8_t *x0 = space + (size_t)feed->lead * DLB_PIXEL_BYTES;
		uint8_t *x1 = x0 + (size_t)(plan->rect.x1 - plan->rect.x0) *
				   DLB_PIXEL_BYTES;

		feed->space[i] = space;
		feed->push[i] = x0 - (size_t)plan->fill_left * DLB_PIXEL_BYTES;
		fill_pixels(feed, (uint8_t *)feed->push[i], plan->fill_left);
		fill_pixels(feed, x1, plan->fill_right);
	}
	return true;
}

bool dlb_feed_open(struct dlb_feed *feed, uint32_t lead, uint32_t trail)
{
	const struct dlb_plan *plan = feed->plan;
	size_t picture = plan->rect.x1 - plan->rect.x0;
	size_t right = trail > plan->fill_right ? trail : plan->fill_right;
	size_t left = lead > plan->fill_left ? lead : plan->fill_left;

	feed->lead = lead;
	if (is_turned(plan))
		return open_turned(feed, lead + picture + trail);
	return open_ring(feed, left, lead + picture + right);
}

uint8_t **dlb_feed_space(struct dlb_feed *feed, uint32_t *nr)
{
	uint32_t room = DLB_FEED_ROWS - feed->nr_held;

	if (feed->turn) {
		uint32_t done = feed->plan->rect.y1 - feed->plan->rect.y0 -
				feed->nr_rows;

		room = DLB_FEED_ROWS;
		for (uint32_t i = 0; i < DLB_FEED_ROWS; i++)
			feed->space[i] = feed->turn +
					 (size_t)(done + i) * feed->turn_stride;
	}
	*nr = room < feed->nr_rows ? room : feed->nr_rows;
	return feed->space + (feed->turn ? 0 : feed->nr_held);
}

void dlb_feed_commit(struct dlb_feed *feed, uint32_t nr)
{
	feed->nr_rows -= nr;
	if (feed->turn)
		return;
	feed->nr_held += nr;
	if (feed->nr_held < DLB_FEED_ROWS && feed->nr_rows)
		return;
	push(feed, feed->push, feed->nr_held);
	feed->nr_held = 0;
}

/* One upright row out of the stored rectangle; @v counts from its top */
static void turn_row(const struct dlb_feed *feed, uint32_t v, uint8_t *out)
{
	const struct dlb_plan *plan = feed->plan;
	uint32_t w = plan->rect.x1 - plan->rect.x0;
	uint32_t h = plan->rect.y1 - plan->rect.y0;
	uint32_t nr = plan->is_swapped ? h : w;
	uint32_t x = 0, y = 0;
	ptrdiff_t step = plan->is_swapped ? (ptrdiff_t)feed->turn_stride :
					    DLB_PIXEL_BYTES;
	bool is_backward = plan->is_swapped ? plan->is_y_mirrored :
					      plan->is_x_mirrored;
	const uint8_t *in;

	if (plan->is_swapped) {
		x = plan->is_x_mirrored ? w - 1 - v : v;
		y = is_backward ? h - 1 : 0;
	} else {
		y = plan->is_y_mirrored ? h - 1 - v : v;
		x = is_backward ? w - 1 : 0;
	}
	if (is_backward)
		step = -step;
	in = feed->turn + y * feed->turn_stride +
	     (size_t)(feed->lead + x) * DLB_PIXEL_BYTES;
	for (uint32_t i = 0; i < nr; i++, in += step)
		memcpy(out + (size_t)i * DLB_PIXEL_BYTES, in, DLB_PIXEL_BYTES);
}

static bool push_turned(struct dlb_feed *feed)
{
	const struct dlb_plan *plan = feed->plan;
	uint32_t up_h = plan->is_swapped ? plan->rect.x1 - plan->rect.x0 :
					   plan->rect.y1 - plan->rect.y0;
	size_t stride = align_up((size_t)feed->need_w * DLB_PIXEL_BYTES +
				 SLACK_BYTES, 64);
	uint8_t *base = dlb_arena_alloc(feed->arena, stride * DLB_FEED_ROWS,
					64);

	if (!base)
		return false;
	for (uint32_t i = 0; i < DLB_FEED_ROWS; i++) {
		feed->push[i] = base + i * stride;
		fill_pixels(feed, base + i * stride, feed->need_w);
	}
	for (uint32_t v = 0; v < up_h; v += DLB_FEED_ROWS) {
		uint32_t nr = up_h - v < DLB_FEED_ROWS ? up_h - v :
							 DLB_FEED_ROWS;

		for (uint32_t i = 0; i < nr; i++)
			turn_row(feed, v + i, base + i * stride +
				 (size_t)plan->fill_left * DLB_PIXEL_BYTES);
		push(feed, feed->push, nr);
	}
	return true;
}

bool dlb_feed_end(struct dlb_feed *feed)
{
	uint64_t start_ns;

	if (feed->turn && !push_turned(feed))
		return false;
	if (feed->plan->fill_bottom) {
		if (!alloc_fill_row(feed))
			return false;
		push_fill(feed, feed->plan->fill_bottom);
	}
	start_ns = feed->resample_ns ? dlb_now_ns() : 0;
	dlb_resample_end(feed->rs);
	if (feed->resample_ns)
		*feed->resample_ns += dlb_now_ns() - start_ns;
	return true;
}
