// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/datasets.rst, "Manifests": what a line may say, and
 * that every other line is refused by its number, its column and a reason.
 */
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST "list.tsv"

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

static struct dlboost_dataset *open_text(const char *text)
{
	unlink(tree_path("../test.index"));
	tree_text(MANIFEST, text);
	return tree_open(MANIFEST);
}

static void expect_sample(const struct dlboost_dataset *dataset, uint64_t id,
			  const char *name, int32_t label, uint64_t offset,
			  int64_t len)
{
	struct dlboost_sample sample;
	char path[4096 + 256];

	assert_string_equal(tree_sample(dataset, id), name);
	assert_int_equal(dlboost_dataset_sample(dataset, id, path, sizeof(path),
						&sample), 0);
	assert_int_equal(sample.label, label);
	assert_int_equal(sample.offset_bytes, offset);
	assert_int_equal(sample.len_bytes, len);
}

static void lines_are_samples_in_their_order(void **state)
{
	struct dlboost_dataset *dataset = open_text(
		"# a comment\n"
		"b.jpg\t3\n"
		"\n"
		"a.jpg\t-1\n"
		"pack.bin\t0\t4096\n"
		"pack.bin\t2147483647\t8192\t123\r\n"
		"sub/../x y.jpg\t0\t0\t9223372036854775807");
	struct dlboost_dataset_info info;

	(void)state;
	dlboost_dataset_info(dataset, &info);
	assert_int_equal(info.kind, DLBOOST_DATASET_MANIFEST);
	assert_int_equal(info.nr_samples, 5);
	assert_int_equal(info.nr_classes, 2147483648u);
	assert_int_equal(info.nr_skipped, 0);
	assert_int_equal(info.total_bytes, 0);
	expect_sample(dataset, 0, "b.jpg", 3, 0, -1);
	expect_sample(dataset, 1, "a.jpg", -1, 0, -1);
	expect_sample(dataset, 2, "pack.bin", 0, 4096, -1);
	expect_sample(dataset, 3, "pack.bin", 2147483647, 8192, 123);
	expect_sample(dataset, 4, "sub/../x y.jpg", 0, 0, INT64_MAX);
	assert_int_equal(dlb_dataset_class_size(dataset, 0), 2);
	assert_int_equal(dlb_dataset_class_size(dataset, 1), 0);
	assert_int_equal(dlb_dataset_class_size(dataset, 2147483647), 1);
	assert_null(dlboost_dataset_class_name(dataset, 3));
	/* A label of 2^31 - 1 costs one entry, not 2^31 */
	assert_true(dlb_dataset_memory_bytes(dataset) < 4096);
	dlboost_dataset_close(dataset);
}

static void sizes_are_summed_when_all_are_known(void **state)
{
	struct dlboost_dataset *dataset = open_text("a\t0\t0\t10\n"
						    "b\t0\t5\t32\n");
	struct dlboost_dataset_info info;

	(void)state;
	dlboost_dataset_info(dataset, &info);
	assert_int_equal(info.total_bytes, 42);
	dlboost_dataset_close(dataset);
}

static void names_are_unescaped(void **state)
{
	struct dlboost_dataset *dataset = open_text(
		"tab\\there\t0\n"
		"new\\nline\\\\\t0\n"
		"\\x23no comment\\xfF\t0\n"
		"raw\xff\xfe\xc3\xa4\t0\n"
		"cr\\x0D\t0\r\n");

	(void)state;
	expect_sample(dataset, 0, "tab\there", 0, 0, -1);
	expect_sample(dataset, 1, "new\nline\\", 0, 0, -1);
	expect_sample(dataset, 2, "#no comment\xff", 0, 0, -1);
	expect_sample(dataset, 3, "raw\xff\xfe\xc3\xa4", 0, 0, -1);
	expect_sample(dataset, 4, "cr\r", 0, 0, -1);
	dlboost_dataset_close(dataset);
}

static void a_byte_order_mark_is_no_name(void **state)
{
	struct dlboost_dataset *dataset =
		open_text("\xef\xbb\xbf" "a.jpg\t0\n");

	(void)state;
	expect_sample(dataset, 0, "a.jpg", 0, 0, -1);
	dlboost_dataset_close(dataset);
}

