// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/datasets.rst, "Index files": when an index is used
 * and when it is made anew, and that no file, however damaged or forged, does
 * more than that.
 */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream/index.h"

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

/* 1: made anew, 0: used; the fingerprint into @fingerprint, may be NULL */
static int opening_made(const char *name, char *fingerprint)
{
	struct dlboost_dataset *dataset = tree_open(name);
	struct dlboost_dataset_info info;

	dlboost_dataset_info(dataset, &info);
	if (fingerprint)
		memcpy(fingerprint, info.fingerprint,
		       sizeof(info.fingerprint));
	dlboost_dataset_close(dataset);
	assert_false(info.index_in_memory);
	return (int)info.index_rebuilt;
}

static void small_tree(void)
{
	tree_file("a/1.jpg", 10);
	tree_file("a/sub/2.jpg", 20);
	tree_file("b/3.jpg", 30);
	tree_age();
}

static void an_unchanged_folder_is_not_read_again(void **state)
{
	char first[DLBOOST_FINGERPRINT_BYTES], second[sizeof(first)];
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset_info info;
	struct dlboost_dataset *dataset;

	(void)state;
	small_tree();
	assert_int_equal(opening_made("", first), 1);
	assert_int_equal(opening_made("", second), 0);
	assert_string_equal(first, second);
	attr.index_path = tree_path("../test.index");
	attr.rebuild = 1;
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset), 0);
	dlboost_dataset_info(dataset, &info);
	assert_int_equal(info.index_rebuilt, 1);
	assert_string_equal(info.fingerprint, first);
	dlboost_dataset_close(dataset);
}

static void changes_of_a_folder_are_seen(void **state)
{
	char first[DLBOOST_FINGERPRINT_BYTES], second[sizeof(first)];

	(void)state;
	small_tree();
	assert_int_equal(opening_made("", first), 1);
	/* Each step: once made anew, then used again */
	tree_file("a/sub/4.jpg", 1);
	tree_age();
	assert_int_equal(opening_made("", second), 1);
	assert_int_equal(opening_made("", NULL), 0);
	assert_string_not_equal(first, second);
	assert_int_equal(rename(tree_path("a/sub/4.jpg"),
				tree_path("b/4.jpg")), 0);
	tree_age();
	assert_int_equal(opening_made("", NULL), 1);
	assert_int_equal(opening_made("", NULL), 0);
	tree_file("c/4.jpg", 1);
	tree_age();
	assert_int_equal(opening_made("", NULL), 1);
	assert_int_equal(opening_made("", NULL), 0);
	assert_int_equal(unlink(tree_path("c/4.jpg")), 0);
	assert_int_equal(rmdir(tree_path("c")), 0);
	assert_int_equal(unlink(tree_path("b/4.jpg")), 0);
	tree_age();
	assert_int_equal(opening_made("", second), 1);
	/* The listing is as it was, and so is the fingerprint */
	assert_string_equal(first, second);
}

static void a_fresh_change_is_not_trusted(void **state)
{
	(void)state;
	tree_file("a/1.jpg", 10);
	/* Times of the folder and of the index may be in one tick */
	assert_int_equal(opening_made("", NULL), 1);
	assert_int_equal(opening_made("", NULL), 1);
	tree_age();
	assert_int_equal(opening_made("", NULL), 1);
	assert_int_equal(opening_made("", NULL), 0);
}

static void changes_of_a_manifest_are_seen(void **state)
{
	char first[DLBOOST_FINGERPRINT_BYTES], second[sizeof(first)];

	(void)state;
	tree_text("m", "a\t1\nb\t2\n");
	tree_age();
	assert_int_equal(opening_made("m", first), 1);
	assert_int_equal(opening_made("m", NULL), 0);
	/* The same size and time, other content */
	tree_text("m", "a\t2\nb\t1\n");
	tree_age();
	assert_int_equal(opening_made("m", second), 1);
	assert_string_not_equal(first, second);
	/* Another file under its name */
	tree_text("m2", "a\t1\nb\t2\n");
	tree_age();
	assert_int_equal(rename(tree_path("m2"), tree_path("m")), 0);
	assert_int_equal(opening_made("m", second), 1);
	assert_string_equal(first, second);
	/* An index of one is not taken for another */
	tree_text("other", "a\t1\nb\t2\n");
	tree_age();
	assert_int_equal(opening_made("other", second), 1);
	assert_string_equal(first, second);
	tree_file("a.jpg", 3);
	tree_age();
	assert_int_equal(opening_made("", NULL), 1);
}

