// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Reading an index file.  It may be damaged, cut short, of another version or
 * made by an enemy: nothing read from it is used before it was checked against
 * the size of the file, and nothing is allocated beyond that size.  Immutable
 * once opened, read by pread alone: no locks, any thread.
 * Documentation/datasets.rst, "Index files".
 */
#include "stream/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define NS_PER_S 1000000000
/* Changes nearer than this to the making may have left no trace */
#define RACY_NS (2 * (int64_t)NS_PER_S)

static const uint8_t index_key[DLB_SIPHASH_KEY_BYTES] = "dlboost index v1";

void dlb_index_hash_init(struct dlb_siphash *hash)
{
	dlb_siphash_init(hash, index_key);
}

uint64_t dlb_index_hash(const void *data, size_t len_bytes)
{
	return dlb_siphash_u64(index_key, data, len_bytes);
}

static uint16_t record_check(const struct dlb_index_record *record)
{
	size_t len = offsetof(struct dlb_index_record, record_check);

	return (uint16_t)dlb_index_hash(record, len);
}

static uint16_t name_check(const char *name, size_t name_bytes)
{
	return (uint16_t)dlb_index_hash(name, name_bytes);
}

void dlb_index_record_seal(struct dlb_index_record *record, const char *name)
{
	record->record_check = record_check(record);
	record->name_check = name_check(name, record->name_bytes);
}

static int64_t timespec_ns(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * NS_PER_S + ts->tv_nsec;
}

void dlb_index_stamp_make(const struct stat *st, struct dlb_index_stamp *out)
{
	*out = (struct dlb_index_stamp){
		.inode = st->st_ino,
		.size_bytes = S_ISDIR(st->st_mode) ? 0 : (uint64_t)st->st_size,
		.mtime_ns = timespec_ns(&st->st_mtim),
		.ctime_ns = timespec_ns(&st->st_ctim),
	};
}

/* All @len_bytes of it or -EIO */
static int read_at(int fd, void *buf, size_t len_bytes, uint64_t offset_bytes)
{
	char *p = buf;

	while (len_bytes) {
		ssize_t n = pread(fd, p, len_bytes, (off_t)offset_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		len_bytes -= (size_t)n;
		offset_bytes += (uint64_t)n;
	}
	return 0;
}

static const char *header_fault(const struct dlb_index_header *header,
				uint64_t file_bytes)
{
	if (memcmp(header->magic, DLB_INDEX_MAGIC, sizeof(header->magic)))
		return "it is not an index";
	if (header->version != DLB_INDEX_VERSION)
		return "it is of another version";
	if (header->hash != dlb_index_hash(header,
					   offsetof(struct dlb_index_header,
						    hash)))
		return "its header is damaged";
	if (header->file_bytes != file_bytes)
		return "it was cut short or has grown";
	if (header->kind > 1 || header->flags & ~(uint32_t)DLB_INDEX_F_SORTED)
		return "it has an unknown kind or flag";
	if (header->nr_samples > UINT32_MAX ||
	    header->max_name_bytes >= DLB_INDEX_NAME_BYTES)
		return "its numbers are out of range";
	for (int i = 0; i < DLB_INDEX_NR_SECTIONS; i++) {
		const struct dlb_index_section *s = &header->sections[i];

		if (s->offset_bytes % 8 || s->offset_bytes > file_bytes ||
		    s->len_bytes > file_bytes - s->offset_bytes)
			return "a table lies outside the file";
	}
	return NULL;
}

/*
 * A table into memory, with a NUL behind it.  An empty one gives memory, too.
 */
static int section_load(struct dlb_index *index, unsigned int id, void *out)
{
	const struct dlb_index_section *s = &index->header.sections[id];
	char *data;
	int ret;

	if (s->len_bytes > DLB_INDEX_MAX_TABLE_BYTES)
		return -EBADMSG;
	data = malloc(s->len_bytes + 1);
	if (!data)
		return -ENOMEM;
	ret = read_at(index->fd, data, s->len_bytes, s->offset_bytes);
	if (!ret && dlb_index_hash(data, s->len_bytes) != s->hash)
		ret = -EBADMSG;
	if (ret) {
		free(data);
		return ret;
	}
	data[s->len_bytes] = '\0';
	index->memory_bytes += s->len_bytes + 1;
	*(char **)out = data;
	return 0;
}

static uint64_t nr_blocks(const struct dlb_index_header *header)
{
	return (header->nr_samples + DLB_INDEX_BLOCK_SAMPLES - 1) /
	       DLB_INDEX_BLOCK_SAMPLES;
}

static const char *blocks_fault(const struct dlb_index *index)
{
	const struct dlb_index_header *header = &index->header;
	uint64_t nr = nr_blocks(header);

	if (header->sections[DLB_INDEX_BLOCKS].len_bytes !=
	    nr * sizeof(*index->blocks))
		return "its table of blocks has a wrong size";
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t left = header->nr_samples -
				i * DLB_INDEX_BLOCK_SAMPLES;
		uint64_t need = sizeof(struct dlb_index_record) *
				(left < DLB_INDEX_BLOCK_SAMPLES ?
				 left : DLB_INDEX_BLOCK_SAMPLES);

		if (index->blocks[i] > header->file_bytes ||
		    need > header->file_bytes - index->blocks[i])
			return "a block lies outside the file";
	}
	return NULL;
}

