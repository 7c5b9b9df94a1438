// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Reading a folder of pictures: which files are samples, in which order, with
 * which label.  Opens folders, never a file.  Holds the names of one folder a
 * level in memory, and each folder above the one in hand open.  No locks: one
 * thread.  Documentation/datasets.rst, "Folders".
 */
#include "stream/listing.h"

#include <dirent.h>
#include <dlboost/log.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/base.h"

#define MAX_DEPTH 128
#define QUOTE_BYTES 300

/**
 * struct item - An entry of a folder that matters
 * @name_offset: of its name in struct dir.names; folders end in '/'
 * @name_bytes: length, without NUL
 * @is_dir: folder, or link to one
 */
struct item {
	uint32_t name_offset;
	uint16_t name_bytes;
	bool is_dir;
};

/**
 * struct dir - A folder being read
 * @parent: the folder it was reached from, NULL for the root
 * @stream: its entries
 * @device: with @inode, who it is
 * @inode: inode number
 * @names: names of @items, NUL-terminated
 * @items: struct item, sorted
 */
struct dir {
	const struct dir *parent;
	DIR *stream;
	dev_t device;
	ino_t inode;
	struct dlb_buffer names;
	struct dlb_buffer items;
};

/**
 * struct walk - The whole walk
 * @listing: where samples and sentences go
 * @label: of the samples found now
 * @depth: folders open
 * @nr_stray: pictures beside the class folders
 * @nr_dead: links that lead nowhere, not named like pictures
 * @path_bytes: length of @path
 * @path: of the folder in hand relative to the root, with a '/' behind it
 */
struct walk {
	struct dlb_listing *listing;
	int32_t label;
	unsigned int depth;
	uint64_t nr_stray;
	uint64_t nr_dead;
	size_t path_bytes;
	char path[DLB_INDEX_NAME_BYTES];
};

bool dlb_folder_is_picture(const char *name, size_t name_bytes)
{
	static const char *const endings[] = {
		".jpg", ".jpeg", ".jpe", ".jfif", ".png",
	};

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t len = strlen(endings[i]);

		if (name_bytes > len &&
		    !strncasecmp(name + name_bytes - len, endings[i], len))
			return true;
	}
	return false;
}

/* One sentence about @name in the folder in hand; returns @ret */
static int walk_fail(struct walk *walk, int ret, const char *name,
		     const char *what)
{
	struct dlb_listing *listing = walk->listing;
	char whole[2 * DLB_INDEX_NAME_BYTES], quoted[QUOTE_BYTES];
	int n = snprintf(whole, sizeof(whole), "%s/%.*s%s", listing->path,
			 (int)walk->path_bytes, walk->path, name);
	size_t len = n < (int)sizeof(whole) ? (size_t)n : sizeof(whole) - 1;

	while (len > 1 && whole[len - 1] == '/')
		len--;
	dlb_text_quote(quoted, sizeof(quoted), whole, len);
	dlb_sentence(listing->error, listing->error_bytes, "%s: %s", quoted,
		     what);
	return ret;
}

static int walk_fail_errno(struct walk *walk, int err, const char *name)
{
	return walk_fail(walk, -err, name, strerror(err));
}

static int path_push(struct walk *walk, const char *name, size_t name_bytes)
{
	if (walk->path_bytes + name_bytes >= sizeof(walk->path))
		return walk_fail(walk, -ENAMETOOLONG, name,
				 "the path is longer than 4095 bytes");
	memcpy(walk->path + walk->path_bytes, name, name_bytes);
	walk->path_bytes += name_bytes;
	walk->path[walk->path_bytes] = '\0';
	return 0;
}

static void path_pop(struct walk *walk, size_t path_bytes)
{
	walk->path_bytes = path_bytes;
	walk->path[path_bytes] = '\0';
}

static void dir_fini(struct dir *dir)
{
	if (dir->stream)
		closedir(dir->stream);
	dlb_buffer_free(&dir->names);
	dlb_buffer_free(&dir->items);
}

/* Takes @fd; remembers the folder before its entries are read */
static int dir_init(struct walk *walk, struct dir *dir, int fd,
		    const struct dir *parent)
{
	struct stat st;
	int ret;

	*dir = (struct dir){ .parent = parent };
	dir->stream = fdopendir(fd);
	if (!dir->stream) {
		ret = walk_fail_errno(walk, errno, "");
		close(fd);
		return ret;
	}
	if (fstat(fd, &st))
		return walk_fail_errno(walk, errno, "");
	dir->device = st.st_dev;
	dir->inode = st.st_ino;
	for (const struct dir *up = parent; up; up = up->parent)
		if (up->device == dir->device && up->inode == dir->inode)
			return walk_fail(walk, -ELOOP, "",
					 "leads back to a folder above it: links in a circle; remove the link");
	if (walk->depth >= MAX_DEPTH)
		return walk_fail(walk, -ENAMETOOLONG, "",
				 "folders are nested deeper than 128");
	return dlb_index_writer_stamp(walk->listing->writer, &st, walk->path);
}

