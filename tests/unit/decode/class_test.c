// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises (Documentation/errors.rst, "Classes"): the class of a damaged file
 * is libjpeg's own verdict on the whole of it (TRUNCATED where it had to
 * invent the end before the last row, CORRUPT on its errors, else OK with the
 * warnings counted), whatever the crop; with reject_warnings a warning
 * anywhere is CORRUPT, whatever the crop; where the class is OK the pixels
 * are libjpeg's; messages say something; nothing crashes.
 *
 * Reference: libjpeg used plainly (decode_util.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode_util.h"

static struct dlboost_decoder *decoder, *strict;
static struct dlboost_recipe recipe;
static uint8_t tensor[200 * 200 * 3];

static int setup(void **state)
{
	struct dlboost_decoder_attr attr = DLBOOST_DECODER_ATTR_INIT;

	attr.reject_warnings = 1;
	recipe = recipe_none();
	return dlboost_decoder_create(NULL, &decoder) ||
	       dlboost_decoder_create(&attr, &strict);
}

static int teardown(void **state)
{
	dlboost_decoder_destroy(decoder);
	dlboost_decoder_destroy(strict);
	return 0;
}

static struct dlboost_result decode(struct dlboost_decoder *d,
				    const struct blob *file,
				    const struct dlboost_geometry *g)
{
	struct dlboost_result result;

	assert_int_equal(dlboost_decode(d, file->bytes, file->len, &recipe,
					DLBOOST_PROFILE_EXACT, g, tensor,
					sizeof(tensor), &result), 0);
	assert_true(result.status == DLBOOST_STATUS_OK || result.message[0]);
	return result;
}

/* A crop is compared with the same part of libjpeg's picture */
static void check_pixels(const struct opinion *o,
			 const struct dlboost_geometry *g, const char *what)
{
	for (uint32_t row = 0; row < g->crop_h; row++) {
		size_t at = (size_t)(g->crop_y + row) * o->width + g->crop_x;

		if (memcmp(tensor + (size_t)row * g->crop_w * 3,
			   o->rgb + at * 3, (size_t)g->crop_w * 3))
			fail_msg("%s: pixels differ in row %u of crop %u,%u %ux%u",
				 what, row, g->crop_x, g->crop_y, g->crop_w,
				 g->crop_h);
	}
}

/*
 * libjpeg's own verdict against ours for five crops.  A warning in the header
 * or below the crop does not make a class; strict wants none anywhere.
 */
static void check_damaged(const struct blob *file, const struct make *how,
			  const char *what)
{
	struct opinion o = plain_decode(file->bytes, file->len);
	uint32_t w = how->width, h = how->height;
	const struct dlboost_geometry crops[] = {
		crop_geometry(0, 0, w, h),
		crop_geometry(0, 0, w, 1),
		crop_geometry(w / 3, 0, w / 3, h / 3),
		crop_geometry(w / 2, h / 2, w / 4, h / 4),
		crop_geometry(0, h - 1, w, 1),
	};
	unsigned int want_strict = o.status;

	if (o.status != DLBOOST_STATUS_TRUNCATED && o.nr_warnings)
		want_strict = DLBOOST_STATUS_CORRUPT;
	for (size_t i = 0; i < sizeof(crops) / sizeof(crops[0]); i++) {
		struct dlboost_result r = decode(decoder, file, &crops[i]);

		if (r.status != o.status)
			fail_msg("%s: crop %zu is %s, libjpeg says %s: %s",
				 what, i, dlboost_status_name(r.status),
				 dlboost_status_name(o.status), r.message);
		if (!r.status)
			check_pixels(&o, &crops[i], what);
		r = decode(strict, file, &crops[i]);
		/* A warning before the cut ends a strict decode first */
		if (r.status != want_strict &&
		    !(o.nr_warnings && r.status == DLBOOST_STATUS_CORRUPT))
			fail_msg("%s: strict, crop %zu is %s, not %s", what, i,
				 dlboost_status_name(r.status),
				 dlboost_status_name(want_strict));
	}
	free(o.rgb);
}

static const struct make forms[] = {
	{ .width = 90, .height = 70, .sampling = { 0x22, 0x11, 0x11 } },
	{ .width = 90, .height = 70, .sampling = { 0x22, 0x11, 0x11 },
	  .restart = 3 },
	{ .width = 90, .height = 70, .sampling = { 0x21, 0x11, 0x11 },
	  .coding = CODING_PROGRESSIVE },
	{ .width = 60, .height = 70, .coding = CODING_SEPARATE_SCANS },
	{ .width = 60, .height = 70, .sampling = { 0x12, 0x11, 0x11 },
	  .coding = CODING_ARITHMETIC },
	{ .width = 60, .height = 50, .components = 1,
	  .coding = CODING_ARITHMETIC_PROGRESSIVE },
	{ .width = 60, .height = 50, .components = 4 },
};

#define NR_FORMS (sizeof(forms) / sizeof(forms[0]))

/* Damage hits the picture's own markers too; those are the probe's tests */
static size_t scan_start(const struct blob *file)
{
	for (size_t i = 2; i + 1 < file->len; i++)
		if (file->bytes[i] == 0xff && file->bytes[i + 1] == 0xda)
			return i;
	return 0;
}

static void every_truncation(void **state)
{
	for (size_t f = 0; f < NR_FORMS; f++) {
		struct blob file = make_jpeg(&forms[f]);
		size_t start = scan_start(&file), len = file.len;
		size_t step = 1 + (len - start) / 120;
		char what[80];

		for (size_t cut = len - 1; cut > start;
		     cut -= cut > len - 40 ? 1 : step) {
			struct blob part = { file.bytes, cut };

			snprintf(what, sizeof(what),
				 "form %zu cut to %zu of %zu", f, cut, len);
			check_damaged(&part, &forms[f], what);
			if (cut <= step)
				break;
		}
		free(file.bytes);
	}
}

/* Cut, then closed by EOI: no longer truncated, and known by its warning */
static void cut_and_closed(void **state)
{
	for (size_t f = 0; f < NR_FORMS; f++) {
		struct blob file = make_jpeg(&forms[f]);
		size_t start = scan_start(&file) + 20;
		char what[80];

		for (int i = 1; i < 20; i++) {
			size_t cut = start + (file.len - start) * i / 20;
			struct blob part = { malloc(cut + 2), cut + 2 };

			memcpy(part.bytes, file.bytes, cut);
			memcpy(part.bytes + cut, "\xff\xd9", 2);
			snprintf(what, sizeof(what), "form %zu closed at %zu",
				 f, cut);
			check_damaged(&part, &forms[f], what);
			free(part.bytes);
		}
		free(file.bytes);
	}
}

static void flip_bits(struct blob *file, uint64_t *rng, size_t start)
{
	uint32_t nr = 1 + rng_below(rng, 3);

	while (nr--)
		file->bytes[start + rng_below(rng, (uint32_t)(file->len -
							      start))] ^=
			(uint8_t)(1u << rng_below(rng, 8));
}

static void bit_flips_in_the_scan(void **state)
{
	uint64_t rng = 7;
	char what[80];

	for (size_t f = 0; f < NR_FORMS; f++) {
		struct blob file = make_jpeg(&forms[f]);
		struct blob bad = { malloc(file.len), file.len };
		size_t start = scan_start(&file) + 14;

		for (int i = 0; i < 150; i++) {
			memcpy(bad.bytes, file.bytes, file.len);
			flip_bits(&bad, &rng, start);
			snprintf(what, sizeof(what), "form %zu flip %d", f, i);
			check_damaged(&bad, &forms[f], what);
		}
		free(bad.bytes);
		free(file.bytes);
	}
}

/* Markers put into the scan: what libjpeg meets behind the crop */
static void markers_in_the_scan(void **state)
{
	static const uint8_t markers[] = {
		0x01, 0x02, 0xae, 0xc0, 0xc4, 0xc8, 0xd0, 0xd4, 0xd8, 0xd9,
		0xda, 0xdb, 0xdc, 0xdd, 0xe0, 0xee, 0xfe,
	};
	char what[80];

	for (size_t f = 0; f < NR_FORMS; f++) {
		struct blob file = make_jpeg(&forms[f]);
		struct blob bad = { malloc(file.len), file.len };
		size_t start = scan_start(&file) + 20;

		for (size_t m = 0; m < sizeof(markers); m++) {
			for (size_t i = 1; i < 6; i++) {
				size_t at = start + (file.len - start) * i / 6;

				memcpy(bad.bytes, file.bytes, file.len);
				bad.bytes[at] = 0xff;
				bad.bytes[at + 1] = markers[m];
				snprintf(what, sizeof(what),
					 "form %zu marker %02x at %zu", f,
					 markers[m], at);
				check_damaged(&bad, &forms[f], what);
			}
		}
		free(bad.bytes);
		free(file.bytes);
	}
}

/* Anything anywhere: libjpeg's verdict unless the probe knows better */
static void damage_anywhere(void **state)
{
	uint64_t rng = 11;

	for (size_t f = 0; f < NR_FORMS; f++) {
		struct blob file = make_jpeg(&forms[f]);
		struct blob bad = { malloc(file.len), file.len };

		for (int i = 0; i < 300; i++) {
			struct dlboost_image_info info;
			struct dlboost_result r, p;
			struct opinion o;

			memcpy(bad.bytes, file.bytes, file.len);
			flip_bits(&bad, &rng, 0);
			if (dlboost_probe(bad.bytes, bad.len, NULL, &info, &p))
				continue;
			if (info.width > 200 || info.height > 200)
				continue;
			r = decode(decoder, &bad, NULL);
			o = plain_decode(bad.bytes, bad.len);
			if (r.status != DLBOOST_STATUS_UNSUPPORTED)
				assert_int_equal(r.status, o.status);
			if (!r.status)
				assert_memory_equal(tensor, o.rgb,
						    (size_t)o.width *
						    o.height * 3);
			free(o.rgb);
		}
		free(bad.bytes);
		free(file.bytes);
	}
}

static void warnings_are_named(void **state)
{
	struct blob whole = make_jpeg(&forms[0]);
	struct blob file = { malloc(whole.len + 2), whole.len + 2 };
	struct dlboost_result r;

	/* Two bytes that belong to no segment, behind SOI and JFIF */
	memcpy(file.bytes, whole.bytes, 20);
	memcpy(file.bytes + 20, "xy", 2);
	memcpy(file.bytes + 22, whole.bytes + 20, whole.len - 20);
	r = decode(decoder, &file, NULL);
	assert_int_equal(r.status, DLBOOST_STATUS_OK);
	assert_true(r.flags & DLBOOST_SAMPLE_F_WARNED);
	assert_true(r.nr_warnings >= 1);
	assert_non_null(strstr(r.message, "2 extraneous bytes"));
	assert_true(r.offset_bytes >= 20 && r.offset_bytes <= 26);
	r = decode(strict, &file, NULL);
	assert_int_equal(r.status, DLBOOST_STATUS_CORRUPT);
	assert_int_equal(r.flags, 0);
	assert_int_equal(r.written_bytes, 0);
	free(file.bytes);
	free(whole.bytes);
}

static void tables_do_not_leak_between_pictures(void **state)
{
	struct blob file = make_jpeg(&forms[0]);
	struct blob bare = { malloc(file.len), file.len };
	size_t i = 2;

	/* Same picture without its quantization tables */
	memcpy(bare.bytes, file.bytes, file.len);
	while (bare.bytes[i + 1] != 0xda) {
		if (bare.bytes[i + 1] == 0xdb)
			bare.bytes[i + 1] = 0xfe;
		i += 2 + (bare.bytes[i + 2] << 8 | bare.bytes[i + 3]);
	}
	assert_int_equal(decode(decoder, &file, NULL).status, DLBOOST_STATUS_OK);
	assert_int_equal(decode(decoder, &bare, NULL).status,
			 DLBOOST_STATUS_CORRUPT);
	free(bare.bytes);
	free(file.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(cut_and_closed),
		cmocka_unit_test(bit_flips_in_the_scan),
		cmocka_unit_test(markers_in_the_scan),
		cmocka_unit_test(damage_anywhere),
		cmocka_unit_test(warnings_are_named),
		cmocka_unit_test(tables_do_not_leak_between_pictures),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