static bool class_name_is_sound(const struct dlb_index *index,
				const struct dlb_index_class *class)
{
	uint64_t len = index->header.sections[DLB_INDEX_CLASS_NAMES].len_bytes;

	if (class->name_offset == DLB_INDEX_NO_NAME)
		return true;
	return class->name_offset < len &&
	       class->name_bytes < len - class->name_offset &&
	       strlen(index->class_names + class->name_offset) ==
	       class->name_bytes;
}

static const char *classes_fault(const struct dlb_index *index)
{
	const struct dlb_index_header *header = &index->header;
	uint64_t nr_members = header->sections[DLB_INDEX_MEMBERS].len_bytes /
			      sizeof(uint32_t);
	int64_t last = -1;

	if (header->sections[DLB_INDEX_CLASSES].len_bytes %
	    sizeof(*index->classes))
		return "its table of classes has a wrong size";
	if (header->flags & DLB_INDEX_F_SORTED)
		nr_members = header->nr_samples;
	for (uint32_t i = 0; i < index->nr_present; i++) {
		const struct dlb_index_class *class = &index->classes[i];

		if (class->label <= last || class->label >= header->nr_classes)
			return "its classes are out of order";
		if (class->first > nr_members ||
		    class->count > nr_members - class->first)
			return "a class lies outside the samples";
		if (!class_name_is_sound(index, class))
			return "the name of a class is damaged";
		last = class->label;
	}
	return NULL;
}

static int tables_load(struct dlb_index *index, const char **fault)
{
	const struct dlb_index_section *s = index->header.sections;
	int ret;

	*fault = "a table is damaged";
	ret = section_load(index, DLB_INDEX_BLOCKS, &index->blocks);
	if (!ret)
		ret = section_load(index, DLB_INDEX_CLASSES, &index->classes);
	if (!ret)
		ret = section_load(index, DLB_INDEX_CLASS_NAMES,
				   &index->class_names);
	if (ret)
		return ret;
	index->nr_present = (uint32_t)(s[DLB_INDEX_CLASSES].len_bytes /
				       sizeof(*index->classes));
	*fault = blocks_fault(index);
	if (!*fault)
		*fault = classes_fault(index);
	return *fault ? -EBADMSG : 0;
}

