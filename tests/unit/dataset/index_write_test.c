// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/datasets.rst, "Where the index stands": a full
 * disk, a folder that may not be written, a killed process and builders at the
 * same time each leave the old index, a new one, or none, and never a part.
 */
#include "tree.h"

#include <dlboost/log.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

#define NR_SAMPLES 20000

static char log_line[512];

static void log_take(void *arg, unsigned int level, const char *msg)
{
	(void)arg;
	if (level == DLBOOST_LOG_WARN)
		snprintf(log_line, sizeof(log_line), "%s", msg);
}

/* An index of it takes about a megabyte */
static int setup(void **state)
{
	const char *path;
	FILE *file;

	(void)state;
	tree_make();
	tree_text("m", "");
	path = tree_path("m");
	file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 0; i < NR_SAMPLES; i++)
		fprintf(file, "folder/picture-%06d.jpg\t%d\n", i, i * 7 % 50);
	assert_int_equal(fclose(file), 0);
	tree_age();
	log_line[0] = '\0';
	dlboost_log_set(log_take, NULL, DLBOOST_LOG_WARN);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dlboost_log_set(NULL, NULL, 0);
	tree_remove();
	return 0;
}

static int open_at(const char *index_path, struct dlboost_dataset_info *info)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset *dataset;
	int ret;

	attr.index_path = index_path;
	ret = tree_open_attr(tree_path("m"), &attr, &dataset);
	if (ret)
		return ret;
	dlboost_dataset_info(dataset, info);
	/* The last sample is there, through the file or through memory */
	assert_non_null(strstr(tree_sample(dataset, NR_SAMPLES - 1),
			       "picture-019999.jpg"));
	dlboost_dataset_close(dataset);
	return 0;
}

/* Run @child in a process of its own; its result is its exit status */
static int in_child(int (*child)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int under_a_file_size_limit(void)
{
	struct rlimit limit = { 300000, 300000 };
	struct dlboost_dataset_info info;

	if (setrlimit(RLIMIT_FSIZE, &limit))
		return 10;
	/* SIGXFSZ would end the process here */
	if (open_at(tree_path("../explicit"), &info) != -EFBIG ||
	    !strstr(tree_error, "explicit: the index cannot be written"))
		return 11;
	return access(tree_path("../explicit"), F_OK) ? 0 : 12;
}

static void a_size_limit_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(in_child(under_a_file_size_limit), 0);
	assert_int_equal(tree_count("../"), 1);
}

/* Exit status 77: may not mount */
static int on_a_full_disk(void)
{
	const char *disk = tree_path("../disk"), *cache = tree_path("../cache");
	struct dlboost_dataset_info info;
	char full[300];

	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", disk, "tmpfs", 0, "size=256k"))
		return 77;
	snprintf(full, sizeof(full), "%s/full.index", disk);
	if (open_at(full, &info) != -ENOSPC ||
	    !strstr(tree_error, "full.index: the index cannot be written: No space left on device; free some room"))
		return 11;
	if (!access(full, F_OK) || tree_count("../disk"))
		return 12;
	if (mount("none", cache, "tmpfs", 0, "size=256k"))
		return 13;
	/* Nobody asked for a file: memory will do */
	if (open_at(NULL, &info) || !info.index_in_memory ||
	    !strstr(log_line, "index kept in memory"))
		return 14;
	return tree_count("../cache/dlboost") ? 15 : 0;
}

static void a_full_disk_is_an_error_or_memory(void **state)
{
	int status;

	(void)state;
	tree_dir("../disk");
	tree_dir("../cache");
	status = in_child(on_a_full_disk);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

static int without_rights(void)
{
	struct dlboost_dataset_info info;

	if (geteuid() == 0 && seteuid(65534))
		return 10;
	if (open_at(tree_path("../locked/x"), &info) != -EACCES ||
	    !strstr(tree_error, "locked/x"))
		return 11;
	if (open_at(tree_path("../missing/x"), &info) != -ENOENT ||
	    !strstr(tree_error, "missing/x"))
		return 12;
	setenv("XDG_CACHE_HOME", tree_path("../locked"), 1);
	if (open_at(NULL, &info) || !info.index_in_memory)
		return 13;
	return strstr(log_line, "index kept in memory") ? 0 : 14;
}

static void a_locked_folder_is_an_error_or_memory(void **state)
{
	(void)state;
	tree_dir("../locked");
	assert_int_equal(chmod(tree_path("../"), 0755), 0);
	assert_int_equal(chmod(tree_path("../locked"), 0555), 0);
	assert_int_equal(in_child(without_rights), 0);
}

static void without_a_home_it_is_memory(void **state)
{
	struct dlboost_dataset_info info;
	char *home = getenv("HOME");
	_cleanup_free_ char *kept = home ? strdup(home) : NULL;

	(void)state;
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_int_equal(open_at(NULL, &info), 0);
	assert_int_equal(info.index_in_memory, 1);
	setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
	assert_int_equal(open_at(NULL, &info), 0);
	assert_int_equal(info.index_in_memory, 1);
	setenv("HOME", tree_path("../home"), 1);
	tree_dir("../home");
	assert_int_equal(open_at(NULL, &info), 0);
	assert_int_equal(info.index_in_memory, 0);
	assert_int_equal(tree_count("../home/.cache/dlboost"), 1);
	if (kept)
		setenv("HOME", kept, 1);
	else
		unsetenv("HOME");
}

static int kill_at(void *arg, uint64_t nr_samples)
{
	if (nr_samples >= *(uint64_t *)arg)
		raise(SIGKILL);
	return 0;
}

static int killed_while_building(void)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset *dataset;
	uint64_t at = NR_SAMPLES / 2;

	attr.index_path = tree_path("../killed/index");
	attr.rebuild = 1;
	attr.progress = kill_at;
	attr.progress_arg = &at;
	tree_open_attr(tree_path("m"), &attr, &dataset);
	return 10;
}

