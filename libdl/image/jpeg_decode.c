// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * One JPEG: header, the rows and columns its plan needs, and the class of the
 * whole file.
 *
 * The class must not depend on the crop.  Rows below it are not decoded; what
 * they could still do to the class is known from the markers behind the read
 * position alone: within a scan libjpeg reads on until a marker that is no
 * restart marker, and only there can it run out of file or meet an error.  If
 * the first such marker is EOI, neither can happen; if not, the rest is
 * decoded and libjpeg says what it is.
 *
 * Nothing here owns memory; errors jump out of dlb_jpeg_decode().
 * Documentation/pixels.rst, "Partial decoding", and errors.rst, "Classes".
 */
#include "jpeg.h"

#include <string.h>

#include "../base/base.h"

#if JPEG_LIB_VERSION >= 70
#define MIN_DCT_SIZE(cinfo) ((cinfo)->min_DCT_h_scaled_size)
#else
#define MIN_DCT_SIZE(cinfo) ((cinfo)->min_DCT_scaled_size)
#endif

static void jpeg_mismatch(struct dlb_jpeg *jpeg)
{
	struct dlboost_result *result = jpeg->source->result;

	dlb_sentence(result->message, sizeof(result->message),
		     "damaged JPEG data: its header can be read in two ways");
	dlb_jpeg_bail(jpeg, DLBOOST_STATUS_CORRUPT);
}

/* The plan was made from our own reading of the header */
static void jpeg_read_frame(struct dlb_jpeg *jpeg)
{
	struct jpeg_decompress_struct *cinfo = &jpeg->cinfo;
	const struct dlb_source *source = jpeg->source;

	jpeg_read_header(cinfo, TRUE);
	if (cinfo->image_width != source->info->width ||
	    cinfo->image_height != source->info->height ||
	    (uint32_t)cinfo->num_components != source->info->components)
		jpeg_mismatch(jpeg);
	cinfo->out_color_space = cinfo->num_components == 4 ? JCS_CMYK :
							      JCS_EXT_RGBX;
	cinfo->dct_method = JDCT_ISLOW;
	cinfo->do_fancy_upsampling = source->profile != DLBOOST_PROFILE_FAST;
	cinfo->scale_num = source->plan->scale_num;
	cinfo->scale_denom = 8;
	jpeg->phase = DLB_JPEG_SCAN;
	jpeg_start_decompress(cinfo);
	if (cinfo->output_width != source->plan->stored_w ||
	    cinfo->output_height != source->plan->stored_h)
		jpeg_mismatch(jpeg);
}

/* A progressive file without all its scans: libjpeg smooths its blocks */
static bool is_incomplete(const struct jpeg_decompress_struct *cinfo)
{
	if (!cinfo->progressive_mode || !cinfo->coef_bits)
		return false;
	for (int c = 0; c < cinfo->num_components; c++)
		for (int i = 0; i < DCTSIZE2; i++)
			if (cinfo->coef_bits[c][i])
				return true;
	return false;
}

/* One iMCU column more on each side: upsampling looks at its neighbours */
static void jpeg_open_columns(struct dlb_jpeg *jpeg, bool is_whole)
{
	struct jpeg_decompress_struct *cinfo = &jpeg->cinfo;
	const struct dlb_rect *r = &jpeg->source->plan->rect;
	JDIMENSION column = MIN_DCT_SIZE(cinfo) * cinfo->max_h_samp_factor;
	JDIMENSION x0 = 0, width = cinfo->output_width;

	if (!is_whole) {
		JDIMENSION x1 = (r->x1 + column - 1) / column * column + column;

		x0 = r->x0 / column * column;
		x0 -= x0 ? column : 0;
		width = (x1 < cinfo->output_width ? x1 : cinfo->output_width) -
			x0;
		jpeg_crop_scanline(cinfo, &x0, &width);
	}
	if (!dlb_feed_open(jpeg->source->feed, r->x0 - x0, x0 + width - r->x1))
		dlb_jpeg_bail(jpeg, DLB_STATUS_OVERFLOW);
}

static void jpeg_discard_rows(struct dlb_jpeg *jpeg, JDIMENSION until)
{
	struct jpeg_decompress_struct *cinfo = &jpeg->cinfo;
	JSAMPROW row;

	if (cinfo->output_scanline >= until)
		return;
	row = dlb_arena_alloc(jpeg->source->arena,
			      (size_t)cinfo->output_width * DLB_PIXEL_BYTES +
			      64, 64);
	if (!row)
		dlb_jpeg_bail(jpeg, DLB_STATUS_OVERFLOW);
	while (cinfo->output_scanline < until)
		jpeg_read_scanlines(cinfo, &row, 1);
}

static void jpeg_skip_rows(struct dlb_jpeg *jpeg, bool is_whole)
{
	struct jpeg_decompress_struct *cinfo = &jpeg->cinfo;
	JDIMENSION y0 = jpeg->source->plan->rect.y0;

	/* Merged upsampling makes pairs of rows: skip whole iMCU rows only */
	if (!is_whole && cinfo->do_fancy_upsampling)
		jpeg_skip_scanlines(cinfo, y0);
	else if (!is_whole)
		jpeg_skip_scanlines(cinfo, y0 - y0 %
				    (MIN_DCT_SIZE(cinfo) *
				     cinfo->max_v_samp_factor));
	jpeg_discard_rows(jpeg, y0);
}