static void other_files_are_not_overwritten(void **state)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct dlboost_dataset *dataset;
	struct stat st;

	(void)state;
	small_tree();
	tree_text("../photo.jpg", "not an index");
	attr.index_path = tree_path("../photo.jpg");
	for (attr.rebuild = 0; attr.rebuild < 2; attr.rebuild++) {
		assert_int_equal(tree_open_attr(tree_path(""), &attr,
						&dataset), -EEXIST);
		assert_non_null(strstr(tree_error, "photo.jpg"));
	}
	assert_int_equal(stat(attr.index_path, &st), 0);
	assert_int_equal(st.st_size, 12);
	attr.rebuild = 0;
	tree_dir("../folder");
	attr.index_path = tree_path("../folder");
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset),
			 -EEXIST);
	/* As mktemp makes them */
	tree_text("../empty", "");
	attr.index_path = tree_path("../empty");
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset), 0);
	dlboost_dataset_close(dataset);
	/* It would be new each time: it changes the folder it describes */
	attr.index_path = tree_path("a/x.index");
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset),
			 -EINVAL);
	assert_non_null(strstr(tree_error, "inside the data set"));
}

static void modes_keep_it_private(void **state)
{
	struct dlboost_dataset *dataset;
	struct stat st;

	(void)state;
	small_tree();
	assert_int_equal(tree_open_attr(tree_path(""), NULL, &dataset), 0);
	dlboost_dataset_close(dataset);
	assert_int_equal(stat(tree_path("../cache/dlboost"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(tree_count("../cache/dlboost"), 1);
	assert_int_equal(opening_made("", NULL), 1);
	assert_int_equal(stat(tree_path("../test.index"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void attributes_of_other_sizes(void **state)
{
	struct {
		struct dlboost_dataset_attr attr;
		char tail[8];
	} larger = { .attr = { .size = sizeof(larger) } };
	struct dlboost_dataset_attr attr = { .size = sizeof(size_t) };
	struct dlboost_dataset *dataset;

	(void)state;
	small_tree();
	assert_int_equal(tree_open_attr(tree_path(""), &larger.attr, &dataset),
			 0);
	dlboost_dataset_close(dataset);
	larger.tail[7] = 1;
	assert_int_equal(tree_open_attr(tree_path(""), &larger.attr, &dataset),
			 -EINVAL);
	attr.allow_empty = 7;	/* beyond what the size covers */
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset), 0);
	dlboost_dataset_close(dataset);
	attr.size = sizeof(attr);
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset),
			 -EINVAL);
	attr.size = 0;
	assert_int_equal(tree_open_attr(tree_path(""), &attr, &dataset),
			 -EINVAL);
}

/* An index with everything in it: names, gaps, a list of members */
static char *index_bytes(size_t *len_bytes)
{
	FILE *file;
	char *bytes;
	struct stat st;

	tree_text("m", "#class\t0\tzero\n#class\t3\tthree\n#class\t9\tnine\n"
		  "x\t3\ny\t0\t7\t9\nzzz\t3\nw\t-1\n");
	tree_age();
	assert_int_equal(opening_made("m", NULL), 1);
	file = fopen(tree_path("../test.index"), "r");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	*len_bytes = (size_t)st.st_size;
	bytes = malloc(*len_bytes);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *len_bytes, file), *len_bytes);
	fclose(file);
	return bytes;
}

/* Checksums a forger would set right, where the tables are in the file */
static void forge_sums(char *bytes, size_t len_bytes)
{
	struct dlb_index_header header;

	if (len_bytes < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	for (int i = 0; i < DLB_INDEX_NR_SECTIONS; i++) {
		struct dlb_index_section *s = &header.sections[i];

		if (s->offset_bytes <= len_bytes &&
		    s->len_bytes <= len_bytes - s->offset_bytes)
			s->hash = dlb_index_hash(bytes + s->offset_bytes,
						 s->len_bytes);
	}
	header.hash = dlb_index_hash(&header, offsetof(struct dlb_index_header,
						       hash));
	memcpy(bytes, &header, sizeof(header));
}

/* Every reading call; what they answer is bounded, no matter what it is */
static void use_index(const struct dlb_index *index)
{
	uint64_t nr = index->header.nr_samples;
	char name[DLB_INDEX_NAME_BYTES];
	struct dlb_index_entry entry;

	for (uint64_t i = 0; i < 8; i++) {
		uint64_t id = nr > 8 && i & 1 ? nr - i : i;
		int ret = dlb_index_entry(index, id, name, &entry);

		if (ret)
			continue;
		assert_true(id < nr);
		assert_int_equal(strlen(name), entry.name_bytes);
		assert_true(entry.label >= -1 && entry.len_bytes >= -1);
	}
	for (uint32_t i = 0; i < index->nr_present && i < 8; i++) {
		const struct dlb_index_class *class =
			dlb_index_class_find(index, index->classes[i].label);
		uint64_t id;

		assert_ptr_equal(class, &index->classes[i]);
		if (class->name_offset != DLB_INDEX_NO_NAME)
			assert_int_equal(strlen(index->class_names +
						class->name_offset),
					 class->name_bytes);
		if (!dlb_index_class_member(index, class, class->count / 2,
					    &id))
			assert_true(id < nr);
	}
	dlb_index_is_current(index, "/nowhere", AT_FDCWD);
}

/* The samples of index_bytes(), or an error, but never others */
static void samples_are_true(const struct dlb_index *index)
{
	static const struct dlb_index_entry want[] = {
		{ "x", 1, 3, 0, -1 }, { "y", 1, 0, 7, 9 },
		{ "zzz", 3, 3, 0, -1 }, { "w", 1, -1, 0, -1 },
	};
	char name[DLB_INDEX_NAME_BYTES];
	struct dlb_index_entry entry;
	uint64_t member;

	for (uint64_t id = 0; id < 4; id++) {
		if (dlb_index_entry(index, id, name, &entry))
			continue;
		assert_string_equal(name, want[id].name);
		assert_int_equal(entry.label, want[id].label);
		assert_int_equal(entry.offset_bytes, want[id].offset_bytes);
		assert_int_equal(entry.len_bytes, want[id].len_bytes);
	}
	for (uint32_t i = 0; i < 3; i++) {
		const struct dlb_index_class *class = &index->classes[i];

		for (uint32_t k = 0; k < class->count; k++)
			if (!dlb_index_class_member(index, class, k, &member))
				assert_int_equal(want[member].label,
						 class->label);
	}
}

static int open_bytes(const void *bytes, size_t len_bytes,
		      void (*use)(const struct dlb_index *index))
{
	int fd = memfd_create("index", MFD_CLOEXEC), ret;
	struct dlb_index index;
	char why[80] = "";

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len_bytes), len_bytes);
	ret = dlb_index_open(fd, &index, why, sizeof(why));
	if (ret) {
		assert_int_equal(ret, -EBADMSG);
		assert_true(why[0]);
		close(fd);
		return ret;
	}
	use(&index);
	dlb_index_close(&index);
	return 0;
}

