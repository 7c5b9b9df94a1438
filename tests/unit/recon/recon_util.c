// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The plain use of libjpeg, twice a file: jpeg_read_coefficients() for what
 * goes into the reconstruction, jpeg_read_scanlines() for what must come out.
 * Asserts nothing itself.
 */
#include "recon_util.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#define POISON 0x5a
#define MAX_PIXELS (20u << 20)

struct failure {
	struct jpeg_error_mgr err;
	jmp_buf bail;
};

static void bail_out(j_common_ptr cinfo)
{
	longjmp(((struct failure *)cinfo->err)->bail, 1);
}

static void count_warning(j_common_ptr cinfo, int level)
{
	if (level < 0)
		cinfo->err->num_warnings++;
}

static void open_file(struct jpeg_decompress_struct *c, struct failure *failure,
		      const uint8_t *bytes, size_t len)
{
	c->err = jpeg_std_error(&failure->err);
	failure->err.error_exit = bail_out;
	failure->err.emit_message = count_warning;
	jpeg_create_decompress(c);
	jpeg_mem_src(c, bytes, len);
	jpeg_read_header(c, TRUE);
}

static bool is_complete(const struct jpeg_decompress_struct *c)
{
	for (int i = 0; c->progressive_mode && i < c->num_components; i++)
		for (int k = 0; k < DCTSIZE2; k++)
			if (c->coef_bits[i][k] != 0)
				return false;
	return true;
}

static void copy_header(struct dlb_frame *frame,
			const struct jpeg_decompress_struct *c)
{
	frame->width = c->image_width;
	frame->height = c->image_height;
	frame->nr_components = (uint32_t)c->num_components;
	frame->h_max = (uint32_t)c->max_h_samp_factor;
	frame->v_max = (uint32_t)c->max_v_samp_factor;
	frame->mcu_cols = (c->image_width + 8 * frame->h_max - 1) /
			  (8 * frame->h_max);
	frame->mcu_rows = (c->image_height + 8 * frame->v_max - 1) /
			  (8 * frame->v_max);
	frame->is_rgb = c->jpeg_color_space == JCS_RGB;
	for (int i = 0; i < c->num_components; i++) {
		const jpeg_component_info *info = &c->comp_info[i];
		struct dlb_component *comp = &frame->component[i];

		comp->h = (uint8_t)info->h_samp_factor;
		comp->v = (uint8_t)info->v_samp_factor;
		comp->width = (frame->width * comp->h + frame->h_max - 1) /
			      frame->h_max;
		comp->height = (frame->height * comp->v + frame->v_max - 1) /
			       frame->v_max;
		comp->mcu_row_blocks = frame->mcu_cols * comp->h;
		memcpy(comp->quant, info->quant_table->quantval,
		       sizeof(comp->quant));
	}
}

static uint8_t last_of(const int16_t *block)
{
	static const uint8_t natural[64] = {
		 0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
		12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
		35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
		58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
	};
	uint8_t k = 63;

	while (k && !block[natural[k]])
		k--;
	return k;
}

static void copy_component(struct reference *ref, int c,
			   struct jpeg_decompress_struct *cinfo,
			   jvirt_barray_ptr array)
{
	const struct dlb_component *comp = &ref->frame.component[c];
	jpeg_component_info *info = &cinfo->comp_info[c];
	size_t nr = (size_t)ref->frame.mcu_rows * comp->v *
		    comp->mcu_row_blocks;

	ref->blocks[c] = aligned_alloc(64, nr * 128);
	ref->last[c] = malloc(nr);
	memset(ref->blocks[c], POISON, nr * 128);
	memset(ref->last[c], POISON, nr);
	for (JDIMENSION y = 0; y < info->height_in_blocks; y++) {
		JBLOCKARRAY row = cinfo->mem->access_virt_barray(
			(j_common_ptr)cinfo, array, y, 1, FALSE);
		size_t at = (size_t)y * comp->mcu_row_blocks;

		for (JDIMENSION x = 0; x < info->width_in_blocks; x++) {
			memcpy(ref->blocks[c] + (at + x) * 64, row[0][x], 128);
			ref->last[c][at + x] = last_of(row[0][x]);
		}
	}
}

