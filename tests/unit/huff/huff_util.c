// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Compares the entropy decoder with libjpeg-turbo, block by block; shared by
 * the tests of this folder and the fuzz target.  Asserts nothing itself.
 */
#include "huff_util.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#define MAX_PIXELS (1u << 22)
#define CANARY 0x5a

struct checker {
	struct jpeg_error_mgr err;	/* first: callbacks find us by it */
	jmp_buf bail;
	struct jpeg_decompress_struct cinfo;
	jvirt_barray_ptr *coefs;
	bool has_error;
	struct dlb_huff *huff;
	struct dlb_frame frame;
	struct dlb_coef_row row;
	size_t row_blocks[DLB_MAX_COMPONENTS];
};

static void checker_error(j_common_ptr cinfo)
{
	longjmp(((struct checker *)cinfo->err)->bail, 1);
}

/* Traces are libjpeg's, not the test's, to say */
static void checker_output(j_common_ptr cinfo)
{
}

static void checker_message(j_common_ptr cinfo, int level)
{
	if (level < 0)
		cinfo->err->num_warnings++;
}

struct checker *checker_create(void)
{
	struct checker *c = calloc(1, sizeof(*c));

	if (!c || dlb_huff_create(&c->huff))
		abort();
	c->cinfo.err = jpeg_std_error(&c->err);
	c->err.error_exit = checker_error;
	c->err.emit_message = checker_message;
	c->err.output_message = checker_output;
	return c;
}

static void checker_free_row(struct checker *c)
{
	for (int i = 0; i < DLB_MAX_COMPONENTS; i++) {
		free(c->row.blocks[i]);
		free(c->row.last[i]);
	}
	memset(&c->row, 0, sizeof(c->row));
}

void checker_destroy(struct checker *c)
{
	checker_free_row(c);
	dlb_huff_destroy(c->huff);
	free(c);
}

const char *checker_set(int idx)
{
	static const char *const names[] = { "bmi2", "c" };
	const char *found = NULL;

	for (size_t i = 0; i < 2 && !found; i++)
		if (!dlb_huff_simd_set(names[i]) && !idx--)
			found = names[i];
	dlb_huff_simd_set(NULL);
	return found;
}

bool checker_libjpeg_complained(const struct checker *c)
{
	return c->has_error || c->err.num_warnings;
}

/* False: too large.  Coefficients stay in cinfo's memory */
static bool checker_libjpeg(struct checker *c, const uint8_t *bytes, size_t len)
{
	c->has_error = false;
	c->coefs = NULL;
	if (setjmp(c->bail)) {
		c->has_error = true;
		return true;
	}
	jpeg_create_decompress(&c->cinfo);
	jpeg_mem_src(&c->cinfo, bytes, len);
	jpeg_read_header(&c->cinfo, TRUE);
	if ((uint64_t)c->cinfo.image_width * c->cinfo.image_height > MAX_PIXELS)
		return false;
	c->coefs = jpeg_read_coefficients(&c->cinfo);
	/* Until EOI, as jpeg_finish_decompress() does; it would free them */
	while (!jpeg_input_complete(&c->cinfo))
		if (jpeg_consume_input(&c->cinfo) == JPEG_SUSPENDED)
			break;
	return true;
}

static enum verdict wrong(const char *what, uint32_t i, uint32_t y, uint32_t x)
{
	fprintf(stderr, "component %u, row %u, column %u: %s\n", i, y, x, what);
	return VERDICT_WRONG;
}

static void checker_make_row(struct checker *c)
{
	checker_free_row(c);
	for (uint32_t i = 0; i < c->frame.nr_components; i++) {
		const struct dlb_component *comp = &c->frame.component[i];
		size_t nr = (size_t)comp->mcu_row_blocks * comp->v;

		c->row_blocks[i] = nr;
		c->row.blocks[i] = aligned_alloc(64, nr * 128);
		c->row.last[i] = malloc(nr);
		if (!c->row.blocks[i] || !c->row.last[i])
			abort();
	}
}

static void checker_clear_row(struct checker *c)
{
	for (uint32_t i = 0; i < c->frame.nr_components; i++) {
		memset(c->row.blocks[i], CANARY, c->row_blocks[i] * 128);
		memset(c->row.last[i], CANARY, c->row_blocks[i]);
	}
}

/* Ours says how far one must look: nothing but zeros behind it */
static bool last_is_right(const int16_t *block, uint8_t last)
{
	static const uint8_t zigzag[64] = {
		0,  1,	8,  16, 9,  2,	3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
		12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,	7,  14, 21, 28,
		35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
		58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
	};

	for (uint32_t k = last + 1u; k < 64; k++)
		if (block[zigzag[k]])
			return false;
	/* Runs of 16 zeros may end a block */
	if (last && !block[zigzag[last]])
		for (uint32_t k = last; k > last - 15u && k; k--)
			if (block[zigzag[k]])
				return false;
	return last < 64;
}