static void a_killed_builder_leaves_nothing(void **state)
{
	struct dlboost_dataset_info info;

	(void)state;
	tree_dir("../killed");
	assert_int_equal(in_child(killed_while_building), SIGKILL);
	assert_int_equal(tree_count("../killed"), 0);
	assert_int_equal(open_at(tree_path("../killed/index"), &info), 0);
	assert_int_equal(info.index_rebuilt, 1);
	/* The old one stays in its place */
	assert_int_equal(in_child(killed_while_building), SIGKILL);
	assert_int_equal(tree_count("../killed"), 1);
	assert_int_equal(open_at(tree_path("../killed/index"), &info), 0);
	assert_int_equal(info.index_rebuilt, 0);
}

#define NR_BUILDERS 4
#define NR_ROUNDS 5

static void *build_often(void *arg)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	const char **paths = arg;
	char error[DLBOOST_ERROR_BYTES];
	intptr_t nr_bad = 0;

	attr.index_path = paths[1];
	for (unsigned int i = 0; i < NR_ROUNDS; i++) {
		struct dlboost_dataset_info info = { 0 };
		struct dlboost_dataset *dataset;

		attr.rebuild = i & 1;
		if (dlboost_dataset_open(paths[0], &attr, error, sizeof(error),
					 &dataset)) {
			nr_bad++;
			continue;
		}
		dlboost_dataset_info(dataset, &info);
		dlboost_dataset_close(dataset);
		nr_bad += info.nr_samples != NR_SAMPLES;
	}
	return (void *)nr_bad;
}

/* Threads of two processes, all of them the same index */
static int build_by_threads(void)
{
	const char *paths[] = { tree_path("m"), tree_path("../beside/index") };
	pthread_t threads[NR_BUILDERS];
	int nr_bad = 0;

	for (int i = 0; i < NR_BUILDERS; i++)
		if (pthread_create(&threads[i], NULL, build_often, paths))
			return 10;
	for (int i = 0; i < NR_BUILDERS; i++) {
		void *bad;

		pthread_join(threads[i], &bad);
		nr_bad += bad != NULL;
	}
	return nr_bad;
}

static void builders_do_not_disturb_each_other(void **state)
{
	struct dlboost_dataset_info info;
	int status;
	pid_t pid;

	(void)state;
	tree_dir("../beside");
	pid = fork();
	if (!pid)
		_exit(build_by_threads());
	assert_int_equal(build_by_threads(), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(tree_count("../beside"), 1);
	assert_int_equal(open_at(tree_path("../beside/index"), &info), 0);
	assert_int_equal(info.index_rebuilt, 0);
}

static void a_planted_index_is_not_believed(void **state)
{
	struct dlboost_dataset_info info;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(open_at(NULL, &info), 0);
	assert_int_equal(open_at(NULL, &info), 0);
	assert_int_equal(info.index_rebuilt, 0);
	assert_int_equal(system("chown 65534 \"$XDG_CACHE_HOME\"/dlboost/*"),
			 0);
	assert_int_equal(open_at(NULL, &info), 0);
	assert_int_equal(info.index_rebuilt, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TREE_TEST(a_size_limit_is_an_error),
		TREE_TEST(a_full_disk_is_an_error_or_memory),
		TREE_TEST(a_locked_folder_is_an_error_or_memory),
		TREE_TEST(without_a_home_it_is_memory),
		TREE_TEST(a_killed_builder_leaves_nothing),
		TREE_TEST(builders_do_not_disturb_each_other),
		TREE_TEST(a_planted_index_is_not_believed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
