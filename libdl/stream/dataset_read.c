// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Samples of a data set: where they stand, and their bytes.  Files are opened
 * for one read each and never mapped; one that changed since the index was
 * made is an error, not other pictures under the same number.  Takes no locks
 * and keeps nothing between calls.  Documentation/datasets.rst, "Reading".
 */
#include "stream/dataset_object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

/**
 * struct sample_file - The file of one sample, opened
 * @fd: the file
 * @offset_bytes: first byte of the sample
 * @len_bytes: its length
 * @entry: what the index says
 * @name: name of @entry
 * @reason: why it failed; names no file
 * @at_bytes: where in the file it failed, or -1
 */
struct sample_file {
	int fd;
	uint64_t offset_bytes;
	uint64_t len_bytes;
	struct dlb_index_entry entry;
	char name[DLB_INDEX_NAME_BYTES];
	char reason[DLBOOST_MESSAGE_BYTES];
	int64_t at_bytes;
};

int dlb_dataset_label(const struct dlboost_dataset *dataset, uint64_t sample_id,
		      int32_t *label)
{
	struct dlb_index_record record;
	int ret = dlb_index_record(&dataset->index, sample_id, &record);

	if (!ret)
		*label = record.label;
	return ret;
}

/* Absolute names (in manifests) stand for themselves */
static int path_make(const struct dlboost_dataset *dataset, const char *name,
		     char *buf, size_t buf_bytes)
{
	int n = snprintf(buf, buf_bytes, "%s%s",
			 *name == '/' ? "" : dataset->prefix, name);

	return n < 0 || (size_t)n >= buf_bytes ? -ENOSPC : 0;
}

DLB_EXPORT int dlboost_dataset_sample(const struct dlboost_dataset *dataset,
				      uint64_t sample_id, char *buf,
				      size_t buf_bytes,
				      struct dlboost_sample *out)
{
	char name[DLB_INDEX_NAME_BYTES];
	struct dlb_index_entry entry;
	int ret = dlb_index_entry(&dataset->index, sample_id, name, &entry);

	if (!ret)
		ret = path_make(dataset, name, buf, buf_bytes);
	if (ret)
		return ret;
	*out = (struct dlboost_sample){
		.path = buf,
		.label = entry.label,
		.offset_bytes = entry.offset_bytes,
		.len_bytes = entry.len_bytes,
	};
	return 0;
}

/*
 * O_NONBLOCK keeps a pipe from holding us; on a regular file it matters only
 * under a lease, which is then waited for.
 */
static int file_open(const struct dlboost_dataset *dataset, const char *name)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, fd;

	for (;;) {
		fd = openat(dataset->root_fd, name, flags);
		if (fd >= 0)
			return fd;
		if (errno == EWOULDBLOCK && flags & O_NONBLOCK)
			flags &= ~O_NONBLOCK;
		else if (errno != EINTR)
			return -errno;
	}
}

static int extent_check(const struct dlboost_dataset *dataset,
			struct sample_file *file, const struct stat *st)
{
	const struct dlb_index_entry *entry = &file->entry;
	uint64_t size = (uint64_t)st->st_size;
	bool is_whole = dataset->index.header.kind == DLBOOST_DATASET_FOLDER;

	file->offset_bytes = entry->offset_bytes;
	file->len_bytes = (uint64_t)entry->len_bytes;
	if (is_whole && entry->len_bytes >= 0 && size != file->len_bytes) {
		dlb_sentence(file->reason, sizeof(file->reason),
			     "changed since the index was made (was %llu, is %llu bytes); run `dlboost index --rebuild`",
			     (unsigned long long)file->len_bytes,
			     (unsigned long long)size);
		return -ESTALE;
	}
	if (entry->offset_bytes > size ||
	    (entry->len_bytes >= 0 &&
	     file->len_bytes > size - entry->offset_bytes)) {
		file->at_bytes = st->st_size;
		dlb_sentence(file->reason, sizeof(file->reason),
			     "has %llu bytes, and the manifest wants %lld from byte %llu on",
			     (unsigned long long)size,
			     (long long)entry->len_bytes,
			     (unsigned long long)entry->offset_bytes);
		return -ESTALE;
	}
	if (entry->len_bytes < 0)
		file->len_bytes = size - entry->offset_bytes;
	return 0;
}

static int file_check(const struct dlboost_dataset *dataset,
		      struct sample_file *file)
{
	struct stat st;
	int ret;

	if (fstat(file->fd, &st)) {
		ret = -errno;
		dlb_sentence(file->reason, sizeof(file->reason), "%s",
			     strerror(-ret));
		return ret;
	}
	if (S_ISREG(st.st_mode))
		return extent_check(dataset, file, &st);
	dlb_sentence(file->reason, sizeof(file->reason), "%s",
		     S_ISDIR(st.st_mode) ? "a folder, where a file should be" :
		     "a pipe, socket or device, where a file should be");
	return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
}

