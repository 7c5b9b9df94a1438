// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * libjpeg's decompressor and its three managers: memory, source, errors.
 *
 * The decompressor is made once for a worker.  jpeg_create_decompress()
 * installs libjpeg's own memory manager and takes its permanent parts (marker
 * reader, input controller, master) from it; only then is cinfo->mem changed to
 * ours, so that those parts outlive pictures while all that a picture needs
 * comes from the arena.  Tables (DQT, DHT) go to JPOOL_PERMANENT and would
 * survive into the next picture: their pointers are cleared before each, so
 * that no picture can be decoded with the tables of another.  So are the
 * pointers to the stages: with merged upsampling there is no colour converter,
 * and 2.1.5's jpeg_skip_scanlines() would write into that of the picture
 * before.  libjpeg's own manager is put back before jpeg_destroy_decompress().
 *
 * Errors jump to dlb_jpeg_decode(); nothing between it and libjpeg owns
 * anything.  One thread.  Documentation/errors.rst, "Classes".
 */
#include "jpeg.h"

#include <errno.h>
#include <string.h>

#include <jerror.h>

#include "../base/base.h"

static struct dlb_jpeg *jpeg_of(j_common_ptr cinfo)
{
	return cinfo->client_data;
}

int64_t dlb_jpeg_offset(const struct dlb_jpeg *jpeg)
{
	return (int64_t)(jpeg->source->len_bytes - jpeg->src.bytes_in_buffer);
}

void dlb_jpeg_bail(struct dlb_jpeg *jpeg, unsigned int status)
{
	jpeg->status = status;
	longjmp(jpeg->bail, 1);
}

/*
 * Not damage: a form of JPEG that libjpeg does not do.  Of coding processes the
 * probe is the judge; libjpeg meets them only inside damaged data.
 */
static bool is_unsupported(int code)
{
	switch (code) {
	case JERR_ARITH_NOTIMPL:
	case JERR_CCIR601_NOTIMPL:
	case JERR_CONVERSION_NOTIMPL:
	case JERR_FRACT_SAMPLE_NOTIMPL:
	case JERR_NOTIMPL:
	case JERR_NOT_COMPILED:
		return true;
	default:
		return false;
	}
}

static void describe(struct dlb_jpeg *jpeg, const char *what)
{
	struct dlboost_result *result = jpeg->source->result;
	char text[JMSG_LENGTH_MAX];

	jpeg->err.format_message((j_common_ptr)&jpeg->cinfo, text);
	dlb_sentence(result->message, sizeof(result->message), "%s: %s", what,
		     text);
	result->offset_bytes = dlb_jpeg_offset(jpeg);
}

static void error_exit(j_common_ptr cinfo)
{
	struct dlb_jpeg *jpeg = jpeg_of(cinfo);

	/* Only during creation, before there is a picture */
	if (!jpeg->source)
		dlb_jpeg_bail(jpeg, DLB_STATUS_OVERFLOW);
	if (jpeg->err.msg_code == JERR_OUT_OF_MEMORY)
		dlb_jpeg_bail(jpeg, DLB_STATUS_OVERFLOW);
	if (is_unsupported(jpeg->err.msg_code)) {
		describe(jpeg, "kind of JPEG that is not supported");
		dlb_jpeg_bail(jpeg, DLBOOST_STATUS_UNSUPPORTED);
	}
	describe(jpeg, "damaged JPEG data");
	dlb_jpeg_bail(jpeg, DLBOOST_STATUS_CORRUPT);
}

static void warn(struct dlb_jpeg *jpeg)
{
	struct dlboost_result *result = jpeg->source->result;

	jpeg->err.num_warnings++;
	if (jpeg->phase == DLB_JPEG_SCAN)
		jpeg->nr_scan_warnings++;
	if (!result->nr_warnings++)
		describe(jpeg, "decoder warning");
	result->flags |= DLBOOST_SAMPLE_F_WARNED;
	if (jpeg->source->reject_warnings)
		dlb_jpeg_bail(jpeg, DLBOOST_STATUS_CORRUPT);
}

static void emit_message(j_common_ptr cinfo, int level)
{
	if (level < 0)
		warn(jpeg_of(cinfo));
}

static void output_message(j_common_ptr cinfo)
{
}

static void reset_error_mgr(j_common_ptr cinfo)
{
	cinfo->err->num_warnings = 0;
	cinfo->err->msg_code = 0;
}

static void source_nop(j_decompress_ptr cinfo)
{
}

static void truncated(struct dlb_jpeg *jpeg)
{
	struct dlboost_result *result = jpeg->source->result;

	dlb_sentence(result->message, sizeof(result->message),
		     "the file ends after %zu bytes, before its last row: copy it again from its source",
		     jpeg->source->len_bytes);
	result->offset_bytes = (int64_t)jpeg->source->len_bytes;
	dlb_jpeg_bail(jpeg, DLBOOST_STATUS_TRUNCATED);
}

/* The file is at its end: libjpeg gets an EOI that is not there */
static boolean fill_input_buffer(j_decompress_ptr cinfo)
{
	static const JOCTET eoi[2] = { 0xff, JPEG_EOI };
	struct dlb_jpeg *jpeg = jpeg_of((j_common_ptr)cinfo);

	if (jpeg->phase == DLB_JPEG_SCAN)
		truncated(jpeg);
	jpeg->src.bytes_in_buffer = 0;
	jpeg->err.msg_code = JWRN_JPEG_EOF;
	warn(jpeg);
	jpeg->src.next_input_byte = eoi;
	jpeg->src.bytes_in_buffer = sizeof(eoi);
	return TRUE;
}