static bool is_untouched(const int16_t *block, uint8_t last)
{
	const uint8_t *bytes = (const uint8_t *)block;

	for (int i = 0; i < 128; i++)
		if (bytes[i] != CANARY)
			return false;
	return last == CANARY;
}

static enum verdict compare_row(struct checker *c, uint32_t i, uint32_t mcu_row,
				uint32_t first, uint32_t end)
{
	const struct dlb_component *comp = &c->frame.component[i];

	for (uint32_t y = 0; y < comp->v; y++) {
		JBLOCKARRAY theirs = c->cinfo.mem->access_virt_barray(
			(j_common_ptr)&c->cinfo, c->coefs[i],
			mcu_row * comp->v + y, 1, FALSE);

		for (uint32_t x = 0; x < comp->mcu_row_blocks; x++) {
			size_t idx = y * comp->mcu_row_blocks + x;
			const int16_t *ours = c->row.blocks[i] + idx * 64;
			uint8_t last = c->row.last[i][idx];

			if (x / comp->h < first || x / comp->h >= end) {
				if (!is_untouched(ours, last))
					return wrong("touched", i, mcu_row, x);
				continue;
			}
			if (memcmp(ours, theirs[0][x], 128))
				return wrong("differs", i, mcu_row, x);
			if (!last_is_right(ours, last))
				return wrong("last index", i, mcu_row, x);
		}
	}
	return VERDICT_EQUAL;
}

static enum verdict compare_frame(struct checker *c)
{
	const struct dlb_frame *f = &c->frame;
	const struct jpeg_decompress_struct *cinfo = &c->cinfo;

	if (f->width != cinfo->image_width ||
	    f->height != cinfo->image_height ||
	    f->nr_components != (uint32_t)cinfo->num_components ||
	    (f->nr_components == 3 &&
	     f->is_rgb != (cinfo->jpeg_color_space == JCS_RGB)))
		return wrong("frame", 0, 0, 0);
	for (uint32_t i = 0; i < f->nr_components; i++) {
		const struct dlb_component *comp = &f->component[i];
		const jpeg_component_info *info = &cinfo->comp_info[i];

		if (comp->width != info->downsampled_width ||
		    comp->height != info->downsampled_height ||
		    comp->id != info->component_id || !info->quant_table ||
		    memcmp(comp->quant, info->quant_table->quantval, 128))
			return wrong("component", i, 0, 0);
	}
	return VERDICT_EQUAL;
}

/* libjpeg was content: all must be equal, or we give the file up */
static enum verdict checker_rows(struct checker *c, uint32_t columns,
				 bool is_compared)
{
	uint32_t cols = c->frame.mcu_cols, first = 0, end = cols;

	if (columns) {
		first = columns % (cols + 1);
		end = first + (columns >> 8) % (cols + 1 - first);
	}
	checker_make_row(c);
	for (uint32_t y = 0; y < c->frame.mcu_rows; y++) {
		bool is_dropped = columns && (columns >> (y & 15)) & 1;

		checker_clear_row(c);
		if (dlb_huff_row(c->huff, is_dropped ? NULL : &c->row, first,
				 end))
			return VERDICT_BROKEN;
		if (!is_compared)
			continue;
		for (uint32_t i = 0; i < c->frame.nr_components; i++)
			if (compare_row(c, i, y, is_dropped ? 0 : first,
					is_dropped ? 0 : end))
				return VERDICT_WRONG;
	}
	return dlb_huff_finish(c->huff) ? VERDICT_BROKEN : VERDICT_EQUAL;
}

enum verdict checker_run(struct checker *c, const uint8_t *bytes, size_t len,
			 uint32_t columns)
{
	enum verdict verdict = VERDICT_SKIPPED;
	bool is_clean;

	if (!checker_libjpeg(c, bytes, len))
		goto out;
	is_clean = !checker_libjpeg_complained(c);
	verdict = VERDICT_REFUSED;
	if (dlb_huff_open(c->huff, bytes, len, &c->frame))
		goto out;
	if (is_clean && compare_frame(c)) {
		verdict = VERDICT_WRONG;
		goto out;
	}
	verdict = checker_rows(c, columns, is_clean);
	if (verdict == VERDICT_EQUAL && !is_clean)
		verdict = wrong("taken, but libjpeg complained", 0, 0, 0);
out:
	jpeg_destroy_decompress(&c->cinfo);
	return verdict;
}