int dlb_index_open(int fd, struct dlb_index *out, char *why, size_t why_bytes)
{
	struct dlb_index index = { .fd = fd };
	const char *fault = "it is shorter than a header";
	struct stat st;
	int ret = -EBADMSG;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode)) {
		fault = "it is not a regular file";
		goto err_fault;
	}
	if ((uint64_t)st.st_size < sizeof(index.header))
		goto err_fault;
	ret = read_at(fd, &index.header, sizeof(index.header), 0);
	if (ret)
		return ret;
	fault = header_fault(&index.header, (uint64_t)st.st_size);
	ret = fault ? -EBADMSG : tables_load(&index, &fault);
	if (ret)
		goto err_fault;
	*out = index;
	return 0;

err_fault:
	if (ret == -EBADMSG)
		dlb_sentence(why, why_bytes, "%s", fault);
	index.fd = -1;
	dlb_index_close(&index);
	return ret;
}

void dlb_index_close(struct dlb_index *index)
{
	if (index->fd >= 0)
		close(index->fd);
	free(index->classes);
	free(index->class_names);
	free(index->blocks);
	*index = (struct dlb_index){ .fd = -1 };
}

/**
 * struct stamp_reader - The table of stamps, a piece at a time
 * @fd: index file
 * @offset_bytes: of the next byte to read
 * @left_bytes: bytes of the table not yet read
 * @hash: of what was taken
 * @len_bytes: bytes in @piece
 * @at_bytes: of them taken
 * @piece: read ahead
 */
struct stamp_reader {
	int fd;
	uint64_t offset_bytes;
	uint64_t left_bytes;
	struct dlb_siphash hash;
	size_t len_bytes;
	size_t at_bytes;
	char piece[16384];
};

static bool stamp_reader_take(struct stamp_reader *reader, void *buf,
			      size_t len_bytes)
{
	size_t held = reader->len_bytes - reader->at_bytes;

	if (held < len_bytes) {
		size_t more = sizeof(reader->piece) - held;

		memmove(reader->piece, reader->piece + reader->at_bytes, held);
		if (more > reader->left_bytes)
			more = (size_t)reader->left_bytes;
		if (held + more < len_bytes ||
		    read_at(reader->fd, reader->piece + held, more,
			    reader->offset_bytes))
			return false;
		reader->offset_bytes += more;
		reader->left_bytes -= more;
		reader->len_bytes = held + more;
		reader->at_bytes = 0;
	}
	memcpy(buf, reader->piece + reader->at_bytes, len_bytes);
	dlb_siphash_update(&reader->hash, buf, len_bytes);
	reader->at_bytes += len_bytes;
	return true;
}

static bool stamp_is_current(const struct dlb_index_stamp *stamp,
			     const char *name, int source_fd, int64_t made_ns)
{
	struct dlb_index_stamp now;
	struct stat st;

	/* What was changed while, or just before, it was read */
	if (stamp->mtime_ns >= made_ns - RACY_NS)
		return false;
	if (fstatat(source_fd, name, &st, AT_EMPTY_PATH))
		return false;
	dlb_index_stamp_make(&st, &now);
	return now.inode == stamp->inode &&
	       now.size_bytes == stamp->size_bytes &&
	       now.mtime_ns == stamp->mtime_ns &&
	       now.ctime_ns == stamp->ctime_ns;
}

static bool stamps_are_current(const struct dlb_index *index, int source_fd)
{
	const struct dlb_index_section *s =
		&index->header.sections[DLB_INDEX_STAMPS];
	struct stamp_reader reader = {
		.fd = index->fd, .offset_bytes = s->offset_bytes,
		.left_bytes = s->len_bytes,
	};
	char name[DLB_INDEX_NAME_BYTES];
	struct dlb_index_stamp stamp;

	dlb_index_hash_init(&reader.hash);
	do {
		if (!stamp_reader_take(&reader, &stamp, sizeof(stamp)) ||
		    stamp.name_bytes >= sizeof(name) ||
		    !stamp_reader_take(&reader, name, stamp.name_bytes))
			return false;
		name[stamp.name_bytes] = '\0';
		if (!stamp_is_current(&stamp, name, source_fd,
				      index->header.made_ns))
			return false;
	} while (reader.left_bytes || reader.at_bytes < reader.len_bytes);
	return dlb_siphash_final_u64(&reader.hash) == s->hash;
}

