// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested (Documentation/pixels.rst, "Decode"): coefficients become
 * libjpeg-turbo's pixels, every byte, for whole pictures and every rectangle,
 * in all codings and integer samplings, under every instruction set of this
 * machine; blocks outside the rectangle and its neighbours are not read;
 * nothing is written outside the rows; what is libjpeg's business is refused.
 * Where coefficients are beyond what all builds of libjpeg-turbo agree on, the
 * picture is refused or right: run with and without JSIMD_FORCENONE=1.
 *
 * usage: recon_test FOLDER-OF-PICTURES
 * The corpus is outside the tree: DLBOOST_TEST_CORPUS names its folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <ftw.h>

#include "../decode/decode_util.h"
#include "recon_util.h"

#include "image/recon_int.h"

static const char *const all_sets[] = { "c", "sse4.1", "avx2", "avx512",
					"neon" };
static const char *set_names[5];
static int nr_sets;
static struct dlb_arena arena;
static const char *pictures;
static uint64_t rng = 1;
static int nr_equal, nr_unsure;

/* 0, or what was refused; a wrong byte fails the test */
static int check_rect(const struct reference *ref, const char *what,
		      const struct dlb_extent *rect)
{
	size_t n = (size_t)(rect->x1 - rect->x0) * 4;
	size_t bytes = n * (rect->y1 - rect->y0);
	uint8_t *out = malloc(bytes);
	int ret = recon_rect(ref, rect, &arena, out);

	for (uint32_t y = rect->y0; !ret && y < rect->y1; y++) {
		const uint8_t *want = ref->rgbx +
			((size_t)y * ref->frame.width + rect->x0) * 4;

		if (memcmp(out + (y - rect->y0) * n, want, n))
			fail_msg("%s: %s: row %u of %u..%u x %u..%u differs",
				 what, dlb_resample_simd_name(), y, rect->x0,
				 rect->x1, rect->y0, rect->y1);
	}
	free(out);
	return ret;
}

/* One pixel wide or high, small, or any; a third of each at an edge */
static void draw_side(uint32_t size, uint32_t *from, uint32_t *to)
{
	uint32_t kind = rng_below(&rng, 3), edge = rng_below(&rng, 6);
	uint32_t n = kind == 0 ? 1 : 1 + rng_below(&rng, kind == 1 ? 20 : size);

	n = n < size ? n : size;
	*from = edge == 0 ? 0 : edge == 1 ? size - n :
		rng_below(&rng, size - n + 1);
	*to = *from + n;
}

static int check_all_sets(const struct reference *ref, const char *what,
			  const struct dlb_extent *rect)
{
	int first = 0;

	for (int i = 0; i < nr_sets; i++) {
		int ret;

		assert_int_equal(dlb_resample_simd_set(set_names[i]), 0);
		ret = check_rect(ref, what, rect);
		if (!i)
			first = ret;
		assert_int_equal(ret, first);
	}
	return first;
}

/* The whole picture, which must not be refused, and @nr_rects of it */
static void check_picture(const uint8_t *bytes, size_t len, const char *what,
			  int nr_rects)
{
	struct reference ref;
	struct dlb_extent rect = { 0 };

	if (!reference_read(&ref, bytes, len))
		return;
	rect.x1 = ref.frame.width;
	rect.y1 = ref.frame.height;
	if (check_all_sets(&ref, what, &rect))
		fail_msg("%s: refused", what);
	for (int i = 0; i < nr_rects; i++) {
		draw_side(ref.frame.width, &rect.x0, &rect.x1);
		draw_side(ref.frame.height, &rect.y0, &rect.y1);
		if (check_all_sets(&ref, what, &rect))
			fail_msg("%s: a rectangle is refused", what);
	}
	nr_equal += 1 + nr_rects;
	reference_free(&ref);
}