/*
 * A folder, or a link to one.  A link that leads nowhere and is no picture by
 * its name might be a class: below the root it is not guessed at.
 */
static int entry_is_dir(struct walk *walk, const struct dir *dir,
			const struct dirent *entry, bool *is_dir)
{
	struct stat st;

	*is_dir = entry->d_type == DT_DIR;
	if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
		return 0;
	if (!fstatat(dirfd(dir->stream), entry->d_name, &st, 0)) {
		*is_dir = S_ISDIR(st.st_mode);
		return 0;
	}
	if (dlb_folder_is_picture(entry->d_name, strlen(entry->d_name)))
		return 0;
	if (dir->parent) {
		walk->nr_dead++;
		return 0;
	}
	if (errno == ELOOP)
		return walk_fail(walk, -ELOOP, entry->d_name,
				 "links in a circle; remove the link");
	return walk_fail(walk, -errno, entry->d_name,
			 "this link leads nowhere and may be a class folder; mend or remove it");
}

static int dir_add(struct dir *dir, const char *name, bool is_dir)
{
	size_t len = strlen(name);
	struct item item = {
		.name_offset = (uint32_t)dir->names.len_bytes,
		.name_bytes = (uint16_t)(len + is_dir),
		.is_dir = is_dir,
	};
	char *room;

	if (dir->names.len_bytes > UINT32_MAX - 512)
		return -EOVERFLOW;
	room = dlb_buffer_extend(&dir->names, len + is_dir + 1);
	if (!room)
		return -ENOMEM;
	memcpy(room, name, len);
	room[len] = '/';
	room[len + is_dir] = '\0';
	return dlb_buffer_append(&dir->items, &item, sizeof(item));
}

static int items_compare(const void *a, const void *b, void *names)
{
	const struct item *x = a, *y = b;
	const char *base = names;
	size_t len = x->name_bytes < y->name_bytes ?
		     x->name_bytes : y->name_bytes;
	int order = memcmp(base + x->name_offset, base + y->name_offset, len);

	return order ? order : (int)x->name_bytes - (int)y->name_bytes;
}

/* By names alone, without the '/' that folders end in */
static int classes_compare(const void *a, const void *b, void *names)
{
	struct item x = *(const struct item *)a, y = *(const struct item *)b;

	x.name_bytes -= x.is_dir;
	y.name_bytes -= y.is_dir;
	return items_compare(&x, &y, names);
}

/*
 * Byte order of whole relative paths is the order of a walk in which the name
 * of a folder counts with the '/' behind it.
 */
static int dir_read(struct walk *walk, struct dir *dir)
{
	const struct dirent *entry;

	while ((errno = 0, entry = readdir(dir->stream))) {
		bool is_dir;
		int ret;

		if (entry->d_name[0] == '.')
			continue;
		ret = entry_is_dir(walk, dir, entry, &is_dir);
		if (!ret)
			ret = dir_add(dir, entry->d_name, is_dir);
		if (ret)
			return ret;
	}
	if (errno)
		return walk_fail_errno(walk, errno, "");
	if (dir->items.len_bytes)
		qsort_r(dir->items.data,
			dir->items.len_bytes / sizeof(struct item),
			sizeof(struct item),
			dir->parent ? items_compare : classes_compare,
			dir->names.data);
	return 0;
}

/*
 * What cannot be examined is a sample all the same, of unknown length: reading
 * it will say why.  Only what is no regular file is left out.
 */
static int file_add(struct walk *walk, const struct dir *dir, const char *name,
		    size_t name_bytes)
{
	struct dlb_listing *listing = walk->listing;
	struct dlb_index_entry entry = { .label = walk->label };
	size_t path_bytes = walk->path_bytes;
	struct stat st;
	int ret;

	entry.len_bytes = -1;
	if (!fstatat(dirfd(dir->stream), name, &st, 0)) {
		entry.len_bytes = st.st_size;
		if (!S_ISREG(st.st_mode)) {
			dlb_index_writer_skip(listing->writer);
			return 0;
		}
	}
	ret = path_push(walk, name, name_bytes);
	if (ret)
		return ret;
	entry.name = walk->path;
	entry.name_bytes = walk->path_bytes;
	ret = dlb_index_writer_add(listing->writer, &entry);
	path_pop(walk, path_bytes);
	if (!ret && !(dlb_index_writer_nr_samples(listing->writer) %
		      DLB_LISTING_STEP))
		ret = dlb_listing_progress(listing);
	return ret;
}

