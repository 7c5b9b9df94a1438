/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Data sets as libdl/stream sees them.  An opened data set is an index file
 * (or an unlinked one in memory) read by pread: nothing of it grows with the
 * number of samples in this process's memory.  Files are read by pread too,
 * never mapped: one that shrinks is an error, not a signal.
 */
#ifndef DLB_STREAM_DATASET_H
#define DLB_STREAM_DATASET_H

#include <dlboost/dataset.h>

/* No picture is larger; a file that is, is TOO_LARGE before it is read */
#define DLB_MAX_FILE_BYTES ((uint64_t)1 << 30)

/* References: a stream keeps its data set after dlboost_dataset_close() */
struct dlboost_dataset *dlb_dataset_get(struct dlboost_dataset *dataset);
void dlb_dataset_put(struct dlboost_dataset *dataset);

/* Path the data set was opened by */
const char *dlb_dataset_path(const struct dlboost_dataset *dataset);

/* Label of a sample; 0 or -EIO / -ERANGE */
int dlb_dataset_label(const struct dlboost_dataset *dataset, uint64_t sample_id,
		      int32_t *label);

/* Members of a class in order of sample number (label -1: everything) */
uint32_t dlb_dataset_class_size(const struct dlboost_dataset *dataset,
				int32_t label);
int dlb_dataset_class_member(const struct dlboost_dataset *dataset,
			     int32_t label, uint32_t member,
			     uint64_t *sample_id);

/*
 * Read the encoded bytes of a sample into memory that @grow provides:
 * grow(arg, bytes) returns room for @bytes or NULL.  Returns a status of enum
 * dlboost_status (IO, NOT_AN_IMAGE for an empty file, TOO_LARGE when @grow
 * refuses) with @result filled in on failure.
 * With status IO, errno tells the cause (ENOENT, EACCES, ELOOP: the file cannot
 * be opened; ESTALE: it changed since the index was made; EIO, EMFILE, ...).
 * Two reads of the index, then open, fstat, read, close.  Context: any thread.
 */
unsigned int dlb_dataset_load(const struct dlboost_dataset *dataset,
			      uint64_t sample_id,
			      void *(*grow)(void *arg, size_t bytes), void *arg,
			      const void **bytes, size_t *len_bytes,
			      struct dlboost_result *result);

/* Resident memory of the data set, for the stream's declared cap */
size_t dlb_dataset_memory_bytes(const struct dlboost_dataset *dataset);

#endif /* DLB_STREAM_DATASET_H */