static const uint8_t samplings[][3] = {
	{ 0x11, 0x11, 0x11 }, { 0x21, 0x11, 0x11 }, { 0x12, 0x11, 0x11 },
	{ 0x22, 0x11, 0x11 }, { 0x41, 0x11, 0x11 }, { 0x14, 0x11, 0x11 },
	{ 0x42, 0x11, 0x11 }, { 0x24, 0x11, 0x11 }, { 0x31, 0x11, 0x11 },
	{ 0x13, 0x11, 0x11 }, { 0x32, 0x11, 0x11 }, { 0x23, 0x11, 0x11 },
	{ 0x22, 0x22, 0x22 }, { 0x22, 0x21, 0x21 }, { 0x22, 0x12, 0x12 },
	{ 0x22, 0x12, 0x21 }, { 0x22, 0x11, 0x22 }, { 0x11, 0x22, 0x22 },
	{ 0x11, 0x21, 0x12 }, { 0x41, 0x21, 0x11 }, { 0x14, 0x12, 0x11 },
	{ 0x42, 0x21, 0x21 }, { 0x24, 0x12, 0x12 }, { 0x42, 0x22, 0x11 },
	{ 0x24, 0x22, 0x11 }, { 0x22, 0x21, 0x11 },
};

#define NR_SAMPLINGS (sizeof(samplings) / sizeof(samplings[0]))

static void check_made(const struct make *how, int nr_rects)
{
	struct blob file = make_jpeg(how);
	char what[100];

	snprintf(what, sizeof(what),
		 "%ux%u, %d components, sampling %x,%x,%x, quality %d, coding %d",
		 how->width, how->height, how->components, how->sampling[0],
		 how->sampling[1], how->sampling[2], how->quality,
		 (int)how->coding);
	check_picture(file.bytes, file.len, what, nr_rects);
	free(file.bytes);
}

static uint32_t nr_blocks(uint8_t sampling)
{
	return (uint32_t)(sampling >> 4) * (sampling & 15);
}

static struct make draw_make(uint32_t i)
{
	struct make how = {
		.width = 1 + rng_below(&rng, 70),
		.height = 1 + rng_below(&rng, 70),
		.components = 3,
		.coding = i % NR_CODINGS,
		.quality = (int)(1 + rng_below(&rng, 100)),
		.is_smooth = rng_below(&rng, 3) == 0,
		.seed = rng_next(&rng),
	};

	if (rng_below(&rng, 4) == 0)
		how.width = 1 + rng_below(&rng, 5);
	if (rng_below(&rng, 4) == 0)
		how.height = 1 + rng_below(&rng, 5);
	memcpy(how.sampling, samplings[i % NR_SAMPLINGS], 3);
	/* An MCU holds ten blocks at most */
	if (nr_blocks(how.sampling[0]) + nr_blocks(how.sampling[1]) +
	    nr_blocks(how.sampling[2]) > 10)
		how.coding = CODING_SEPARATE_SCANS;
	return how;
}

static void made_pictures_are_equal(void **state)
{
	nr_equal = 0;
	for (uint32_t i = 0; i < 40 * NR_SAMPLINGS; i++) {
		struct make how = draw_make(i);

		how.space = rng_below(&rng, 8) ? JCS_YCbCr : JCS_RGB;
		check_made(&how, 6);
	}
	assert_int_equal(nr_equal, 40 * 7 * NR_SAMPLINGS);
	print_message("# %d rectangles\n", nr_equal);
}

static void grey_is_equal(void **state)
{
	static const uint8_t factors[] = { 0x11, 0x21, 0x12, 0x22, 0x41 };

	nr_equal = 0;
	for (uint32_t i = 0; i < 100; i++) {
		struct make how = draw_make(i);

		how.components = 1;
		memset(how.sampling, factors[i % 5], 1);
		check_made(&how, 6);
	}
	assert_int_equal(nr_equal, 700);
}

