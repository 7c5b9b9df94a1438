/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The decoder of one worker: bytes -> tensor, with every stage behind it
 * (probe, entropy + IDCT by libjpeg-turbo or libspng, orient and pad,
 * resample).  Public face: <dlboost/image.h>.
 */
#ifndef DLB_IMAGE_DECODER_H
#define DLB_IMAGE_DECODER_H

#include <dlboost/image.h>

#include "recipe.h"

/*
 * A decoder's coefficient tables, at most.  Random crops ask for two of some
 * thousand lengths a picture: those of 60 to 640 pixels to 224 take 9 MB, and
 * making one costs ten times what looking it up does.
 */
#define DLB_DECODER_TABLE_BYTES ((size_t)12 << 20)

/* The lane that pictures too large for a worker's scratch share */
struct dlb_big_lane;

int dlb_big_lane_create(size_t cap_bytes, struct dlb_big_lane **out);
void dlb_big_lane_destroy(struct dlb_big_lane *lane);

/**
 * struct dlb_picture - One picture to decode
 * @bytes: the whole file
 * @len_bytes: its length
 * @info: from dlboost_probe() with status OK, or NULL to probe here
 * @recipe: recipe
 * @profile: exact or fast
 * @geometry: per-sample part; checked against the picture
 * @dst: tensor
 * @dst_bytes: room
 */
struct dlb_picture {
	const void *bytes;
	size_t len_bytes;
	const struct dlboost_image_info *info;
	const struct dlboost_recipe *recipe;
	uint32_t profile;
	struct dlboost_geometry geometry;
	void *dst;
	size_t dst_bytes;
};

/* @lane is shared by the workers of an engine, may be NULL, and outlives them */
int dlb_decoder_create(const struct dlboost_decoder_attr *attr,
		       struct dlb_big_lane *lane, struct dlboost_decoder **out);

/* As dlboost_decode(); @resample_ns receives the time spent in resampling, or
 * 0 when it cannot be told apart; may be NULL
 */
int dlb_decoder_run(struct dlboost_decoder *decoder,
		    const struct dlb_picture *picture,
		    struct dlboost_result *result, uint64_t *resample_ns);

/* @in (may be NULL) with the defaults in place of zeros */
void dlb_limits_resolve(const struct dlboost_limits *in,
			struct dlboost_limits *out);

/* "libjpeg-turbo 2.1.5": the library this process runs with */
const char *dlb_decoder_library(void);

#endif /* DLB_IMAGE_DECODER_H */
