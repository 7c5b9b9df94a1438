/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * A stream's counters, published for other processes of the same user in a
 * file of fixed size, $XDG_RUNTIME_DIR/dlboost/PID-IDX.
 */
#ifndef DLB_STREAM_STATS_PAGE_H
#define DLB_STREAM_STATS_PAGE_H

#include <dlboost/stream.h>

struct dlb_stats_page;

/*
 * Sweep what dead processes left and publish a page of our own.  NULL when
 * there is no place for one: a stream runs without.
 */
struct dlb_stats_page *
dlb_stats_page_create(const struct dlboost_stream_info *info,
		      const char *dataset_path, const char *recipe);
/* Any thread; of two at the same time one does nothing */
void dlb_stats_page_write(struct dlb_stats_page *page,
			  const struct dlboost_stream_stats *stats,
			  uint64_t now_ns);
void dlb_stats_page_destroy(struct dlb_stats_page *page);

#endif /* DLB_STREAM_STATS_PAGE_H */