static void every_size_is_equal(void **state)
{
	nr_equal = 0;
	for (uint32_t w = 1; w <= 70; w++)
		for (uint32_t h = 1; h <= 70; h += 1 + w % 3) {
			struct make how = {
				.width = w, .height = h, .components = 3,
				.sampling = { 0x22, 0x11, 0x11 },
				.quality = (int)(1 + (w * 70 + h) % 100),
				.seed = w * 100 + h,
			};

			if ((w + h) % 4 == 0)
				how.sampling[0] = 0x21;
			check_made(&how, 0);
		}
	print_message("# %d pictures\n", nr_equal);
}

static void every_pixel_is_equal_alone(void **state)
{
	struct make how = {
		.width = 37, .height = 35, .components = 3,
		.sampling = { 0x22, 0x11, 0x11 }, .seed = 5,
	};
	struct blob file = make_jpeg(&how);
	struct reference ref;

	assert_true(reference_read(&ref, file.bytes, file.len));
	for (uint32_t y = 0; y < how.height; y++)
		for (uint32_t x = 0; x < how.width; x++) {
			struct dlb_extent rect = { x, y, x + 1, y + 1 };

			assert_int_equal(check_all_sets(&ref, "a pixel", &rect),
					 0);
		}
	reference_free(&ref);
	free(file.bytes);
}

static int check_entry(const char *path, const struct stat *st, int type,
		       struct FTW *ftw)
{
	const char *dot = strrchr(path, '.');
	struct blob file;

	if (type != FTW_F || !dot || strncmp(dot, ".jp", 3) ||
	    st->st_size > 4 << 20)
		return 0;
	file = read_file(path);
	if (file.len)
		check_picture(file.bytes, file.len, path, 12);
	free(file.bytes);
	return 0;
}

static void golden_pictures_are_equal(void **state)
{
	nr_equal = 0;
	assert_int_equal(nftw(pictures, check_entry, 8, FTW_PHYS), 0);
	assert_in_range(nr_equal, 500, INT32_MAX);
	print_message("# %d rectangles\n", nr_equal);
}

static void corpus_is_equal(void **state)
{
	const char *corpus = getenv("DLBOOST_TEST_CORPUS");

	if (!corpus) {
		print_message("# SKIP DLBOOST_TEST_CORPUS names no folder\n");
		return;
	}
	nr_equal = 0;
	assert_int_equal(nftw(corpus, check_entry, 8, FTW_PHYS), 0);
	assert_in_range(nr_equal, 200, INT32_MAX);
	print_message("# %d rectangles\n", nr_equal);
}

/* Coefficients of any size, tables of any size: what an encoder never makes */
struct wild {
	uint32_t width, height;
	uint8_t sampling;
	uint32_t max_coef, max_quant, nr_coefs;
};

static void fill_wild(struct jpeg_compress_struct *c, jvirt_barray_ptr *arrays,
		      const struct wild *how)
{
	for (int i = 0; i < c->num_components; i++)
		for (JDIMENSION y = 0; y < c->comp_info[i].height_in_blocks;
		     y++) {
			JBLOCKARRAY row = c->mem->access_virt_barray(
				(j_common_ptr)c, arrays[i], y, 1, TRUE);

			for (JDIMENSION x = 0;
			     x < c->comp_info[i].width_in_blocks; x++)
				for (uint32_t k = 0; k < how->nr_coefs; k++)
					row[0][x][k ? rng_below(&rng, 64) : 0] =
						(JCOEF)(rng_below(&rng,
						2 * how->max_coef + 1) -
						how->max_coef);
		}
}

/* "quantization tables are too coarse for baseline" is what is wanted */
static void keep_quiet(j_common_ptr cinfo, int level)
{
}