bool dlb_index_is_current(const struct dlb_index *index, const char *source,
			  int source_fd)
{
	const struct dlb_index_section *s =
		&index->header.sections[DLB_INDEX_SOURCE];
	_cleanup_free_ char *made_from = malloc(s->len_bytes + 1);

	if (!made_from || s->len_bytes != strlen(source) ||
	    read_at(index->fd, made_from, s->len_bytes, s->offset_bytes) ||
	    memcmp(made_from, source, s->len_bytes))
		return false;
	return stamps_are_current(index, source_fd);
}

int dlb_index_record(const struct dlb_index *index, uint64_t sample_id,
		     struct dlb_index_record *out)
{
	uint64_t offset;

	if (sample_id >= index->header.nr_samples)
		return -ERANGE;
	offset = index->blocks[sample_id / DLB_INDEX_BLOCK_SAMPLES] +
		 sample_id % DLB_INDEX_BLOCK_SAMPLES * sizeof(*out);
	if (read_at(index->fd, out, sizeof(*out), offset))
		return -EIO;
	if (out->record_check != record_check(out) || out->label < -1 ||
	    out->len_bytes < -1 || out->offset_bytes > INT64_MAX ||
	    (out->label >= 0 &&
	     (uint32_t)out->label >= index->header.nr_classes))
		return -EIO;
	return 0;
}

int dlb_index_entry(const struct dlb_index *index, uint64_t sample_id,
		    char name[DLB_INDEX_NAME_BYTES],
		    struct dlb_index_entry *out)
{
	struct dlb_index_record record;
	uint64_t offset;
	int ret = dlb_index_record(index, sample_id, &record);

	if (ret)
		return ret;
	offset = (uint64_t)record.name_offset_high << 32 |
		 record.name_offset_low;
	if (!record.name_bytes ||
	    record.name_bytes > index->header.max_name_bytes ||
	    read_at(index->fd, name, record.name_bytes, offset) ||
	    record.name_check != name_check(name, record.name_bytes) ||
	    memchr(name, '\0', record.name_bytes))
		return -EIO;
	name[record.name_bytes] = '\0';
	*out = (struct dlb_index_entry){
		.name = name,
		.name_bytes = record.name_bytes,
		.label = record.label,
		.offset_bytes = record.offset_bytes,
		.len_bytes = record.len_bytes,
	};
	return 0;
}

static int class_compare(const void *key, const void *entry)
{
	uint32_t label = *(const uint32_t *)key;
	const struct dlb_index_class *class = entry;

	return label < class->label ? -1 : label > class->label;
}

const struct dlb_index_class *
dlb_index_class_find(const struct dlb_index *index, uint32_t label)
{
	return bsearch(&label, index->classes, index->nr_present,
		       sizeof(*index->classes), class_compare);
}

int dlb_index_class_member(const struct dlb_index *index,
			   const struct dlb_index_class *class, uint32_t member,
			   uint64_t *sample_id)
{
	const struct dlb_index_section *s =
		&index->header.sections[DLB_INDEX_MEMBERS];
	uint64_t offset = s->offset_bytes;
	struct dlb_index_record record;
	uint32_t id;
	int ret;

	if (member >= class->count)
		return -ERANGE;
	if (index->header.flags & DLB_INDEX_F_SORTED) {
		*sample_id = class->first + member;
		return 0;
	}
	offset += (class->first + member) * sizeof(id);
	if (read_at(index->fd, &id, sizeof(id), offset))
		return -EIO;
	/* The list has no checks of its own: the label tells */
	ret = dlb_index_record(index, id, &record);
	if (ret || record.label != (int64_t)class->label)
		return -EIO;
	*sample_id = id;
	return 0;
}
