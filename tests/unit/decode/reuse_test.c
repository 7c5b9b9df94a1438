// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promise: a decoder remembers nothing.  Whatever it decoded before, good or
 * damaged, in either profile, a picture has the status, message and pixels
 * that a new decoder gives it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode_util.h"
#include "image/jpeg.h"

#define NR_FILES 12
#define MAX_BYTES (200 * 200 * 3)

static struct blob files[NR_FILES];

static int setup(void **state)
{
	static const struct make forms[NR_FILES - 2] = {
		{ .sampling = { 0x22, 0x11, 0x11 } },
		{ .sampling = { 0x21, 0x11, 0x11 }, .restart = 3 },
		{ .sampling = { 0x22, 0x11, 0x11 },
		  .coding = CODING_PROGRESSIVE },
		{ .sampling = { 0x22, 0x11, 0x11 }, .nr_scans = 3,
		  .coding = CODING_PROGRESSIVE },
		{ .coding = CODING_ARITHMETIC },
		{ .components = 1 },
		{ .components = 4 },
		{ .coding = CODING_SEPARATE_SCANS },
		{ .space = JCS_RGB },
		{ .sampling = { 0x12, 0x11, 0x11 } },
	};

	for (uint32_t i = 0; i < NR_FILES - 2; i++) {
		struct make how = forms[i];

		how.width = 60 + 13 * i;
		how.height = 190 - 11 * i;
		how.seed = i;
		files[i] = make_jpeg(&how);
	}
	files[NR_FILES - 2] = make_png(90, 80, 6, 8, false, 1);
	files[NR_FILES - 1] = make_png(90, 80, 3, 4, true, 1);
	return 0;
}

static int teardown(void **state)
{
	for (int i = 0; i < NR_FILES; i++)
		free(files[i].bytes);
	return 0;
}

struct job {
	struct blob file;
	enum dlboost_profile profile;
	struct dlboost_recipe recipe;
	struct dlboost_geometry g;
};

static struct job random_job(uint64_t *rng)
{
	const struct blob *file = &files[rng_below(rng, NR_FILES)];
	struct job job = { .file = { malloc(file->len), file->len } };
	struct dlboost_image_info info;
	uint32_t w, h;

	memcpy(job.file.bytes, file->bytes, file->len);
	dlboost_probe(file->bytes, file->len, NULL, &info, NULL);
	w = 1 + rng_below(rng, info.width);
	h = 1 + rng_below(rng, info.height);
	job.profile = (enum dlboost_profile)rng_below(rng, 2);
	job.recipe = recipe_none();
	job.g = crop_geometry(rng_below(rng, info.width - w + 1),
			      rng_below(rng, info.height - h + 1), w, h);
	if (rng_below(rng, 2))
		job.g.resize_w = job.g.window_w = 1 + rng_below(rng, 40);
	if (rng_below(rng, 2))
		job.g.resize_h = job.g.window_h = 1 + rng_below(rng, 40);
	if (rng_below(rng, 3) == 0)
		job.file.len -= 1 + rng_below(rng, (uint32_t)file->len - 1);
	if (rng_below(rng, 3) == 0)
		job.file.bytes[rng_below(rng, (uint32_t)job.file.len)] ^=
			(uint8_t)(1u << rng_below(rng, 8));
	return job;
}

static int run(struct dlboost_decoder *d, const struct job *job,
	       uint8_t *tensor, struct dlboost_result *r)
{
	memset(r, 0, sizeof(*r));
	memset(tensor, 0, MAX_BYTES);
	return dlboost_decode(d, job->file.bytes, job->file.len, &job->recipe,
			      job->profile, &job->g, tensor, MAX_BYTES, r);
}

static void decoders_remember_nothing(void **state)
{
	static uint8_t old[MAX_BYTES], fresh[MAX_BYTES];
	struct dlboost_decoder *worn;
	uint64_t rng = 21;

	assert_int_equal(dlboost_decoder_create(NULL, &worn), 0);
	for (int i = 0; i < 3000; i++) {
		struct job job = random_job(&rng);
		struct dlboost_decoder *d;
		struct dlboost_result r, want;
		int ret, want_ret;

		assert_int_equal(dlboost_decoder_create(NULL, &d), 0);
		want_ret = run(d, &job, fresh, &want);
		ret = run(worn, &job, old, &r);
		assert_int_equal(ret, want_ret);
		assert_int_equal(r.status, want.status);
		assert_int_equal(r.flags, want.flags);
		assert_int_equal(r.nr_warnings, want.nr_warnings);
		assert_string_equal(r.message, want.message);
		if (!ret && !r.status)
			assert_memory_equal(old, fresh, r.written_bytes);
		dlboost_decoder_destroy(d);
		free(job.file.bytes);
	}
	dlboost_decoder_destroy(worn);
}

/* Left over pointers are not merely unused: libjpeg tests some against NULL */
static void no_stage_outlives_its_picture(void **state)
{
	struct dlboost_result r;
	struct dlb_arena arena;
	struct dlb_source source = {
		.bytes = files[0].bytes, .len_bytes = files[0].len,
		.arena = &arena, .result = &r,
	};
	struct dlb_jpeg *jpeg;
	static int left_over[64];

	assert_int_equal(dlb_arena_init(&arena, 1 << 20), 0);
	assert_int_equal(dlb_jpeg_create(&jpeg), 0);
	jpeg->cinfo.cconvert = (void *)left_over;
	jpeg->cinfo.upsample = (void *)left_over;
	jpeg->cinfo.entropy = (void *)left_over;
	jpeg->cinfo.quant_tbl_ptrs[3] = (void *)left_over;
	jpeg->cinfo.ac_huff_tbl_ptrs[3] = (void *)left_over;
	dlb_jpeg_start(jpeg, &source);
	assert_null(jpeg->cinfo.cconvert);
	assert_null(jpeg->cinfo.upsample);
	assert_null(jpeg->cinfo.entropy);
	assert_null(jpeg->cinfo.quant_tbl_ptrs[3]);
	assert_null(jpeg->cinfo.ac_huff_tbl_ptrs[3]);
	dlb_jpeg_destroy(jpeg);
	dlb_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoders_remember_nothing),
		cmocka_unit_test(no_stage_outlives_its_picture),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
