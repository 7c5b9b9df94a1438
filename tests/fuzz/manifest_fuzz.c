// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Manifests of any content: refused with a sentence that names the line, or
 * read into an index that opens, reads back, and whose samples, written out as
 * a manifest again, have the same fingerprint.
 */
#include <dlboost/dataset.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream/listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int is_true)
{
	if (!is_true)
		abort();
}

/* 0 and an open index, or the parser's refusal */
static int manifest_parse(const void *text, size_t len_bytes,
			  struct dlb_index *index)
{
	int fd = memfd_create("manifest", MFD_CLOEXEC);
	int out = memfd_create("index", MFD_CLOEXEC), ret;
	char error[DLBOOST_ERROR_BYTES] = "", why[80];
	struct dlb_listing listing = {
		.path = "m", .error = error, .error_bytes = sizeof(error),
	};

	require(fd >= 0 && out >= 0);
	require(pwrite(fd, text, len_bytes, 0) == (ssize_t)len_bytes);
	require(!dlb_index_writer_create(out, DLBOOST_DATASET_MANIFEST,
					 &listing.writer));
	ret = dlb_manifest_read(&listing, fd);
	require(ret == 0 || (ret == -EINVAL && strstr(error, "m, line ")) ||
		(ret == -ENODATA && strstr(error, "no sample")));
	if (!ret) {
		require(!dlb_index_writer_finish(listing.writer, "/m"));
		require(!dlb_index_open(out, index, why, sizeof(why)));
	} else {
		close(out);
	}
	dlb_index_writer_destroy(listing.writer);
	close(fd);
	return ret;
}

static void entry_put(FILE *file, const struct dlb_index_entry *entry)
{
	for (size_t i = 0; i < entry->name_bytes; i++)
		fprintf(file, "\\x%02x", (unsigned char)entry->name[i]);
	fprintf(file, "\t%d\t%llu", entry->label,
		(unsigned long long)entry->offset_bytes);
	if (entry->len_bytes >= 0)
		fprintf(file, "\t%lld", (long long)entry->len_bytes);
	fputc('\n', file);
}

static void members_check(const struct dlb_index *index)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < index->nr_present; i++) {
		const struct dlb_index_class *class = &index->classes[i];
		struct dlb_index_record record;
		uint64_t id, last = 0;

		for (uint32_t k = 0; k < class->count; k++, last = id + 1) {
			require(!dlb_index_class_member(index, class, k, &id));
			require(id >= last);
			require(!dlb_index_record(index, id, &record));
			require(record.label == (int64_t)class->label);
		}
		nr += class->count;
	}
	require(nr <= index->header.nr_samples);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dlb_index index, again;
	char name[DLB_INDEX_NAME_BYTES], *text = NULL;
	size_t len_bytes;
	FILE *file;

	if (manifest_parse(data, size, &index))
		return 0;
	file = open_memstream(&text, &len_bytes);
	require(file != NULL);
	for (uint64_t id = 0; id < index.header.nr_samples; id++) {
		struct dlb_index_entry entry;

		require(!dlb_index_entry(&index, id, name, &entry));
		entry_put(file, &entry);
	}
	fclose(file);
	members_check(&index);
	require(!manifest_parse(text, len_bytes, &again));
	require(!memcmp(index.header.fingerprint, again.header.fingerprint,
			sizeof(again.header.fingerprint)));
	dlb_index_close(&again);
	dlb_index_close(&index);
	free(text);
	return 0;
}
