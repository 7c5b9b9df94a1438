// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/datasets.rst, "Reading": what each kind of bad
 * file gives, that messages give the reason and no path, that the number of system
 * calls is what it says, and that threads may share a data set.
 *
 * The linker puts counting shims (--wrap) before the library's system calls.
 */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stream/index.h"

static _Thread_local struct {
	int nr_open;
	int nr_fstat;
	int nr_pread;
	int nr_close;
	size_t pread_limit_bytes;	/* 0: none */
	int eintr_every;		/* 0: never */
} shim;

int __real_openat(int dir, const char *name, int flags, ...);
int __real_fstat(int fd, struct stat *st);
ssize_t __real_pread(int fd, void *buf, size_t len, off_t offset);
int __real_close(int fd);
int __wrap_openat(int dir, const char *name, int flags, ...);
int __wrap_fstat(int fd, struct stat *st);
ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t offset);
int __wrap_close(int fd);
/* What glibc calls them where offsets are 64 bits wide by request */
int __wrap_openat64(int dir, const char *name, int flags, ...)
	__attribute__((alias("__wrap_openat")));
int __wrap_fstat64(int fd, struct stat *st)
	__attribute__((alias("__wrap_fstat")));
ssize_t __wrap_pread64(int fd, void *buf, size_t len, off_t offset)
	__attribute__((alias("__wrap_pread")));

int __wrap_openat(int dir, const char *name, int flags, ...)
{
	shim.nr_open++;
	return __real_openat(dir, name, flags);
}

int __wrap_fstat(int fd, struct stat *st)
{
	shim.nr_fstat++;
	return __real_fstat(fd, st);
}

ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t offset)
{
	shim.nr_pread++;
	if (shim.eintr_every && shim.nr_pread % shim.eintr_every == 0) {
		errno = EINTR;
		return -1;
	}
	if (shim.pread_limit_bytes && len > shim.pread_limit_bytes)
		len = shim.pread_limit_bytes;
	return __real_pread(fd, buf, len, offset);
}

int __wrap_close(int fd)
{
	shim.nr_close++;
	return __real_close(fd);
}

static void shim_reset(void)
{
	memset(&shim, 0, sizeof(shim));
}

static int setup(void **state)
{
	(void)state;
	tree_make();
	shim_reset();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	shim_reset();
	tree_remove();
	return 0;
}

static char room[1 << 16];

static void *grow(void *arg, size_t bytes)
{
	size_t *limit = arg;

	return bytes <= *limit ? room : NULL;
}

static struct dlboost_result result;

static unsigned int load_limited(const struct dlboost_dataset *dataset,
				 uint64_t id, size_t limit, size_t *len)
{
	const void *bytes = NULL;
	unsigned int status;

	memset(&result, 0x55, sizeof(result));
	status = dlb_dataset_load(dataset, id, grow, &limit, &bytes, len,
				  &result);
	if (status == DLBOOST_STATUS_OK)
		assert_ptr_equal(bytes, room);
	else
		assert_int_equal(result.status, status);
	return status;
}

static unsigned int load(const struct dlboost_dataset *dataset, uint64_t id)
{
	size_t len;

	return load_limited(dataset, id, sizeof(room), &len);
}

static void expect_failure(const struct dlboost_dataset *dataset, uint64_t id,
			   unsigned int status, int err, const char *message)
{
	assert_int_equal(load(dataset, id), status);
	assert_int_equal(errno, err);
	if (!strstr(result.message, message))
		fail_msg("\"%s\" lacks \"%s\"", result.message, message);
}

static void bytes_are_those_of_the_file(void **state)
{
	struct dlboost_dataset *dataset;
	char buf[5000], want[5000];
	size_t len = 0;

	(void)state;
	for (int i = 0; i < 5000; i++)
		want[i] = (char)(i * 7919 >> 4);
	tree_bytes("a/1.jpg", want, 5000);
	dataset = tree_open("");
	shim.pread_limit_bytes = 333;
	shim.eintr_every = 3;
	assert_int_equal(load_limited(dataset, 0, sizeof(room), &len),
			 DLBOOST_STATUS_OK);
	assert_int_equal(len, 5000);
	assert_memory_equal(room, want, 5000);

	assert_int_equal(dlboost_dataset_read(dataset, 0, NULL, 0, &len, NULL),
			 0);
	assert_int_equal(len, 5000);
	assert_int_equal(dlboost_dataset_read(dataset, 0, buf, 4999, &len,
					      &result), -ENOSPC);
	assert_int_equal(dlboost_dataset_read(dataset, 0, buf, 5000, &len,
					      &result), 0);
	assert_int_equal(result.status, DLBOOST_STATUS_OK);
	assert_memory_equal(buf, want, 5000);
	dlboost_dataset_close(dataset);
}

