// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises (Documentation/pixels.rst, "PNG"): every colour type of up to 8 bits
 * becomes RGB as Pillow's convert("RGB") does it (palette looked up, grey
 * scaled to 0..255, alpha dropped), interlaced or not; a crop is a part of the
 * whole; a cut file is TRUNCATED and a damaged one CORRUPT, whatever the crop;
 * chunks that cannot change a pixel are not looked at.
 *
 * Reference: libspng's plain decode of the whole picture to its own samples,
 * expanded here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <spng.h>

#include "decode_util.h"

#define WIDTH 37
#define HEIGHT 23

static struct dlboost_decoder *decoder;
static struct dlboost_recipe recipe;
static uint8_t tensor[WIDTH * HEIGHT * 3];

static int setup(void **state)
{
	recipe = recipe_none();
	return dlboost_decoder_create(NULL, &decoder);
}

static int teardown(void **state)
{
	dlboost_decoder_destroy(decoder);
	return 0;
}

static struct dlboost_result decode(const struct blob *file,
				    const struct dlboost_geometry *g)
{
	struct dlboost_result r;

	assert_int_equal(dlboost_decode(decoder, file->bytes, file->len,
					&recipe, DLBOOST_PROFILE_EXACT, g,
					tensor, sizeof(tensor), &r), 0);
	return r;
}

/* Sample @idx of a row of @depth bits a sample */
static int sample(const uint8_t *row, size_t idx, int depth)
{
	size_t bit = idx * (size_t)depth;

	return row[bit / 8] >> (8 - depth - (int)(bit % 8)) &
	       ((1 << depth) - 1);
}

static void expand(const struct blob *file, int colour_type, int depth,
		   uint8_t *rgb)
{
	static const int channels[7] = { 1, 0, 3, 1, 2, 0, 4 };
	spng_ctx *ctx = spng_ctx_new(0);
	struct spng_plte plte = { 0 };
	size_t len, stride;
	uint8_t *raw;

	spng_set_png_buffer(ctx, file->bytes, file->len);
	assert_int_equal(spng_decoded_image_size(ctx, SPNG_FMT_PNG, &len), 0);
	raw = calloc(1, len);
	assert_int_equal(spng_decode_image(ctx, raw, len, SPNG_FMT_PNG, 0), 0);
	if (colour_type == 3)
		assert_int_equal(spng_get_plte(ctx, &plte), 0);
	stride = len / HEIGHT;
	for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
		const uint8_t *row = raw + i / WIDTH * stride;
		size_t at = i % WIDTH * (size_t)channels[colour_type];
		int first = sample(row, at, depth);

		for (int c = 0; c < 3; c++)
			if (colour_type == 3)
				rgb[3 * i + c] = (&plte.entries[first].red)[c];
			else if (channels[colour_type] < 3)
				rgb[3 * i + c] = (uint8_t)(first * 255 /
							   ((1 << depth) - 1));
			else
				rgb[3 * i + c] = row[at + c];
	}
	free(raw);
	spng_ctx_free(ctx);
}

static void check_crops(const struct blob *file, const uint8_t *whole,
			uint64_t *rng)
{
	for (int i = 0; i < 30; i++) {
		uint32_t w = 1 + rng_below(rng, WIDTH);
		uint32_t h = 1 + rng_below(rng, HEIGHT);
		struct dlboost_geometry g =
			crop_geometry(rng_below(rng, WIDTH - w + 1),
				      rng_below(rng, HEIGHT - h + 1), w, h);

		assert_int_equal(decode(file, &g).status, DLBOOST_STATUS_OK);
		for (uint32_t y = 0; y < h; y++)
			assert_memory_equal(tensor + y * w * 3,
					    whole + ((g.crop_y + y) * WIDTH +
						     g.crop_x) * 3, w * 3);
	}
}

static void every_colour_type(void **state)
{
	static const int forms[][2] = {
		{ 0, 1 }, { 0, 2 }, { 0, 4 }, { 0, 8 }, { 2, 8 }, { 3, 1 },
		{ 3, 2 }, { 3, 4 }, { 3, 8 }, { 4, 8 }, { 6, 8 },
	};
	static uint8_t want[WIDTH * HEIGHT * 3];
	uint64_t rng = 1;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		for (int interlaced = 0; interlaced < 2; interlaced++) {
			struct blob file = make_png(WIDTH, HEIGHT, forms[i][0],
						    forms[i][1], interlaced, i);

			expand(&file, forms[i][0], forms[i][1], want);
			assert_int_equal(decode(&file, NULL).status,
					 DLBOOST_STATUS_OK);
			assert_memory_equal(tensor, want, sizeof(want));
			check_crops(&file, want, &rng);
			free(file.bytes);
		}
	}
}

