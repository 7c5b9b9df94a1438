// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/streams.rst, "Statistics": the verdict's formula,
 * what the counters add up to, and that a stats page is believed only when it
 * is whole, sane, ours, and of a living process.
 */
#include "stream_util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_engine.h"
#include "stream/stats.h"

#define N 48

static struct folder folder;
static char pages_path[192];

static int setup(void **state)
{
	(void)state;
	folder_make(&folder, 2, N / 2);
	setenv("XDG_RUNTIME_DIR", folder.path, 1);
	snprintf(pages_path, sizeof(pages_path), "%s/dlboost", folder.path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static void expect_verdict(uint64_t idle, uint64_t read, uint64_t decode,
			   uint64_t wait, uint32_t stage, double share)
{
	const struct dlb_stats_mark from = { 1000, 10, 20, 30, 40 };
	const struct dlb_stats_mark to = { 2000, 10 + idle, 20 + read,
					   30 + decode, 40 + wait };
	double got = -1;

	assert_int_equal(dlb_stats_verdict(&from, &to, 2, &got), stage);
	assert_true(got > share - 1e-9 && got < share + 1e-9);
}

/* Over 1000 ns and 2 workers */
static void the_formula(void **state)
{
	double share = -1;
	const struct dlb_stats_mark mark = { 5, 0, 0, 0, 0 };

	(void)state;
	/* Workers idle half the time, the caller never waits */
	expect_verdict(1000, 100, 900, 0, DLBOOST_LIMIT_CONSUMER, 1.0);
	/* The caller waits a fifth of the time, workers idle less */
	expect_verdict(100, 100, 1800, 200, DLBOOST_LIMIT_DECODE_CPU, 0.9);
	expect_verdict(0, 1500, 500, 1000, DLBOOST_LIMIT_STORAGE, 0.75);
	/* Workers wait more than the caller does */
	expect_verdict(800, 200, 1000, 300, DLBOOST_LIMIT_CONSUMER, 0.7);
	expect_verdict(0, 0, 0, 0, DLBOOST_LIMIT_UNKNOWN, 0);
	/* Counters of running work may pass the wall time a little */
	expect_verdict(0, 0, 2100, 1000, DLBOOST_LIMIT_DECODE_CPU, 1.0);
	assert_int_equal(dlb_stats_verdict(&mark, &mark, 2, &share),
			 DLBOOST_LIMIT_UNKNOWN);
	assert_true(share == 0);
}

static void stage_names(void **state)
{
	(void)state;
	assert_string_equal(dlboost_limit_stage_name(DLBOOST_LIMIT_STORAGE),
			    "storage");
	assert_string_equal(dlboost_limit_stage_name(DLBOOST_LIMIT_CONSUMER),
			    "consumer");
	assert_string_equal(dlboost_limit_stage_name(99), "unknown");
}

static uint64_t folder_bytes(void)
{
	uint64_t sum = 0;
	struct stat st;
	char path[192];

	for (unsigned int id = 0; id < N; id++) {
		folder_sample_path(&folder, id, path);
		assert_int_equal(stat(path, &st), 0);
		sum += (uint64_t)st.st_size;
	}
	return sum;
}

static void counters_add_up(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream_stats stats, later;
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;

	(void)state;
	stream = stream_open(&folder, &attr);
	dlboost_stream_stats(stream, &stats);
	assert_int_equal(stats.elapsed_ns, 0);
	assert_int_equal(stats.samples, 0);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
	dlboost_stream_stats(stream, &stats);
	assert_int_equal(stats.batches, 1);
	assert_int_equal(stats.samples, 8);
	dlboost_batch_release(batch);
	epoch_hash(stream, NULL);
	dlboost_stream_stats(stream, &later);
	assert_int_equal(later.samples, N);
	assert_int_equal(later.batches, N / 8);
	assert_int_equal(later.bad[0], N);
	assert_int_equal(later.encoded_bytes, folder_bytes());
	assert_int_equal(later.queued_samples, 0);
	assert_int_equal(later.ready_batches, 0);
	assert_true(later.elapsed_ns > stats.elapsed_ns);
	assert_true(later.read_ns > 0 && later.worker_cpu_ns > 0);
	assert_true(later.idle_ns <= 2 * later.elapsed_ns + 1000000000u);
	dlboost_stream_destroy(stream);
}

struct found {
	unsigned int nr;
	struct dlboost_stats_page last;
};

static int note(void *arg, const struct dlboost_stats_page *page)
{
	struct found *found = arg;

	found->nr++;
	found->last = *page;
	return 0;
}

static struct dlboost_stream *open_page(void)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);

	attr.no_stats_page = 0;
	return stream_open(&folder, &attr);
}

static void own_page_path(char path[256])
{
	struct found found = { 0 };

	assert_int_equal(dlboost_stats_pages(note, &found), 1);
	snprintf(path, 256, "%s/%u-%u", pages_path, found.last.pid,
		 found.last.stream_idx);
}