static void manifest_extents_are_obeyed(void **state)
{
	struct dlboost_dataset *dataset;
	size_t len;

	(void)state;
	tree_bytes("pack", "0123456789", 10);
	tree_text("m.tsv", "pack\t0\t3\t4\npack\t0\t6\npack\t0\npack\t0\t10\n"
		  "pack\t0\t11\npack\t0\t8\t3\n");
	dataset = tree_open("m.tsv");
	assert_int_equal(load_limited(dataset, 0, 99, &len), 0);
	assert_int_equal(len, 4);
	assert_memory_equal(room, "3456", 4);
	assert_int_equal(load_limited(dataset, 1, 99, &len), 0);
	assert_memory_equal(room, "6789", 4);
	assert_int_equal(len, 4);
	assert_int_equal(load_limited(dataset, 2, 99, &len), 0);
	assert_int_equal(len, 10);
	expect_failure(dataset, 3, DLBOOST_STATUS_NOT_AN_IMAGE, 0, "empty");
	expect_failure(dataset, 4, DLBOOST_STATUS_IO, ESTALE,
		       "has 10 bytes, and the manifest wants");
	expect_failure(dataset, 5, DLBOOST_STATUS_IO, ESTALE,
		       "has 10 bytes, and the manifest wants 3 from byte 8");
	assert_int_equal(result.offset_bytes, 10);
	dlboost_dataset_close(dataset);
}

static void changed_files_are_stale(void **state)
{
	struct dlboost_dataset *dataset;
	size_t len = 7;
	char buf[99];

	(void)state;
	tree_file("a/1.jpg", 20);
	dataset = tree_open("");
	tree_file("a/1.jpg", 30);
	expect_failure(dataset, 0, DLBOOST_STATUS_IO, ESTALE,
		       "changed since the index was made (was 20, is 30 bytes); run `dlboost index --rebuild`");
	assert_int_equal(dlboost_dataset_read(dataset, 0, buf, sizeof(buf),
					      &len, &result), -ESTALE);
	assert_int_equal(len, 7);
	assert_int_equal(result.status, DLBOOST_STATUS_IO);
	tree_file("a/1.jpg", 0);
	expect_failure(dataset, 0, DLBOOST_STATUS_IO, ESTALE, "was 20, is 0");
	dlboost_dataset_close(dataset);
}

/* Between fstat() and the first read */
static void *truncate_in_grow(void *arg, size_t bytes)
{
	(void)arg;
	assert_int_equal(bytes, 9000);
	assert_int_equal(truncate(tree_path("a/1.jpg"), 5000), 0);
	return room;
}

static void shrinking_while_read_is_an_error(void **state)
{
	struct dlboost_dataset *dataset;
	const void *bytes;
	size_t len;

	(void)state;
	tree_file("a/1.jpg", 9000);
	dataset = tree_open("");
	assert_int_equal(dlb_dataset_load(dataset, 0, truncate_in_grow, NULL,
					  &bytes, &len, &result),
			 DLBOOST_STATUS_IO);
	assert_int_equal(errno, ESTALE);
	assert_int_equal(result.offset_bytes, 5000);
	assert_non_null(strstr(result.message, "ended at byte 5000"));
	dlboost_dataset_close(dataset);
}

