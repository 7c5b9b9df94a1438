/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * What the stream's tests share: a folder of small JPEGs made on the spot, ways
 * to spoil them, and a short way to open a stream over it.
 */
#ifndef STREAM_UTIL_H
#define STREAM_UTIL_H

#include <dlboost/dlboost.h>

#include <stdarg.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#define FAKE_RECIPE "imagenet-train:size=8,dtype=u8,layout=hwc"

/* Classes c00, c01, ... of p0000.jpg, ...: sample id = class * per_class + k */
struct folder {
	char path[128];
	unsigned int nr_classes;
	unsigned int per_class;
};

/* In a fresh temporary folder, with the cache beside it */
void folder_make(struct folder *folder, unsigned int nr_classes,
		 unsigned int per_class);
void folder_remove(struct folder *folder);
void folder_sample_path(const struct folder *folder, unsigned int id,
			char path[192]);
/* Other bytes in its place: no picture at all */
void folder_spoil(const struct folder *folder, unsigned int id);

struct dlboost_dataset *dataset_open(const char *path);
/* FAKE_RECIPE, engine @spec (NULL: fake:workers=2), no stats page */
struct dlboost_stream_attr stream_attr(const char *const *spec);
struct dlboost_stream *stream_open(const struct folder *folder,
				   const struct dlboost_stream_attr *attr);

/* Hash of everything in a batch that a consumer sees */
uint64_t batch_hash(const struct dlboost_batch *batch, uint64_t hash);
/* To the end of the epoch; hash over all batches */
uint64_t epoch_hash(struct dlboost_stream *stream, unsigned int *nr_batches);
/* State after @after into @buf (4096 bytes) */
void state_of(struct dlboost_stream *stream, struct dlboost_batch *after,
	      char *buf);

#endif /* STREAM_UTIL_H */