static bool read_coefs(struct reference *ref, const uint8_t *bytes, size_t len)
{
	struct jpeg_decompress_struct c;
	struct failure failure;
	volatile bool is_good = false;

	memset(&c, 0, sizeof(c));
	if (!setjmp(failure.bail)) {
		jvirt_barray_ptr *arrays;

		open_file(&c, &failure, bytes, len);
		if ((c.num_components == 1 || c.num_components == 3) &&
		    (uint64_t)c.image_width * c.image_height <= MAX_PIXELS) {
			arrays = jpeg_read_coefficients(&c);
			is_good = is_complete(&c);
			copy_header(&ref->frame, &c);
			for (int i = 0; i < c.num_components; i++)
				copy_component(ref, i, &c, arrays[i]);
			jpeg_finish_decompress(&c);
		}
		is_good = is_good && !failure.err.num_warnings;
	} else {
		is_good = false;
	}
	jpeg_destroy_decompress(&c);
	return is_good;
}

static bool read_pixels(struct reference *ref, const uint8_t *bytes, size_t len)
{
	struct jpeg_decompress_struct c;
	struct failure failure;
	volatile bool is_good = false;

	memset(&c, 0, sizeof(c));
	if (!setjmp(failure.bail)) {
		open_file(&c, &failure, bytes, len);
		c.out_color_space = JCS_EXT_RGBX;
		jpeg_start_decompress(&c);
		ref->rgbx = malloc((size_t)c.output_width * c.output_height * 4);
		while (c.output_scanline < c.output_height) {
			JSAMPROW row = ref->rgbx + (size_t)c.output_scanline *
						   c.output_width * 4;

			jpeg_read_scanlines(&c, &row, 1);
		}
		jpeg_finish_decompress(&c);
		is_good = !failure.err.num_warnings;
	}
	jpeg_destroy_decompress(&c);
	return is_good;
}

bool reference_read(struct reference *ref, const uint8_t *bytes, size_t len)
{
	memset(ref, 0, sizeof(*ref));
	if (read_coefs(ref, bytes, len) && read_pixels(ref, bytes, len))
		return true;
	reference_free(ref);
	return false;
}

void reference_free(struct reference *ref)
{
	for (int i = 0; i < 3; i++) {
		free(ref->blocks[i]);
		free(ref->last[i]);
	}
	free(ref->rgbx);
	memset(ref, 0, sizeof(*ref));
}

/* MCU row @m in memory of its own, poisoned but for what was asked for */
static void fill_row(const struct reference *ref, const struct dlb_recon *rc,
		     uint32_t m, struct dlb_coef_row *row)
{
	for (uint32_t c = 0; c < ref->frame.nr_components; c++) {
		const struct dlb_component *comp = &ref->frame.component[c];
		size_t nr = (size_t)comp->v * comp->mcu_row_blocks;
		size_t n = (size_t)(rc->mcu_col1 - rc->mcu_col0) * comp->h;

		memset(row->blocks[c], POISON, nr * 128);
		memset(row->last[c], POISON, nr);
		for (uint32_t v = 0; v < comp->v; v++) {
			size_t to = (size_t)v * comp->mcu_row_blocks +
				    (size_t)rc->mcu_col0 * comp->h;
			size_t from = (size_t)m * nr + to;

			memcpy(row->blocks[c] + to * 64,
			       ref->blocks[c] + from * 64, n * 128);
			memcpy(row->last[c] + to, ref->last[c] + from, n);
		}
	}
}

static int push_all(const struct reference *ref, struct dlb_recon *rc,
		    struct dlb_coef_row *row, uint32_t width, uint8_t *out)
{
	size_t stride = (size_t)width * DLB_PIXEL_BYTES;
	uint32_t max_rows = 1 + width % 5, nr;

	for (uint32_t m = rc->mcu_row0; m < rc->mcu_row1; m++) {
		int ret;

		fill_row(ref, rc, m, row);
		ret = dlb_recon_push(rc, row);
		if (ret)
			return ret;
		while ((nr = dlb_recon_take(rc, out, stride, max_rows)))
			out += nr * stride;
	}
	return rc->next_y == rc->rect.y1 ? 0 : -EPROTO;
}

int recon_rect(const struct reference *ref, const struct dlb_extent *rect,
	       struct dlb_arena *arena, uint8_t *out)
{
	struct dlb_coef_row row = { 0 };
	struct dlb_recon rc;
	int ret;

	dlb_arena_reset(arena, SIZE_MAX);
	ret = dlb_recon_begin(&rc, arena, &ref->frame, rect);
	if (ret)
		return ret;
	for (uint32_t c = 0; c < ref->frame.nr_components; c++) {
		const struct dlb_component *comp = &ref->frame.component[c];
		size_t nr = (size_t)comp->v * comp->mcu_row_blocks;

		row.blocks[c] = aligned_alloc(64, nr * 128);
		row.last[c] = malloc(nr);
	}
	ret = push_all(ref, &rc, &row, rect->x1 - rect->x0, out);
	for (uint32_t c = 0; c < 3; c++) {
		free(row.blocks[c]);
		free(row.last[c]);
	}
	return ret;
}