static struct blob make_wild(const struct wild *how)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr err;
	jvirt_barray_ptr arrays[3];
	unsigned char *out = NULL;
	unsigned long len = 0;
	unsigned int table[64];

	memset(&c, 0, sizeof(c));
	c.err = jpeg_std_error(&err);
	err.emit_message = keep_quiet;
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &out, &len);
	c.image_width = how->width;
	c.image_height = how->height;
	c.input_components = 3;
	c.in_color_space = JCS_RGB;
	jpeg_set_defaults(&c);
	for (int i = 0; i < 64; i++)
		table[i] = 1 + rng_below(&rng, how->max_quant);
	jpeg_add_quant_table(&c, 0, table, 100, FALSE);
	jpeg_add_quant_table(&c, 1, table, 100, FALSE);
	c.optimize_coding = TRUE;
	c.comp_info[0].h_samp_factor = how->sampling >> 4;
	c.comp_info[0].v_samp_factor = how->sampling & 15;
	for (int i = 0; i < 3; i++) {
		jpeg_component_info *info = &c.comp_info[i];
		uint32_t h = info->h_samp_factor, v = info->v_samp_factor;

		info->width_in_blocks = (how->width * h + 8 * (how->sampling >>
			4) - 1) / (8 * (how->sampling >> 4));
		info->height_in_blocks = (how->height * v + 8 * (how->sampling &
			15) - 1) / (8 * (how->sampling & 15));
		arrays[i] = c.mem->request_virt_barray((j_common_ptr)&c,
			JPOOL_IMAGE, TRUE, (info->width_in_blocks + 3) & ~3u,
			(info->height_in_blocks + 3) & ~3u, 4);
	}
	jpeg_write_coefficients(&c, arrays);
	fill_wild(&c, arrays, how);
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	return (struct blob){ out, len };
}

static void wild_coefficients_are_equal_or_refused(void **state)
{
	static const uint32_t limits[] = { 3, 20, 100, 400, 1000 };
	static const uint32_t tables[] = { 1, 3, 16, 60, 255, 4000, 32767,
					   65535 };

	nr_equal = 0;
	nr_unsure = 0;
	for (uint32_t i = 0; i < 1600; i++) {
		struct wild how = {
			.width = 1 + rng_below(&rng, 40),
			.height = 1 + rng_below(&rng, 40),
			.sampling = i & 1 ? 0x11 : 0x22,
			.max_coef = limits[i % 5],
			.max_quant = tables[i / 5 % 8],
			.nr_coefs = 1 + rng_below(&rng, i % 3 ? 4 : 64),
		};
		struct blob file = make_wild(&how);
		struct reference ref;
		struct dlb_extent rect = { 0, 0, how.width, how.height };
		int ret;

		assert_true(reference_read(&ref, file.bytes, file.len));
		ret = check_all_sets(&ref, "wild", &rect);
		assert_true(!ret || ret == -ERANGE);
		nr_equal += !ret;
		nr_unsure += ret == -ERANGE;
		reference_free(&ref);
		free(file.bytes);
	}
	print_message("# %d equal, %d refused\n", nr_equal, nr_unsure);
	assert_in_range(nr_equal, 400, 1500);
}

/* One grey block with coefficient @k; the rest is 0 */
static int push_block(uint32_t k, int16_t coef, uint16_t quant,
		      uint16_t other_quant)
{
	static int16_t block[64] __attribute__((aligned(64)));
	uint8_t last = 63;
	struct dlb_coef_row row = { .blocks = { block }, .last = { &last } };
	struct dlb_extent rect = { 0, 0, 8, 8 };
	struct dlb_frame frame = {
		.width = 8, .height = 8, .nr_components = 1,
		.h_max = 1, .v_max = 1, .mcu_rows = 1, .mcu_cols = 1,
		.component = { { .h = 1, .v = 1, .width = 8, .height = 8,
				 .mcu_row_blocks = 1 } },
	};
	struct dlb_recon rc;

	memset(block, 0, sizeof(block));
	block[k] = coef;
	for (uint32_t i = 0; i < 64; i++)
		frame.component[0].quant[i] = i == k ? quant : other_quant;
	dlb_arena_reset(&arena, SIZE_MAX);
	assert_int_equal(dlb_recon_begin(&rc, &arena, &frame, &rect), 0);
	return dlb_recon_push(&rc, &row);
}