static void files_that_cannot_be_opened_are_named(void **state)
{
	struct dlboost_dataset *dataset;

	(void)state;
	tree_file("a/1.jpg", 5);
	tree_link("nowhere", "a/2.jpg");
	tree_link("3.jpg", "a/3.jpg");
	tree_file("a/4.jpg", 5);
	tree_file("a/5.jpg", 5);
	dataset = tree_open("");
	assert_int_equal(unlink(tree_path("a/1.jpg")), 0);
	expect_failure(dataset, 0, DLBOOST_STATUS_IO, ENOENT,
		       "No such file or directory: restore it");
	expect_failure(dataset, 1, DLBOOST_STATUS_IO, ENOENT, "No such file");
	expect_failure(dataset, 2, DLBOOST_STATUS_IO, ELOOP,
		       "Too many levels of symbolic links: mend");
	assert_int_equal(unlink(tree_path("a/4.jpg")), 0);
	assert_int_equal(mkdir(tree_path("a/4.jpg"), 0755), 0);
	expect_failure(dataset, 3, DLBOOST_STATUS_IO, EISDIR, "a folder");
	/* Must not wait for a writer */
	assert_int_equal(unlink(tree_path("a/5.jpg")), 0);
	assert_int_equal(mkfifo(tree_path("a/5.jpg"), 0600), 0);
	expect_failure(dataset, 4, DLBOOST_STATUS_IO, EINVAL, "a pipe");
	expect_failure(dataset, 5, DLBOOST_STATUS_IO, ERANGE, "no sample 5");

	/* A link mended later is read: its size was not known */
	tree_file("a/nowhere", 11);
	assert_int_equal(load(dataset, 1), DLBOOST_STATUS_OK);
	dlboost_dataset_close(dataset);
}

static void forbidden_files_are_named(void **state)
{
	struct dlboost_dataset *dataset;
	int status;
	pid_t pid;

	(void)state;
	tree_file("a/1.jpg", 5);
	assert_int_equal(chmod(tree_path("a/1.jpg"), 0), 0);
	assert_int_equal(chmod(tree_path("../"), 0755), 0);
	dataset = tree_open("");
	pid = fork();
	if (!pid) {
		if (geteuid() == 0 && seteuid(65534))
			_exit(2);
		if (load(dataset, 0) != DLBOOST_STATUS_IO || errno != EACCES ||
		    !strstr(result.message, "Permission denied: make it readable"))
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	dlboost_dataset_close(dataset);
}

static void empty_and_large_files(void **state)
{
	struct dlboost_dataset *dataset;
	size_t len = 0;
	char buf[4];

	(void)state;
	tree_file("a/1.jpg", 0);
	tree_file("a/2.jpg", 100);
	tree_file("a/3.jpg", 0);
	assert_int_equal(truncate(tree_path("a/3.jpg"),
				  (off_t)DLB_MAX_FILE_BYTES + 1), 0);
	dataset = tree_open("");
	expect_failure(dataset, 0, DLBOOST_STATUS_NOT_AN_IMAGE, 0,
		       "the file is empty: copy it again");
	assert_int_equal(dlboost_dataset_read(dataset, 0, buf, 4, &len, NULL),
			 0);
	assert_int_equal(len, 0);
	assert_int_equal(load_limited(dataset, 1, 99, &len),
			 DLBOOST_STATUS_TOO_LARGE);
	assert_non_null(strstr(result.message, "100 bytes are more than"));
	/* Not even asked for memory */
	assert_int_equal(load_limited(dataset, 2, SIZE_MAX, &len),
			 DLBOOST_STATUS_TOO_LARGE);
	dlboost_dataset_close(dataset);
}

static void reasons_do_not_name_the_file(void **state)
{
	char name[600] = "a/";
	struct dlboost_dataset *dataset;

	(void)state;
	memset(name + 2, 'n', 250);
	name[252] = '/';
	memset(name + 253, 'm', 200);
	memcpy(name + 453, "\xff" "the-end.jpg", 13);
	tree_file(name, 20);
	dataset = tree_open("");
	tree_file(name, 30);
	expect_failure(dataset, 0, DLBOOST_STATUS_IO, ESTALE,
		       "changed since the index was made (was 20, is 30 bytes); run `dlboost index --rebuild`");
	assert_null(strstr(result.message, "the-end"));
	dlboost_dataset_close(dataset);
}

static void a_folder_may_be_left(void **state)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset *dataset;
	size_t len;

	(void)state;
	tree_file("a/1.jpg", 20);
	attr.index_path = "../test.index";
	assert_int_equal(chdir(tree_path("")), 0);
	assert_int_equal(tree_open_attr(".", &attr, &dataset), 0);
	assert_string_equal(dlb_dataset_path(dataset), ".");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(load_limited(dataset, 0, 99, &len), 0);
	assert_int_equal(len, 20);
	dlboost_dataset_close(dataset);
}

