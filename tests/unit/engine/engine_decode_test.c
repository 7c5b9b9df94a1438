// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of <dlboost/engine.h>: what is listed, what a text may say, and that
 * a picture run through an engine from many threads is the one that
 * dlboost_decode() gives.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jpeglib.h>

#include <dlboost/engine.h>

#define RECIPE "imagenet-train:size=32,dtype=u8"
#define DST_BYTES (32 * 32 * 3)

static unsigned char *picture;
static unsigned long picture_bytes;

static int setup(void **state)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr err;
	unsigned char row[80 * 3];
	JSAMPROW rows[1] = { row };

	(void)state;
	c.err = jpeg_std_error(&err);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &picture, &picture_bytes);
	c.image_width = 80;
	c.image_height = 60;
	c.input_components = 3;
	c.in_color_space = JCS_RGB;
	jpeg_set_defaults(&c);
	jpeg_start_compress(&c, TRUE);
	while (c.next_scanline < c.image_height) {
		for (unsigned int i = 0; i < sizeof(row); i++)
			row[i] = (unsigned char)(i * 5 + c.next_scanline * 3);
		jpeg_write_scanlines(&c, rows, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	return 0;
}

static void narrow_pictures_are_too_large_for_a_short_side(void **state)
{
	struct dlboost_decoder *decoder = NULL;
	struct dlboost_engine *engine = NULL;
	struct dlboost_recipe *recipe = NULL;
	struct dlboost_result result;
	uint8_t *dst = malloc(DST_BYTES);
	/* 1 x 1000 grey: the header is all that is looked at */
	static const uint8_t head[] = {
		0xff, 0xd8, 0xff, 0xdb, 0, 67, 0,
		[7 ... 70] = 1,
		0xff, 0xc0, 0, 11, 8, 0x03, 0xe8, 0, 1, 1, 1, 0x11, 0,
		0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0, 0xff, 0xd9,
	};

	(void)state;
	assert_non_null(dst);
	assert_int_equal(dlboost_recipe_parse(
		"imagenet-eval:resize=256,size=32,dtype=u8", NULL, 0, &recipe),
		0);
	assert_int_equal(dlboost_engine_create("cpu:workers=1", NULL, NULL, 0,
					       &engine), 0);
	assert_int_equal(dlboost_engine_decode(engine, head, sizeof(head),
					       recipe, DLBOOST_PROFILE_EXACT,
					       NULL, dst, DST_BYTES, &result),
			 0);
	assert_int_equal(result.status, DLBOOST_STATUS_TOO_LARGE);
	assert_non_null(strstr(result.message, "1 x 1000"));
	assert_int_equal(dlboost_decoder_create(NULL, &decoder), 0);
	assert_int_equal(dlboost_decode(decoder, head, sizeof(head), recipe,
					DLBOOST_PROFILE_EXACT, NULL, dst,
					DST_BYTES, &result), 0);
	assert_int_equal(result.status, DLBOOST_STATUS_TOO_LARGE);
	dlboost_decoder_destroy(decoder);
	dlboost_engine_destroy(engine);
	dlboost_recipe_destroy(recipe);
	free(dst);
}

static int teardown(void **state)
{
	(void)state;
	free(picture);
	return 0;
}

static void the_cpu_engine_is_listed(void **state)
{
	struct dlboost_engine_info info;

	(void)state;
	assert_int_equal(dlboost_engine_list(0, &info), 0);
	assert_string_equal(info.name, "cpu");
	assert_true(info.is_available && !info.is_emulated);
	assert_true(info.nr_workers >= 1);
	assert_non_null(strstr(info.decoder, "libjpeg-turbo"));
	assert_int_equal(dlboost_engine_list(1, &info), -ERANGE);
}

static void wrong_texts_are_refused(void **state)
{
	struct dlboost_engine *engine = NULL;
	char error[256] = "";

	(void)state;
	assert_int_equal(dlboost_engine_create("cpi", NULL, error,
					       sizeof(error), &engine),
			 -EINVAL);
	assert_non_null(strstr(error, "'cpu'"));
	assert_int_equal(dlboost_engine_create("cpu:workers=none", NULL, error,
					       sizeof(error), &engine),
			 -EINVAL);
	assert_non_null(strstr(error, "workers=none"));
	assert_null(engine);
	dlboost_engine_destroy(NULL);
}

struct caller {
	struct dlboost_engine *engine;
	struct dlboost_recipe *recipe;
	const unsigned char *expect;
	unsigned int nr_wrong;
};

static void *decode_many(void *arg)
{
	struct caller *caller = arg;
	unsigned char dst[DST_BYTES];
	struct dlboost_result result;

	for (int i = 0; i < 50; i++) {
		memset(dst, 0, sizeof(dst));
		if (dlboost_engine_decode(caller->engine, picture,
					  picture_bytes, caller->recipe,
					  DLBOOST_PROFILE_EXACT, NULL, dst,
					  sizeof(dst), &result) ||
		    result.status || result.written_bytes != DST_BYTES ||
		    memcmp(dst, caller->expect, DST_BYTES))
			caller->nr_wrong++;
	}
	return NULL;
}

/* More callers than the queue has room for */
static void as_decode_from_many_threads(void **state)
{
	unsigned char expect[DST_BYTES];
	struct dlboost_decoder *decoder;
	struct dlboost_result result;
	struct caller callers[16];
	pthread_t threads[16];
	struct dlboost_recipe *recipe;
	struct dlboost_engine *engine;

	(void)state;
	assert_int_equal(dlboost_recipe_parse(RECIPE, NULL, 0, &recipe), 0);
	assert_int_equal(dlboost_decoder_create(NULL, &decoder), 0);
	assert_int_equal(dlboost_decode(decoder, picture, picture_bytes, recipe,
					DLBOOST_PROFILE_EXACT, NULL, expect,
					sizeof(expect), &result), 0);
	assert_int_equal(result.status, DLBOOST_STATUS_OK);
	assert_int_equal(dlboost_engine_create("cpu:workers=2,queue=8", NULL,
					       NULL, 0, &engine), 0);
	for (int i = 0; i < 16; i++) {
		callers[i] = (struct caller){ engine, recipe, expect, 0 };
		pthread_create(&threads[i], NULL, decode_many, &callers[i]);
	}
	for (int i = 0; i < 16; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(callers[i].nr_wrong, 0);
	}
	dlboost_engine_destroy(engine);
	dlboost_decoder_destroy(decoder);
	dlboost_recipe_destroy(recipe);
}

static void errors_come_back(void **state)
{
	struct dlboost_geometry geometry = {
		.crop_x = 70, .crop_w = 20, .crop_h = 20, .resize_w = 32,
		.resize_h = 32, .window_w = 32, .window_h = 32,
	};
	unsigned char dst[DST_BYTES];
	struct dlboost_result result;
	struct dlboost_recipe *recipe;
	struct dlboost_engine *engine;

	(void)state;
	assert_int_equal(dlboost_recipe_parse(RECIPE, NULL, 0, &recipe), 0);
	assert_int_equal(dlboost_engine_create("cpu:workers=1", NULL, NULL, 0,
					       &engine), 0);
	assert_int_equal(dlboost_engine_decode(
		engine, picture, picture_bytes, recipe, DLBOOST_PROFILE_EXACT,
		&geometry, dst, sizeof(dst), &result), -EINVAL);
	assert_int_equal(dlboost_engine_decode(
		engine, picture, picture_bytes, recipe, DLBOOST_PROFILE_EXACT,
		NULL, dst, 10, &result), -ENOSPC);
	assert_int_equal(result.written_bytes, DST_BYTES);
	assert_int_equal(dlboost_engine_decode(
		engine, "<html>", 6, recipe, DLBOOST_PROFILE_EXACT, NULL, dst,
		sizeof(dst), &result), 0);
	assert_int_equal(result.status, DLBOOST_STATUS_NOT_AN_IMAGE);
	assert_int_equal(dlboost_engine_decode(
		engine, picture, picture_bytes / 2, recipe,
		DLBOOST_PROFILE_EXACT, NULL, dst, sizeof(dst), &result), 0);
	assert_int_equal(result.status, DLBOOST_STATUS_TRUNCATED);
	dlboost_engine_destroy(engine);
	dlboost_recipe_destroy(recipe);
}

static void a_child_is_told_so(void **state)
{
	struct dlboost_recipe *recipe;
	struct dlboost_engine *engine;
	unsigned char dst[DST_BYTES];
	struct dlboost_result result;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(dlboost_recipe_parse(RECIPE, NULL, 0, &recipe), 0);
	assert_int_equal(dlboost_engine_create("cpu:workers=1", NULL, NULL, 0,
					       &engine), 0);
	pid = fork();
	if (pid == 0) {
		int ret = dlboost_engine_decode(
			engine, picture, picture_bytes, recipe,
			DLBOOST_PROFILE_EXACT, NULL, dst, sizeof(dst), &result);

		dlboost_engine_destroy(engine);
		_exit(ret == -EPERM ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	dlboost_engine_destroy(engine);
	dlboost_recipe_destroy(recipe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cpu_engine_is_listed),
		cmocka_unit_test(wrong_texts_are_refused),
		cmocka_unit_test(as_decode_from_many_threads),
		cmocka_unit_test(errors_come_back),
		cmocka_unit_test(narrow_pictures_are_too_large_for_a_short_side),
		cmocka_unit_test(a_child_is_told_so),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
