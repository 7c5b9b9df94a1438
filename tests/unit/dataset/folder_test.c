// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/datasets.rst, "Folders": which files are samples,
 * in which order, with which label; what is skipped and what is refused.
 * Expected lists are written by hand.
 */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int setup(void **state)
{
	(void)state;
	tree_make();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_remove();
	return 0;
}

static void expect(const char *const *names, uint32_t nr_classes,
		   uint64_t nr_skipped)
{
	struct dlboost_dataset *dataset = tree_open("");
	struct dlboost_dataset_info info;
	uint64_t nr = 0;

	while (names[nr])
		nr++;
	dlboost_dataset_info(dataset, &info);
	assert_int_equal(info.nr_samples, nr);
	assert_int_equal(info.nr_classes, nr_classes);
	assert_int_equal(info.nr_skipped, nr_skipped);
	for (uint64_t id = 0; id < nr; id++)
		assert_string_equal(tree_sample(dataset, id), names[id]);
	dlboost_dataset_close(dataset);
}

static void order_is_that_of_whole_paths(void **state)
{
	static const char *const names[] = {
		"a/1-.jpg", "a/1.jpg", "a/1/z.jpg", "a/10.jpg", "a/b-c/x.jpg",
		"a/b.jpg", "a/b/x.jpg", "a-b/1.jpg", "a.b/1.jpg", NULL,
	};

	(void)state;
	for (int i = 8; i >= 0; i--)
		tree_file(names[i], 10);
	/* Classes by name alone: "a" before "a-b", though '-' is before '/' */
	expect(names, 3, 0);
}

static void names_end_like_pictures(void **state)
{
	static const char *const names[] = {
		"c/a.jpg", "c/b.JPG", "c/c.jpeg", "c/d.JPEG", "c/e.Jpe",
		"c/f.jfif", "c/g.PNG", "c/h.tar.png", NULL,
	};
	static const char *const others[] = {
		"c/e", "c/f.jpg.txt", "c/g.gif", "c/jpg", "c/h.jpgx",
		"c/i.jp", "c/j.webp",
	};

	(void)state;
	for (int i = 0; names[i]; i++)
		tree_file(names[i], 1);
	for (int i = 0; i < 7; i++)
		tree_file(others[i], 1);
	tree_file("c/.hidden.jpg", 1);
	tree_file("c/.jpg", 1);
	tree_file(".cache/x.jpg", 1);
	expect(names, 1, 7);
}

static void without_classes_there_are_no_labels(void **state)
{
	static const char *const names[] = { "a.jpg", "b.png", NULL };
	struct dlboost_dataset *dataset;
	struct dlboost_sample sample;
	char path[4096 + 256];

	(void)state;
	tree_file("b.png", 7);
	tree_file("a.jpg", 5);
	tree_file("readme", 1);
	expect(names, 0, 1);
	dataset = tree_open("");
	assert_int_equal(dlboost_dataset_sample(dataset, 1, path, sizeof(path),
						&sample), 0);
	assert_int_equal(sample.label, -1);
	assert_int_equal(sample.len_bytes, 7);
	assert_int_equal(sample.offset_bytes, 0);
	assert_null(dlboost_dataset_class_name(dataset, 0));
	assert_int_equal(dlb_dataset_class_size(dataset, -1), 2);
	dlboost_dataset_close(dataset);
}

static void files_beside_classes_are_skipped(void **state)
{
	static const char *const names[] = { "a/1.jpg", NULL };

	(void)state;
	tree_file("a/1.jpg", 1);
	tree_file("stray.jpg", 1);
	tree_file("labels.txt", 1);
	expect(names, 1, 2);
}

static void any_byte_may_be_in_a_name(void **state)
{
	static const char *const names[] = {
		"new\nline/a\nb.jpg", "new\nline/q\"\\.jpg",
		"\xff\xfe/caf\xe9.jpg", NULL,
	};
	struct dlboost_dataset *dataset;

	(void)state;
	for (int i = 0; names[i]; i++)
		tree_file(names[i], 3);
	expect(names, 2, 0);
	dataset = tree_open("");
	assert_string_equal(dlboost_dataset_class_name(dataset, 1), "\xff\xfe");
	assert_string_equal(dlboost_dataset_class_name(dataset, 0),
			    "new\nline");
	dlboost_dataset_close(dataset);
}

