// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/errors.rst, "Quarantine list": its text form, that
 * what it names is skipped at once, that what is found is added, that writers
 * share it, and that a full or vanished disk costs the stream nothing.
 */
#include "stream_util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_engine.h"
#include "stream/quarantine.h"

#define N 40

static struct folder folder;
static char list_path[192];

static int setup(void **state)
{
	(void)state;
	folder_make(&folder, 1, N);
	snprintf(list_path, sizeof(list_path), "%s/list/q.tsv", folder.path);
	*strrchr(list_path, '/') = '\0';
	assert_int_equal(mkdir(list_path, 0755), 0);
	strcat(list_path, "/q.tsv");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static int parse(const char *text, struct dlb_quarantine_set *set, char *error)
{
	memset(set, 0, sizeof(*set));
	return dlb_quarantine_parse(text, strlen(text), set, error,
				    DLBOOST_ERROR_BYTES);
}

static void the_text_form(void **state)
{
	static const char text[] =
		"# comment\n\n"
		"a b/\\x23c\\n\\t\\\\\\xFF.jpg\tCORRUPT\t3\n"
		"x\tTOO_LARGE\t1\t100\t20\n"
		"x\tIO\t1\t100\t-\n"
		"x\tTRUNCATED\t4\n"
		"x\tTRUNCATED\t18446744073709551615";
	const struct dlb_quarantine_entry *e;
	struct dlb_quarantine_set set;
	char error[DLBOOST_ERROR_BYTES] = "";

	(void)state;
	assert_int_equal(parse(text, &set, error), 0);
	assert_int_equal(set.nr, 4);
	e = dlb_quarantine_set_find(&set, "a b/#c\n\t\\\xff.jpg", 0, -1);
	assert_non_null(e);
	assert_int_equal(e->status, DLBOOST_STATUS_CORRUPT);
	assert_int_equal(e->count, 3);
	e = dlb_quarantine_set_find(&set, "x", 100, 20);
	assert_non_null(e);
	assert_int_equal(e->status, DLBOOST_STATUS_TOO_LARGE);
	e = dlb_quarantine_set_find(&set, "x", 100, -1);
	assert_non_null(e);
	assert_int_equal(e->status, DLBOOST_STATUS_IO);
	e = dlb_quarantine_set_find(&set, "x", 0, -1);
	assert_non_null(e);
	assert_true(e->count == UINT64_MAX);
	assert_null(dlb_quarantine_set_find(&set, "y", 0, -1));
	dlb_quarantine_set_fini(&set);
}

static void malformed_lines_are_named(void **state)
{
	static const char *const texts[] = {
		"a", "a\tCORRUPT", "a\tCORRUPT\t", "a\tOK\t1", "a\tcorrupt\t1",
		"a\tCORRUPT\t-1", "a\tCORRUPT\t18446744073709551616",
		"a\tCORRUPT\t1\t2", "a\tCORRUPT\t1\t2\t3\t4", "\tCORRUPT\t1",
		"a\\q\tCORRUPT\t1", "a\\x0\tCORRUPT\t1", "a\\x00\tCORRUPT\t1",
		"a\\\tCORRUPT\t1", "a\tCORRUPT\t1\t-\t3",
		"a\tCORRUPT\t1\t0\t9223372036854775808",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char error[DLBOOST_ERROR_BYTES] = "", text[256];
		struct dlb_quarantine_set set;

		snprintf(text, sizeof(text), "good\tIO\t1\n%s\n", texts[i]);
		if (parse(text, &set, error) != -EINVAL)
			fail_msg("taken: %s", texts[i]);
		assert_non_null(strstr(error, "line 2 "));
		dlb_quarantine_set_fini(&set);
	}
}

/* Many entries: the table grows, and every one is found again */
static void many_entries(void **state)
{
	struct dlb_quarantine_entry e = { .status = 1, .count = 1,
					  .len_bytes = -1 };
	struct dlb_quarantine_set set = { 0 };
	char name[32];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "file-%d", i);
		assert_int_equal(dlb_quarantine_set_add(&set, name, &e), 0);
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "file-%d", i);
		assert_non_null(dlb_quarantine_set_find(&set, name, 0, -1));
	}
	assert_null(dlb_quarantine_set_find(&set, "file-20000", 0, -1));
	assert_int_equal(set.nr, 20000);
	dlb_quarantine_set_fini(&set);
}

static struct dlboost_stream *open_list(uint32_t on_error)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);

	attr.on_error = on_error;
	attr.quarantine_path = list_path;
	return stream_open(&folder, &attr);
}

static size_t read_list(char *buf, size_t buf_bytes)
{
	FILE *f = fopen(list_path, "rb");
	size_t n;

	if (!f)
		return 0;
	n = fread(buf, 1, buf_bytes - 1, f);
	buf[n] = '\0';
	fclose(f);
	return n;
}

static uint64_t count_of(unsigned int id)
{
	const struct dlb_quarantine_entry *e;
	struct dlb_quarantine_set set = { 0 };
	char buf[8192], path[192];
	size_t n = read_list(buf, sizeof(buf));
	uint64_t count;

	assert_int_equal(dlb_quarantine_parse(buf, n, &set, NULL, 0), 0);
	folder_sample_path(&folder, id, path);
	e = dlb_quarantine_set_find(&set, path, 0, -1);
	count = e ? e->count : 0;
	dlb_quarantine_set_fini(&set);
	return count;
}

