// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The whole way with the engine "cpu": what stands in a batch is what
 * dlboost_decode() makes of the file with the drawn geometry, for any number of
 * workers, under both profiles; and a damaged file takes its policy.
 */
#include "stream_util.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define N 60
#define RECIPE "imagenet-train:size=24"
#define SAMPLE_BYTES (24 * 24 * 3 * 4)

static struct folder folder;

static int setup(void **state)
{
	(void)state;
	folder_make(&folder, 2, N / 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static size_t read_sample(unsigned int id, unsigned char bytes[16384])
{
	char path[192];
	size_t len;
	FILE *f;

	folder_sample_path(&folder, id, path);
	f = fopen(path, "rb");
	assert_non_null(f);
	len = fread(bytes, 1, 16384, f);
	fclose(f);
	return len;
}

static void check_sample(struct dlboost_decoder *decoder,
			 struct dlboost_recipe *recipe, unsigned int id,
			 enum dlboost_profile profile, const void *got)
{
	static unsigned char bytes[16384], expect[SAMPLE_BYTES];
	size_t len = read_sample(id, bytes);
	struct dlboost_geometry geometry;
	struct dlboost_image_info info;
	struct dlboost_result result;

	assert_int_equal(dlboost_probe(bytes, len, NULL, &info, NULL), 0);
	assert_int_equal(dlboost_recipe_draw(recipe, info.width, info.height, 7,
					     2, id, &geometry), 0);
	assert_int_equal(dlboost_decode(decoder, bytes, len, recipe, profile,
					&geometry, expect, sizeof(expect),
					&result), 0);
	assert_int_equal(result.status, DLBOOST_STATUS_OK);
	assert_memory_equal(got, expect, SAMPLE_BYTES);
}

static void check_stream(const char *engine, enum dlboost_profile profile)
{
	struct dlboost_stream_attr attr = stream_attr(&engine);
	struct dlboost_decoder *decoder;
	struct dlboost_recipe *recipe;
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	unsigned int nr = 0;

	attr.recipe = RECIPE;
	attr.profile = profile;
	attr.epoch = 2;
	stream = stream_open(&folder, &attr);
	assert_int_equal(dlboost_recipe_parse(RECIPE, NULL, 0, &recipe), 0);
	assert_int_equal(dlboost_decoder_create(NULL, &decoder), 0);
	while (!dlboost_stream_next(stream, -1, &batch) && batch) {
		struct dlboost_batch_info info;

		dlboost_batch_info(batch, &info);
		for (uint32_t i = 0; i < info.count; i++, nr++)
			check_sample(decoder, recipe, (unsigned int)info.ids[i],
				     profile, (char *)info.images +
				     (size_t)i * SAMPLE_BYTES);
		dlboost_batch_release(batch);
	}
	assert_int_equal(nr, N);
	dlboost_stream_destroy(stream);
	dlboost_decoder_destroy(decoder);
	dlboost_recipe_destroy(recipe);
}

static void batches_hold_what_decode_gives(void **state)
{
	(void)state;
	check_stream("cpu:workers=1", DLBOOST_PROFILE_EXACT);
	check_stream("cpu:workers=2,jitter=300", DLBOOST_PROFILE_EXACT);
	check_stream("cpu:workers=8", DLBOOST_PROFILE_EXACT);
	check_stream("cpu:workers=2", DLBOOST_PROFILE_FAST);
}

/* A cut file before the stream is opened: TRUNCATED, replaced, named */
static void a_cut_file_takes_its_policy(void **state)
{
	const char *engine = "cpu:workers=2";
	struct dlboost_stream_attr attr = stream_attr(&engine);
	struct dlboost_batch_info info;
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	struct dlboost_result why;
	unsigned char bytes[16384];
	char path[192];

	(void)state;
	folder_sample_path(&folder, 3, path);
	assert_int_equal(truncate(path, (off_t)read_sample(3, bytes) - 12), 0);
	attr.recipe = RECIPE;
	attr.no_shuffle = 1;
	attr.on_error = DLBOOST_ON_ERROR_SKIP_REPLACE;
	stream = stream_open(&folder, &attr);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
	dlboost_batch_info(batch, &info);
	assert_int_equal(info.nr_bad, 0);
	assert_true(info.flags[3] & DLBOOST_SAMPLE_F_REPLACED);
	assert_int_equal(dlboost_batch_sample_error(batch, 3, &why), 0);
	assert_int_equal(why.status, DLBOOST_STATUS_TRUNCATED);
	assert_null(strstr(why.message, "p0003.jpg"));
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_hold_what_decode_gives),
		cmocka_unit_test(a_cut_file_takes_its_policy),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
