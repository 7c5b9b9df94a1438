/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The index file of a data set: its form, its writer, its reader.
 * Documentation/datasets.rst, "Index files", is the definition.
 *
 * Numbers are in the order of the machine that wrote them; the version word
 * tells another order apart, and such a file is made anew.  A file is written
 * from front to back, the header last:
 *
 *   header | block 0 | block 1 | ... | sections
 *
 * A block is the names of DLB_INDEX_BLOCK_SAMPLES samples, then their records
 * (8-byte aligned).  A reader trusts nothing in it: every number is checked
 * against the size of the file before it is used.
 */
#ifndef DLB_STREAM_INDEX_H
#define DLB_STREAM_INDEX_H

#include <stdbool.h>
#include <sys/stat.h>

#include "stream/siphash.h"
#include "stream/text.h"

#define DLB_INDEX_MAGIC "DLBindex"
#define DLB_INDEX_VERSION 1u
#define DLB_INDEX_BLOCK_SAMPLES 8192u
/* Room for the longest name of a file, NUL included */
#define DLB_INDEX_NAME_BYTES 4096u
#define DLB_INDEX_NO_NAME UINT32_MAX
/* What a table in memory may take: 44 million classes */
#define DLB_INDEX_MAX_TABLE_BYTES ((uint64_t)1 << 30)

/**
 * enum dlb_index_flags - Bits of struct dlb_index_header.flags
 * @DLB_INDEX_F_SORTED: labels never fall from one sample to the next, so that
 *	there is no list of members: those of a class are neighbours
 */
enum dlb_index_flags {
	DLB_INDEX_F_SORTED = 1 << 0,
};

/**
 * enum dlb_index_section_id - Tables behind the blocks
 * @DLB_INDEX_BLOCKS: offset of the first record of each block (uint64_t)
 * @DLB_INDEX_CLASSES: struct dlb_index_class of each label that occurs or has
 *	a name, by label
 * @DLB_INDEX_CLASS_NAMES: names of classes, each with its NUL
 * @DLB_INDEX_MEMBERS: sample numbers (uint32_t), by label, then by number
 * @DLB_INDEX_STAMPS: struct dlb_index_stamp and name of each folder read
 * @DLB_INDEX_SOURCE: absolute path of the data set
 * @DLB_INDEX_NR_SECTIONS: number of tables
 */
enum dlb_index_section_id {
	DLB_INDEX_BLOCKS = 0,
	DLB_INDEX_CLASSES = 1,
	DLB_INDEX_CLASS_NAMES = 2,
	DLB_INDEX_MEMBERS = 3,
	DLB_INDEX_STAMPS = 4,
	DLB_INDEX_SOURCE = 5,
	DLB_INDEX_NR_SECTIONS = 6,
};

/**
 * struct dlb_index_section - Where a table stands
 * @offset_bytes: from the start of the file, 8-byte aligned
 * @len_bytes: length
 * @hash: of its bytes
 */
struct dlb_index_section {
	uint64_t offset_bytes;
	uint64_t len_bytes;
	uint64_t hash;
};

/**
 * struct dlb_index_header - First bytes of the file
 * @magic: DLB_INDEX_MAGIC without its NUL
 * @version: DLB_INDEX_VERSION
 * @kind: enum dlboost_dataset_kind
 * @flags: enum dlb_index_flags
 * @nr_classes: largest label + 1
 * @file_bytes: size of the file
 * @nr_samples: number of records, less than 2^32
 * @nr_skipped: see struct dlboost_dataset_info
 * @total_bytes: see struct dlboost_dataset_info
 * @made_ns: when the making began, ns since 1970
 * @max_name_bytes: length of the longest name of a sample
 * @reserved: 0
 * @fingerprint: of the listing
 * @sections: tables
 * @hash: of all before it
 */
struct dlb_index_header {
	char magic[8];
	uint32_t version;
	uint32_t kind;
	uint32_t flags;
	uint32_t nr_classes;
	uint64_t file_bytes;
	uint64_t nr_samples;
	uint64_t nr_skipped;
	uint64_t total_bytes;
	int64_t made_ns;
	uint32_t max_name_bytes;
	uint32_t reserved;
	uint8_t fingerprint[DLB_SIPHASH_BYTES];
	struct dlb_index_section sections[DLB_INDEX_NR_SECTIONS];
	uint64_t hash;
};

/**
 * struct dlb_index_record - One sample
 * @offset_bytes: first byte inside its file
 * @len_bytes: length, -1 when not known
 * @name_offset_low: where its name stands in the index, low 32 bits
 * @name_offset_high: high 16 bits
 * @name_bytes: length of the name
 * @label: label, -1 for none
 * @record_check: low 16 bits of the hash of the members above
 * @name_check: low 16 bits of the hash of the name
 */
struct dlb_index_record {
	uint64_t offset_bytes;
	int64_t len_bytes;
	uint32_t name_offset_low;
	uint16_t name_offset_high;
	uint16_t name_bytes;
	int32_t label;
	uint16_t record_check;
	uint16_t name_check;
};

/**
 * struct dlb_index_class - One class
 * @label: its label
 * @count: its samples
 * @first: its first place in the list of members; without one (F_SORTED), its
 *	first sample
 * @name_offset: of its name in CLASS_NAMES, or DLB_INDEX_NO_NAME
 * @name_bytes: length without the NUL
 */
