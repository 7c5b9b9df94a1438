// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Opening a data set: find its index, use it when it is current, else read the
 * folder or manifest and make one.  Owns struct dlboost_dataset and its
 * references; must not know how an index or a listing looks.  Immutable once
 * opened, so reading takes no locks.  Documentation/datasets.rst.
 */
#include "stream/dataset_object.h"

#include <dlboost/log.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "stream/index_place.h"
#include "stream/listing.h"

#define QUOTE_BYTES 300

/**
 * struct opening - A data set being opened
 * @attr: options, complete
 * @error: receives one sentence on failure, may be NULL
 * @error_bytes: size of @error
 * @path: as the user named the data set
 * @real_path: absolute and without links
 * @kind: folder or manifest
 * @source_fd: the folder or manifest
 * @place: where the index stands
 * @write_failed: the last failure was one of writing the index
 * @dataset: what becomes of it
 */
struct opening {
	struct dlboost_dataset_attr attr;
	char *error;
	size_t error_bytes;
	const char *path;
	char *real_path;
	uint32_t kind;
	int source_fd;
	struct dlb_index_place place;
	bool write_failed;
	struct dlboost_dataset *dataset;
};

/* "NAME: WHAT" into the caller's buffer; returns @ret */
static int opening_fail(struct opening *opening, int ret, const char *name,
			const char *what)
{
	char quoted[QUOTE_BYTES];

	dlb_text_quote(quoted, sizeof(quoted), name, strlen(name));
	dlb_sentence(opening->error, opening->error_bytes, "%s: %s", quoted,
		     what);
	return ret;
}

/* Members beyond a caller's older struct are 0; an unknown tail must be */
static int attr_take(struct opening *opening,
		     const struct dlboost_dataset_attr *attr)
{
	const char *tail = (const char *)attr;
	size_t known = sizeof(opening->attr);

	if (!opening->path)
		goto err_attr;
	if (!attr)
		return 0;
	if (attr->size < sizeof(attr->size))
		goto err_attr;
	for (size_t i = known; i < attr->size; i++)
		if (tail[i])
			goto err_attr;
	memcpy(&opening->attr, attr, attr->size < known ? attr->size : known);
	if (opening->attr.allow_empty > 1 || opening->attr.rebuild > 1)
		goto err_attr;
	return 0;

err_attr:
	dlb_sentence(opening->error, opening->error_bytes,
		     "attributes of the data set: unknown size, member or value");
	return -EINVAL;
}

static int source_open(struct opening *opening)
{
	struct stat st;

	/* O_NONBLOCK: a pipe must not hold us before it is refused */
	opening->source_fd = open(opening->path, O_RDONLY | O_CLOEXEC |
				  O_NOCTTY | O_NONBLOCK);
	if (opening->source_fd < 0 || fstat(opening->source_fd, &st))
		return opening_fail(opening, -errno, opening->path,
				    strerror(errno));
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return opening_fail(opening, -EINVAL, opening->path,
				    "neither a folder nor a manifest file");
	opening->kind = S_ISDIR(st.st_mode) ? DLBOOST_DATASET_FOLDER :
					      DLBOOST_DATASET_MANIFEST;
	opening->real_path = realpath(opening->path, NULL);
	if (!opening->real_path)
		return opening_fail(opening, -errno, opening->path,
				    strerror(errno));
	return 0;
}

/* "dir/" for a folder, what stands before the last '/' for a manifest */
static char *prefix_make(const char *path, bool is_folder)
{
	size_t len = strlen(path);
	char *prefix;

	if (is_folder) {
		while (len > 1 && path[len - 1] == '/')
			len--;
		return asprintf(&prefix, "%.*s%s", (int)len, path,
				path[len - 1] == '/' ? "" : "/") < 0 ?
		       NULL : prefix;
	}
	while (len && path[len - 1] != '/')
		len--;
	return strndup(path, len);
}

static int root_open(struct opening *opening)
{
	struct dlboost_dataset *dataset = opening->dataset;
	bool is_folder = opening->kind == DLBOOST_DATASET_FOLDER;

	dataset->path = strdup(opening->path);
	dataset->prefix = prefix_make(opening->path, is_folder);
	if (!dataset->path || !dataset->prefix)
		return -ENOMEM;
	if (is_folder)
		dataset->root_fd = openat(opening->source_fd, ".",
					  O_PATH | O_DIRECTORY | O_CLOEXEC);
	else
		dataset->root_fd = open(dataset->prefix[0] ?
					dataset->prefix : ".",
					O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dataset->root_fd < 0)
		return opening_fail(opening, -errno, opening->path,
				    strerror(errno));
	return 0;
}

