// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises (Documentation/pixels.rst, "Orientation" and "Pad"): orient=exif
 * turns all eight ways, crops in upright coordinates; padding surrounds the
 * picture with the fill value, and crops may lie across it or inside it; what
 * a window shows outside the picture is the fill value; geometry that does not
 * fit is -EINVAL and a small destination -ENOSPC with the size needed.
 *
 * Reference: the plain decode, turned and padded pixel by pixel.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode_util.h"

static struct dlboost_decoder *decoder;
static uint8_t tensor[300 * 300 * 3];

static int setup(void **state)
{
	return dlboost_decoder_create(NULL, &decoder);
}

static int teardown(void **state)
{
	dlboost_decoder_destroy(decoder);
	return 0;
}

/*
 * Where EXIF says row 0 and column 0 of the stored picture lie: CIPA DC-008,
 * table of the Orientation tag.  Turn one pixel of the upright picture back.
 */
static void stored_pixel(int orientation, uint32_t w, uint32_t h, uint32_t u,
			 uint32_t v, uint32_t *x, uint32_t *y)
{
	switch (orientation) {
	case 1: *x = u; *y = v; break;			/* top, left */
	case 2: *x = w - 1 - u; *y = v; break;		/* top, right */
	case 3: *x = w - 1 - u; *y = h - 1 - v; break;	/* bottom, right */
	case 4: *x = u; *y = h - 1 - v; break;		/* bottom, left */
	case 5: *x = v; *y = u; break;			/* left, top */
	case 6: *x = v; *y = h - 1 - u; break;		/* right, top */
	case 7: *x = w - 1 - v; *y = h - 1 - u; break;	/* right, bottom */
	default: *x = w - 1 - v; *y = u; break;		/* left, bottom */
	}
}

struct want {
	const struct opinion *o;
	int orientation;
	uint32_t up_w, up_h, pad;
	uint8_t fill;
};

/* Pixel of the padded, upright picture; outside everything: fill */
static const uint8_t *want_pixel(const struct want *w, int64_t px, int64_t py)
{
	static uint8_t fill[3];
	int64_t u = px - w->pad, v = py - w->pad;
	uint32_t x, y;

	memset(fill, w->fill, 3);
	if (u < 0 || v < 0 || u >= w->up_w || v >= w->up_h)
		return fill;
	stored_pixel(w->orientation, w->o->width, w->o->height, (uint32_t)u,
		     (uint32_t)v, &x, &y);
	return w->o->rgb + ((size_t)y * w->o->width + x) * 3;
}

static void check(const struct want *w, const struct dlboost_geometry *g)
{
	for (uint32_t row = 0; row < g->window_h; row++) {
		for (uint32_t col = 0; col < g->window_w; col++) {
			int64_t cx = g->window_x + (int64_t)col;
			int64_t cy = g->window_y + (int64_t)row;
			bool is_in = cx >= 0 && cy >= 0 && cx < g->crop_w &&
				     cy < g->crop_h;
			const uint8_t *want = want_pixel(w,
				is_in ? g->crop_x + cx : -1000000,
				is_in ? g->crop_y + cy : -1000000);
			const uint8_t *got = tensor + ((size_t)row *
				g->window_w + col) * 3;

			if (memcmp(want, got, 3))
				fail_msg("orientation %d pad %u crop %u,%u %ux%u window %d,%d: pixel %u,%u",
					 w->orientation, w->pad, g->crop_x,
					 g->crop_y, g->crop_w, g->crop_h,
					 g->window_x, g->window_y, col, row);
		}
	}
}

static void run_crops(const struct blob *file, const struct want *w,
		      const struct dlboost_recipe *recipe, uint64_t *rng,
		      int nr_crops)
{
	uint32_t pw = w->up_w + 2 * w->pad, ph = w->up_h + 2 * w->pad;

	for (int i = 0; i < nr_crops; i++) {
		uint32_t cw = 1 + rng_below(rng, pw);
		uint32_t ch = 1 + rng_below(rng, ph);
		struct dlboost_geometry g =
			crop_geometry(rng_below(rng, pw - cw + 1),
				      rng_below(rng, ph - ch + 1), cw, ch);
		struct dlboost_result r;

		if (i % 3 == 0) {
			g.window_x = (int32_t)rng_below(rng, 30) - 15;
			g.window_y = (int32_t)rng_below(rng, 30) - 15;
		}
		assert_int_equal(dlboost_decode(decoder, file->bytes, file->len,
						recipe, DLBOOST_PROFILE_EXACT,
						&g, tensor, sizeof(tensor), &r),
				 0);
		assert_int_equal(r.status, DLBOOST_STATUS_OK);
		check(w, &g);
	}
}