/* 4 * 16384 is 0 in 16 bits, in libjpeg-turbo's SIMD code, not in its C code */
static void products_beyond_16_bits_are_refused(void **state)
{
	for (int i = 0; i < nr_sets; i++) {
		assert_int_equal(dlb_resample_simd_set(set_names[i]), 0);
		for (uint32_t k = 0; k < 64; k++) {
			assert_int_equal(push_block(k, 4, 16384, 1), -ERANGE);
			assert_int_equal(push_block(k, -8, 8192, 1), -ERANGE);
			assert_int_equal(push_block(k, 1, 16384, 1), -ERANGE);
			assert_int_equal(push_block(k, 1, 1000, 1), 0);
			assert_int_equal(push_block(k, 200, 4, 32767), 0);
			assert_int_equal(push_block(k, -200, 4, 32767), 0);
		}
	}
}

static void what_libjpeg_must_do_is_refused(void **state)
{
	struct dlb_extent rect = { 0, 0, 16, 16 };
	struct dlb_frame frame = {
		.width = 16, .height = 16, .nr_components = 3,
		.h_max = 2, .v_max = 2, .mcu_rows = 1, .mcu_cols = 1,
	};
	struct dlb_recon rc;

	for (int i = 0; i < 3; i++)
		frame.component[i] = (struct dlb_component){
			.h = i ? 1 : 2, .v = i ? 1 : 2,
			.width = i ? 8 : 16, .height = i ? 8 : 16,
			.mcu_row_blocks = i ? 1 : 2,
		};
	dlb_arena_reset(&arena, SIZE_MAX);
	assert_int_equal(dlb_recon_begin(&rc, &arena, &frame, &rect), 0);
	frame.component[1].quant[63] = 32768;
	assert_int_equal(dlb_recon_begin(&rc, &arena, &frame, &rect), -ERANGE);
	frame.component[1].quant[63] = 32767;
	assert_int_equal(dlb_recon_begin(&rc, &arena, &frame, &rect), 0);
	frame.nr_components = 4;
	assert_int_equal(dlb_recon_begin(&rc, &arena, &frame, &rect),
			 -EOPNOTSUPP);
	frame.nr_components = 2;
	assert_int_equal(dlb_recon_begin(&rc, &arena, &frame, &rect),
			 -EOPNOTSUPP);
	frame.nr_components = 3;
	frame.h_max = 3;
	assert_int_equal(dlb_recon_begin(&rc, &arena, &frame, &rect),
			 -EOPNOTSUPP);
}

static void small_arena_is_an_error(void **state)
{
	struct make how = { .width = 500, .height = 40, .components = 3 };
	struct blob file = make_jpeg(&how);
	struct dlb_extent rect = { 0, 0, 500, 40 };
	struct dlb_arena small;
	struct reference ref;
	uint8_t *out = malloc(500 * 40 * 4);

	assert_true(reference_read(&ref, file.bytes, file.len));
	assert_int_equal(dlb_arena_init(&small, 8192), 0);
	assert_int_equal(recon_rect(&ref, &rect, &small, out), -ENOMEM);
	dlb_arena_fini(&small);
	reference_free(&ref);
	free(file.bytes);
	free(out);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_pictures_are_equal),
		cmocka_unit_test(grey_is_equal),
		cmocka_unit_test(every_size_is_equal),
		cmocka_unit_test(every_pixel_is_equal_alone),
		cmocka_unit_test(golden_pictures_are_equal),
		cmocka_unit_test(corpus_is_equal),
		cmocka_unit_test(wild_coefficients_are_equal_or_refused),
		cmocka_unit_test(products_beyond_16_bits_are_refused),
		cmocka_unit_test(what_libjpeg_must_do_is_refused),
		cmocka_unit_test(small_arena_is_an_error),
	};
	int ret;

	if (argc != 2)
		return 2;
	pictures = argv[1];
	for (size_t i = 0; i < sizeof(all_sets) / sizeof(all_sets[0]); i++)
		if (!dlb_resample_simd_set(all_sets[i]))
			set_names[nr_sets++] = all_sets[i];
	if (dlb_arena_init(&arena, 256 << 20))
		return 2;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	dlb_arena_fini(&arena);
	return ret;
}