/* 0: used; 1: there is none that is current; negative: the user's mistake */
static int index_reuse(struct opening *opening)
{
	struct dlb_index *index = &opening->dataset->index;
	int fd = dlb_index_place_open(&opening->place);
	char why[80] = "it is not current";

	if (fd < 0 && opening->place.is_explicit && fd != -ENOENT)
		return opening_fail(opening, fd, opening->place.path,
				    fd == -EEXIST ?
				    "is no index file; it is not overwritten" :
				    strerror(-fd));
	if (fd < 0)
		return 1;
	if (opening->attr.rebuild || dlb_index_open(fd, index, why,
						    sizeof(why))) {
		close(fd);
	} else if (index->header.kind == opening->kind &&
		   dlb_index_is_current(index, opening->real_path,
					opening->source_fd)) {
		return 0;
	} else {
		dlb_index_close(index);
	}
	dlb_log(DLBOOST_LOG_INFO, "%s: index %s is made anew: %s",
		opening->path, opening->place.path,
		opening->attr.rebuild ? "as asked" : why);
	return 1;
}

static int listing_read(struct opening *opening,
			struct dlb_index_writer *writer)
{
	struct dlb_listing listing = {
		.path = opening->path,
		.writer = writer,
		.error = opening->error,
		.error_bytes = opening->error_bytes,
		.progress = opening->attr.progress,
		.progress_arg = opening->attr.progress_arg,
	};
	int fd;

	if (opening->kind == DLBOOST_DATASET_MANIFEST)
		return dlb_manifest_read(&listing, opening->source_fd);
	fd = openat(opening->dataset->root_fd, ".",
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return opening_fail(opening, -errno, opening->path,
				    strerror(errno));
	return dlb_folder_read(&listing, fd);
}

static int index_write(struct opening *opening, int fd)
{
	struct dlb_index_writer *writer;
	int ret = dlb_index_writer_create(fd, opening->kind, &writer);

	if (ret)
		return ret;
	ret = listing_read(opening, writer);
	if (!ret)
		ret = dlb_index_writer_finish(writer, opening->real_path);
	if (dlb_index_writer_error(writer)) {
		ret = dlb_index_writer_error(writer);
		opening->write_failed = true;
	}
	dlb_index_writer_destroy(writer);
	return ret;
}

static int index_make(struct opening *opening)
{
	struct dlboost_dataset *dataset = opening->dataset;
	int fd = dlb_index_place_create(&opening->place), ret;
	char why[80];

	opening->write_failed = fd < 0;
	if (fd < 0)
		return fd;
	ret = index_write(opening, fd);
	if (!ret) {
		ret = dlb_index_place_publish(&opening->place, fd);
		opening->write_failed = ret != 0;
	}
	if (!ret)
		ret = dlb_index_open(fd, &dataset->index, why, sizeof(why));
	if (ret) {
		close(fd);
		return ret;
	}
	dataset->index_rebuilt = true;
	dataset->index_in_memory = !opening->place.path;
	return 0;
}

static int write_fail(struct opening *opening, int ret)
{
	const char *path = opening->place.path ? opening->place.path : "memory";
	char what[160];

	snprintf(what, sizeof(what),
		 "the index cannot be written: %s; %s", strerror(-ret),
		 ret == -ENOSPC || ret == -EDQUOT ?
		 "free some room there or name another index file" :
		 "name an index file elsewhere");
	return opening_fail(opening, ret, path, what);
}

/* Without a place of the user's choice, memory is one */
static int index_make_somewhere(struct opening *opening)
{
	int ret;

	if (!opening->place.path)
		dlb_log(DLBOOST_LOG_INFO,
			"%s: index kept in memory: no cache folder to put it",
			opening->path);
	ret = index_make(opening);
	if (ret && opening->write_failed && !opening->place.is_explicit &&
	    opening->place.path) {
		dlb_log(DLBOOST_LOG_WARN,
			"%s: index kept in memory, %s cannot be written: %s",
			opening->path, opening->place.path, strerror(-ret));
		dlb_index_place_fini(&opening->place);
		ret = index_make(opening);
	}
	if (ret && opening->write_failed)
		return write_fail(opening, ret);
	return ret;
}

/* What holds for a current index as for a new one */
static int dataset_check(struct opening *opening)
{
	const struct dlb_index *index = &opening->dataset->index;
	char name[DLB_INDEX_NAME_BYTES + 256];

	if (strlen(opening->dataset->prefix) + index->header.max_name_bytes >=
	    DLB_DATASET_PATH_BYTES)
		return opening_fail(opening, -ENAMETOOLONG, opening->path,
				    "a path below it is longer than 4351 bytes");
	if (opening->kind == DLBOOST_DATASET_MANIFEST ||
	    opening->attr.allow_empty)
		return 0;
	for (uint32_t i = 0; i < index->nr_present; i++) {
		const struct dlb_index_class *class = &index->classes[i];

		if (class->count || class->name_offset == DLB_INDEX_NO_NAME)
			continue;
		snprintf(name, sizeof(name), "%s%s", opening->dataset->prefix,
			 index->class_names + class->name_offset);
		return opening_fail(opening, -ENODATA, name,
				    "no picture in this class folder; remove it or allow empty ones");
	}
	return 0;
}

static int dataset_open(struct opening *opening)
{
	int ret = source_open(opening);

	if (!ret)
		ret = root_open(opening);
	if (!ret)
		ret = dlb_index_place_init(&opening->place,
					   opening->attr.index_path,
					   opening->real_path);
	if (ret)
		return ret;
	if (opening->kind == DLBOOST_DATASET_FOLDER &&
	    dlb_index_place_is_inside(&opening->place, opening->real_path)) {
		if (opening->place.is_explicit)
			return opening_fail(opening, -EINVAL,
					    opening->place.path,
					    "an index inside the data set would change the folder it describes; name one elsewhere");
		dlb_index_place_fini(&opening->place);
	}
	ret = index_reuse(opening);
	if (ret > 0)
		ret = index_make_somewhere(opening);
	if (!ret)
		ret = dataset_check(opening);
	return ret;
}

DLB_EXPORT int dlboost_dataset_open(const char *path,
				    const struct dlboost_dataset_attr *attr,
				    char *error, size_t error_bytes,
				    struct dlboost_dataset **out)
{
	struct opening opening = {
		.error = error, .error_bytes = error_bytes, .path = path,
		.source_fd = -1,
	};
	int ret;

