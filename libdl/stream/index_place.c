// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Names of index files.  A new one is written without a name (O_TMPFILE) where
 * the file system can, so that a killed process leaves nothing behind, and
 * gets its name by link() or rename() once it is on the disk.  Knows nothing of
 * what is in the file but its magic.  No locks: the kernel's atomic rename is
 * what builders of the same index meet at.
 * Documentation/datasets.rst, "Where the index stands".
 */
#include "stream/index_place.h"

#include <dlboost/log.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "stream/index.h"

static const uint8_t place_key[DLB_SIPHASH_KEY_BYTES] = "dlboost cache v1";

/* "$XDG_CACHE_HOME/dlboost", "~/.cache/dlboost", or NULL */
static char *cache_folder(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *folder = NULL;
	int n = -1;

	/* The specification of XDG has relative paths ignored */
	if (xdg && xdg[0] == '/')
		n = asprintf(&folder, "%s/dlboost", xdg);
	else if (home && home[0] == '/')
		n = asprintf(&folder, "%s/.cache/dlboost", home);
	return n < 0 ? NULL : folder;
}

static char *cache_path(const char *folder, const char *source)
{
	struct dlb_siphash hash;
	uint8_t sum[DLB_SIPHASH_BYTES];
	char hex[2 * DLB_SIPHASH_BYTES + 1];
	char *path;

	dlb_siphash_init(&hash, place_key);
	dlb_siphash_update(&hash, source, strlen(source));
	dlb_siphash_final(&hash, sum);
	for (int i = 0; i < DLB_SIPHASH_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
	return asprintf(&path, "%s/%s.index", folder, hex) < 0 ? NULL : path;
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

int dlb_index_place_init(struct dlb_index_place *place, const char *index_path,
			 const char *source)
{
	*place = (struct dlb_index_place){ .is_explicit = index_path };
	if (index_path) {
		place->path = strdup(index_path);
		place->folder = folder_of(index_path);
		if (place->path && place->folder)
			return 0;
		dlb_index_place_fini(place);
		return -ENOMEM;
	}
	place->folder = cache_folder();
	if (place->folder)
		place->path = cache_path(place->folder, source);
	return 0;
}

void dlb_index_place_fini(struct dlb_index_place *place)
{
	if (place->temp)
		unlink(place->temp);
	free(place->temp);
	free(place->folder);
	free(place->path);
	*place = (struct dlb_index_place){ 0 };
}

/* Empty files and files with the magic may be replaced */
static bool is_replaceable(int fd, const struct stat *st)
{
	char magic[sizeof(DLB_INDEX_MAGIC) - 1];

	if (!S_ISREG(st->st_mode))
		return false;
	if (!st->st_size)
		return true;
	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, DLB_INDEX_MAGIC, sizeof(magic));
}

int dlb_index_place_open(const struct dlb_index_place *place)
{
	struct stat st;
	int fd, ret = 0;

	if (!place->path)
		return -ENOENT;
	fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		ret = -errno;
	else if (!place->is_explicit && st.st_uid != geteuid())
		ret = -EPERM;	/* planted in a shared cache folder */
	else if (place->is_explicit && !is_replaceable(fd, &st))
		ret = -EEXIST;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

bool dlb_index_place_is_inside(const struct dlb_index_place *place,
			       const char *source)
{
	_cleanup_free_ char *folder = NULL;
	size_t len = strlen(source);
	const char *rest;

	if (!place->path)
		return false;
	folder = realpath(place->folder, NULL);
	if (!folder || strncmp(folder, source, len))
		return false;
	rest = folder + len;
	if (len > 1 && *rest && *rest != '/')
		return false;
	/* Below a folder whose name begins with a dot nothing is looked at */
	return !strstr(rest, "/.") && !(len == 1 && *rest == '.');
}

/* Folder and its parents, for the user alone; failure shows at the next step */
static void make_folders(const char *folder)
{
	_cleanup_free_ char *path = strdup(folder);

	for (char *p = path ? path + 1 : NULL; p && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	if (path)
		mkdir(path, 0700);
}

static int create_named(struct dlb_index_place *place)
{
	int fd;

	if (asprintf(&place->temp, "%s/.dlboost-XXXXXX", place->folder) < 0) {
		place->temp = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(place->temp, O_CLOEXEC);
	if (fd >= 0)
		return fd;
	fd = -errno;
	free(place->temp);
	place->temp = NULL;
	return fd;
}

int dlb_index_place_create(struct dlb_index_place *place)
{
	int fd;

	if (!place->path) {
		fd = memfd_create("dlboost-index", MFD_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	if (!place->is_explicit)
		make_folders(place->folder);
	/* Without /proc a nameless file cannot be given a name */
	if (!access("/proc/self/fd", X_OK)) {
		fd = open(place->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
			return -errno;
	}
	return create_named(place);
}

/* A name beside the final one; nobody else may have it */
static int link_temp(struct dlb_index_place *place, const char *nameless)
{
	static unsigned int counter;

	for (int attempt = 0; attempt < 100; attempt++) {
		unsigned int nr = __atomic_fetch_add(&counter, 1,
						     __ATOMIC_RELAXED);

		if (asprintf(&place->temp, "%s/.dlboost-%d-%u", place->folder,
			     (int)getpid(), nr) < 0) {
			place->temp = NULL;
			return -ENOMEM;
		}
		if (!linkat(AT_FDCWD, nameless, AT_FDCWD, place->temp,
			    AT_SYMLINK_FOLLOW))
			return 0;
		free(place->temp);
		place->temp = NULL;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int take_name(struct dlb_index_place *place, int fd)
{
	char nameless[32];
	int ret;

	if (!place->temp) {
		snprintf(nameless, sizeof(nameless), "/proc/self/fd/%d", fd);
		if (!linkat(AT_FDCWD, nameless, AT_FDCWD, place->path,
			    AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST)
			return -errno;
		ret = link_temp(place, nameless);
		if (ret)
			return ret;
	}
	if (rename(place->temp, place->path))
		return -errno;
	free(place->temp);
	place->temp = NULL;
	return 0;
}

int dlb_index_place_publish(struct dlb_index_place *place, int fd)
{
	_cleanup_close_ int folder_fd = -1;
	int ret;

	if (!place->path)
		return 0;
	if (fsync(fd))
		return -errno;
	ret = take_name(place, fd);
	if (ret)
		return ret;
	folder_fd = open(place->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* The file is whole either way: a lost name costs a new making */
	if (folder_fd >= 0 && fsync(folder_fd))
		dlb_log(DLBOOST_LOG_WARN,
			"the name of %s may not outlive a power cut",
			place->path);
	return 0;
}
