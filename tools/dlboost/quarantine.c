// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the quarantine list that libdlboost reads (Documentation/errors.rst,
 * "Quarantine"): tab-separated, with \\, \n, \t and \xNN in names.
 */
#include "quarantine.h"

#include <errno.h>
#include <inttypes.h>

static int list_open(struct quarantine_list *list)
{
	if (list->stream)
		return 0;
	list->stream = open_memstream(&list->text, &list->nr_bytes);
	if (!list->stream)
		return -ENOMEM;
	fputs("# dlboost quarantine: path, status, times met[, offset, length]\n",
	      list->stream);
	return 0;
}

static void put_name(FILE *stream, const char *path)
{
	const unsigned char *s = (const unsigned char *)path;

	for (; *s; s++) {
		if (*s == '\\')
			fputs("\\\\", stream);
		else if (*s == '\n')
			fputs("\\n", stream);
		else if (*s == '\t')
			fputs("\\t", stream);
		else if (*s < 0x20 || *s == 0x7f ||
			 (*s == '#' && s == (const unsigned char *)path))
			fprintf(stream, "\\x%02x", *s);
		else
			putc(*s, stream);
	}
}

int quarantine_add(struct quarantine_list *list,
		   const struct dlboost_sample *sample, unsigned int status)
{
	int ret = list_open(list);

	if (ret)
		return ret;
	put_name(list->stream, sample->path);
	fprintf(list->stream, "\t%s\t1", dlboost_status_name(status));
	if (sample->offset_bytes || sample->len_bytes >= 0)
		fprintf(list->stream, "\t%" PRIu64, sample->offset_bytes);
	if (sample->len_bytes >= 0)
		fprintf(list->stream, "\t%" PRId64, sample->len_bytes);
	else if (sample->offset_bytes)
		fputs("\t-", list->stream);
	putc('\n', list->stream);
	return ferror(list->stream) ? -ENOMEM : 0;
}

int quarantine_write(struct quarantine_list *list, const char *path)
{
	int ret = list_open(list);

	if (ret)
		return ret;
	if (fflush(list->stream))
		return -ENOMEM;
	return file_write_atomic(path, list->text, list->nr_bytes);
}

void quarantine_fini(struct quarantine_list *list)
{
	if (list->stream)
		fclose(list->stream);
	free(list->text);
	list->stream = NULL;
	list->text = NULL;
}
