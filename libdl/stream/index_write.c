// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Writing an index file in one pass, front to back, whatever the number of
 * samples: memory holds one block, the folders, the classes, and 12 bytes for
 * each change of the label from one sample to the next.  Where the file goes
 * and how it gets its name is index_place.c's affair.  No locks: one thread.
 * Documentation/datasets.rst, "Index files" and "Fingerprint".
 */
#include "stream/index.h"

#include <dlboost/dataset.h>

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const uint8_t fingerprint_key[DLB_SIPHASH_KEY_BYTES] =
	"dlboost-listing1";

/**
 * struct run - Neighbouring samples of one label
 * @label: the label
 * @first: the first of them
 * @count: how many
 */
struct run {
	uint32_t label;
	uint32_t first;
	uint32_t count;
};

/**
 * struct dlb_index_writer - See index.h
 * @fd: where it goes
 * @error: first write that failed, as -errno, or 0
 * @is_sorted: labels have not fallen yet
 * @has_unknown_len: a sample of a manifest whose length is not stated
 * @last_label: label of the sample before
 * @end_bytes: what is written or due to be written before @names
 * @limit_bytes: RLIMIT_FSIZE: to write past it would be a signal
 * @header: what is known of it
 * @fingerprint: hash of the listing
 * @names: names of the block in hand
 * @records: records of the block in hand
 * @runs: struct run, without those of label -1
 * @blocks: table of blocks
 * @named: struct dlb_index_class of classes with names
 * @classes: table of classes, made by the end
 * @class_names: table of names
 * @members: list of members, made by the end
 * @stamps: table of stamps
 */
struct dlb_index_writer {
	int fd;
	int error;
	bool is_sorted;
	bool has_unknown_len;
	int32_t last_label;
	uint64_t end_bytes;
	uint64_t limit_bytes;
	struct dlb_index_header header;
	struct dlb_siphash fingerprint;
	struct dlb_buffer names;
	struct dlb_buffer records;
	struct dlb_buffer runs;
	struct dlb_buffer blocks;
	struct dlb_buffer named;
	struct dlb_buffer classes;
	struct dlb_buffer class_names;
	struct dlb_buffer members;
	struct dlb_buffer stamps;
};

int dlb_index_writer_create(int fd, uint32_t kind,
			    struct dlb_index_writer **out)
{
	struct dlb_index_writer *writer = calloc(1, sizeof(*writer));
	struct rlimit limit;
	struct timespec now;

	if (!writer)
		return -ENOMEM;
	writer->fd = fd;
	writer->is_sorted = true;
	writer->last_label = -1;
	writer->end_bytes = sizeof(writer->header);
	writer->limit_bytes = UINT64_MAX;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		writer->limit_bytes = limit.rlim_cur;
	clock_gettime(CLOCK_REALTIME, &now);
	memcpy(writer->header.magic, DLB_INDEX_MAGIC,
	       sizeof(writer->header.magic));
	writer->header.version = DLB_INDEX_VERSION;
	writer->header.kind = kind;
	writer->header.made_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	dlb_siphash_init(&writer->fingerprint, fingerprint_key);
	*out = writer;
	return 0;
}

void dlb_index_writer_destroy(struct dlb_index_writer *writer)
{
	if (!writer)
		return;
	dlb_buffer_free(&writer->names);
	dlb_buffer_free(&writer->records);
	dlb_buffer_free(&writer->runs);
	dlb_buffer_free(&writer->blocks);
	dlb_buffer_free(&writer->named);
	dlb_buffer_free(&writer->classes);
	dlb_buffer_free(&writer->class_names);
	dlb_buffer_free(&writer->members);
	dlb_buffer_free(&writer->stamps);
	free(writer);
}

void dlb_index_writer_skip(struct dlb_index_writer *writer)
{
	writer->header.nr_skipped++;
}

uint64_t dlb_index_writer_nr_samples(const struct dlb_index_writer *writer)
{
	return writer->header.nr_samples;
}

int dlb_index_writer_error(const struct dlb_index_writer *writer)
{
	return writer->error;
}