static void every_cut_is_noticed(void **state)
{
	size_t len;
	char *bytes = index_bytes(&len);

	(void)state;
	assert_int_equal(open_bytes(bytes, len, samples_are_true), 0);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(open_bytes(bytes, cut, use_index),
				 -EBADMSG);
	free(bytes);
}

/* A bit anywhere: noticed at opening, or at the record, or in no use */
static void every_bit_is_guarded(void **state)
{
	size_t len, nr_sound = 0;
	char *bytes = index_bytes(&len), *clean = malloc(len);

	(void)state;
	assert_non_null(clean);
	memcpy(clean, bytes, len);
	for (size_t bit = 0; bit < 8 * len; bit++) {
		bytes[bit / 8] ^= (char)(1 << bit % 8);
		nr_sound += !open_bytes(bytes, len, samples_are_true);
		bytes[bit / 8] ^= (char)(1 << bit % 8);
	}
	assert_memory_equal(clean, bytes, len);
	/* Names, records, members, stamps and source are checked when used */
	assert_in_range(nr_sound, 1, 8 * len / 2);
	free(clean);
	free(bytes);
}

static uint32_t next_random(void)
{
	static uint64_t seed = 88172645463325252u;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32);
}

/* Numbers that break careless arithmetic, at places where numbers stand */
static void forge_numbers(char *bytes, size_t len)
{
	static const uint64_t nasty[] = {
		0, 1, 7, 8, 31, 32, 4095, 4096, 8191, 8192, 0x7fffffff,
		0x80000000, 0xffffffff, 0x100000000, INT64_MAX,
		(uint64_t)INT64_MAX + 1, UINT64_MAX - 7, UINT64_MAX,
	};
	unsigned int nr = 1 + next_random() % 3;

	while (nr--) {
		size_t at = next_random() % (len / 4) * 4;
		uint64_t value = nasty[next_random() % 18];
		size_t width = next_random() % 2 ? 8 : 4;

		if (next_random() % 4 == 0)
			value += next_random() % 64;
		if (at + width <= len)
			memcpy(bytes + at, &value, width);
	}
}

