// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * dlboost_probe(): kind of file, header, limits.  Runs before any decoder and
 * allocates nothing, so a header that lies about its size costs nothing.
 *
 * Pure functions, no lock.  Documentation/errors.rst, "Classes" and "Limits".
 */
#include "probe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/base.h"
#include "decoder.h"

/* The longest side libjpeg takes; the same for PNG, so that limits are one */
#define MAX_SIDE 65500u

unsigned int dlb_probe_fail(struct dlboost_result *result, unsigned int status,
			    int64_t offset_bytes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(result->message, sizeof(result->message), fmt, ap);
	va_end(ap);
	result->status = status;
	result->offset_bytes = offset_bytes;
	return status;
}

unsigned int dlb_probe_size(const struct dlboost_image_info *info,
			    const struct dlboost_limits *limits,
			    struct dlboost_result *result)
{
	uint64_t pixels = (uint64_t)info->width * info->height;

	if (info->width > MAX_SIDE || info->height > MAX_SIDE)
		return dlb_probe_fail(result, DLBOOST_STATUS_TOO_LARGE, -1,
				      "%u x %u pixels: the longest side taken is %u; cut or shrink the picture",
				      info->width, info->height, MAX_SIDE);
	if (pixels > limits->max_pixels)
		return dlb_probe_fail(result, DLBOOST_STATUS_TOO_LARGE, -1,
				      "%u x %u pixels are more than the limit max_pixels = %llu: raise it to accept the picture",
				      info->width, info->height,
				      (unsigned long long)limits->max_pixels);
	return DLBOOST_STATUS_OK;
}

void dlb_limits_resolve(const struct dlboost_limits *in,
			struct dlboost_limits *out)
{
	struct dlboost_limits limits = { 0 };

	if (in)
		limits = *in;
	if (!limits.max_pixels)
		limits.max_pixels = DLBOOST_DEFAULT_MAX_PIXELS;
	if (!limits.max_scans)
		limits.max_scans = DLBOOST_DEFAULT_MAX_SCANS;
	if (!limits.max_markers)
		limits.max_markers = DLBOOST_DEFAULT_MAX_MARKERS;
	if (!limits.scratch_bytes)
		limits.scratch_bytes = DLBOOST_DEFAULT_SCRATCH_BYTES;
	if (!limits.big_scratch_bytes)
		limits.big_scratch_bytes = DLBOOST_DEFAULT_BIG_SCRATCH_BYTES;
	*out = limits;
}

DLB_EXPORT unsigned int dlboost_probe(const void *bytes, size_t len_bytes,
				      const struct dlboost_limits *limits,
				      struct dlboost_image_info *info,
				      struct dlboost_result *result)
{
	struct dlboost_result unseen;
	struct dlboost_limits all;

	dlb_limits_resolve(limits, &all);
	if (!result)
		result = &unseen;
	memset(info, 0, sizeof(*info));
	memset(result, 0, sizeof(*result));
	result->offset_bytes = -1;
	info->orientation = 1;
	info->adobe_transform = -1;
	info->type = dlb_sniff(bytes, len_bytes);
	if (info->type == DLBOOST_IMAGE_JPEG)
		return dlb_probe_jpeg(bytes, len_bytes, &all, info, result);
	if (info->type == DLBOOST_IMAGE_PNG)
		return dlb_probe_png(bytes, len_bytes, &all, info, result);
	return dlb_sniff_refuse(info->type, bytes, len_bytes, result);
}
