// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Little trees of files for the tests of data sets: see tree.h.  The folder
 * holds "data", where trees are made, and the index files beside it.
 */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NR_PATHS 8

static char base[256];

char tree_error[DLBOOST_ERROR_BYTES];

const char *tree_make(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(base, sizeof(base), "%s/dlboost-tree-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(base));
	tree_dir("");
	setenv("XDG_CACHE_HOME", tree_path("../cache"), 1);
	return base;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void tree_remove(void)
{
	assert_int_equal(nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

const char *tree_path(const char *name)
{
	static char paths[NR_PATHS][8192];
	static unsigned int next;
	char *path = paths[next++ % NR_PATHS];

	if (!strncmp(name, "../", 3))
		snprintf(path, sizeof(paths[0]), "%s/%s", base, name + 3);
	else
		snprintf(path, sizeof(paths[0]), "%s/data%s%s", base,
			 *name ? "/" : "", name);
	return path;
}

static void make_parents(const char *path)
{
	char copy[8192];

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *p = copy + strlen(base) + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		assert_true(!mkdir(copy, 0755) || errno == EEXIST);
		*p = '/';
	}
}

void tree_dir(const char *name)
{
	const char *path = tree_path(name);

	make_parents(path);
	assert_true(!mkdir(path, 0755) || errno == EEXIST);
}

void tree_bytes(const char *name, const void *data, size_t len_bytes)
{
	const char *path = tree_path(name);
	FILE *file;

	make_parents(path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len_bytes, file), len_bytes);
	assert_int_equal(fclose(file), 0);
}

void tree_file(const char *name, size_t len_bytes)
{
	char *data = malloc(len_bytes + 1);

	assert_non_null(data);
	for (size_t i = 0; i < len_bytes; i++)
		data[i] = (char)(i * 31 + len_bytes);
	tree_bytes(name, data, len_bytes);
	free(data);
}

void tree_text(const char *name, const char *text)
{
	tree_bytes(name, text, strlen(text));
}

void tree_link(const char *target, const char *name)
{
	make_parents(tree_path(name));
	assert_int_equal(symlink(target, tree_path(name)), 0);
}

static int age_one(const char *path, const struct stat *st, int type,
		   struct FTW *ftw)
{
	struct timespec old[2] = { { .tv_sec = 1000000000 },
				   { .tv_sec = 1000000000 } };

	(void)st;
	(void)type;
	(void)ftw;
	return utimensat(AT_FDCWD, path, old, AT_SYMLINK_NOFOLLOW);
}

void tree_age(void)
{
	assert_int_equal(nftw(tree_path(""), age_one, 16, FTW_PHYS), 0);
}

int tree_count(const char *name)
{
	DIR *dir = opendir(tree_path(name));
	int nr = -2;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

int tree_open_attr(const char *path, const struct dlboost_dataset_attr *attr,
		   struct dlboost_dataset **out)
{
	memset(tree_error, 'x', sizeof(tree_error) - 1);
	return dlboost_dataset_open(path, attr, tree_error, sizeof(tree_error),
				    out);
}

struct dlboost_dataset *tree_open(const char *name)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset *dataset = NULL;

	attr.index_path = tree_path("../test.index");
	if (tree_open_attr(tree_path(name), &attr, &dataset))
		fail_msg("%s", tree_error);
	return dataset;
}

void tree_open_fails(const char *name, int ret, const char *word)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset *dataset = (void *)base;
	int got;

	attr.index_path = tree_path("../test.index");
	got = tree_open_attr(tree_path(name), &attr, &dataset);
	if (got != ret || !strstr(tree_error, word))
		fail_msg("%d instead of %d, or \"%s\" lacks \"%s\"", got, ret,
			 tree_error, word);
	assert_ptr_equal(dataset, base);
	/* A failed opening leaves no index, whole or in part */
	assert_int_equal(access(attr.index_path, F_OK), -1);
}

const char *tree_sample(const struct dlboost_dataset *dataset, uint64_t id)
{
	static char path[4096 + 256];
	struct dlboost_sample sample;
	size_t skip = strlen(base) + strlen("/data/");

	assert_int_equal(dlboost_dataset_sample(dataset, id, path, sizeof(path),
						&sample), 0);
	assert_ptr_equal(sample.path, path);
	return strlen(path) > skip ? path + skip : path;
}