static void forged_files_are_harmless(void **state)
{
	size_t len, nr_sound = 0;
	char *bytes = index_bytes(&len), *forged = malloc(len);

	(void)state;
	assert_non_null(forged);
	for (int i = 0; i < 20000; i++) {
		memcpy(forged, bytes, len);
		forge_numbers(forged, len);
		/* Half of the time in the header, where it matters most */
		if (i & 1)
			forge_numbers(forged, sizeof(struct dlb_index_header));
		memcpy(forged, DLB_INDEX_MAGIC, 8);
		forge_sums(forged, len);
		nr_sound += !open_bytes(forged, len, use_index);
	}
	/* The forging is good enough to reach what stands behind the sums */
	assert_true(nr_sound > 1000);
	free(forged);
	free(bytes);
}

static void a_damaged_index_is_made_anew(void **state)
{
	char first[DLBOOST_FINGERPRINT_BYTES], second[sizeof(first)];
	size_t len, header = sizeof(struct dlb_index_header);
	char *bytes;

	(void)state;
	bytes = index_bytes(&len);
	assert_int_equal(opening_made("m", first), 0);
	for (size_t at = 8; at < header; at += 16) {
		bytes[at] ^= 0x10;
		tree_bytes("../test.index", bytes, len);
		bytes[at] ^= 0x10;
		assert_int_equal(opening_made("m", second), 1);
		assert_string_equal(first, second);
		assert_int_equal(opening_made("m", NULL), 0);
	}
	tree_bytes("../test.index", bytes, header + 1);
	assert_int_equal(opening_made("m", NULL), 1);
	free(bytes);
}

static void damage_of_a_record_is_an_error_of_that_sample(void **state)
{
	struct dlboost_dataset *dataset;
	struct dlboost_result result;
	struct dlb_index_header header;
	size_t len;
	char *bytes = index_bytes(&len), buf[64];
	uint64_t at;
	int32_t label;

	(void)state;
	memcpy(&header, bytes, sizeof(header));
	memcpy(&at, bytes + header.sections[DLB_INDEX_BLOCKS].offset_bytes,
	       sizeof(at));
	/* The label of sample 1 */
	bytes[at + 32 + offsetof(struct dlb_index_record, label)] ^= 3;
	tree_bytes("../test.index", bytes, len);
	assert_int_equal(opening_made("m", NULL), 0);
	dataset = tree_open("m");
	assert_int_equal(dlb_dataset_label(dataset, 0, &label), 0);
	assert_int_equal(dlb_dataset_label(dataset, 1, &label), -EIO);
	assert_int_equal(dlboost_dataset_read(dataset, 1, buf, sizeof(buf),
					      &len, &result), -EIO);
	assert_int_equal(result.status, DLBOOST_STATUS_IO);
	assert_non_null(strstr(result.message, "index is damaged at sample 1"));
	dlboost_dataset_close(dataset);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TREE_TEST(an_unchanged_folder_is_not_read_again),
		TREE_TEST(changes_of_a_folder_are_seen),
		TREE_TEST(a_fresh_change_is_not_trusted),
		TREE_TEST(changes_of_a_manifest_are_seen),
		TREE_TEST(other_files_are_not_overwritten),
		TREE_TEST(modes_keep_it_private),
		TREE_TEST(attributes_of_other_sizes),
		TREE_TEST(every_cut_is_noticed),
		TREE_TEST(every_bit_is_guarded),
		TREE_TEST(forged_files_are_harmless),
		TREE_TEST(a_damaged_index_is_made_anew),
		TREE_TEST(damage_of_a_record_is_an_error_of_that_sample),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
