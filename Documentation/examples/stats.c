// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The streams that run on this machine as this user, and what limits each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <dlboost/dlboost.h>

static int show(void *arg, const struct dlboost_stats_page *page)
{
	(void)arg;
	printf("%u: %s, %" PRIu64 " samples, limited by %s (%.0f %%)\n",
	       page->pid, page->dataset_path, page->stats.samples,
	       dlboost_limit_stage_name(page->stats.limit_stage),
	       100 * page->stats.limit_share);
	return 0;
}

int main(void)
{
	int nr = dlboost_stats_pages(show, NULL);

	if (nr < 0) {
		fprintf(stderr, "stats pages: %s\n", strerror(-nr));
		return 1;
	}
	printf("%d streams\n", nr);
	return 0;
}