static void classes_may_have_names(void **state)
{
	struct dlboost_dataset *dataset = open_text(
		"#class\t2\tgrey\\twhale\r\n"
		"#class\t0\tt\xc3\xa4nch\n"
		"a\t2\n"
		"b\t-1\n"
		"c\t2\n");

	(void)state;
	assert_string_equal(dlboost_dataset_class_name(dataset, 0),
			    "t\xc3\xa4nch");
	assert_null(dlboost_dataset_class_name(dataset, 1));
	assert_string_equal(dlboost_dataset_class_name(dataset, 2),
			    "grey\twhale");
	assert_null(dlboost_dataset_class_name(dataset, 3));
	assert_int_equal(dlb_dataset_class_size(dataset, 0), 0);
	assert_int_equal(dlb_dataset_class_size(dataset, 2), 2);
	dlboost_dataset_close(dataset);
}

static void members_are_by_label_then_number(void **state)
{
	struct dlboost_dataset *dataset;
	char text[256] = "";
	size_t len = 0;
	static const uint32_t labels[] = { 70000, 3, 3, 0, 70000, 3, 65536 };
	static const struct {
		int32_t label;
		uint64_t ids[4];
		uint32_t nr;
	} want[] = {
		{ 0, { 3 }, 1 }, { 3, { 1, 2, 5 }, 3 }, { 65536, { 6 }, 1 },
		{ 70000, { 0, 4 }, 2 },
	};

	(void)state;
	for (int i = 0; i < 7; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"f%d\t%u\n", i, labels[i]);
	dataset = open_text(text);
	for (int i = 0; i < 4; i++) {
		uint64_t id = 99;

		assert_int_equal(dlb_dataset_class_size(dataset,
							want[i].label),
				 want[i].nr);
		for (uint32_t k = 0; k < want[i].nr; k++) {
			assert_int_equal(dlb_dataset_class_member(
				dataset, want[i].label, k, &id), 0);
			assert_int_equal(id, want[i].ids[k]);
		}
		assert_int_equal(dlb_dataset_class_member(
			dataset, want[i].label, want[i].nr, &id), -ERANGE);
	}
	assert_int_equal(dlb_dataset_class_size(dataset, -1), 7);
	assert_int_equal(dlb_dataset_class_size(dataset, 1), 0);
	dlboost_dataset_close(dataset);
}