static void orientations(void **state)
{
	struct make how = { .width = 75, .height = 52,
			    .sampling = { 0x22, 0x11, 0x11 } };
	struct blob plain = make_jpeg(&how);
	struct opinion o = plain_decode(plain.bytes, plain.len);
	uint64_t rng = 3;

	for (int orientation = 1; orientation <= 8; orientation++) {
		bool is_swapped = orientation >= 5;
		struct dlboost_recipe recipe = recipe_none();
		struct want w = {
			.o = &o, .orientation = orientation, .fill = 77,
			.up_w = is_swapped ? o.height : o.width,
			.up_h = is_swapped ? o.width : o.height,
		};
		struct blob file = with_orientation(&plain,
						    (uint8_t)orientation,
						    orientation & 1);

		recipe.has_exif = true;
		recipe.fill = w.fill;
		run_crops(&file, &w, &recipe, &rng, 40);
		recipe.pad = w.pad = 5;
		run_crops(&file, &w, &recipe, &rng, 40);
		free(file.bytes);
	}
	free(o.rgb);
	free(plain.bytes);
}

/* Without orient=exif the tag changes nothing */
static void orientation_is_ignored_by_default(void **state)
{
	struct make how = { .width = 20, .height = 30 };
	struct blob plain = make_jpeg(&how);
	struct opinion o = plain_decode(plain.bytes, plain.len);
	struct blob file = with_orientation(&plain, 6, true);
	struct dlboost_recipe recipe = recipe_none();
	struct dlboost_result r;

	assert_int_equal(dlboost_decode(decoder, file.bytes, file.len, &recipe,
					DLBOOST_PROFILE_EXACT, NULL, tensor,
					sizeof(tensor), &r), 0);
	assert_int_equal(r.width, 20);
	assert_memory_equal(tensor, o.rgb, 20 * 30 * 3);
	recipe.has_exif = true;
	assert_int_equal(dlboost_decode(decoder, file.bytes, file.len, &recipe,
					DLBOOST_PROFILE_EXACT, NULL, tensor,
					sizeof(tensor), &r), 0);
	assert_int_equal(r.width, 30);
	assert_int_equal(r.height, 20);
	free(file.bytes);
	free(o.rgb);
	free(plain.bytes);
}

static void padding(void **state)
{
	struct make how = { .width = 32, .height = 32,
			    .sampling = { 0x21, 0x11, 0x11 } };
	struct blob file = make_jpeg(&how);
	struct opinion o = plain_decode(file.bytes, file.len);
	struct dlboost_recipe recipe = recipe_none();
	struct want w = { .o = &o, .orientation = 1, .up_w = 32, .up_h = 32 };
	uint64_t rng = 5;

	for (uint32_t pad = 1; pad <= 40; pad += 13) {
		recipe.pad = w.pad = pad;
		recipe.fill = w.fill = (uint8_t)(pad * 3);
		run_crops(&file, &w, &recipe, &rng, 150);
	}
	free(o.rgb);
	free(file.bytes);
}

static void padding_of_png(void **state)
{
	struct blob file = make_png(33, 21, 2, 8, true, 1);
	struct blob flat = make_png(33, 21, 2, 8, false, 1);
	struct dlboost_recipe recipe = recipe_none();
	static uint8_t whole[33 * 21 * 3];
	struct opinion o = { .width = 33, .height = 21, .rgb = whole };
	struct want w = { .o = &o, .orientation = 1, .up_w = 33, .up_h = 21 };
	struct dlboost_result r;
	uint64_t rng = 6;

	assert_int_equal(dlboost_decode(decoder, flat.bytes, flat.len, &recipe,
					DLBOOST_PROFILE_EXACT, NULL, whole,
					sizeof(whole), &r), 0);
	recipe.pad = w.pad = 9;
	run_crops(&file, &w, &recipe, &rng, 100);
	run_crops(&flat, &w, &recipe, &rng, 100);
	free(flat.bytes);
	free(file.bytes);
}

/* The class does not depend on whether a pixel is needed */
static void crop_in_the_padding_alone(void **state)
{
	struct make how = { .width = 32, .height = 32 };
	struct blob file = make_jpeg(&how);
	struct dlboost_recipe recipe = recipe_none();
	struct dlboost_geometry g = crop_geometry(0, 0, 4, 4);
	struct dlboost_result r;

	recipe.pad = 4;
	recipe.fill = 9;
	memset(tensor, 0, 48);
	assert_int_equal(dlboost_decode(decoder, file.bytes, file.len, &recipe,
					DLBOOST_PROFILE_EXACT, &g, tensor, 48,
					&r), 0);
	assert_int_equal(r.status, DLBOOST_STATUS_OK);
	for (int i = 0; i < 48; i++)
		assert_int_equal(tensor[i], 9);
	assert_int_equal(dlboost_decode(decoder, file.bytes, file.len / 2,
					&recipe, DLBOOST_PROFILE_EXACT, &g,
					tensor, 48, &r), 0);
	assert_int_equal(r.status, DLBOOST_STATUS_TRUNCATED);
	free(file.bytes);
}

