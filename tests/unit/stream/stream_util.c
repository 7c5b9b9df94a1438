// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * See stream_util.h.
 */
#include "stream_util.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_engine.h"
#include "tiny_jpeg.h"

void folder_sample_path(const struct folder *folder, unsigned int id,
			char path[192])
{
	snprintf(path, 192, "%s/data/c%02u/p%04u.jpg", folder->path,
		 id / folder->per_class, id % folder->per_class);
}

void folder_make(struct folder *folder, unsigned int nr_classes,
		 unsigned int per_class)
{
	const char *tmp = getenv("TMPDIR");
	char path[192];

	snprintf(folder->path, sizeof(folder->path), "%.80s/dlb-stream-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(folder->path));
	folder->nr_classes = nr_classes;
	folder->per_class = per_class;
	setenv("XDG_CACHE_HOME", folder->path, 1);
	snprintf(path, sizeof(path), "%s/data", folder->path);
	assert_int_equal(mkdir(path, 0755), 0);
	for (unsigned int c = 0; c < nr_classes; c++) {
		snprintf(path, sizeof(path), "%s/data/c%02u", folder->path, c);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	for (unsigned int id = 0; id < nr_classes * per_class; id++) {
		folder_sample_path(folder, id, path);
		assert_int_equal(tiny_jpeg_write(path, id), 0);
	}
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void folder_remove(struct folder *folder)
{
	nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void folder_spoil(const struct folder *folder, unsigned int id)
{
	static const char text[] = "<html>404 Not Found</html>";
	char path[192];

	folder_sample_path(folder, id, path);
	assert_int_equal(tiny_file_write(path, text, sizeof(text) - 1), 0);
}

struct dlboost_dataset *dataset_open(const char *path)
{
	struct dlboost_dataset *dataset = NULL;
	char error[DLBOOST_ERROR_BYTES] = "";

	if (dlboost_dataset_open(path, NULL, error, sizeof(error), &dataset))
		fail_msg("%s", error);
	return dataset;
}

struct dlboost_stream_attr stream_attr(const char *const *spec)
{
	static const char *const fake = "fake:workers=2";
	struct dlboost_stream_attr attr = DLBOOST_STREAM_ATTR_INIT;

	attr.recipe = FAKE_RECIPE;
	attr.batch = 8;
	attr.seed = 7;
	attr.max_bad = 1;
	attr.engines = spec ? spec : &fake;
	attr.nr_engines = 1;
	attr.no_stats_page = 1;
	return attr;
}

struct dlboost_stream *stream_open(const struct folder *folder,
				   const struct dlboost_stream_attr *attr)
{
	struct dlboost_stream *stream = NULL;
	char error[DLBOOST_ERROR_BYTES] = "", path[192];
	struct dlboost_dataset *dataset;

	snprintf(path, sizeof(path), "%s/data", folder->path);
	dataset = dataset_open(path);
	if (dlboost_stream_create(dataset, attr, error, sizeof(error), &stream))
		fail_msg("%s", error);
	dlboost_dataset_close(dataset);
	return stream;
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

uint64_t batch_hash(const struct dlboost_batch *batch, uint64_t hash)
{
	struct dlboost_batch_info info;

	dlboost_batch_info(batch, &info);
	hash = mix(hash, &info.count, sizeof(info.count));
	hash = mix(hash, &info.position, sizeof(info.position));
	hash = mix(hash, info.images, info.images_bytes);
	hash = mix(hash, info.labels, info.count * sizeof(*info.labels));
	hash = mix(hash, info.ids, info.count * sizeof(*info.ids));
	hash = mix(hash, info.wanted_ids,
		   info.count * sizeof(*info.wanted_ids));
	hash = mix(hash, info.status, info.count);
	return mix(hash, info.flags, info.count);
}

uint64_t epoch_hash(struct dlboost_stream *stream, unsigned int *nr_batches)
{
	uint64_t hash = 0xcbf29ce484222325u;
	struct dlboost_batch *batch;
	unsigned int nr = 0;

	for (;;) {
		int ret = dlboost_stream_next(stream, 20000, &batch);

		if (ret)
			fail_msg("next: %d: %s", ret,
				 dlboost_stream_error(stream));
		if (!batch)
			break;
		hash = batch_hash(batch, hash);
		dlboost_batch_release(batch);
		nr++;
	}
	if (nr_batches)
		*nr_batches = nr;
	return hash;
}

void state_of(struct dlboost_stream *stream, struct dlboost_batch *after,
	      char *buf)
{
	assert_int_equal(dlboost_stream_state(stream, after, buf, 4096, NULL),
			 0);
}
