// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whole files in, whole files out.  Input is read, never mapped: a file that
 * shrinks meanwhile is an error and no signal.  Output appears under its name
 * complete or not at all.
 */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define READ_STEP_BYTES ((size_t)256 << 10)

int file_buffer_grow(struct file_buffer *buffer, size_t bytes)
{
	uint8_t *grown;

	if (bytes <= buffer->cap_bytes)
		return 0;
	grown = realloc(buffer->bytes, bytes);
	if (!grown)
		return -ENOMEM;
	buffer->bytes = grown;
	buffer->cap_bytes = bytes;
	return 0;
}

/* Read on to the end of the file or to @max_bytes, whatever comes first */
static int read_some(struct file_buffer *buffer, int fd, size_t max_bytes)
{
	buffer->len_bytes = 0;
	while (buffer->len_bytes < max_bytes) {
		size_t room = buffer->cap_bytes - buffer->len_bytes;
		ssize_t n;

		if (!room) {
			int ret = file_buffer_grow(buffer, buffer->cap_bytes +
						   buffer->cap_bytes / 2 +
						   READ_STEP_BYTES);
			if (ret)
				return ret;
			continue;
		}
		if (room > max_bytes - buffer->len_bytes)
			room = max_bytes - buffer->len_bytes;
		n = read(fd, buffer->bytes + buffer->len_bytes, room);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0 && signals_caught())
			return -EINTR;
		if (n == 0)
			break;
		if (n > 0)
			buffer->len_bytes += (size_t)n;
	}
	return 0;
}

/* One growth instead of many when the size is known beforehand */
static int reserve_for(struct file_buffer *buffer, int fd,
		       uint64_t offset_bytes, size_t max_bytes)
{
	struct stat st;
	uint64_t left;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size <= offset_bytes)
		return 0;
	left = (uint64_t)st.st_size - offset_bytes;
	if (left > max_bytes)
		left = max_bytes;
	/* One byte more, so that the end is seen without another growth */
	return file_buffer_grow(buffer, (size_t)left + 1);
}

static int read_from(struct file_buffer *buffer, int fd, uint64_t offset_bytes,
		     int64_t len_bytes, size_t max_bytes)
{
	int ret;

	if (len_bytes >= 0 && (uint64_t)len_bytes < max_bytes)
		max_bytes = (size_t)len_bytes;
	ret = reserve_for(buffer, fd, offset_bytes, max_bytes);
	if (!ret && offset_bytes &&
	    lseek(fd, (off_t)offset_bytes, SEEK_SET) < 0)
		ret = -errno;
	return ret ? ret : read_some(buffer, fd, max_bytes);
}

int file_buffer_read(struct file_buffer *buffer, const char *path,
		     uint64_t offset_bytes, int64_t len_bytes, size_t max_bytes)
{
	bool is_stdin = !strcmp(path, "-");
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = read_from(buffer, fd, offset_bytes, len_bytes, max_bytes);
	if (!is_stdin)
		close(fd);
	return ret;
}

int file_buffer_read_regular(struct file_buffer *buffer, const char *path,
			     uint64_t offset_bytes, int64_t len_bytes,
			     size_t max_bytes)
{
	struct stat st;
	int fd, ret;

	if (!strcmp(path, "-"))
		return file_buffer_read(buffer, path, offset_bytes, len_bytes,
					max_bytes);
	/* O_NONBLOCK: a pipe must not hold us before it is refused */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	ret = fstat(fd, &st) ? -errno : S_ISDIR(st.st_mode) ? -EISDIR :
	      S_ISREG(st.st_mode) ? 0 : -ENOTSUP;
	if (!ret)
		ret = read_from(buffer, fd, offset_bytes, len_bytes, max_bytes);
	close(fd);
	return ret;
}

static int write_all(int fd, const uint8_t *bytes, size_t nr_bytes)
{
	while (nr_bytes) {
		ssize_t n = write(fd, bytes, nr_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		nr_bytes -= (size_t)n;
	}
	return 0;
}

static int write_parts(int fd, const struct file_part *parts,
		       unsigned int nr_parts)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr_parts; i++)
		ret = write_all(fd, parts[i].bytes, parts[i].nr_bytes);
	return ret;
}

/* Pipes, devices and the like cannot be replaced, only written to */
static int write_through(const char *path, const struct file_part *parts,
			 unsigned int nr_parts)
{
	int fd, ret;

	if (!strcmp(path, "-"))
		return write_parts(STDOUT_FILENO, parts, nr_parts);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write_parts(fd, parts, nr_parts);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int write_and_rename(const char *path, const struct file_part *parts,
			    unsigned int nr_parts, bool is_synced)
{
	char *temporary = NULL;
	mode_t mask = umask(0);
	int fd, ret;

	umask(mask);
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		goto out_free;
	}
	ret = write_parts(fd, parts, nr_parts);
	if (!ret && (fchmod(fd, 0666 & ~mask) || (is_synced && fsync(fd))))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(temporary, path))
		ret = -errno;
	if (ret)
		unlink(temporary);
out_free:
	free(temporary);
	return ret;
}

static int write_file(const char *path, const struct file_part *parts,
		      unsigned int nr_parts, bool is_synced)
{
	struct stat st;

	if (!strcmp(path, "-") ||
	    (!stat(path, &st) && !S_ISREG(st.st_mode)))
		return write_through(path, parts, nr_parts);
	return write_and_rename(path, parts, nr_parts, is_synced);
}

int file_write_parts(const char *path, const struct file_part *parts,
		     unsigned int nr_parts)
{
	return write_file(path, parts, nr_parts, false);
}

int file_write_atomic(const char *path, const void *bytes, size_t nr_bytes)
{
	return write_file(path, &(struct file_part){ bytes, nr_bytes }, 1,
			  true);
}

/* A regular file is replaced: that takes leave to write in its folder */
static int check_folder_writable(const char *path)
{
	char *copy = strdup(path);
	int ret = 0;

	if (!copy)
		return -ENOMEM;
	if (faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS))
		ret = -errno;
	free(copy);
	return ret;
}

int file_check_writable(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return 0;
	if (stat(path, &st))
		return errno == ENOENT ? check_folder_writable(path) : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
		return -errno;
	return S_ISREG(st.st_mode) ? check_folder_writable(path) : 0;
}

bool file_has_ending(const char *path, const char *ending)
{
	size_t len = strlen(path), len_ending = strlen(ending);

	return len > len_ending &&
	       !strcasecmp(path + len - len_ending, ending);
}

bool file_is_picture_name(const char *path)
{
	static const char *const endings[] = { ".jpg", ".jpeg", ".jpe", ".jfif",
					       ".png" };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (file_has_ending(path, endings[i]))
			return true;
	return false;
}