static uint32_t muldiv255(uint32_t a, uint32_t b)
{
	uint32_t t = a * b + 128;

	return ((t >> 8) + t) >> 8;
}

/*
 * As Pillow: four components are taken for inverted, marker or not, so the
 * complement of what libjpeg gives is ink; then R = (255 - K) - C x (255 - K).
 */
static void cmyk_to_rgbx(uint8_t *p, uint32_t nr_pixels)
{
	for (uint32_t i = 0; i < nr_pixels; i++, p += DLB_PIXEL_BYTES) {
		uint32_t white = p[3];

		for (int c = 0; c < 3; c++) {
			uint32_t ink = muldiv255(255u - p[c], white);

			p[c] = (uint8_t)(white > ink ? white - ink : 0);
		}
	}
}

static void jpeg_feed_rows(struct dlb_jpeg *jpeg)
{
	struct jpeg_decompress_struct *cinfo = &jpeg->cinfo;
	struct dlb_feed *feed = jpeg->source->feed;

	while (cinfo->output_scanline < jpeg->source->plan->rect.y1) {
		uint32_t nr;
		uint8_t **rows = dlb_feed_space(feed, &nr);
		JDIMENSION got = jpeg_read_scanlines(cinfo, rows, nr);

		if (cinfo->num_components == 4)
			for (JDIMENSION i = 0; i < got; i++)
				cmyk_to_rgbx(rows[i], cinfo->output_width);
		dlb_feed_commit(feed, got);
	}
}

/*
 * Whether the first marker in [@p, @end) that is neither a restart marker nor
 * a stuffed FF is EOI.  Blocks without a candidate are passed over by a loop
 * that compilers turn into vector code.
 */
static bool first_marker_is_eoi(const uint8_t *p, const uint8_t *end)
{
	enum { BLOCK_BYTES = 64 };

	while (end - p >= 2) {
		uint8_t found = 0;
		const uint8_t *stop = end - 1;

		if (end - p > BLOCK_BYTES) {
			for (int i = 0; i < BLOCK_BYTES; i++)
				found |= (uint8_t)((p[i] == 0xff) &
						   (p[i + 1] != 0));
			if (!found) {
				p += BLOCK_BYTES;
				continue;
			}
			stop = p + BLOCK_BYTES;
		}
		for (; p < stop; p++) {
			if (p[0] != 0xff || p[1] == 0x00 || p[1] == 0xff ||
			    (p[1] & 0xf8) == JPEG_RST0)
				continue;
			return p[1] == JPEG_EOI;
		}
	}
	return false;
}

static bool jpeg_tail_is_clean(const struct dlb_jpeg *jpeg)
{
	int marker = jpeg->cinfo.unread_marker;
	const uint8_t *p = jpeg->src.next_input_byte;

	if (marker == JPEG_EOI)
		return true;
	if (marker && (marker & 0xf8) != JPEG_RST0)
		return false;
	return first_marker_is_eoi(p, p + jpeg->src.bytes_in_buffer);
}

/* After the last needed row: the class of the whole file */
static void jpeg_classify(struct dlb_jpeg *jpeg)
{
	struct jpeg_decompress_struct *cinfo = &jpeg->cinfo;

	if (cinfo->output_scanline < cinfo->output_height) {
		/* All scans of a multi-scan file were absorbed at the start */
		if (jpeg_has_multiple_scans(cinfo))
			return;
		if (!jpeg->source->reject_warnings && jpeg_tail_is_clean(jpeg))
			return;
		jpeg_discard_rows(jpeg, cinfo->output_height);
	}
	jpeg->phase = DLB_JPEG_TAIL;
	jpeg_finish_decompress(cinfo);
}

static void jpeg_decode_rows(struct dlb_jpeg *jpeg)
{
	const struct dlb_rect *r = &jpeg->source->plan->rect;
	bool is_whole;

	jpeg_read_frame(jpeg);
	is_whole = is_incomplete(&jpeg->cinfo);
	if (is_whole)
		jpeg->source->result->flags |= DLBOOST_SAMPLE_F_DEGRADED;
	if (r->x0 < r->x1) {
		jpeg_open_columns(jpeg, is_whole);
		jpeg_skip_rows(jpeg, is_whole);
		jpeg_feed_rows(jpeg);
	}
	jpeg_classify(jpeg);
	if (jpeg->nr_scan_warnings)
		jpeg->source->result->flags |= DLBOOST_SAMPLE_F_DEGRADED;
}

unsigned int dlb_jpeg_decode(struct dlb_jpeg *jpeg,
			     const struct dlb_source *source)
{
	if (setjmp(jpeg->bail))
		return jpeg->status;
	dlb_jpeg_start(jpeg, source);
	jpeg_decode_rows(jpeg);
	return DLBOOST_STATUS_OK;
}