static int dir_walk(struct walk *walk, struct dir *dir);

static int subdir_walk(struct walk *walk, const struct dir *parent,
		       const struct item *item)
{
	const char *name = parent->names.data + item->name_offset;
	size_t path_bytes = walk->path_bytes;
	struct dir dir;
	int fd, ret;

	ret = path_push(walk, name, item->name_bytes);
	if (ret)
		return ret;
	fd = openat(dirfd(parent->stream), name,
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		ret = walk_fail_errno(walk, errno, "");
	} else {
		walk->depth++;
		ret = dir_init(walk, &dir, fd, parent);
		if (!ret)
			ret = dir_read(walk, &dir);
		if (!ret)
			ret = dir_walk(walk, &dir);
		dir_fini(&dir);
		walk->depth--;
	}
	path_pop(walk, path_bytes);
	return ret ? ret : dlb_listing_progress(walk->listing);
}

static int dir_walk(struct walk *walk, struct dir *dir)
{
	const struct item *items = (const struct item *)dir->items.data;
	size_t nr = dir->items.len_bytes / sizeof(*items);
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		const char *name = dir->names.data + items[i].name_offset;

		if (items[i].is_dir)
			ret = subdir_walk(walk, dir, &items[i]);
		else if (dlb_folder_is_picture(name, items[i].name_bytes))
			ret = file_add(walk, dir, name, items[i].name_bytes);
		else
			dlb_index_writer_skip(walk->listing->writer);
	}
	return ret;
}

static int class_walk(struct walk *walk, struct dir *root,
		      const struct item *item)
{
	const char *name = root->names.data + item->name_offset;
	int ret = dlb_index_writer_name_class(walk->listing->writer,
					      (uint32_t)walk->label, name,
					      item->name_bytes - 1u);

	if (!ret)
		ret = subdir_walk(walk, root, item);
	walk->label++;
	return ret;
}

/* Files beside class folders have no label: they are no samples */
static int classes_walk(struct walk *walk, struct dir *root)
{
	const struct item *items = (const struct item *)root->items.data;
	size_t nr = root->items.len_bytes / sizeof(*items);
	int ret = 0;

	walk->label = 0;
	for (size_t i = 0; i < nr && !ret; i++) {
		const char *name = root->names.data + items[i].name_offset;

		if (items[i].is_dir) {
			ret = class_walk(walk, root, &items[i]);
			continue;
		}
		dlb_index_writer_skip(walk->listing->writer);
		walk->nr_stray += dlb_folder_is_picture(name,
							items[i].name_bytes);
	}
	return ret;
}

static void walk_log(const struct walk *walk)
{
	if (walk->nr_stray)
		dlb_log(DLBOOST_LOG_WARN,
			"%s: %llu pictures beside the class folders are left out",
			walk->listing->path,
			(unsigned long long)walk->nr_stray);
	if (walk->nr_dead)
		dlb_log(DLBOOST_LOG_WARN,
			"%s: %llu links that lead nowhere are left out",
			walk->listing->path,
			(unsigned long long)walk->nr_dead);
}

static bool has_classes(const struct dir *root)
{
	const struct item *items = (const struct item *)root->items.data;
	size_t nr = root->items.len_bytes / sizeof(*items);

	for (size_t i = 0; i < nr; i++)
		if (items[i].is_dir)
			return true;
	return false;
}

int dlb_folder_read(struct dlb_listing *listing, int dir_fd)
{
	struct walk walk = { .listing = listing, .label = -1 };
	struct dir root;
	int ret = dir_init(&walk, &root, dir_fd, NULL);

	if (!ret)
		ret = dir_read(&walk, &root);
	if (!ret)
		ret = has_classes(&root) ? classes_walk(&walk, &root) :
					   dir_walk(&walk, &root);
	if (!ret && !dlb_index_writer_nr_samples(listing->writer))
		ret = walk_fail(&walk, -ENODATA, "",
				"no picture in it (names end in .jpg, .jpeg, .jpe, .jfif or .png)");
	dir_fini(&root);
	if (!ret)
		walk_log(&walk);
	return ret ? ret : dlb_listing_progress(listing);
}
