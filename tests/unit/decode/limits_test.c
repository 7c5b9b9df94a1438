// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises (Documentation/errors.rst, "Limits"): each limit of struct
 * dlboost_limits has a picture just inside it that passes and one just outside
 * that is TOO_LARGE with a sentence that names the limit; a header that lies
 * about its size makes no memory resident; a picture too large for a worker's
 * scratch is decoded in the big lane, with the same pixels.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "decode_util.h"
#include "image/decoder.h"

static struct dlboost_recipe recipe;
static uint8_t pixel[3];
static const struct dlboost_geometry corner = {
	.crop_w = 1, .crop_h = 1, .resize_w = 1, .resize_h = 1,
	.window_w = 1, .window_h = 1,
};

static int setup(void **state)
{
	recipe = recipe_none();
	return 0;
}

static struct dlboost_decoder *decoder_with(struct dlboost_limits limits)
{
	struct dlboost_decoder_attr attr = DLBOOST_DECODER_ATTR_INIT;
	struct dlboost_decoder *d;

	attr.limits = limits;
	assert_int_equal(dlboost_decoder_create(&attr, &d), 0);
	return d;
}

static struct dlboost_result decode_corner(struct dlboost_limits limits,
					   const struct blob *file)
{
	struct dlboost_decoder *d = decoder_with(limits);
	struct dlboost_result r;

	assert_int_equal(dlboost_decode(d, file->bytes, file->len, &recipe,
					DLBOOST_PROFILE_EXACT, &corner, pixel,
					3, &r), 0);
	dlboost_decoder_destroy(d);
	return r;
}

static void assert_too_large(const struct dlboost_result *r, const char *limit)
{
	assert_int_equal(r->status, DLBOOST_STATUS_TOO_LARGE);
	assert_non_null(strstr(r->message, limit));
	assert_non_null(strstr(r->message, "raise"));
}

static void max_pixels(void **state)
{
	struct make how = { .width = 50, .height = 40 };
	struct blob file = make_jpeg(&how);
	struct blob png = make_png(50, 40, 2, 8, false, 1);
	struct dlboost_limits inside = { .max_pixels = 2000 };
	struct dlboost_limits outside = { .max_pixels = 1999 };
	struct dlboost_result r;

	assert_int_equal(decode_corner(inside, &file).status, 0);
	assert_int_equal(decode_corner(inside, &png).status, 0);
	r = decode_corner(outside, &file);
	assert_too_large(&r, "max_pixels");
	r = decode_corner(outside, &png);
	assert_too_large(&r, "max_pixels");
	free(file.bytes);
	free(png.bytes);
}

static void max_markers(void **state)
{
	struct make how = { .width = 16, .height = 16 };
	struct blob file = make_jpeg(&how);
	struct blob many = { malloc(file.len + 400), file.len + 400 };
	struct dlboost_limits limits = { .max_markers = 100 };
	struct dlboost_result r;

	memcpy(many.bytes, file.bytes, 2);
	for (int i = 0; i < 100; i++)
		memcpy(many.bytes + 2 + 4 * i, "\xff\xfe\0\2", 4);
	memcpy(many.bytes + 402, file.bytes + 2, file.len - 2);
	r = decode_corner(limits, &many);
	assert_too_large(&r, "max_markers");
	limits.max_markers = 120;
	assert_int_equal(decode_corner(limits, &many).status, 0);
	free(many.bytes);
	free(file.bytes);
}

static void max_scans(void **state)
{
	struct make how = { .width = 64, .height = 64,
			    .coding = CODING_PROGRESSIVE };
	struct blob file = make_jpeg(&how);	/* ten scans */
	struct dlboost_limits limits = { .max_scans = 10 };
	struct dlboost_result r;

	assert_int_equal(decode_corner(limits, &file).status, 0);
	limits.max_scans = 9;
	r = decode_corner(limits, &file);
	assert_too_large(&r, "max_scans");
	/* Noticed when the tenth is met, not at the end of the file */
	assert_true(r.offset_bytes > 0 && (size_t)r.offset_bytes < file.len);
	free(file.bytes);
}