static int write_at(struct dlb_index_writer *writer, const void *data,
		    size_t len_bytes, uint64_t offset_bytes)
{
	const char *p = data;

	if (offset_bytes + len_bytes > writer->limit_bytes)
		writer->error = -EFBIG;
	while (len_bytes && !writer->error) {
		ssize_t n = pwrite(writer->fd, p, len_bytes,
				   (off_t)offset_bytes);

		if (n < 0 && errno != EINTR)
			writer->error = -errno;
		if (n <= 0)
			continue;
		p += n;
		len_bytes -= (size_t)n;
		offset_bytes += (uint64_t)n;
	}
	return writer->error;
}

/* Append, and go on at the next multiple of 8 */
static int write_end(struct dlb_index_writer *writer, const void *data,
		     size_t len_bytes)
{
	int ret = write_at(writer, data, len_bytes, writer->end_bytes);

	writer->end_bytes = (writer->end_bytes + len_bytes + 7) & ~(uint64_t)7;
	return ret;
}

static int flush_block(struct dlb_index_writer *writer)
{
	int ret;

	if (!writer->records.len_bytes)
		return 0;
	ret = write_end(writer, writer->names.data, writer->names.len_bytes);
	if (!ret)
		ret = dlb_buffer_append(&writer->blocks, &writer->end_bytes,
					sizeof(writer->end_bytes));
	if (!ret)
		ret = write_end(writer, writer->records.data,
				writer->records.len_bytes);
	writer->names.len_bytes = 0;
	writer->records.len_bytes = 0;
	return ret;
}

int dlb_index_writer_name_class(struct dlb_index_writer *writer, uint32_t label,
				const char *name, size_t name_bytes)
{
	struct dlb_index_class class = {
		.label = label,
		.name_offset = (uint32_t)writer->class_names.len_bytes,
		.name_bytes = (uint32_t)name_bytes,
	};
	char *room;

	if (label < writer->header.nr_classes || label > INT32_MAX)
		return -EINVAL;
	if (writer->class_names.len_bytes + name_bytes >=
	    DLB_INDEX_MAX_TABLE_BYTES)
		return -EOVERFLOW;
	room = dlb_buffer_extend(&writer->class_names, name_bytes + 1);
	if (!room)
		return -ENOMEM;
	memcpy(room, name, name_bytes);
	room[name_bytes] = '\0';
	writer->header.nr_classes = label + 1;
	return dlb_buffer_append(&writer->named, &class, sizeof(class));
}

static int note_label(struct dlb_index_writer *writer, int32_t label)
{
	struct run run = {
		.label = (uint32_t)label,
		.first = (uint32_t)writer->header.nr_samples,
		.count = 1,
	};
	bool is_same = label == writer->last_label;

	writer->is_sorted &= label >= writer->last_label;
	writer->last_label = label;
	if (label < 0)
		return 0;
	if (is_same) {
		struct run *last = (struct run *)(writer->runs.data +
						  writer->runs.len_bytes) - 1;

		last->count++;
		return 0;
	}
	if (run.label >= writer->header.nr_classes)
		writer->header.nr_classes = run.label + 1;
	return dlb_buffer_append(&writer->runs, &run, sizeof(run));
}

/* Name, NUL, label, offset, length: Documentation/datasets.rst, "Fingerprint" */
static void note_fingerprint(struct dlb_index_writer *writer,
			     const struct dlb_index_entry *entry)
{
	uint32_t label = htole32((uint32_t)entry->label);
	uint64_t offset = htole64(entry->offset_bytes);
	uint64_t len = htole64((uint64_t)entry->len_bytes);
	uint8_t rest[21] = { 0 };

	memcpy(rest + 1, &label, 4);
	memcpy(rest + 5, &offset, 8);
	memcpy(rest + 13, &len, 8);
	dlb_siphash_update(&writer->fingerprint, entry->name,
			   entry->name_bytes);
	dlb_siphash_update(&writer->fingerprint, rest, sizeof(rest));
}

static void note_sizes(struct dlb_index_writer *writer,
		       const struct dlb_index_entry *entry)
{
	struct dlb_index_header *header = &writer->header;

	if (entry->len_bytes < 0)
		writer->has_unknown_len = true;
	else if (__builtin_add_overflow(header->total_bytes,
					(uint64_t)entry->len_bytes,
					&header->total_bytes))
		header->total_bytes = UINT64_MAX;
	if (entry->name_bytes > header->max_name_bytes)
		header->max_name_bytes = (uint32_t)entry->name_bytes;
	header->nr_samples++;
}