	if (error && error_bytes)
		error[0] = '\0';
	ret = attr_take(&opening, attr);
	if (ret)
		return ret;
	opening.dataset = calloc(1, sizeof(*opening.dataset));
	if (!opening.dataset)
		return -ENOMEM;
	atomic_init(&opening.dataset->refs, 1);
	opening.dataset->root_fd = -1;
	opening.dataset->index.fd = -1;
	ret = dataset_open(&opening);
	if (!ret)
		*out = opening.dataset;
	else
		dlb_dataset_put(opening.dataset);
	if (ret && error && error_bytes && !error[0])
		opening_fail(&opening, ret, path, ret == -ECANCELED ?
			     "opening was cancelled" : strerror(-ret));
	dlb_index_place_fini(&opening.place);
	if (opening.source_fd >= 0)
		close(opening.source_fd);
	free(opening.real_path);
	return ret;
}

struct dlboost_dataset *dlb_dataset_get(struct dlboost_dataset *dataset)
{
	atomic_fetch_add_explicit(&dataset->refs, 1, memory_order_relaxed);
	return dataset;
}

void dlb_dataset_put(struct dlboost_dataset *dataset)
{
	if (!dataset)
		return;
	/* Uses through other references are over before the last one frees */
	if (atomic_fetch_sub_explicit(&dataset->refs, 1,
				      memory_order_acq_rel) != 1)
		return;
	dlb_index_close(&dataset->index);
	if (dataset->root_fd >= 0)
		close(dataset->root_fd);
	free(dataset->prefix);
	free(dataset->path);
	free(dataset);
}

DLB_EXPORT void dlboost_dataset_close(struct dlboost_dataset *dataset)
{
	dlb_dataset_put(dataset);
}

DLB_EXPORT void dlboost_dataset_info(const struct dlboost_dataset *dataset,
				     struct dlboost_dataset_info *out)
{
	const struct dlb_index_header *header = &dataset->index.header;

	*out = (struct dlboost_dataset_info){
		.kind = header->kind,
		.nr_classes = header->nr_classes,
		.nr_samples = header->nr_samples,
		.nr_skipped = header->nr_skipped,
		.total_bytes = header->total_bytes,
		.index_bytes = header->file_bytes,
		.index_rebuilt = dataset->index_rebuilt,
		.index_in_memory = dataset->index_in_memory,
	};
	for (int i = 0; i < DLB_SIPHASH_BYTES; i++)
		snprintf(out->fingerprint + 2 * i, 3, "%02x",
			 header->fingerprint[i]);
}

DLB_EXPORT const char *
dlboost_dataset_class_name(const struct dlboost_dataset *dataset,
			   uint32_t label)
{
	const struct dlb_index_class *class =
		dlb_index_class_find(&dataset->index, label);

	if (!class || class->name_offset == DLB_INDEX_NO_NAME)
		return NULL;
	return dataset->index.class_names + class->name_offset;
}

const char *dlb_dataset_path(const struct dlboost_dataset *dataset)
{
	return dataset->path;
}

uint32_t dlb_dataset_class_size(const struct dlboost_dataset *dataset,
				int32_t label)
{
	const struct dlb_index_class *class;

	if (label < 0)
		return (uint32_t)dataset->index.header.nr_samples;
	class = dlb_index_class_find(&dataset->index, (uint32_t)label);
	return class ? class->count : 0;
}

int dlb_dataset_class_member(const struct dlboost_dataset *dataset,
			     int32_t label, uint32_t member,
			     uint64_t *sample_id)
{
	const struct dlb_index_class *class;

	if (label < 0) {
		if (member >= dataset->index.header.nr_samples)
			return -ERANGE;
		*sample_id = member;
		return 0;
	}
	class = dlb_index_class_find(&dataset->index, (uint32_t)label);
	if (!class)
		return -ERANGE;
	return dlb_index_class_member(&dataset->index, class, member,
				      sample_id);
}

size_t dlb_dataset_memory_bytes(const struct dlboost_dataset *dataset)
{
	size_t bytes = sizeof(*dataset) + strlen(dataset->path) +
		       strlen(dataset->prefix) + dataset->index.memory_bytes;

	if (dataset->index_in_memory)
		bytes += dataset->index.header.file_bytes;
	return bytes;
}