static void longest_side(void **state)
{
	struct make how = { .width = 65500, .height = 1, .components = 1 };
	struct blob file = make_jpeg(&how);
	struct dlboost_limits limits = { 0 };
	struct dlboost_result r;

	assert_int_equal(decode_corner(limits, &file).status, 0);
	for (size_t i = 2; i < file.len; i++)
		if (file.bytes[i] == 0xff && file.bytes[i + 1] == 0xc0) {
			file.bytes[i + 8]++;
			break;
		}
	r = decode_corner(limits, &file);
	assert_int_equal(r.status, DLBOOST_STATUS_TOO_LARGE);
	assert_non_null(strstr(r.message, "65500"));
	free(file.bytes);
}

/* 800 x 600 progressive 4:4:4: 2.9 MB of coefficients */
static struct blob large_progressive(void)
{
	struct make how = { .width = 800, .height = 600,
			    .coding = CODING_PROGRESSIVE };

	return make_jpeg(&how);
}

static void scratch_and_lane(void **state)
{
	struct blob file = large_progressive();
	struct dlboost_limits limits = {
		.scratch_bytes = 1 << 20,
		.big_scratch_bytes = DLBOOST_NO_BIG_SCRATCH,
	};
	struct dlboost_result r;

	r = decode_corner(limits, &file);
	assert_too_large(&r, "scratch_bytes");
	assert_null(strstr(r.message, "big_scratch_bytes"));
	limits.big_scratch_bytes = 2 << 20;
	r = decode_corner(limits, &file);
	assert_too_large(&r, "big_scratch_bytes");
	limits.big_scratch_bytes = 4 << 20;
	assert_int_equal(decode_corner(limits, &file).status, 0);
	limits.scratch_bytes = 4 << 20;
	limits.big_scratch_bytes = DLBOOST_NO_BIG_SCRATCH;
	assert_int_equal(decode_corner(limits, &file).status, 0);
	free(file.bytes);
}

static void lane_gives_the_same_pixels(void **state)
{
	struct blob file = large_progressive();
	struct opinion o = plain_decode(file.bytes, file.len);
	struct dlboost_limits limits = { .scratch_bytes = 1 << 20 };
	struct dlboost_decoder *d = decoder_with(limits);
	size_t bytes = (size_t)o.width * o.height * 3;
	uint8_t *tensor = malloc(bytes);
	struct dlboost_result r;

	for (int i = 0; i < 3; i++) {
		memset(tensor, 0, bytes);
		assert_int_equal(dlboost_decode(d, file.bytes, file.len,
						&recipe, DLBOOST_PROFILE_EXACT,
						NULL, tensor, bytes, &r), 0);
		assert_int_equal(r.status, DLBOOST_STATUS_OK);
		assert_memory_equal(tensor, o.rgb, bytes);
	}
	dlboost_decoder_destroy(d);
	free(tensor);
	free(o.rgb);
	free(file.bytes);
}

struct worker {
	pthread_t thread;
	struct dlboost_decoder *decoder;
	struct dlb_picture picture;
	uint8_t pixel[3];
	unsigned int nr_bad;
};

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct dlboost_result r;
	uint64_t ns;

	for (int i = 0; i < 5; i++)
		if (dlb_decoder_run(worker->decoder, &worker->picture, &r,
				    &ns) || r.status)
			worker->nr_bad++;
	return NULL;
}