int dlb_index_writer_add(struct dlb_index_writer *writer,
			 const struct dlb_index_entry *entry)
{
	uint64_t at = writer->end_bytes + writer->names.len_bytes;
	struct dlb_index_record record = {
		.offset_bytes = entry->offset_bytes,
		.len_bytes = entry->len_bytes,
		.name_offset_low = (uint32_t)at,
		.name_offset_high = (uint16_t)(at >> 32),
		.name_bytes = (uint16_t)entry->name_bytes,
		.label = entry->label,
	};
	int ret;

	if (entry->name_bytes >= DLB_INDEX_NAME_BYTES)
		return -ENAMETOOLONG;
	if (writer->header.nr_samples >= UINT32_MAX || at >> 48)
		return -EOVERFLOW;
	dlb_index_record_seal(&record, entry->name);
	ret = dlb_buffer_append(&writer->names, entry->name,
				entry->name_bytes);
	if (!ret)
		ret = dlb_buffer_append(&writer->records, &record,
					sizeof(record));
	if (!ret)
		ret = note_label(writer, entry->label);
	if (ret)
		return ret;
	note_fingerprint(writer, entry);
	note_sizes(writer, entry);
	if (writer->records.len_bytes <
	    DLB_INDEX_BLOCK_SAMPLES * sizeof(record))
		return 0;
	return flush_block(writer);
}

int dlb_index_writer_stamp(struct dlb_index_writer *writer,
			   const struct stat *st, const char *name)
{
	struct dlb_index_stamp stamp;
	int ret;

	dlb_index_stamp_make(st, &stamp);
	stamp.name_bytes = (uint32_t)strlen(name);
	ret = dlb_buffer_append(&writer->stamps, &stamp, sizeof(stamp));
	if (!ret)
		ret = dlb_buffer_append(&writer->stamps, name,
					stamp.name_bytes);
	return ret;
}

/* One stable pass over 16 bits of the labels; 0 or -ENOMEM */
static int runs_sort_pass(const struct run *from, struct run *to, size_t nr,
			  unsigned int shift)
{
	uint32_t *starts = calloc(1 << 16, sizeof(*starts)), sum = 0;

	if (!starts)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		starts[from[i].label >> shift & 0xffff]++;
	for (size_t i = 0; i < 1 << 16; i++) {
		uint32_t count = starts[i];

		starts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++)
		to[starts[from[i].label >> shift & 0xffff]++] = from[i];
	free(starts);
	return 0;
}

/* By label, and by number within a label (least significant digit first) */
static int runs_sort(struct dlb_index_writer *writer)
{
	struct run *runs = (struct run *)writer->runs.data;
	size_t nr = writer->runs.len_bytes / sizeof(*runs);
	struct dlb_buffer spare = { 0 };
	int ret = 0;

	if (!dlb_buffer_extend(&spare, writer->runs.len_bytes))
		return -ENOMEM;
	for (unsigned int shift = 0; shift < 32 && !ret; shift += 16) {
		if (shift && writer->header.nr_classes <= 1 << 16)
			break;
		ret = runs_sort_pass(runs, (struct run *)spare.data, nr, shift);
		if (!ret)
			memcpy(runs, spare.data, writer->runs.len_bytes);
	}
	dlb_buffer_free(&spare);
	return ret;
}

static int members_make(struct dlb_index_writer *writer)
{
	const struct run *runs = (const struct run *)writer->runs.data;
	size_t nr = writer->runs.len_bytes / sizeof(*runs);

	for (size_t i = 0; i < nr; i++) {
		uint32_t *ids = dlb_buffer_extend(&writer->members,
						  runs[i].count * sizeof(*ids));

		if (!ids)
			return -ENOMEM;
		for (uint32_t k = 0; k < runs[i].count; k++)
			ids[k] = runs[i].first + k;
	}
	return 0;
}