static const char *open_remedy(int err)
{
	switch (err) {
	case ENOENT:
	case ENOTDIR:
		return ": restore it, or take it out of the data set";
	case EACCES:
		return ": make it readable";
	case ELOOP:
		return ": mend the link";
	case EMFILE:
		return ": raise ulimit -n";
	default:
		return "";
	}
}

/* 0 or -errno with a reason; @file->fd is open on success only */
static int sample_open(const struct dlboost_dataset *dataset,
		       uint64_t sample_id, struct sample_file *file)
{
	int ret;

	file->at_bytes = -1;
	file->name[0] = '\0';
	ret = dlb_index_entry(&dataset->index, sample_id, file->name,
			      &file->entry);
	if (ret) {
		file->name[0] = '\0';
		dlb_sentence(file->reason, sizeof(file->reason),
			     ret == -ERANGE ? "no sample %llu" :
			     "the index is damaged at sample %llu; run `dlboost index --rebuild`",
			     (unsigned long long)sample_id);
		return ret;
	}
	file->fd = file_open(dataset, file->name);
	if (file->fd < 0) {
		dlb_sentence(file->reason, sizeof(file->reason), "%s%s",
			     strerror(-file->fd), open_remedy(-file->fd));
		return file->fd;
	}
	ret = file_check(dataset, file);
	if (ret)
		close(file->fd);
	return ret;
}

static int sample_read(struct sample_file *file, void *buf)
{
	uint64_t done = 0;

	while (done < file->len_bytes) {
		ssize_t n = pread(file->fd, (char *)buf + done,
				  file->len_bytes - done,
				  (off_t)(file->offset_bytes + done));

		if (n > 0) {
			done += (uint64_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		file->at_bytes = (int64_t)(file->offset_bytes + done);
		if (n < 0) {
			int err = errno;

			dlb_sentence(file->reason, sizeof(file->reason), "%s",
				     strerror(err));
			return -err;
		}
		dlb_sentence(file->reason, sizeof(file->reason),
			     "ended at byte %lld: it shrank while it was read",
			     (long long)file->at_bytes);
		return -ESTALE;
	}
	return 0;
}

static void result_fail(const struct sample_file *file, unsigned int status,
			struct dlboost_result *result)
{
	if (!result)
		return;
	*result = (struct dlboost_result){
		.status = status, .offset_bytes = file->at_bytes,
	};
	dlb_sentence(result->message, sizeof(result->message), "%s",
		     file->reason);
}

/* Too large, refused or empty: a status, or OK */
static unsigned int sample_room(struct sample_file *file,
				void *(*grow)(void *arg, size_t bytes),
				void *arg, void **room)
{
	if (!file->len_bytes) {
		dlb_sentence(file->reason, sizeof(file->reason),
			     "the file is empty: copy it again from its source");
		return DLBOOST_STATUS_NOT_AN_IMAGE;
	}
	*room = file->len_bytes > DLB_MAX_FILE_BYTES ?
		NULL : grow(arg, (size_t)file->len_bytes);
	if (*room)
		return DLBOOST_STATUS_OK;
	dlb_sentence(file->reason, sizeof(file->reason),
		     "%llu bytes are more than the limit for a file",
		     (unsigned long long)file->len_bytes);
	return DLBOOST_STATUS_TOO_LARGE;
}

unsigned int dlb_dataset_load(const struct dlboost_dataset *dataset,
			      uint64_t sample_id,
			      void *(*grow)(void *arg, size_t bytes), void *arg,
			      const void **bytes, size_t *len_bytes,
			      struct dlboost_result *result)
{
	unsigned int status = DLBOOST_STATUS_IO;
	struct sample_file file;
	void *room;
	int ret = sample_open(dataset, sample_id, &file);

	if (!ret) {
		status = sample_room(&file, grow, arg, &room);
		if (status == DLBOOST_STATUS_OK) {
			ret = sample_read(&file, room);
			status = ret ? DLBOOST_STATUS_IO : DLBOOST_STATUS_OK;
		}
		close(file.fd);
	}
	if (status == DLBOOST_STATUS_OK) {
		*bytes = room;
		*len_bytes = (size_t)file.len_bytes;
		return status;
	}
	result_fail(&file, status, result);
	errno = -ret;
	return status;
}

DLB_EXPORT int dlboost_dataset_read(const struct dlboost_dataset *dataset,
				    uint64_t sample_id, void *buf,
				    size_t buf_bytes, size_t *len_bytes,
				    struct dlboost_result *result)
{
	struct sample_file file;
	int ret = sample_open(dataset, sample_id, &file);

	if (!ret) {
		*len_bytes = (size_t)file.len_bytes;
		if (buf && file.len_bytes > buf_bytes) {
			dlb_sentence(file.reason, sizeof(file.reason),
				     "%llu bytes do not fit the buffer",
				     (unsigned long long)file.len_bytes);
			ret = -ENOSPC;
		} else if (buf) {
			ret = sample_read(&file, buf);
		}
		close(file.fd);
	}
	if (ret)
		result_fail(&file, DLBOOST_STATUS_IO, result);
	else if (result)
		*result = (struct dlboost_result){ .offset_bytes = -1 };
	return ret;
}
