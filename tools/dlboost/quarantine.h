/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of bad files as "dlboost run --quarantine" reads it: one a line,
 * path, status, times met, and offset and length where the manifest has them.
 */
#ifndef DLBOOST_TOOL_QUARANTINE_H
#define DLBOOST_TOOL_QUARANTINE_H

#include "tool.h"

struct quarantine_list {
	FILE *stream;
	char *text;
	size_t nr_bytes;
};

int quarantine_add(struct quarantine_list *list,
		   const struct dlboost_sample *sample, unsigned int status);
/* Replaces @path in one step; 0 or a negative error number */
int quarantine_write(struct quarantine_list *list, const char *path);
void quarantine_fini(struct quarantine_list *list);

#endif /* DLBOOST_TOOL_QUARANTINE_H */