/* Named classes before @label, and the name of @label if it has one */
static int classes_take_named(struct dlb_index_writer *writer, size_t *at,
			      struct dlb_index_class *class)
{
	const struct dlb_index_class *named =
		(const struct dlb_index_class *)writer->named.data;
	size_t nr = writer->named.len_bytes / sizeof(*named);

	for (; *at < nr && named[*at].label < class->label; ++*at) {
		int ret = dlb_buffer_append(&writer->classes, &named[*at],
					    sizeof(*named));

		if (ret)
			return ret;
	}
	if (*at < nr && named[*at].label == class->label) {
		class->name_offset = named[*at].name_offset;
		class->name_bytes = named[*at].name_bytes;
		++*at;
	}
	return 0;
}

static int classes_make(struct dlb_index_writer *writer)
{
	const struct run *runs = (const struct run *)writer->runs.data;
	size_t nr = writer->runs.len_bytes / sizeof(*runs), at = 0, i = 0;
	struct dlb_index_class last = { .label = UINT32_MAX };
	uint64_t first = 0;
	int ret = 0;

	while (i < nr && !ret) {
		struct dlb_index_class class = {
			.label = runs[i].label,
			.first = writer->is_sorted ? runs[i].first : first,
			.name_offset = DLB_INDEX_NO_NAME,
		};

		for (; i < nr && runs[i].label == class.label; i++)
			class.count += runs[i].count;
		first += class.count;
		ret = classes_take_named(writer, &at, &class);
		if (!ret)
			ret = dlb_buffer_append(&writer->classes, &class,
						sizeof(class));
	}
	if (!ret)
		ret = classes_take_named(writer, &at, &last);
	if (!ret && writer->classes.len_bytes > DLB_INDEX_MAX_TABLE_BYTES)
		ret = -EOVERFLOW;
	return ret;
}

static int section_write(struct dlb_index_writer *writer, unsigned int id,
			 const void *data, size_t len_bytes)
{
	writer->header.sections[id] = (struct dlb_index_section){
		.offset_bytes = writer->end_bytes,
		.len_bytes = len_bytes,
		.hash = id == DLB_INDEX_MEMBERS ?
			0 : dlb_index_hash(data, len_bytes),
	};
	return write_end(writer, data, len_bytes);
}

static int sections_write(struct dlb_index_writer *writer, const char *source)
{
	const struct dlb_buffer *tables[] = {
		[DLB_INDEX_BLOCKS] = &writer->blocks,
		[DLB_INDEX_CLASSES] = &writer->classes,
		[DLB_INDEX_CLASS_NAMES] = &writer->class_names,
		[DLB_INDEX_MEMBERS] = &writer->members,
		[DLB_INDEX_STAMPS] = &writer->stamps,
	};
	int ret = 0;

	for (unsigned int id = 0; id < DLB_INDEX_SOURCE && !ret; id++)
		ret = section_write(writer, id, tables[id]->data,
				    tables[id]->len_bytes);
	if (!ret)
		ret = section_write(writer, DLB_INDEX_SOURCE, source,
				    strlen(source));
	return ret;
}

int dlb_index_writer_finish(struct dlb_index_writer *writer,
			    const char *source)
{
	struct dlb_index_header *header = &writer->header;
	int ret = flush_block(writer);

	if (!ret && !writer->is_sorted)
		ret = runs_sort(writer);
	if (!ret && !writer->is_sorted)
		ret = members_make(writer);
	if (!ret)
		ret = classes_make(writer);
	if (!ret)
		ret = sections_write(writer, source);
	if (ret)
		return ret;
	if (header->kind == DLBOOST_DATASET_MANIFEST && writer->has_unknown_len)
		header->total_bytes = 0;
	if (writer->is_sorted)
		header->flags |= DLB_INDEX_F_SORTED;
	header->file_bytes =
		header->sections[DLB_INDEX_SOURCE].offset_bytes +
		header->sections[DLB_INDEX_SOURCE].len_bytes;
	dlb_siphash_final(&writer->fingerprint, header->fingerprint);
	header->hash = dlb_index_hash(header, offsetof(struct dlb_index_header,
						       hash));
	return write_at(writer, header, sizeof(*header), 0);
}
