// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises: a sequential Huffman file of one interleaved scan that is in order
 * is taken, and its coefficients are those of jpeg_read_coefficients(), in each
 * set of instructions, whichever columns and rows are stored; what is not asked
 * for stays untouched.  Files of the golden table and of the hard corpus are
 * equal or left to libjpeg, never different.
 *
 * The corpus is outside the tree: DLBOOST_TEST_CORPUS names its folder.
 * usage: equal_test FOLDER-OF-PICTURES
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>

#include "huff_util.h"
#include "make.h"

#define NR_ENCODED 3000
#define NR_SYNTHESISED 2500

static struct checker *checker;
static const char *golden;
static uint32_t counts[NR_VERDICTS];

static bool each_set(struct file f, enum verdict wanted, uint32_t columns)
{
	const char *set;

	for (int i = 0; (set = checker_set(i)); i++) {
		enum verdict got;

		dlb_huff_simd_set(set);
		got = checker_run(checker, f.bytes, f.len, columns);
		if (got != wanted) {
			fprintf(stderr, "set %s: verdict %d, not %d\n", set,
				(int)got, (int)wanted);
			return false;
		}
	}
	return true;
}

static void encoded_files_are_equal(void **ctx)
{
	uint64_t state = 5;

	for (int i = 0; i < NR_ENCODED; i++) {
		struct encoding how = random_encoding(&state);
		struct file f = encode(&how);

		if (!each_set(f, VERDICT_EQUAL, 0) ||
		    !each_set(f, VERDICT_EQUAL,
			      (uint32_t)random_next(&state) | 1))
			fail_msg("encoding %d: %ux%u, %d x %02x, quality %d, restart %d",
				 i, how.width, how.height, how.components,
				 how.sampling[0], how.quality, how.restart);
		free(f.bytes);
	}
}

/* A segment longer than the window, and MCUs as long as they can be */
static void long_files_are_equal(void **ctx)
{
	for (int quality = 80; quality <= 100; quality += 10) {
		struct encoding how = {
			.width = 900, .height = 700, .components = 3,
			.sampling = { 0x22, 0x11, 0x11 }, .quality = quality,
			.content = CONTENT_NOISE,
		};
		struct file f = encode(&how);

		assert_true(each_set(f, VERDICT_EQUAL, 0));
		assert_true(each_set(f, VERDICT_EQUAL, 0x3005));
		free(f.bytes);
	}
}

/*
 * A random code need not have a symbol that ends a block in time; such a file
 * is irregular for us.  Most are not.
 */
static void synthetic_codes_are_equal(void **ctx)
{
	uint32_t nr_equal = 0;

	for (uint64_t i = 0; i < NR_SYNTHESISED; i++) {
		struct file f = synthesise(i);
		enum verdict got = checker_run(checker, f.bytes, f.len, 0);

		if (got == VERDICT_REFUSED || got == VERDICT_WRONG ||
		    !each_set(f, got, 0))
			fail_msg("synthetic file %u: verdict %d", (unsigned)i,
				 (int)got);
		nr_equal += got == VERDICT_EQUAL;
		free(f.bytes);
	}
	assert_true(nr_equal > NR_SYNTHESISED * 3 / 4);
}

static int check_file(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	struct file file = { 0 };
	enum verdict got;
	FILE *f;

	if (type != FTW_F)
		return 0;
	f = fopen(path, "rb");
	if (!f)
		return -1;
	file.bytes = malloc((size_t)st->st_size + 1);
	file.len = fread(file.bytes, 1, (size_t)st->st_size, f);
	fclose(f);
	got = checker_run(checker, file.bytes, file.len, 0);
	counts[got]++;
	if (got == VERDICT_WRONG)
		fprintf(stderr, "%s: wrong\n", path);
	free(file.bytes);
	return got == VERDICT_WRONG;
}

static void check_folder(const char *path, uint32_t nr_wanted)
{
	memset(counts, 0, sizeof(counts));
	assert_int_equal(nftw(path, check_file, 16, FTW_PHYS), 0);
	print_message("# %u equal, %u refused, %u broken, %u too large\n",
		      counts[VERDICT_EQUAL], counts[VERDICT_REFUSED],
		      counts[VERDICT_BROKEN], counts[VERDICT_SKIPPED]);
	assert_true(counts[VERDICT_EQUAL] >= nr_wanted);
}

static void golden_pictures_are_equal(void **ctx)
{
	check_folder(golden, 20);
}

static void corpus_files_are_equal(void **ctx)
{
	const char *corpus = getenv("DLBOOST_TEST_CORPUS");

	if (corpus)
		check_folder(corpus, 50);
	else
		print_message("# DLBOOST_TEST_CORPUS names no folder\n");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encoded_files_are_equal),
		cmocka_unit_test(long_files_are_equal),
		cmocka_unit_test(synthetic_codes_are_equal),
		cmocka_unit_test(golden_pictures_are_equal),
		cmocka_unit_test(corpus_files_are_equal),
	};
	int ret;

	if (argc != 2)
		return 2;
	golden = argv[1];
	checker = checker_create();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	checker_destroy(checker);
	return ret;
}