static void malformed_lines_are_named(void **state)
{
	static const struct {
		const char *text;
		const char *where;
		const char *why;
	} cases[] = {
		{ "a.jpg\n", "line 1, column 6", "no label" },
		{ "a.jpg 3\n", "line 1, column 8", "no label" },
		{ "a\t0\nb,1\n", "line 2, column 4", "no label" },
		{ "\t0\n", "line 1, column 1", "empty name" },
		{ "a\t\n", "line 1, column 3", "label is no number" },
		{ "a\tcat\n", "line 1, column 3", "label is no number" },
		{ "a\t1x\n", "line 1, column 4", "label is no number" },
		{ "a\t 1\n", "line 1, column 3", "label is no number" },
		{ "a\t+1\n", "line 1, column 3", "label is no number" },
		{ "a\t-2\n", "line 1, column 3", "label is no number" },
		{ "a\t1.0\n", "line 1, column 4", "label is no number" },
		{ "a\t2147483648\n", "line 1, column 12", "too large" },
		{ "a\t99999999999999999999\n", "line 1", "too large" },
		{ "a\t1\t\n", "line 1, column 5", "offset is no number" },
		{ "a\t1\t-1\n", "line 1, column 5", "offset is no number" },
		{ "a\t1\t9223372036854775808\n", "line 1", "too large" },
		{ "a\t1\t0\t\n", "line 1, column 7", "length is no number" },
		{ "a\t1\t1\t9223372036854775807\n", "line 1", "too large" },
		{ "a\t1\t0\t5\t\n", "line 1, column 8", "more than path" },
		{ "a\\qb\t1\n", "line 1, column 2", "backslash" },
		{ "a\\\t1\n", "line 1, column 2", "backslash" },
		{ "a\\x4\t1\n", "line 1, column 2", "backslash" },
		{ "a\\x00\t1\n", "line 1, column 2", "backslash" },
		{ "a\\xg0\t1\n", "line 1, column 2", "backslash" },
		{ "#class\t0\n", "line 1, column 9", "no name" },
		{ "#class\t0\t\n", "line 1, column 10", "empty name" },
		{ "#class\tx\ta\n", "line 1, column 8", "class has no number" },
		{ "#class\t-1\ta\n", "line 1, column 8", "class has no number" },
		{ "#class\t1\ta\n#class\t0\tb\n#class\t1\tc\nx\t0\n",
		  "line 3, column 1", "declared before" },
		{ "#class\t0\ta\nx\t0\ny\t1\n", "line 3, column 3",
		  "no #class line declares" },
		{ "x\t0\n#class\t0\ta\n", "line 2, column 1",
		  "before the first sample" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tree_text(MANIFEST, cases[i].text);
		tree_open_fails(MANIFEST, -EINVAL, cases[i].where);
		assert_non_null(strstr(tree_error, cases[i].why));
		assert_non_null(strstr(tree_error, "data/" MANIFEST));
	}
}

static void binary_and_empty_files_are_refused(void **state)
{
	(void)state;
	tree_bytes(MANIFEST, "a\t0\nab\0c\t0\n", 12);
	tree_open_fails(MANIFEST, -EINVAL, "line 2, column 3: a byte 0");
	tree_text(MANIFEST, "");
	tree_open_fails(MANIFEST, -ENODATA, "no sample");
	tree_text(MANIFEST, "# nothing\n\n#class\t0\ta\n");
	tree_open_fails(MANIFEST, -ENODATA, "no sample");
}

/* "x...x" of @len bytes, then @rest; freed by the next call */
static const char *long_line(size_t len, const char *rest)
{
	static char *text;

	free(text);
	text = malloc(len + strlen(rest) + 1);
	assert_non_null(text);
	memset(text, 'x', len);
	memcpy(text + len, rest, strlen(rest) + 1);
	return text;
}

static void long_lines(void **state)
{
	struct dlboost_dataset *dataset;

	(void)state;
	/* An index makes a path of it: the folder counts as well */
	dataset = open_text(long_line(4095, "\t7\n"));
	assert_int_equal(strlen(tree_sample(dataset, 0)), 4095);
	dlboost_dataset_close(dataset);
	unlink(tree_path("../test.index"));
	tree_text(MANIFEST, long_line(4096, "\t7\n"));
	tree_open_fails(MANIFEST, -EINVAL, "longer than 4095");
	tree_text(MANIFEST, long_line(32769, "\t7\n"));
	tree_open_fails(MANIFEST, -EINVAL, "line 1, column 32769");
	tree_text(MANIFEST, long_line(1000000, "\t7\n"));
	tree_open_fails(MANIFEST, -EINVAL, "longer than 32768");
	long_line(0, "");
}

/* Lines of every length meet the end of a piece at every place */
static void pieces_do_not_show(void **state)
{
	const char *path;
	struct dlboost_dataset *dataset;
	struct dlboost_dataset_info info;
	const unsigned int nr = 40000;
	char name[64];
	FILE *file;

	(void)state;
	tree_text(MANIFEST, "");
	path = tree_path(MANIFEST);
	file = fopen(path, "w");
	assert_non_null(file);
	for (unsigned int i = 0; i < nr; i++)
		fprintf(file, "%0*u\t%u\n", (int)(i % 47) + 5, i, i % 10);
	assert_int_equal(fclose(file), 0);
	dataset = tree_open(MANIFEST);
	dlboost_dataset_info(dataset, &info);
	assert_int_equal(info.nr_samples, nr);
	for (unsigned int i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%0*u", (int)(i % 47) + 5, i);
		assert_string_equal(tree_sample(dataset, i), name);
	}
	dlboost_dataset_close(dataset);
}

static void absolute_names_stand_for_themselves(void **state)
{
	struct dlboost_dataset *dataset = open_text("/nowhere/a.jpg\t0\n");
	struct dlboost_sample sample;
	char path[64];

	(void)state;
	assert_int_equal(dlboost_dataset_sample(dataset, 0, path, sizeof(path),
						&sample), 0);
	assert_string_equal(sample.path, "/nowhere/a.jpg");
	assert_int_equal(dlboost_dataset_sample(dataset, 0, path, 14, &sample),
			 -ENOSPC);
	assert_int_equal(dlboost_dataset_sample(dataset, 1, path, sizeof(path),
						&sample), -ERANGE);
	dlboost_dataset_close(dataset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TREE_TEST(lines_are_samples_in_their_order),
		TREE_TEST(sizes_are_summed_when_all_are_known),
		TREE_TEST(names_are_unescaped),
		TREE_TEST(a_byte_order_mark_is_no_name),
		TREE_TEST(classes_may_have_names),
		TREE_TEST(members_are_by_label_then_number),
		TREE_TEST(malformed_lines_are_named),
		TREE_TEST(binary_and_empty_files_are_refused),
		TREE_TEST(long_lines),
		TREE_TEST(pieces_do_not_show),
		TREE_TEST(absolute_names_stand_for_themselves),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