static void links_are_followed(void **state)
{
	static const char *const names[] = {
		"a/1.jpg", "a/dead.jpg", "a/loop.jpg", "b/1.jpg", "b/dead.jpg",
		"b/loop.jpg", NULL,
	};
	struct dlboost_dataset *dataset;
	struct dlboost_sample sample;
	char path[4096 + 256];

	(void)state;
	tree_file("a/1.jpg", 4);
	tree_link("nowhere", "a/dead.jpg");
	tree_link("loop.jpg", "a/loop.jpg");
	tree_link("nowhere", "a/dead");
	tree_link("a", "b");
	/* a/dead is skipped twice, through a and through b */
	expect(names, 2, 2);
	dataset = tree_open("");
	assert_int_equal(dlboost_dataset_sample(dataset, 1, path, sizeof(path),
						&sample), 0);
	assert_int_equal(sample.len_bytes, -1);
	dlboost_dataset_close(dataset);
}

static void circles_are_refused(void **state)
{
	(void)state;
	tree_file("a/sub/1.jpg", 4);
	tree_link("../..", "a/sub/up");
	tree_open_fails("", -ELOOP, "a/sub/up");
	assert_int_equal(unlink(tree_path("a/sub/up")), 0);
	tree_link(".", "a/self.jpg");
	tree_open_fails("", -ELOOP, "a/self.jpg");
	assert_int_equal(unlink(tree_path("a/self.jpg")), 0);
	tree_link("b", "b");
	tree_open_fails("", -ELOOP, "data/b");
}

static void a_class_that_is_a_dead_link_is_refused(void **state)
{
	(void)state;
	tree_file("a/1.jpg", 4);
	tree_link("/nonexistent/volume", "b");
	/* Left out, it would give the classes behind it other numbers */
	tree_open_fails("", -ENOENT, "data/b");
}

static void empty_ones_are_refused(void **state)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset *dataset;
	struct dlboost_dataset_info info;

	(void)state;
	tree_open_fails("", -ENODATA, "no picture");
	tree_dir("a");
	tree_open_fails("", -ENODATA, "no picture");
	tree_file("b/1.jpg", 1);
	tree_file("a/readme.txt", 1);

	attr.index_path = tree_path("../test.index");
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset),
			 -ENODATA);
	assert_non_null(strstr(tree_error, "data/a:"));
	attr.allow_empty = 1;
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset), 0);
	dlboost_dataset_info(dataset, &info);
	assert_int_equal(info.nr_classes, 2);
	assert_int_equal(dlb_dataset_class_size(dataset, 0), 0);
	assert_int_equal(dlb_dataset_class_size(dataset, 1), 1);
	dlboost_dataset_close(dataset);
	/* A current index does not let an empty class pass, either */
	attr.allow_empty = 0;
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset),
			 -ENODATA);
}

static void what_is_no_file_is_skipped(void **state)
{
	static const char *const names[] = { "a/1.jpg", NULL };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	tree_file("a/1.jpg", 1);
	assert_int_equal(mkfifo(tree_path("a/fifo.jpg"), 0600), 0);
	tree_link("fifo.jpg", "a/link.jpg");
	tree_link("/dev/zero", "a/zero.jpg");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		 tree_path("a/s.jpg"));
	assert_int_equal(bind(fd, (struct sockaddr *)&address,
			      sizeof(address)), 0);
	close(fd);
	expect(names, 1, 4);
}

static void other_things_than_folders_are_refused(void **state)
{
	(void)state;
	tree_open_fails("nothing", -ENOENT, "data/nothing: No such file");
	assert_int_equal(mkfifo(tree_path("fifo"), 0600), 0);
	tree_open_fails("fifo", -EINVAL, "neither a folder nor");
}

