// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The quarantine list's file: read once at start, added to in whole by a
 * temporary file and a rename.  Ranks may share one list: a writer locks the
 * folder, reads what others have added, and adds its own.
 *
 * @given never changes after opening, so any thread may look into it; @found
 * belongs to the consumer's thread.  A full disk costs the list an update,
 * never the stream a batch.
 */
#include "quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <dlboost/dataset.h>
#include <dlboost/log.h>

#include "../base/base.h"

#define PATH_BYTES (4096 + 256)

struct dlb_quarantine {
	char *path;
	struct dlb_quarantine_set given;
	struct dlb_quarantine_set found;
	bool has_warned;	/* of a full list */
};

/* The whole file; an absent one is empty */
static int read_file(const char *path, char **text, size_t *len)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	size_t used = 0;
	char *buf;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && errno != ENOENT)
		return -errno;
	if (fd >= 0 && fstat(fd, &st))
		return -errno;
	if (fd >= 0 && !S_ISREG(st.st_mode))
		return -EINVAL;
	if (fd >= 0 && (uint64_t)st.st_size > DLB_QUARANTINE_MAX_BYTES)
		return -EFBIG;
	buf = malloc(fd < 0 ? 1 : (size_t)st.st_size + 1);
	if (!buf)
		return -ENOMEM;
	while (fd >= 0 && used < (size_t)st.st_size) {
		ssize_t n = pread(fd, buf + used, (size_t)st.st_size - used,
				  (off_t)used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int ret = -errno;

			free(buf);
			return ret;
		}
		if (n == 0)
			break;
		used += (size_t)n;
	}
	*text = buf;
	*len = used;
	return 0;
}

static int load(const char *path, struct dlb_quarantine_set *set, char *error,
		size_t error_bytes)
{
	_cleanup_free_ char *text = NULL;
	char why[256] = "";
	size_t len = 0;
	int ret = read_file(path, &text, &len);

	if (!ret)
		ret = dlb_quarantine_parse(text, len, set, why, sizeof(why));
	if (ret)
		dlb_sentence(error, error_bytes,
			     "quarantine list %s cannot be used: %s", path,
			     why[0] ? why : ret == -EFBIG ?
			     "it is larger than 64 MiB" : ret == -EINVAL ?
			     "it is no regular file" : strerror(-ret));
	return ret;
}

static int check_folder(const char *path, char *error, size_t error_bytes)
{
	_cleanup_free_ char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	if (!faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS))
		return 0;
	dlb_sentence(error, error_bytes,
		     "quarantine list %s cannot be written: %s", path,
		     strerror(errno));
	return -errno;
}

int dlb_quarantine_open(const char *path, char *error, size_t error_bytes,
			struct dlb_quarantine **out)
{
	struct dlb_quarantine *quarantine = calloc(1, sizeof(*quarantine));
	int ret = -ENOMEM;

	if (!quarantine)
		return -ENOMEM;
	quarantine->path = strdup(path);
	if (!quarantine->path)
		goto err_close;
	ret = check_folder(path, error, error_bytes);
	if (ret)
		goto err_close;
	ret = load(path, &quarantine->given, error, error_bytes);
	if (ret)
		goto err_close;
	*out = quarantine;
	return 0;

err_close:
	dlb_quarantine_close(quarantine);
	return ret;
}

void dlb_quarantine_close(struct dlb_quarantine *quarantine)
{
	if (!quarantine)
		return;
	dlb_quarantine_set_fini(&quarantine->given);
	dlb_quarantine_set_fini(&quarantine->found);
	free(quarantine->path);
	free(quarantine);
}

size_t dlb_quarantine_memory_bytes(const struct dlb_quarantine *quarantine)
{
	const struct dlb_quarantine_set *set = &quarantine->given;

	return set->cap * sizeof(*set->entries) + set->cap_bytes +
	       set->table_entries * sizeof(*set->table);
}

static bool is_folder(const struct dlboost_dataset *dataset)
{
	struct dlboost_dataset_info info;

	dlboost_dataset_info(dataset, &info);
	return info.kind == DLBOOST_DATASET_FOLDER;
}