static int try_geometry(const struct blob *file, struct dlboost_geometry g)
{
	struct dlboost_recipe recipe = recipe_none();
	struct dlboost_result r;

	return dlboost_decode(decoder, file->bytes, file->len, &recipe,
			      DLBOOST_PROFILE_EXACT, &g, tensor, sizeof(tensor),
			      &r);
}

static void geometry_is_checked(void **state)
{
	struct make how = { .width = 40, .height = 30 };
	struct blob file = make_jpeg(&how);
	const struct dlboost_geometry fits = crop_geometry(10, 10, 30, 20);
	struct dlboost_geometry g;

	assert_int_equal(try_geometry(&file, fits), 0);
#define REFUSE(member, value)						\
	do {								\
		g = fits;						\
		g.member = value;					\
		assert_int_equal(try_geometry(&file, g), -EINVAL);	\
	} while (0)
	REFUSE(crop_x, 11);
	REFUSE(crop_x, UINT32_MAX);
	REFUSE(crop_y, 11);
	REFUSE(crop_w, 0);
	REFUSE(crop_w, UINT32_MAX);
	REFUSE(crop_h, 0);
	REFUSE(crop_h, 21);
	REFUSE(resize_w, 0);
	REFUSE(resize_h, 0);
	REFUSE(window_w, 0);
	REFUSE(window_h, 0);
	REFUSE(window_h, 70000);
	REFUSE(flip, 2);
#undef REFUSE
	free(file.bytes);
}

/* What recipes make of very narrow pictures: the picture's fault, no misuse */
static void long_sides_are_too_large(void **state)
{
	struct make how = { .width = 40, .height = 30 };
	struct blob file = make_jpeg(&how);
	struct dlboost_recipe recipe = recipe_none();
	struct dlboost_geometry g = crop_geometry(10, 10, 30, 20);
	struct dlboost_result r;

	g.resize_w = 65535;
	assert_int_equal(dlboost_decode(decoder, file.bytes, file.len, &recipe,
					DLBOOST_PROFILE_EXACT, &g, tensor,
					sizeof(tensor), &r), 0);
	assert_int_equal(r.status, DLBOOST_STATUS_OK);
	for (int i = 0; i < 2; i++) {
		g.resize_w = i ? 65536 : 20;
		g.resize_h = i ? 30 : UINT32_MAX;
		assert_int_equal(dlboost_decode(decoder, file.bytes, file.len,
						&recipe, DLBOOST_PROFILE_EXACT,
						&g, tensor, sizeof(tensor),
						&r), 0);
		assert_int_equal(r.status, DLBOOST_STATUS_TOO_LARGE);
		assert_int_equal(r.written_bytes, 0);
	}
	free(file.bytes);
}

static void destination_is_checked(void **state)
{
	struct make how = { .width = 40, .height = 30 };
	struct blob file = make_jpeg(&how);
	struct dlboost_recipe recipe = recipe_none();
	struct dlboost_result r;

	assert_int_equal(dlboost_decode(decoder, file.bytes, file.len, &recipe,
					DLBOOST_PROFILE_EXACT, NULL, tensor,
					40 * 30 * 3 - 1, &r), -ENOSPC);
	assert_int_equal(r.written_bytes, 40 * 30 * 3);
	assert_int_equal(dlboost_decode(decoder, file.bytes, file.len, &recipe,
					DLBOOST_PROFILE_EXACT, NULL, tensor,
					40 * 30 * 3, &r), 0);
	assert_int_equal(r.written_bytes, 40 * 30 * 3);
	assert_int_equal(r.width, 40);
	assert_int_equal(r.height, 30);
	assert_int_equal(dlboost_decode(decoder, file.bytes, file.len, &recipe,
					(enum dlboost_profile)7, NULL, tensor,
					sizeof(tensor), &r), -EINVAL);
	free(file.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orientations),
		cmocka_unit_test(orientation_is_ignored_by_default),
		cmocka_unit_test(padding),
		cmocka_unit_test(padding_of_png),
		cmocka_unit_test(crop_in_the_padding_alone),
		cmocka_unit_test(geometry_is_checked),
		cmocka_unit_test(long_sides_are_too_large),
		cmocka_unit_test(destination_is_checked),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
