// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of <dlboost/stream.h>: what dlboost_stream_create() refuses, with a
 * sentence that names the attribute, and that a refusal leaves nothing behind.
 */
#include "stream_util.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_engine.h"

static struct folder folder;
static struct dlboost_dataset *dataset;

static int setup(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	char path[192];

	(void)state;
	fake_engine_register();
	folder_make(&folder, 2, 10);
	/* What is started once a process, e.g. by a sanitizer, does not count */
	dlboost_stream_destroy(stream_open(&folder, &attr));
	snprintf(path, sizeof(path), "%s/data", folder.path);
	dataset = dataset_open(path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dlboost_dataset_close(dataset);
	folder_remove(&folder);
	return 0;
}

static void refuse(const struct dlboost_stream_attr *attr, int expect,
		   const char *word)
{
	struct dlboost_stream *stream = NULL;
	char error[DLBOOST_ERROR_BYTES] = "";
	int ret = dlboost_stream_create(dataset, attr, error, sizeof(error),
					&stream);

	if (ret != expect || !strstr(error, word))
		fail_msg("%d '%s', expected %d and '%s'", ret, error, expect,
			 word);
	assert_null(stream);
	assert_int_equal(dlboost_stream_create(dataset, attr, NULL, 0,
					       &stream), expect);
}

#define REFUSE(change, expect, word) do {				\
	struct dlboost_stream_attr attr = stream_attr(NULL);		\
	change;								\
	refuse(&attr, expect, word);					\
} while (0)

static unsigned int count_in(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static void wrong_attributes_are_named(void **state)
{
	static const char *const none[] = { "warp" };
	static const char *const near[] = { "fakr:workers=1" };
	static const char *const key[] = { "fake:worker=1" };
	static const char *const value[] = { "fake:workers=0" };
	static const char *const cpus[] = { "fake:affinity=0-x" };
	static const char *const ten[10] = { "fake" };
	unsigned int nr_threads = count_in("/proc/self/task");
	unsigned int nr_files = count_in("/proc/self/fd");

	(void)state;
	REFUSE(attr.size = 8, -EINVAL, "attr.size");
	REFUSE(attr.recipe = NULL, -EINVAL, "recipe");
	REFUSE(attr.recipe = "imagenet-trian", -EINVAL, "imagenet-train");
	REFUSE(attr.recipe = "none", -EINVAL, "size=");
	REFUSE(attr.profile = 2, -EINVAL, "profile");
	REFUSE(attr.batch = 1u << 30, -EINVAL, "batch");
	REFUSE(attr.rank = 1, -EINVAL, "rank=1");
	REFUSE((attr.rank = 4, attr.world = 4), -EINVAL, "world=4");
	REFUSE(attr.tail = 3, -EINVAL, "tail");
	REFUSE(attr.on_error = 3, -EINVAL, "on_error");
	REFUSE(attr.max_bad = 1.5, -EINVAL, "max_bad");
	REFUSE(attr.max_bad = __builtin_nan(""), -EINVAL, "max_bad");
	REFUSE(attr.slots = 5000, -EINVAL, "slots");
	REFUSE((attr.slots = 2, attr.hold = 2), -EINVAL, "hold");
	REFUSE(attr.slots = 1, -EINVAL, "slots=1");
	REFUSE(attr.engines = none, -EINVAL, "warp");
	REFUSE(attr.engines = near, -EINVAL, "'fake'");
	REFUSE(attr.engines = key, -EINVAL, "'workers'");
	REFUSE(attr.engines = value, -EINVAL, "workers=0");
	REFUSE(attr.engines = cpus, -EINVAL, "affinity=0-x");
	REFUSE((attr.engines = ten, attr.nr_engines = 10), -EINVAL, "engines");
	REFUSE(attr.engines = NULL, -EINVAL, "engines");
	REFUSE(attr.nr_states = 1, -EINVAL, "states");
	REFUSE(attr.quarantine_path = "/nonexistent/q", -ENOENT,
	       "/nonexistent/q");
	assert_int_equal(count_in("/proc/self/task"), nr_threads);
	assert_int_equal(count_in("/proc/self/fd"), nr_files);
}

/* More memory than there is address space: said before anything is touched */
static void absurd_sizes_are_refused(void **state)
{
	(void)state;
	REFUSE((attr.recipe = "imagenet-train:size=4096", attr.batch = 1u << 20,
		attr.slots = 4096), -ENOMEM, "slots");
}

/* Attributes of a newer library: unknown ones must not be asked for */
static void unknown_members_must_be_zero(void **state)
{
	union {
		struct dlboost_stream_attr attr;
		unsigned char bytes[sizeof(struct dlboost_stream_attr) + 16];
	} longer;
	struct dlboost_stream *stream = NULL;

	(void)state;
	memset(&longer, 0, sizeof(longer));
	longer.attr = stream_attr(NULL);
	longer.attr.size = sizeof(longer);
	assert_int_equal(dlboost_stream_create(dataset, &longer.attr, NULL, 0,
					       &stream), 0);
	dlboost_stream_destroy(stream);
	stream = NULL;
	longer.bytes[sizeof(longer) - 1] = 1;
	refuse(&longer.attr, -EINVAL, "does not know");
}

static void create_and_destroy_leave_nothing(void **state)
{
	unsigned int nr_threads = count_in("/proc/self/task");
	unsigned int nr_files = count_in("/proc/self/fd");

	(void)state;
	for (int i = 0; i < 50; i++) {
		struct dlboost_stream_attr attr = stream_attr(NULL);

		dlboost_stream_destroy(stream_open(&folder, &attr));
	}
	dlboost_stream_destroy(NULL);
	dlboost_batch_release(NULL);
	dlboost_batch_unref(NULL);
	assert_int_equal(count_in("/proc/self/task"), nr_threads);
	assert_int_equal(count_in("/proc/self/fd"), nr_files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_attributes_are_named),
		cmocka_unit_test(absurd_sizes_are_refused),
		cmocka_unit_test(unknown_members_must_be_zero),
		cmocka_unit_test(create_and_destroy_leave_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
