// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Quarantine lists of any content: refused with a sentence that names the line,
 * or read into a set that holds each entry once and that, written out and read
 * again, is the same set.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/quarantine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int is_true)
{
	if (!is_true)
		abort();
}

static void compare(const struct dlb_quarantine_set *a,
		    const struct dlb_quarantine_set *b)
{
	require(a->nr == b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		const struct dlb_quarantine_entry *e = &a->entries[i], *same;

		require(e->status > 0);
		same = dlb_quarantine_set_find(b, a->bytes + e->path_offset,
					       e->offset_bytes, e->len_bytes);
		require(same == &b->entries[i]);
		require(same->status == e->status && same->count == e->count);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dlb_quarantine_set set = { 0 }, again = { 0 };
	char error[512] = "", *text = NULL;
	size_t text_bytes = 0;
	FILE *f;
	int ret;

	ret = dlb_quarantine_parse((const char *)data, size, &set, error,
				   sizeof(error));
	if (ret) {
		require(ret == -EINVAL && !strncmp(error, "line ", 5));
		dlb_quarantine_set_fini(&set);
		return 0;
	}
	f = open_memstream(&text, &text_bytes);
	require(f != NULL);
	require(!dlb_quarantine_print(&set, f));
	fclose(f);
	require(!dlb_quarantine_parse(text, text_bytes, &again, NULL, 0));
	compare(&set, &again);
	compare(&again, &set);
	free(text);
	dlb_quarantine_set_fini(&again);
	dlb_quarantine_set_fini(&set);
	return 0;
}