static void system_calls_are_few(void **state)
{
	struct dlboost_dataset *dataset;

	(void)state;
	tree_file("a/1.jpg", 20000);
	dataset = tree_open("");
	shim_reset();
	assert_int_equal(load(dataset, 0), DLBOOST_STATUS_OK);
	assert_int_equal(shim.nr_open, 1);
	assert_int_equal(shim.nr_fstat, 1);
	assert_int_equal(shim.nr_close, 1);
	/* Record, name, file */
	assert_int_equal(shim.nr_pread, 3);
	dlboost_dataset_close(dataset);
}

/* A reader waits for a lease to be given up, and does not fail */
static volatile int lease_fd;

static void give_up_lease(int signo)
{
	(void)signo;
	fcntl(lease_fd, F_SETLEASE, F_UNLCK);
}

static void leases_are_waited_for(void **state)
{
	struct dlboost_dataset *dataset;
	int status, ready[2], done[2];
	char byte = 0;
	pid_t pid;

	(void)state;
	tree_file("a/1.jpg", 20);
	dataset = tree_open("");
	assert_int_equal(pipe(ready) | pipe(done), 0);
	pid = fork();
	if (!pid) {
		signal(SIGIO, give_up_lease);
		close(done[1]);
		lease_fd = open(tree_path("a/1.jpg"), O_RDWR);
		byte = (char)(fcntl(lease_fd, F_SETLEASE, F_WRLCK) == 0);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		while (read(done[0], &byte, 1) < 0)
			;
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(load(dataset, 0), DLBOOST_STATUS_OK);
	close(done[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(ready[0]);
	close(ready[1]);
	close(done[0]);
	dlboost_dataset_close(dataset);
	if (!byte)
		skip();
}

#define NR_THREADS 4
#define NR_FILES 50

static void *read_all(void *arg)
{
	struct dlboost_dataset *dataset = arg;
	intptr_t nr_bad = 0;

	for (uint64_t i = 0; i < 20 * NR_FILES; i++) {
		uint64_t id = i * 7 % NR_FILES;
		struct dlboost_result own;
		char buf[300];
		size_t len = 0;

		if (dlboost_dataset_read(dataset, id, buf, sizeof(buf), &len,
					 &own) || len != 100 + id)
			nr_bad++;
	}
	dlb_dataset_put(dataset);
	return (void *)nr_bad;
}

static void threads_share_a_data_set(void **state)
{
	struct dlboost_dataset *dataset;
	pthread_t threads[NR_THREADS];
	char name[32];

	(void)state;
	for (int i = 0; i < NR_FILES; i++) {
		snprintf(name, sizeof(name), "a/%02d.jpg", i);
		tree_file(name, 100 + (size_t)i);
	}
	dataset = tree_open("");
	for (int i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_all,
						dlb_dataset_get(dataset)), 0);
	/* Threads keep what they use */
	dlboost_dataset_close(dataset);
	for (int i = 0; i < NR_THREADS; i++) {
		void *nr_bad;

		pthread_join(threads[i], &nr_bad);
		assert_null(nr_bad);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TREE_TEST(bytes_are_those_of_the_file),
		TREE_TEST(manifest_extents_are_obeyed),
		TREE_TEST(changed_files_are_stale),
		TREE_TEST(shrinking_while_read_is_an_error),
		TREE_TEST(files_that_cannot_be_opened_are_named),
		TREE_TEST(forbidden_files_are_named),
		TREE_TEST(empty_and_large_files),
		TREE_TEST(reasons_do_not_name_the_file),
		TREE_TEST(a_folder_may_be_left),
		TREE_TEST(system_calls_are_few),
		TREE_TEST(leases_are_waited_for),
		TREE_TEST(threads_share_a_data_set),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