static void found_then_skipped(void **state)
{
	struct dlboost_stream *stream;
	struct dlboost_stream_stats stats;
	char path[192];
	uint64_t hash;

	(void)state;
	folder_spoil(&folder, 5);
	folder_spoil(&folder, 17);
	stream = open_list(DLBOOST_ON_ERROR_SKIP_REPLACE);
	hash = epoch_hash(stream, NULL);
	dlboost_stream_stats(stream, &stats);
	assert_int_equal(stats.quarantined, 0);
	dlboost_stream_destroy(stream);
	assert_int_equal(count_of(5), 1);
	assert_int_equal(count_of(17), 1);
	assert_int_equal(count_of(6), 0);

	/* Not even opened: gone, it would be another status */
	stream = open_list(DLBOOST_ON_ERROR_SKIP_REPLACE);
	folder_sample_path(&folder, 5, path);
	assert_int_equal(unlink(path), 0);
	assert_true(epoch_hash(stream, NULL) == hash);
	dlboost_stream_stats(stream, &stats);
	assert_int_equal(stats.quarantined, 2);
	assert_int_equal(stats.replaced, 2);
	assert_int_equal(stats.bad[DLBOOST_STATUS_NOT_AN_IMAGE], 2);
	dlboost_stream_destroy(stream);
	assert_int_equal(count_of(5), 1);
}

/* What is in the list is known: it does not use up the budget */
static void the_budget_is_for_new_ones(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	int ret, nr_quota = 0;

	(void)state;
	for (unsigned int id = 0; id < 6; id++)
		folder_spoil(&folder, id);
	attr.on_error = DLBOOST_ON_ERROR_ZERO;
	attr.quarantine_path = list_path;
	attr.max_bad = 3.0 / N + 1e-9;
	for (int run = 0; run < 4; run++) {
		stream = stream_open(&folder, &attr);
		while (!(ret = dlboost_stream_next(stream, -1, &batch)) &&
		       batch)
			dlboost_batch_release(batch);
		nr_quota += ret == -EDQUOT;
		dlboost_stream_destroy(stream);
		if (!ret)
			break;
	}
	assert_int_equal(ret, 0);
	assert_true(nr_quota >= 1);
}

static void writers_share_a_list(void **state)
{
	struct dlboost_stream *a, *b;

	(void)state;
	folder_spoil(&folder, 5);
	a = open_list(DLBOOST_ON_ERROR_ZERO);
	b = open_list(DLBOOST_ON_ERROR_ZERO);
	epoch_hash(a, NULL);
	epoch_hash(b, NULL);
	dlboost_stream_destroy(a);
	dlboost_stream_destroy(b);
	assert_int_equal(count_of(5), 2);
}

/* A name with a newline and a byte that is no UTF-8 comes back as it was */
static void odd_names(void **state)
{
	struct dlboost_stream_stats stats;
	struct dlboost_stream *stream;
	char path[192], odd[256];

	(void)state;
	folder_sample_path(&folder, 5, path);
	snprintf(odd, sizeof(odd), "%.*s/p\n\xff\t5.jpg",
		 (int)(strrchr(path, '/') - path), path);
	folder_spoil(&folder, 5);
	assert_int_equal(rename(path, odd), 0);
	for (int run = 0; run < 2; run++) {
		stream = open_list(DLBOOST_ON_ERROR_ZERO);
		epoch_hash(stream, NULL);
		dlboost_stream_stats(stream, &stats);
		assert_int_equal(stats.quarantined, run);
		dlboost_stream_destroy(stream);
	}
}

static unsigned int nr_errors_logged;

static void count_errors(void *arg, unsigned int level, const char *msg)
{
	(void)arg;
	if (level == DLBOOST_LOG_ERROR && strstr(msg, list_path))
		nr_errors_logged++;
}

/* Where the list cannot be written: said, and no sample lost */
static void a_failed_write_loses_nothing(void **state)
{
	struct dlboost_stream *stream;
	unsigned int nr = 0;
	char tmp[256];

	(void)state;
	folder_spoil(&folder, 5);
	dlboost_log_set(count_errors, NULL, DLBOOST_LOG_ERROR);
	nr_errors_logged = 0;
	stream = open_list(DLBOOST_ON_ERROR_ZERO);
	/* A folder in the temporary file's place: open fails for root too */
	snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", list_path, (long)getpid());
	assert_int_equal(mkdir(tmp, 0755), 0);
	epoch_hash(stream, &nr);
	assert_int_equal(nr, N / 8);
	dlboost_stream_destroy(stream);
	assert_int_equal(nr_errors_logged, 1);
	assert_int_equal(access(list_path, F_OK), -1);
	dlboost_log_set(NULL, NULL, 0);
}

static void refuse_list(const char *path, int expect)
{
	struct dlb_quarantine *quarantine = NULL;
	char error[DLBOOST_ERROR_BYTES] = "";

	assert_int_equal(dlb_quarantine_open(path, error, sizeof(error),
					     &quarantine), expect);
	assert_non_null(strstr(error, path));
	assert_null(quarantine);
}

/* No list: another file named by mistake is not overwritten */
static void other_files_are_refused(void **state)
{
	char path[256];
	int fd;

	(void)state;
	folder_sample_path(&folder, 5, path);
	refuse_list(path, -EINVAL);
	snprintf(path, sizeof(path), "%s/list", folder.path);
	refuse_list(path, -EINVAL);
	snprintf(path, sizeof(path), "%s/nowhere/q", folder.path);
	refuse_list(path, -ENOENT);
	snprintf(path, sizeof(path), "%s/list/huge", folder.path);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)DLB_QUARANTINE_MAX_BYTES + 1), 0);
	close(fd);
	refuse_list(path, -EFBIG);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_form),
		cmocka_unit_test(malformed_lines_are_named),
		cmocka_unit_test(many_entries),
		TEST(found_then_skipped),
		TEST(the_budget_is_for_new_ones),
		TEST(writers_share_a_list),
		TEST(odd_names),
		TEST(a_failed_write_loses_nothing),
		TEST(other_files_are_refused),
	};

	fake_engine_register();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
