// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Index files of any content: opening and every reading call stay inside the
 * file and inside what they promise.  Inputs begin as a true index; checksums
 * are put right after each mutation, so that what stands behind them is met.
 */
#include <dlboost/dataset.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream/index.h"

#define MAX_BYTES 65536

static char model[MAX_BYTES];
static size_t model_bytes;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);

static void require(int is_true)
{
	if (!is_true)
		abort();
}

/* A little of everything: names, gaps, labels out of order, folders */
static void model_make(int fd)
{
	static const struct dlb_index_entry entries[] = {
		{ "b/1.jpg", 7, 3, 0, 100 }, { "a", 1, 0, 7, 9 },
		{ "c/zzz", 5, 3, 0, -1 }, { "w", 1, -1, 0, 0 },
		{ "last", 4, 70000, 1, 1 },
	};
	struct dlb_index_writer *writer;
	struct stat st = { .st_mode = S_IFDIR, .st_ino = 5 };

	require(!dlb_index_writer_create(fd, DLBOOST_DATASET_FOLDER, &writer));
	require(!dlb_index_writer_name_class(writer, 0, "zero", 4));
	require(!dlb_index_writer_name_class(writer, 3, "three", 5));
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		require(!dlb_index_writer_add(writer, &entries[i]));
	require(!dlb_index_writer_stamp(writer, &st, ""));
	require(!dlb_index_writer_stamp(writer, &st, "tmp"));
	require(!dlb_index_writer_finish(writer, "/"));
	dlb_index_writer_destroy(writer);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int fd = memfd_create("model", MFD_CLOEXEC);
	ssize_t n;

	(void)argc;
	(void)argv;
	require(fd >= 0);
	model_make(fd);
	n = pread(fd, model, sizeof(model), 0);
	require(n > 0 && n < MAX_BYTES);
	model_bytes = (size_t)n;
	close(fd);
	return 0;
}

static void sums_set(uint8_t *data, size_t size)
{
	struct dlb_index_header header;

	memcpy(&header, data, sizeof(header));
	memcpy(header.magic, DLB_INDEX_MAGIC, sizeof(header.magic));
	header.version = DLB_INDEX_VERSION;
	header.file_bytes = size;
	for (int i = 0; i < DLB_INDEX_NR_SECTIONS; i++) {
		struct dlb_index_section *s = &header.sections[i];

		if (s->offset_bytes <= size &&
		    s->len_bytes <= size - s->offset_bytes)
			s->hash = dlb_index_hash(data + s->offset_bytes,
						 s->len_bytes);
	}
	header.hash = dlb_index_hash(&header, offsetof(struct dlb_index_header,
						       hash));
	memcpy(data, &header, sizeof(header));
}

/* The records and names, too, as far as they are where they should be */
static void records_seal(uint8_t *data, size_t size)
{
	struct dlb_index_header header;
	struct dlb_index_record record;
	uint64_t at;

	memcpy(&header, data, sizeof(header));
	at = header.sections[DLB_INDEX_BLOCKS].offset_bytes;
	if (at > size - 8)
		return;
	memcpy(&at, data + at, sizeof(at));
	for (int i = 0; i < 8 && at <= size - sizeof(record); i++) {
		uint64_t name;

		memcpy(&record, data + at, sizeof(record));
		name = (uint64_t)record.name_offset_high << 32 |
		       record.name_offset_low;
		if (name <= size && record.name_bytes <= size - name)
			dlb_index_record_seal(&record,
					      (const char *)data + name);
		memcpy(data + at, &record, sizeof(record));
		at += sizeof(record);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	if (size < sizeof(struct dlb_index_header) && max_size > model_bytes) {
		memcpy(data, model, model_bytes);
		size = model_bytes;
	}
	size = LLVMFuzzerMutate(data, size, max_size);
	if (size < sizeof(struct dlb_index_header))
		return size;
	if (seed % 8)
		records_seal(data, size);
	if (seed % 16)
		sums_set(data, size);
	return size;
}

static void entries_use(const struct dlb_index *index)
{
	uint64_t nr = index->header.nr_samples;
	char name[DLB_INDEX_NAME_BYTES];
	struct dlb_index_entry entry;

	for (uint64_t i = 0; i < 16; i++) {
		uint64_t id = i < 8 ? i : nr - (i - 8);
		int ret = dlb_index_entry(index, id, name, &entry);

		require(ret == 0 || ret == -EIO || ret == -ERANGE);
		if (ret)
			continue;
		require(id < nr && entry.name_bytes &&
			strlen(name) == entry.name_bytes &&
			entry.name_bytes <= index->header.max_name_bytes &&
			entry.label >= -1 && entry.len_bytes >= -1 &&
			entry.offset_bytes <= INT64_MAX);
	}
}

static void classes_use(const struct dlb_index *index)
{
	for (uint32_t i = 0; i < index->nr_present && i < 16; i++) {
		const struct dlb_index_class *class = &index->classes[i];
		uint64_t id;

		require(dlb_index_class_find(index, class->label) == class);
		require(class->label < index->header.nr_classes);
		if (class->name_offset != DLB_INDEX_NO_NAME)
			require(strlen(index->class_names +
				       class->name_offset) ==
				class->name_bytes);
		if (!dlb_index_class_member(index, class, class->count / 2,
					    &id))
			require(id < index->header.nr_samples);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("index", MFD_CLOEXEC), ret;
	struct dlb_index index;
	char why[80] = "";

	require(fd >= 0);
	require(pwrite(fd, data, size, 0) == (ssize_t)size);
	ret = dlb_index_open(fd, &index, why, sizeof(why));
	if (ret) {
		require(ret == -EBADMSG && why[0]);
		close(fd);
		return 0;
	}
	entries_use(&index);
	classes_use(&index);
	dlb_index_is_current(&index, "/", AT_FDCWD);
	dlb_index_close(&index);
	return 0;
}
