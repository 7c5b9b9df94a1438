/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * struct dlboost_dataset, for the two files that implement it: dataset.c
 * (opening, classes, references) and dataset_read.c (samples).
 */
#ifndef DLB_STREAM_DATASET_OBJECT_H
#define DLB_STREAM_DATASET_OBJECT_H

#include <stdatomic.h>

#include "stream/dataset.h"
#include "stream/index.h"

/* What a caller's buffer for a path must hold, see dlboost_dataset_sample() */
#define DLB_DATASET_PATH_BYTES (4096u + 256u)

/**
 * struct dlboost_dataset - See <dlboost/dataset.h>
 * @refs: references
 * @index: the samples
 * @root_fd: folder that relative names start from
 * @path: as the user named the data set
 * @prefix: what goes before relative names to make paths of them
 * @index_rebuilt: this opening made the index
 * @index_in_memory: the index has no file
 *
 * Immutable but for @refs.
 */
struct dlboost_dataset {
	atomic_uint refs;
	struct dlb_index index;
	int root_fd;
	char *path;
	char *prefix;
	bool index_rebuilt;
	bool index_in_memory;
};

#endif /* DLB_STREAM_DATASET_OBJECT_H */