bool dlb_quarantine_knows(const struct dlb_quarantine *quarantine,
			  const struct dlboost_dataset *dataset,
			  uint64_t sample_id, unsigned int *status)
{
	const struct dlb_quarantine_entry *entry;
	struct dlboost_sample where;
	char path[PATH_BYTES];

	if (!quarantine->given.nr ||
	    dlboost_dataset_sample(dataset, sample_id, path, sizeof(path),
				   &where))
		return false;
	entry = dlb_quarantine_set_find(&quarantine->given, where.path,
					where.offset_bytes, where.len_bytes);
	/* The whole file, whatever its length was when it was found bad */
	if (!entry && !where.offset_bytes && is_folder(dataset))
		entry = dlb_quarantine_set_find(&quarantine->given, where.path,
						0, -1);
	if (!entry)
		return false;
	*status = entry->status;
	return true;
}

void dlb_quarantine_add(struct dlb_quarantine *quarantine,
			const struct dlboost_dataset *dataset,
			uint64_t sample_id, unsigned int status)
{
	struct dlb_quarantine_entry entry = { .status = status, .count = 1 };
	struct dlboost_sample where;
	char path[PATH_BYTES];
	int ret = dlboost_dataset_sample(dataset, sample_id, path, sizeof(path),
					 &where);

	/* A place only where a file may hold several samples */
	entry.len_bytes = -1;
	if (!ret && !is_folder(dataset)) {
		entry.offset_bytes = where.offset_bytes;
		entry.len_bytes = where.len_bytes;
	}
	if (!ret)
		ret = dlb_quarantine_set_add(&quarantine->found, where.path,
					     &entry);
	if (ret && !quarantine->has_warned) {
		quarantine->has_warned = true;
		dlb_log(DLBOOST_LOG_WARN,
			"quarantine list %s: a bad file is not added: %s",
			quarantine->path, strerror(-ret));
	}
}

/* @set replaces the file in one step; on failure the old one stays */
static int replace_file(const char *path, const struct dlb_quarantine_set *set)
{
	_cleanup_free_ char *tmp = NULL;
	FILE *f;
	int ret, fd;

	if (asprintf(&tmp, "%s.%ld.tmp", path, (long)getpid()) < 0)
		return -ENOMEM;
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		  0666);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		close(fd);
		ret = -ENOMEM;
		goto err_unlink;
	}
	ret = dlb_quarantine_print(set, f);
	if (!ret && fsync(fileno(f)))
		ret = -errno;
	if (fclose(f) && !ret)
		ret = -errno;
	if (!ret && rename(tmp, path))
		ret = -errno;
	if (!ret)
		return 0;
err_unlink:
	unlink(tmp);
	return ret;
}

/* Writers of one list take turns; where locks do not work, the last one wins */
static int lock_folder(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	int fd;

	if (!copy)
		return -1;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

static int merge_and_replace(struct dlb_quarantine *quarantine, char *error,
			     size_t error_bytes)
{
	_cleanup_close_ int folder = lock_folder(quarantine->path);
	struct dlb_quarantine_set merged = { 0 };
	int ret;

	(void)folder;
	ret = load(quarantine->path, &merged, error, error_bytes);
	for (size_t i = 0; i < quarantine->found.nr && !ret; i++) {
		const struct dlb_quarantine_entry *e =
			&quarantine->found.entries[i];

		ret = dlb_quarantine_set_add(&merged, quarantine->found.bytes +
					     e->path_offset, e);
	}
	if (!ret)
		ret = replace_file(quarantine->path, &merged);
	dlb_quarantine_set_fini(&merged);
	return ret;
}

int dlb_quarantine_write(struct dlb_quarantine *quarantine)
{
	char error[DLBOOST_ERROR_BYTES] = "";
	int ret;

	if (!quarantine->found.nr)
		return 0;
	ret = merge_and_replace(quarantine, error, sizeof(error));
	if (ret)
		dlb_log(DLBOOST_LOG_ERROR,
			"quarantine list %s is not brought up to date: %s",
			quarantine->path, error[0] ? error : strerror(-ret));
	else
		dlb_quarantine_set_fini(&quarantine->found);
	return ret;
}