static size_t find_idat(const struct blob *file)
{
	for (size_t i = 0; i + 4 < file->len; i++)
		if (!memcmp(file->bytes + i, "IDAT", 4))
			return i;
	return 0;
}

static void every_truncation(void **state)
{
	const struct dlboost_geometry top = crop_geometry(0, 0, 1, 1);

	for (int interlaced = 0; interlaced < 2; interlaced++) {
		struct blob file = make_png(WIDTH, HEIGHT, 2, 8, interlaced, 3);
		size_t idat = find_idat(&file);

		/* Without IEND, the CRC or Adler32 all rows are there */
		for (size_t len = 33; len < file.len - 20; len += 7) {
			struct blob part = { malloc(len), len };

			memcpy(part.bytes, file.bytes, len);
			assert_int_equal(decode(&part, NULL).status,
					 DLBOOST_STATUS_TRUNCATED);
			assert_int_equal(decode(&part, &top).status,
					 DLBOOST_STATUS_TRUNCATED);
			free(part.bytes);
		}
		assert_true(idat > 33);
		free(file.bytes);
	}
}

static void damage_is_corrupt(void **state)
{
	const struct dlboost_geometry top = crop_geometry(0, 0, 1, 1);
	struct blob file = make_png(WIDTH, HEIGHT, 2, 8, false, 4);
	size_t idat = find_idat(&file);
	struct dlboost_result r;

	/* A bit in the middle of the data: stream or filter error */
	file.bytes[idat + 4 + 2] ^= 0xff;
	r = decode(&file, NULL);
	assert_int_equal(r.status, DLBOOST_STATUS_CORRUPT);
	assert_non_null(strstr(r.message, "damaged PNG"));
	assert_int_equal(decode(&file, &top).status, DLBOOST_STATUS_CORRUPT);
	file.bytes[idat + 4 + 2] ^= 0xff;
	assert_int_equal(decode(&file, NULL).status, DLBOOST_STATUS_OK);
	/* IHDR's CRC */
	file.bytes[29] ^= 1;
	assert_int_equal(decode(&file, NULL).status, DLBOOST_STATUS_CORRUPT);
	free(file.bytes);
}

/* Ten megabytes of text, with a wrong CRC: passed over */
static void other_chunks_are_not_looked_at(void **state)
{
	static uint8_t want[sizeof(tensor)];
	struct blob file = make_png(WIDTH, HEIGHT, 2, 8, false, 5);
	size_t text = 10u << 20, at = 33;
	struct blob big = { calloc(1, file.len + text + 12),
			    file.len + text + 12 };

	assert_int_equal(decode(&file, NULL).status, DLBOOST_STATUS_OK);
	memcpy(want, tensor, sizeof(want));
	memcpy(big.bytes, file.bytes, at);
	big.bytes[at + 1] = (uint8_t)(text >> 16);
	memcpy(big.bytes + at + 4, "tEXt", 4);
	memcpy(big.bytes + at + 12 + text, file.bytes + at, file.len - at);
	assert_int_equal(decode(&big, NULL).status, DLBOOST_STATUS_OK);
	assert_memory_equal(tensor, want, sizeof(want));
	free(big.bytes);
	free(file.bytes);
}

static void random_damage(void **state)
{
	uint64_t rng = 9;

	for (int form = 0; form < 4; form++) {
		struct blob file = make_png(WIDTH, HEIGHT, form & 1 ? 3 : 6, 8,
					    form > 1, 6);
		struct blob bad = { malloc(file.len), file.len };

		for (int i = 0; i < 400; i++) {
			const struct dlboost_geometry top =
				crop_geometry(0, 0, 1, 1);
			struct dlboost_image_info info;
			struct dlboost_result r;
			uint32_t at;

			memcpy(bad.bytes, file.bytes, file.len);
			at = 33 + rng_below(&rng, (uint32_t)file.len - 33);
			bad.bytes[at] ^= (uint8_t)(1u << rng_below(&rng, 8));
			if (dlboost_probe(bad.bytes, bad.len, NULL, &info, &r))
				continue;
			r = decode(&bad, NULL);
			assert_int_equal(decode(&bad, &top).status, r.status);
			assert_true(!r.status || r.message[0]);
		}
		free(bad.bytes);
		free(file.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_colour_type),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(damage_is_corrupt),
		cmocka_unit_test(other_chunks_are_not_looked_at),
		cmocka_unit_test(random_damage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