/* Decoders on threads of their own, one lane: what an engine's workers do */
static void lane_is_shared(void **state)
{
	struct blob file = large_progressive();
	struct dlboost_decoder_attr attr = DLBOOST_DECODER_ATTR_INIT;
	struct worker workers[3] = { 0 };
	struct dlb_big_lane *lane;

	attr.limits.scratch_bytes = 1 << 20;
	assert_int_equal(dlb_big_lane_create(8 << 20, &lane), 0);
	for (int i = 0; i < 3; i++) {
		struct worker *w = &workers[i];

		w->picture = (struct dlb_picture){
			.bytes = file.bytes, .len_bytes = file.len,
			.recipe = &recipe, .geometry = corner,
			.dst = w->pixel, .dst_bytes = 3,
		};
		assert_int_equal(dlb_decoder_create(&attr, lane, &w->decoder),
				 0);
		assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_int_equal(workers[i].nr_bad, 0);
		assert_memory_equal(workers[i].pixel, workers[0].pixel, 3);
		dlboost_decoder_destroy(workers[i].decoder);
	}
	dlb_big_lane_destroy(lane);
	free(file.bytes);
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
	!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
/* A sanitizer's own memory would be measured, too */
#define HAS_MEASURES
#endif

#ifdef HAS_MEASURES
static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* 40000 x 4000 progressive by a patched header: 960 MB of coefficients */
static void lying_header_costs_nothing(void **state)
{
	struct make how = { .width = 64, .height = 64,
			    .coding = CODING_PROGRESSIVE };
	struct dlboost_limits limits = { 0 };
	struct dlboost_result r;
	struct blob file;
	long before;

	file = make_jpeg(&how);
	for (size_t i = 2; i < file.len; i++)
		if (file.bytes[i] == 0xff && file.bytes[i + 1] == 0xc2) {
			memcpy(file.bytes + i + 5, "\x0f\xa0\x9c\x40", 4);
			break;
		}
	before = peak_kib();
	r = decode_corner(limits, &file);
	assert_too_large(&r, "big_scratch_bytes");
	assert_true(peak_kib() - before < 8 << 10);
	free(file.bytes);
}

/* The same for one that fits: only the rows the file reaches are touched */
static void short_file_touches_little(void **state)
{
	struct make how = { .width = 64, .height = 64, .components = 1,
			    .coding = CODING_PROGRESSIVE };
	struct dlboost_limits limits = { 0 };
	struct dlboost_result r;
	struct blob file;
	long before;

	file = make_jpeg(&how);
	for (size_t i = 2; i < file.len; i++)
		if (file.bytes[i] == 0xff && file.bytes[i + 1] == 0xc2) {
			memcpy(file.bytes + i + 5, "\x4e\x20\x03\xe8", 4);
			break;
		}
	before = peak_kib();
	r = decode_corner(limits, &file);
	assert_int_not_equal(r.status, DLBOOST_STATUS_TOO_LARGE);
	assert_true(peak_kib() - before < 48 << 10);
	free(file.bytes);
}

#endif /* HAS_MEASURES */

static void attributes_are_checked(void **state)
{
	struct dlboost_decoder_attr attr = DLBOOST_DECODER_ATTR_INIT;
	struct dlboost_decoder *d = NULL;

	attr.size--;
	assert_int_equal(dlboost_decoder_create(&attr, &d), -EINVAL);
	attr.size++;
	attr.reject_warnings = 2;
	assert_int_equal(dlboost_decoder_create(&attr, &d), -EINVAL);
	attr.reject_warnings = 0;
	attr.reserved = 1;
	assert_int_equal(dlboost_decoder_create(&attr, &d), -EINVAL);
	attr.reserved = 0;
	attr.limits.scratch_bytes = 100;
	assert_int_equal(dlboost_decoder_create(&attr, &d), -EINVAL);
	attr.limits.scratch_bytes = SIZE_MAX;
	assert_int_equal(dlboost_decoder_create(&attr, &d), -ENOMEM);
	assert_null(d);
	dlboost_decoder_destroy(NULL);
	dlb_big_lane_destroy(NULL);
}

static void defaults_replace_zeros(void **state)
{
	struct dlboost_limits in = { .max_scans = 7 }, out;

	dlb_limits_resolve(&in, &out);
	assert_int_equal(out.max_scans, 7);
	assert_int_equal(out.max_pixels, DLBOOST_DEFAULT_MAX_PIXELS);
	assert_int_equal(out.max_markers, DLBOOST_DEFAULT_MAX_MARKERS);
	assert_int_equal(out.scratch_bytes, DLBOOST_DEFAULT_SCRATCH_BYTES);
	assert_int_equal(out.big_scratch_bytes,
			 DLBOOST_DEFAULT_BIG_SCRATCH_BYTES);
	dlb_limits_resolve(NULL, &out);
	assert_int_equal(out.max_scans, DLBOOST_DEFAULT_MAX_SCANS);
}

static void library_is_named(void **state)
{
	assert_non_null(strstr(dlb_decoder_library(), "libjpeg-turbo "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(max_pixels),
		cmocka_unit_test(max_markers),
		cmocka_unit_test(max_scans),
		cmocka_unit_test(longest_side),
#ifdef HAS_MEASURES
		cmocka_unit_test(lying_header_costs_nothing),
		cmocka_unit_test(short_file_touches_little),
#endif
		cmocka_unit_test(scratch_and_lane),
		cmocka_unit_test(lane_gives_the_same_pixels),
		cmocka_unit_test(lane_is_shared),
		cmocka_unit_test(attributes_are_checked),
		cmocka_unit_test(defaults_replace_zeros),
		cmocka_unit_test(library_is_named),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, NULL);
}