/* In a child: root may read everything */
static int open_as_nobody(const char *word, int want)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
		struct dlboost_dataset *dataset;
		char error[DLBOOST_ERROR_BYTES];
		int ret;

		unsetenv("XDG_CACHE_HOME");
		unsetenv("HOME");
		if (geteuid() == 0 && seteuid(65534))
			_exit(2);
		ret = dlboost_dataset_open(tree_path(""), &attr, error,
					   sizeof(error), &dataset);
		_exit(ret == want && (!ret || strstr(error, word)) ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void unreadable_folders_are_fatal_and_files_are_not(void **state)
{
	(void)state;
	assert_int_equal(chmod(tree_path("../"), 0755), 0);
	tree_file("a/1.jpg", 1);
	tree_file("b/sub/1.jpg", 1);
	assert_int_equal(chmod(tree_path("a/1.jpg"), 0), 0);
	assert_int_equal(open_as_nobody("", 0), 0);
	assert_int_equal(chmod(tree_path("b/sub"), 0), 0);
	assert_int_equal(open_as_nobody("data/b/sub: Permission", -EACCES), 0);
	assert_int_equal(chmod(tree_path("b/sub"), 0755), 0);
	assert_int_equal(chmod(tree_path("b"), 0), 0);
	assert_int_equal(open_as_nobody("data/b: Permission", -EACCES), 0);
	assert_int_equal(chmod(tree_path("b"), 0755), 0);
}

static int count_calls(void *arg, uint64_t nr_samples)
{
	uint64_t *calls = arg;

	assert_true(nr_samples <= 2500);
	return ++*calls == 2 ? 1 : 0;
}

static void progress_can_end_it(void **state)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset *dataset;
	uint64_t calls = 0;
	char name[32];

	(void)state;
	for (int i = 0; i < 2500; i++) {
		snprintf(name, sizeof(name), "a/%d.jpg", i);
		tree_file(name, 1);
	}
	attr.progress = count_calls;
	attr.progress_arg = &calls;
	attr.index_path = tree_path("../test.index");
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset),
			 -ECANCELED);
	assert_int_equal(calls, 2);
	assert_int_equal(access(attr.index_path, F_OK), -1);
	assert_non_null(strstr(tree_error, "cancelled"));
}

static void long_paths_are_refused(void **state)
{
	char part[201];
	int fd, dir = open(tree_path(""), O_PATH);

	(void)state;
	memset(part, 'd', 200);
	part[200] = '\0';
	/* Deeper than a path can say: by steps */
	for (int i = 0; i < 21; i++) {
		int next;

		assert_int_equal(mkdirat(dir, part, 0755), 0);
		next = openat(dir, part, O_PATH);
		assert_true(next >= 0);
		close(dir);
		dir = next;
	}
	fd = openat(dir, "x.jpg", O_CREAT | O_WRONLY, 0644);
	assert_true(fd >= 0);
	close(fd);
	tree_open_fails("", -ENAMETOOLONG, "longer than 4095 bytes");

	/* nftw() cannot reach down there, either */
	for (int i = 0; i < 21; i++) {
		int up = openat(dir, "..", O_PATH);

		unlinkat(dir, i ? part : "x.jpg", i ? AT_REMOVEDIR : 0);
		close(dir);
		dir = up;
	}
	unlinkat(dir, part, AT_REMOVEDIR);
	close(dir);
}

static void nesting_has_an_end(void **state)
{
	char name[300];

	(void)state;
	for (size_t i = 0; i < 256; i++)
		name[i] = "d/"[i % 2];
	snprintf(name + 256, sizeof(name) - 256, "x.jpg");
	tree_file(name, 1);
	tree_open_fails("", -ENAMETOOLONG, "deeper than 128");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TREE_TEST(order_is_that_of_whole_paths),
		TREE_TEST(names_end_like_pictures),
		TREE_TEST(without_classes_there_are_no_labels),
		TREE_TEST(files_beside_classes_are_skipped),
		TREE_TEST(any_byte_may_be_in_a_name),
		TREE_TEST(links_are_followed),
		TREE_TEST(circles_are_refused),
		TREE_TEST(a_class_that_is_a_dead_link_is_refused),
		TREE_TEST(empty_ones_are_refused),
		TREE_TEST(what_is_no_file_is_skipped),
		TREE_TEST(other_things_than_folders_are_refused),
		TREE_TEST(unreadable_folders_are_fatal_and_files_are_not),
		TREE_TEST(progress_can_end_it),
		TREE_TEST(long_paths_are_refused),
		TREE_TEST(nesting_has_an_end),
	};

	umask(022);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