static void a_page_lives_with_its_stream(void **state)
{
	struct found found = { 0 };
	struct dlboost_stream *stream, *second;
	struct stat st;
	char path[256];

	(void)state;
	assert_int_equal(dlboost_stats_pages(note, &found), 0);
	stream = open_page();
	own_page_path(path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(dlboost_stats_pages(note, &found), 1);
	assert_int_equal(found.last.pid, getpid());
	assert_int_equal(found.last.info.batch, 8);
	assert_int_equal(found.last.info.dataset.nr_samples, N);
	assert_non_null(strstr(found.last.recipe, "size=8"));
	assert_non_null(strstr(found.last.dataset_path, folder.path));
	second = open_page();
	assert_int_equal(dlboost_stats_pages(note, &found), 2);
	dlboost_stream_destroy(stream);
	assert_int_equal(dlboost_stats_pages(note, &found), 1);
	dlboost_stream_destroy(second);
	assert_int_equal(dlboost_stats_pages(note, &found), 0);
	assert_int_equal(access(path, F_OK), -1);
}

static int stop(void *arg, const struct dlboost_stats_page *page)
{
	(void)page;
	++*(unsigned int *)arg;
	return 1;
}

static void a_visit_may_stop(void **state)
{
	struct dlboost_stream *a = open_page(), *b = open_page();
	unsigned int nr = 0;

	(void)state;
	assert_int_equal(dlboost_stats_pages(stop, &nr), 1);
	assert_int_equal(nr, 1);
	dlboost_stream_destroy(a);
	dlboost_stream_destroy(b);
}

/* Every byte of a page is covered: one that is changed is not believed */
static void damaged_pages_are_ignored(void **state)
{
	struct dlboost_stream *stream = open_page();
	struct found found = { 0 };
	unsigned char bytes[8192];
	char path[256];
	ssize_t len;
	int fd;

	(void)state;
	own_page_path(path);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	len = pread(fd, bytes, sizeof(bytes), 0);
	assert_true(len > 2048);
	for (ssize_t i = 0; i < len; i += 7) {
		unsigned char wrong = bytes[i] ^ 0x40;

		assert_int_equal(pwrite(fd, &wrong, 1, i), 1);
		assert_int_equal(dlboost_stats_pages(note, &found), 0);
		assert_int_equal(pwrite(fd, &bytes[i], 1, i), 1);
	}
	assert_int_equal(dlboost_stats_pages(note, &found), 1);
	assert_int_equal(ftruncate(fd, len - 1), 0);
	assert_int_equal(dlboost_stats_pages(note, &found), 0);
	close(fd);
	dlboost_stream_destroy(stream);
}

static void foreign_things_are_ignored(void **state)
{
	static const char *const names[] = {
		"1-1", "0-0", "x", "12", "12-", "-3", "1-2-3", "00012-1",
		"99999999999-1", "1-1 ", "12-0x1",
	};
	struct dlboost_stream *stream = open_page();
	struct found found = { 0 };
	char path[512], page[256];

	(void)state;
	own_page_path(page);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", pages_path, names[i]);
		assert_int_equal(symlink(page, path), 0);
	}
	snprintf(path, sizeof(path), "%s/7-7", pages_path);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/8-8", pages_path);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/9-9", pages_path);
	assert_int_equal(link(page, path), 0);
	assert_int_equal(dlboost_stats_pages(note, &found), 1);
	dlboost_stream_destroy(stream);
}

/* A folder that others may write into is no place to read from or write to */
static void an_open_folder_is_refused(void **state)
{
	struct dlboost_stream *stream;
	struct found found = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(mkdir(pages_path, 0700), 0);
	assert_int_equal(chmod(pages_path, 0777), 0);
	stream = open_page();
	assert_int_equal(dlboost_stats_pages(note, &found), -EACCES);
	assert_int_equal(stat(pages_path, &st), 0);
	assert_int_equal(st.st_nlink, 2);
	dlboost_stream_destroy(stream);
}

/* A child that publishes a page and says so, then waits to be killed */
static pid_t start_victim(void)
{
	int pipe_fds[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	if (pid == 0) {
		struct dlboost_stream *stream = open_page();
		struct dlboost_batch *batch;

		if (dlboost_stream_next(stream, -1, &batch) ||
		    write(pipe_fds[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(pipe_fds[1]);
	assert_int_equal(read(pipe_fds[0], &c, 1), 1);
	close(pipe_fds[0]);
	return pid;
}

static void a_killed_process_leaves_nothing_lasting(void **state)
{
	struct dlboost_stream *stream;
	struct found found = { 0 };
	char path[256];
	pid_t pid;

	(void)state;
	pid = start_victim();
	own_page_path(path);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(dlboost_stats_pages(note, &found), 0);
	/* The next start sweeps it */
	stream = open_page();
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(dlboost_stats_pages(note, &found), 1);
	dlboost_stream_destroy(stream);
}

static void no_place_no_page(void **state)
{
	struct dlboost_stream *stream;
	struct found found = { 0 };

	(void)state;
	unsetenv("XDG_RUNTIME_DIR");
	stream = open_page();
	epoch_hash(stream, NULL);
	assert_int_equal(dlboost_stats_pages(note, &found), 0);
	dlboost_stream_destroy(stream);
	setenv("XDG_RUNTIME_DIR", "/nonexistent/dlboost-test", 1);
	stream = open_page();
	epoch_hash(stream, NULL);
	assert_int_equal(dlboost_stats_pages(note, &found), 0);
	dlboost_stream_destroy(stream);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_formula),
		cmocka_unit_test(stage_names),
		TEST(counters_add_up),
		TEST(a_page_lives_with_its_stream),
		TEST(a_visit_may_stop),
		TEST(damaged_pages_are_ignored),
		TEST(foreign_things_are_ignored),
		TEST(an_open_folder_is_refused),
		TEST(a_killed_process_leaves_nothing_lasting),
		TEST(no_place_no_page),
	};

	fake_engine_register();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
