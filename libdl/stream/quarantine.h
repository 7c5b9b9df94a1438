/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The quarantine list: files found bad, one a line, read at start and added
 * to.  What was read decides the stream's bytes and never changes while it
 * runs; what is found is kept apart until the next start.
 */
#ifndef DLB_STREAM_QUARANTINE_H
#define DLB_STREAM_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct dlboost_dataset;

/* A larger list is refused; more is not added */
#define DLB_QUARANTINE_MAX_BYTES ((size_t)64 << 20)

/**
 * struct dlb_quarantine_entry - One bad file, or part of one
 * @path_offset: where its path begins in the set's bytes; NUL-terminated
 * @path_bytes: its length
 * @status: a value of enum dlboost_status, not OK
 * @count: times it was met
 * @offset_bytes: first byte inside the file
 * @len_bytes: length, or -1 for "to the end of the file"
 */
struct dlb_quarantine_entry {
	size_t path_offset;
	uint32_t path_bytes;
	uint32_t status;
	uint64_t count;
	uint64_t offset_bytes;
	int64_t len_bytes;
};

/**
 * struct dlb_quarantine_set - Entries by (path, offset, length)
 * @entries: in order of arrival
 * @nr: number of @entries
 * @cap: room at @entries
 * @table: open addressing, entry number + 1; a power of two
 * @table_entries: size of @table
 * @bytes: the paths
 * @used_bytes: of @bytes
 * @cap_bytes: room at @bytes
 */
struct dlb_quarantine_set {
	struct dlb_quarantine_entry *entries;
	size_t nr;
	size_t cap;
	uint32_t *table;
	size_t table_entries;
	char *bytes;
	size_t used_bytes;
	size_t cap_bytes;
};

void dlb_quarantine_set_fini(struct dlb_quarantine_set *set);
const struct dlb_quarantine_entry *
dlb_quarantine_set_find(const struct dlb_quarantine_set *set, const char *path,
			uint64_t offset_bytes, int64_t len_bytes);
/* Adds @entry's count to what is there; 0, -ENOMEM or -EFBIG */
int dlb_quarantine_set_add(struct dlb_quarantine_set *set, const char *path,
			   const struct dlb_quarantine_entry *entry);
/* Hostile text -> entries added to @set; 0, -ENOMEM, -EFBIG, or -EINVAL with a
 * sentence that names the line
 */
int dlb_quarantine_parse(const char *text, size_t len_bytes,
			 struct dlb_quarantine_set *set, char *error,
			 size_t error_bytes);
/* The text of a set; 0 or what writing reported */
int dlb_quarantine_print(const struct dlb_quarantine_set *set, FILE *f);

/**
 * struct dlb_quarantine - A list and its file
 *
 * dlb_quarantine_knows() may be called from any thread; the others belong to
 * the stream's consumer.
 */
struct dlb_quarantine;

/* A missing file is an empty list; one that is no list is refused */
int dlb_quarantine_open(const char *path, char *error, size_t error_bytes,
			struct dlb_quarantine **out);
void dlb_quarantine_close(struct dlb_quarantine *quarantine);
bool dlb_quarantine_knows(const struct dlb_quarantine *quarantine,
			  const struct dlboost_dataset *dataset,
			  uint64_t sample_id, unsigned int *status);
void dlb_quarantine_add(struct dlb_quarantine *quarantine,
			const struct dlboost_dataset *dataset,
			uint64_t sample_id, unsigned int status);
/*
 * Add what was found to the file, atomically and beside other writers; nothing
 * found: nothing done.  On failure (logged) it is kept for the next call.
 */
int dlb_quarantine_write(struct dlb_quarantine *quarantine);
size_t dlb_quarantine_memory_bytes(const struct dlb_quarantine *quarantine);

#endif /* DLB_STREAM_QUARANTINE_H */