struct dlb_index_class {
	uint32_t label;
	uint32_t count;
	uint64_t first;
	uint32_t name_offset;
	uint32_t name_bytes;
};

/**
 * struct dlb_index_stamp - What a folder or manifest looked like
 * @inode: inode number
 * @size_bytes: size; 0 for folders
 * @mtime_ns: last change of its content
 * @ctime_ns: last change of its inode
 * @name_bytes: length of the name behind it, relative to the root; 0: the root
 * @reserved: 0
 */
struct dlb_index_stamp {
	uint64_t inode;
	uint64_t size_bytes;
	int64_t mtime_ns;
	int64_t ctime_ns;
	uint32_t name_bytes;
	uint32_t reserved;
};

_Static_assert(sizeof(struct dlb_index_section) == 24, "section");
_Static_assert(sizeof(struct dlb_index_header) == 240, "header");
_Static_assert(sizeof(struct dlb_index_record) == 32, "record");
_Static_assert(sizeof(struct dlb_index_class) == 24, "class");
_Static_assert(sizeof(struct dlb_index_stamp) == 40, "stamp");

/* Checksum of index parts (key "dlboost index v1") */
uint64_t dlb_index_hash(const void *data, size_t len_bytes);
void dlb_index_hash_init(struct dlb_siphash *hash);
/* Fill in the two checks of a record */
void dlb_index_record_seal(struct dlb_index_record *record, const char *name);
/* What to compare later; 0 for the size of a folder */
void dlb_index_stamp_make(const struct stat *st, struct dlb_index_stamp *out);

/**
 * struct dlb_index_entry - One sample, unpacked
 * @name: name as the listing has it, NUL-terminated
 * @name_bytes: length, less than DLB_INDEX_NAME_BYTES
 * @label: label, -1 for none
 * @offset_bytes: first byte inside its file
 * @len_bytes: length, -1 when not known
 */
struct dlb_index_entry {
	const char *name;
	size_t name_bytes;
	int32_t label;
	uint64_t offset_bytes;
	int64_t len_bytes;
};

/**
 * struct dlb_index - An index opened for reading; immutable, any thread
 * @fd: the file
 * @header: checked header
 * @classes: table of classes
 * @nr_present: entries of @classes
 * @class_names: names of classes
 * @blocks: offset of the first record of each block
 * @memory_bytes: memory behind the members above
 */
struct dlb_index {
	int fd;
	struct dlb_index_header header;
	struct dlb_index_class *classes;
	uint32_t nr_present;
	char *class_names;
	uint64_t *blocks;
	size_t memory_bytes;
};

/*
 * Check the file and load its small tables.  Takes @fd on success only.
 * Returns 0; -EBADMSG: not a sound index, @why says what is wrong; -ENOMEM; or
 * as the operating system reported it.
 */
int dlb_index_open(int fd, struct dlb_index *out, char *why, size_t why_bytes);
void dlb_index_close(struct dlb_index *index);

/* Does the data set still look as it did?  @source_fd: folder or manifest */
bool dlb_index_is_current(const struct dlb_index *index, const char *source,
			  int source_fd);

/* 0, -ERANGE, -EIO (unreadable or damaged); one read of the file */
int dlb_index_record(const struct dlb_index *index, uint64_t sample_id,
		     struct dlb_index_record *out);
/* The same, and the name into @name; two reads */
int dlb_index_entry(const struct dlb_index *index, uint64_t sample_id,
		    char name[DLB_INDEX_NAME_BYTES],
		    struct dlb_index_entry *out);

/* NULL when no sample has the label and it has no name */
const struct dlb_index_class *
dlb_index_class_find(const struct dlb_index *index, uint32_t label);
/* 0, -ERANGE, -EIO */
int dlb_index_class_member(const struct dlb_index *index,
			   const struct dlb_index_class *class, uint32_t member,
			   uint64_t *sample_id);

/* An index in the making; one thread at a time */
struct dlb_index_writer;

/* Writes to @fd from its start, and does not close it */
int dlb_index_writer_create(int fd, uint32_t kind,
			    struct dlb_index_writer **out);
void dlb_index_writer_destroy(struct dlb_index_writer *writer);
/* By ascending label, @label not yet named; 0, -EINVAL, -ENOMEM */
int dlb_index_writer_name_class(struct dlb_index_writer *writer, uint32_t label,
				const char *name, size_t name_bytes);
/* Appends a sample; -EOVERFLOW beyond 2^32 - 1 of them */
int dlb_index_writer_add(struct dlb_index_writer *writer,
			 const struct dlb_index_entry *entry);
/* Remembers a folder (@name relative to the root) or the manifest ("") */
int dlb_index_writer_stamp(struct dlb_index_writer *writer,
			   const struct stat *st, const char *name);
void dlb_index_writer_skip(struct dlb_index_writer *writer);
uint64_t dlb_index_writer_nr_samples(const struct dlb_index_writer *writer);
/* Tables and header; the file is complete after it, not yet on the disk */
int dlb_index_writer_finish(struct dlb_index_writer *writer,
			    const char *source);
/* The failed write behind a negative return of the others, or 0 */
int dlb_index_writer_error(const struct dlb_index_writer *writer);

#endif /* DLB_STREAM_INDEX_H */
