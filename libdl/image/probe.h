/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The header of a picture, read without a decoder.  Public face:
 * dlboost_probe().
 */
#ifndef DLB_IMAGE_PROBE_H
#define DLB_IMAGE_PROBE_H

#include <stdbool.h>

#include <dlboost/image.h>

/* enum dlboost_image_type, by the first bytes alone */
uint32_t dlb_sniff(const uint8_t *bytes, size_t len);
/* NOT_AN_IMAGE and a sentence that names what it is and what to do */
unsigned int dlb_sniff_refuse(uint32_t type, const uint8_t *bytes, size_t len,
			      struct dlboost_result *result);

/* EXIF orientation out of a TIFF block: 1..8, 1 for anything odd */
uint32_t dlb_exif_orientation(const uint8_t *tiff, size_t len);

/* @limits with its defaults filled in; @info is zeroed but for the type */
unsigned int dlb_probe_jpeg(const uint8_t *bytes, size_t len,
			    const struct dlboost_limits *limits,
			    struct dlboost_image_info *info,
			    struct dlboost_result *result);
unsigned int dlb_probe_png(const uint8_t *bytes, size_t len,
			   const struct dlboost_limits *limits,
			   struct dlboost_image_info *info,
			   struct dlboost_result *result);

/* A status with a sentence; @offset_bytes -1 for none */
unsigned int dlb_probe_fail(struct dlboost_result *result, unsigned int status,
			    int64_t offset_bytes, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Width and height against the limits: OK or TOO_LARGE */
unsigned int dlb_probe_size(const struct dlboost_image_info *info,
			    const struct dlboost_limits *limits,
			    struct dlboost_result *result);

static inline uint32_t dlb_be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t dlb_be32(const uint8_t *p)
{
	return dlb_be16(p) << 16 | dlb_be16(p + 2);
}

#endif /* DLB_IMAGE_PROBE_H */
