// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The chunks of a PNG: IHDR, whether it is interlaced, colour profile, EXIF.
 * Allocates nothing; checksums are the decoder's business.  No lock.
 *
 * ISO/IEC 15948, section 11; Documentation/pixels.rst, "PNG".
 */
#include "probe.h"

#include <string.h>

#define SIGNATURE_BYTES 8
#define CHUNK_EXTRA_BYTES 12u	/* length, type, CRC */
#define IHDR_BYTES 13

static unsigned int png_corrupt(struct dlboost_result *result, size_t at,
				const char *what)
{
	return dlb_probe_fail(result, DLBOOST_STATUS_CORRUPT, (int64_t)at,
			      "damaged PNG header: %s", what);
}

static uint32_t png_channels(uint8_t colour_type)
{
	static const uint8_t channels[7] = { 1, 0, 3, 1, 2, 0, 4 };

	return colour_type < 7 ? channels[colour_type] : 0;
}

/* Bit depths that a colour type may have, as a mask of the depths */
static bool depth_fits(uint8_t colour_type, uint8_t depth)
{
	static const uint8_t masks[7] = {
		1 | 2 | 4 | 8 | 16, 0, 8 | 16, 1 | 2 | 4 | 8, 8 | 16, 0, 8 | 16,
	};

	return depth && !(depth & (depth - 1)) && depth <= 16 &&
	       (masks[colour_type] & depth);
}

static unsigned int png_header(const uint8_t *p,
			       struct dlboost_image_info *info,
			       struct dlboost_result *result)
{
	info->width = dlb_be32(p);
	info->height = dlb_be32(p + 4);
	info->precision_bits = p[8];
	info->components = png_channels(p[9]);
	info->is_interlaced = p[12] == 1;
	if (!info->width || !info->height || info->width > INT32_MAX ||
	    info->height > INT32_MAX)
		return png_corrupt(result, 16, "width or height out of range");
	if (!info->components || !depth_fits(p[9], p[8]))
		return png_corrupt(result, 24, "bogus colour type or depth");
	if (p[10] || p[11] || p[12] > 1)
		return png_corrupt(result, 26, "unknown method");
	if (info->precision_bits == 16)
		return dlb_probe_fail(result, DLBOOST_STATUS_UNSUPPORTED, 24,
				      "16-bit PNG is not supported: save it with 8 bits");
	return DLBOOST_STATUS_OK;
}

static bool is_type(const uint8_t *chunk, const char *type)
{
	return !memcmp(chunk + 4, type, 4);
}

/* EXIF may stand before or behind the pixels; the last whole chunk ends it */
static unsigned int png_walk(const uint8_t *bytes, size_t len,
			     const struct dlboost_limits *limits,
			     struct dlboost_image_info *info,
			     struct dlboost_result *result)
{
	size_t at = SIGNATURE_BYTES;
	uint32_t nr_chunks = 0;

	while (len - at >= CHUNK_EXTRA_BYTES) {
		const uint8_t *chunk = bytes + at;
		size_t bytes_in = dlb_be32(chunk);

		if (bytes_in > len - at - CHUNK_EXTRA_BYTES ||
		    is_type(chunk, "IEND"))
			break;
		if (!is_type(chunk, "IDAT") &&
		    nr_chunks++ >= limits->max_markers)
			return dlb_probe_fail(result, DLBOOST_STATUS_TOO_LARGE,
					      (int64_t)at,
					      "more than %u chunks: raise the limit max_markers to accept it",
					      limits->max_markers);
		if (is_type(chunk, "iCCP"))
			info->has_icc = 1;
		if (is_type(chunk, "eXIf"))
			info->orientation = dlb_exif_orientation(chunk + 8,
								 bytes_in);
		at += bytes_in + CHUNK_EXTRA_BYTES;
	}
	return DLBOOST_STATUS_OK;
}

unsigned int dlb_probe_png(const uint8_t *bytes, size_t len,
			   const struct dlboost_limits *limits,
			   struct dlboost_image_info *info,
			   struct dlboost_result *result)
{
	const uint8_t *chunk = bytes + SIGNATURE_BYTES;
	unsigned int status;

	if (len < SIGNATURE_BYTES + CHUNK_EXTRA_BYTES + IHDR_BYTES)
		return dlb_probe_fail(result, DLBOOST_STATUS_TRUNCATED,
				      (int64_t)len,
				      "the file ends after %zu bytes, inside the PNG header: copy it again from its source",
				      len);
	if (dlb_be32(chunk) != IHDR_BYTES || !is_type(chunk, "IHDR"))
		return png_corrupt(result, SIGNATURE_BYTES, "no IHDR chunk");
	status = png_header(chunk + 8, info, result);
	if (status != DLBOOST_STATUS_OK)
		return status;
	status = dlb_probe_size(info, limits, result);
	if (status != DLBOOST_STATUS_OK)
		return status;
	return png_walk(bytes, len, limits, info, result);
}