static void skip_input_data(j_decompress_ptr cinfo, long nr)
{
	struct jpeg_source_mgr *src = cinfo->src;
	size_t skip = nr > 0 ? (size_t)nr : 0;

	/* What lies past the end is met by the next fill_input_buffer() */
	if (skip > src->bytes_in_buffer)
		skip = src->bytes_in_buffer;
	src->next_input_byte += skip;
	src->bytes_in_buffer -= skip;
}

/* Called for each row of each scan while a multi-scan file is absorbed */
static void progress_monitor(j_common_ptr cinfo)
{
	struct dlb_jpeg *jpeg = jpeg_of(cinfo);
	uint32_t max_scans = jpeg->source->limits->max_scans;
	struct dlboost_result *result = jpeg->source->result;

	if ((uint32_t)jpeg->cinfo.input_scan_number <= max_scans)
		return;
	dlb_sentence(result->message, sizeof(result->message),
		     "more than %u scans: raise the limit max_scans to accept the file",
		     max_scans);
	result->offset_bytes = dlb_jpeg_offset(jpeg);
	dlb_jpeg_bail(jpeg, DLBOOST_STATUS_TOO_LARGE);
}

static void jpeg_init_managers(struct dlb_jpeg *jpeg)
{
	jpeg->cinfo.err = jpeg_std_error(&jpeg->err);
	jpeg->err.error_exit = error_exit;
	jpeg->err.emit_message = emit_message;
	jpeg->err.output_message = output_message;
	jpeg->err.reset_error_mgr = reset_error_mgr;
	jpeg->src.init_source = source_nop;
	jpeg->src.fill_input_buffer = fill_input_buffer;
	jpeg->src.skip_input_data = skip_input_data;
	jpeg->src.resync_to_restart = jpeg_resync_to_restart;
	jpeg->src.term_source = source_nop;
	jpeg->progress.progress_monitor = progress_monitor;
	jpeg->cinfo.client_data = jpeg;
}

int dlb_jpeg_create(struct dlb_jpeg **out)
{
	struct dlb_jpeg *jpeg = calloc(1, sizeof(*jpeg));

	if (!jpeg)
		return -ENOMEM;
	jpeg_init_managers(jpeg);
	if (setjmp(jpeg->bail)) {
		jpeg_destroy_decompress(&jpeg->cinfo);
		free(jpeg);
		return -ENOMEM;
	}
	jpeg_create_decompress(&jpeg->cinfo);
	jpeg->library_mem = jpeg->cinfo.mem;
	jpeg->cinfo.src = &jpeg->src;
	jpeg->cinfo.progress = &jpeg->progress;
	*out = jpeg;
	return 0;
}

void dlb_jpeg_destroy(struct dlb_jpeg *jpeg)
{
	if (!jpeg)
		return;
	jpeg->cinfo.mem = jpeg->library_mem;
	jpeg_destroy_decompress(&jpeg->cinfo);
	free(jpeg);
}

/* What the picture before left in @cinfo is in memory that is gone */
static void jpeg_forget(struct jpeg_decompress_struct *cinfo)
{
	memset(cinfo->quant_tbl_ptrs, 0, sizeof(cinfo->quant_tbl_ptrs));
	memset(cinfo->dc_huff_tbl_ptrs, 0, sizeof(cinfo->dc_huff_tbl_ptrs));
	memset(cinfo->ac_huff_tbl_ptrs, 0, sizeof(cinfo->ac_huff_tbl_ptrs));
	cinfo->main = NULL;
	cinfo->coef = NULL;
	cinfo->post = NULL;
	cinfo->entropy = NULL;
	cinfo->idct = NULL;
	cinfo->upsample = NULL;
	cinfo->cconvert = NULL;
	cinfo->cquantize = NULL;
}

void dlb_jpeg_start(struct dlb_jpeg *jpeg, const struct dlb_source *source)
{
	struct jpeg_decompress_struct *cinfo = &jpeg->cinfo;

	jpeg->source = source;
	jpeg->phase = DLB_JPEG_HEADER;
	jpeg->nr_scan_warnings = 0;
	dlb_jpeg_mem_init(&jpeg->mem, source->arena);
	cinfo->mem = &jpeg->mem.pub;
	jpeg_abort_decompress(cinfo);
	jpeg_forget(cinfo);
	jpeg->src.next_input_byte = source->bytes;
	jpeg->src.bytes_in_buffer = source->len_bytes;
}

#define STRING(x) #x
#define VALUE_STRING(x) STRING(x)
#define BUILT_WITH "libjpeg-turbo " VALUE_STRING(LIBJPEG_TURBO_VERSION)

#if LIBJPEG_TURBO_VERSION_NUMBER < 3000000
/* libjpeg-turbo tells no version at run time; this symbol came with 3.0 */
extern void jpeg12_read_scanlines(void) __attribute__((weak));

const char *dlb_jpeg_library(void)
{
	if (jpeg12_read_scanlines)
		return "libjpeg-turbo 3 or later (built with "
		       VALUE_STRING(LIBJPEG_TURBO_VERSION) ")";
	return BUILT_WITH;
}
#else
const char *dlb_jpeg_library(void)
{
	return BUILT_WITH;
}
#endif
