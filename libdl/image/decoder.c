// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The decoder of one worker: probe, plan, arena, and the way from a picture to
 * its status.  Owns the arena, the resampler with its table cache, and
 * libjpeg's decompressor; knows neither engines nor data sets.
 *
 * A decoder is used by one thread.  The big lane is shared: its lock is held
 * while a picture is decoded in it, and no other lock is taken under it.
 * Documentation/errors.rst, "Limits".
 */
#include "decoder.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "../base/base.h"
#include "jpeg_seq.h"
#include "png.h"
#include "probe.h"

/* Below this not even small pictures fit */
#define MIN_SCRATCH_BYTES ((size_t)64 << 10)

struct dlb_big_lane {
	pthread_mutex_t lock;		/* @arena and who uses it */
	struct dlb_arena arena;		/* reserved on first use */
	size_t cap_bytes;
};

struct dlboost_decoder {
	struct dlboost_limits limits;
	bool reject_warnings;
	struct dlb_arena arena;
	struct dlb_big_lane *lane;	/* may be NULL */
	struct dlb_big_lane *own_lane;	/* @lane when it was made here */
	struct dlb_coeff_cache *cache;
	struct dlb_resampler *rs;
	struct dlb_jpeg *jpeg;
	struct dlb_seq *seq;
};

int dlb_big_lane_create(size_t cap_bytes, struct dlb_big_lane **out)
{
	struct dlb_big_lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return -ENOMEM;
	pthread_mutex_init(&lane->lock, NULL);
	lane->cap_bytes = cap_bytes;
	*out = lane;
	return 0;
}

void dlb_big_lane_destroy(struct dlb_big_lane *lane)
{
	if (!lane)
		return;
	dlb_arena_fini(&lane->arena);
	pthread_mutex_destroy(&lane->lock);
	free(lane);
}

static int decoder_init(struct dlboost_decoder *d)
{
	int ret = dlb_arena_init(&d->arena, d->limits.scratch_bytes);

	if (!ret)
		ret = dlb_coeff_cache_create(DLB_DECODER_TABLE_BYTES, &d->cache);
	if (!ret)
		ret = dlb_resampler_create(d->cache, &d->rs);
	if (!ret)
		ret = dlb_jpeg_create(&d->jpeg);
	if (!ret)
		ret = dlb_seq_create(&d->seq);
	return ret;
}

int dlb_decoder_create(const struct dlboost_decoder_attr *attr,
		       struct dlb_big_lane *lane, struct dlboost_decoder **out)
{
	struct dlboost_decoder_attr defaults = DLBOOST_DECODER_ATTR_INIT;
	struct dlboost_decoder *d;
	int ret;

	if (!attr)
		attr = &defaults;
	if (attr->size != sizeof(*attr) || attr->reject_warnings > 1 ||
	    attr->reserved)
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	dlb_limits_resolve(&attr->limits, &d->limits);
	d->reject_warnings = attr->reject_warnings;
	d->lane = lane;
	ret = d->limits.scratch_bytes < MIN_SCRATCH_BYTES ? -EINVAL :
							    decoder_init(d);
	if (ret) {
		dlboost_decoder_destroy(d);
		return ret;
	}
	*out = d;
	return 0;
}

DLB_EXPORT int dlboost_decoder_create(const struct dlboost_decoder_attr *attr,
				      struct dlboost_decoder **out)
{
	struct dlboost_decoder *d;
	int ret = dlb_decoder_create(attr, NULL, &d);

	if (ret)
		return ret;
	if (d->limits.big_scratch_bytes != DLBOOST_NO_BIG_SCRATCH) {
		ret = dlb_big_lane_create(d->limits.big_scratch_bytes,
					  &d->own_lane);
		if (ret) {
			dlboost_decoder_destroy(d);
			return ret;
		}
		d->lane = d->own_lane;
	}
	*out = d;
	return 0;
}

DLB_EXPORT void dlboost_decoder_destroy(struct dlboost_decoder *d)
{
	if (!d)
		return;
	dlb_seq_destroy(d->seq);
	dlb_jpeg_destroy(d->jpeg);
	dlb_resampler_destroy(d->rs);
	dlb_coeff_cache_destroy(d->cache);
	dlb_arena_fini(&d->arena);
	dlb_big_lane_destroy(d->own_lane);
	free(d);
}

const char *dlb_decoder_library(void)
{
	return dlb_jpeg_library();
}

static size_t element_bytes(uint32_t dtype)
{
	switch (dtype) {
	case DLBOOST_DTYPE_F32:
		return 4;
	case DLBOOST_DTYPE_F16:
	case DLBOOST_DTYPE_BF16:
		return 2;
	default:
		return 1;
	}
}

enum dlb_way { DLB_WAY_PNG, DLB_WAY_SEQUENTIAL, DLB_WAY_LIBJPEG };

/*
 * From the first row to the last, one way, all memory from @arena.  Scaling
 * is libjpeg's art, and slower than our own decoder without it.
 */
static unsigned int decode_by(struct dlboost_decoder *d, enum dlb_way way,
			      struct dlb_source *source,
			      const struct dlb_picture *picture,
			      struct dlb_arena *arena, uint64_t *resample_ns)
{
	struct dlb_plan plan;
	struct dlb_feed feed;
	struct dlb_extent need;
	unsigned int status;

	source->plan = &plan;
	source->arena = arena;
	source->feed = &feed;
	if (dlb_plan_init(&plan, source->info, picture->recipe,
			  way == DLB_WAY_SEQUENTIAL ? DLBOOST_PROFILE_EXACT :
						      picture->profile,
			  &picture->geometry))
		return DLBOOST_STATUS_INVALID;
	plan.spec.dst = picture->dst;
	if (dlb_resample_begin(d->rs, arena, &plan.spec, &need))
		return DLB_STATUS_OVERFLOW;
	dlb_plan_need(&plan, &need);
	if (way == DLB_WAY_SEQUENTIAL && !dlb_seq_takes(source))
		return DLB_STATUS_UNDECIDED;
	if (!dlb_feed_begin(&feed, &plan, d->rs, arena, resample_ns))
		return DLB_STATUS_OVERFLOW;
	if (way == DLB_WAY_PNG)
		status = dlb_png_decode(source);
	else if (way == DLB_WAY_SEQUENTIAL)
		status = dlb_seq_decode(d->seq, source);
	else
		status = dlb_jpeg_decode(d->jpeg, source);
	if (status == DLBOOST_STATUS_OK && !dlb_feed_end(&feed))
		status = DLB_STATUS_OVERFLOW;
	return status;
}

static unsigned int decode_in(struct dlboost_decoder *d,
			      struct dlb_source *source,
			      const struct dlb_picture *picture,
			      struct dlb_arena *arena, uint64_t *resample_ns)
{
	size_t mark = dlb_arena_mark(arena);
	unsigned int status;

	if (source->info->type == DLBOOST_IMAGE_PNG)
		return decode_by(d, DLB_WAY_PNG, source, picture, arena,
				 resample_ns);
	status = decode_by(d, DLB_WAY_SEQUENTIAL, source, picture, arena,
			   resample_ns);
	if (status != DLB_STATUS_UNDECIDED)
		return status;
	dlb_arena_release(arena, mark);
	return decode_by(d, DLB_WAY_LIBJPEG, source, picture, arena, resample_ns);
}

static void result_clear(struct dlboost_result *result)
{
	memset(result, 0, offsetof(struct dlboost_result, message));
	result->message[0] = '\0';
	result->offset_bytes = -1;
}

static unsigned int decode_in_lane(struct dlboost_decoder *d,
				   struct dlb_source *source,
				   const struct dlb_picture *picture,
				   uint64_t *resample_ns)
{
	struct dlb_big_lane *lane = d->lane;
	unsigned int status = DLB_STATUS_OVERFLOW;

	if (!lane || lane->cap_bytes <= d->arena.cap_bytes)
		return status;
	pthread_mutex_lock(&lane->lock);
	if (lane->arena.base || !dlb_arena_init(&lane->arena, lane->cap_bytes)) {
		result_clear(source->result);
		status = decode_in(d, source, picture, &lane->arena, resample_ns);
		dlb_arena_reset(&lane->arena, 0);
	}
	pthread_mutex_unlock(&lane->lock);
	return status;
}

static unsigned int too_large(struct dlboost_decoder *d,
			      struct dlboost_result *result)
{
	bool has_lane = d->lane && d->lane->cap_bytes > d->arena.cap_bytes;
	size_t cap = has_lane ? d->lane->cap_bytes : d->arena.cap_bytes;

	result_clear(result);
	return dlb_probe_fail(result, DLBOOST_STATUS_TOO_LARGE, -1,
			      "decoding needs more than the %zu MiB of the limit %s: raise it to accept the picture",
			      cap >> 20, has_lane ? "big_scratch_bytes" :
						    "scratch_bytes");
}

static void decode_picture(struct dlboost_decoder *d,
			   struct dlb_source *source,
			   const struct dlb_picture *picture,
			   uint64_t *resample_ns)
{
	struct dlboost_result *result = source->result;
	unsigned int status;

	status = decode_in(d, source, picture, &d->arena, resample_ns);
	dlb_arena_reset(&d->arena, d->arena.cap_bytes);
	if (status == DLB_STATUS_OVERFLOW)
		status = decode_in_lane(d, source, picture, resample_ns);
	if (status == DLB_STATUS_OVERFLOW)
		status = too_large(d, result);
	result->status = status;
	/* They speak of pixels */
	if (status != DLBOOST_STATUS_OK)
		result->flags = 0;
}

/* A very narrow picture, of which the recipe would make a very long one */
static bool is_resize_too_large(const struct dlboost_geometry *geometry,
				struct dlboost_result *result)
{
	if (geometry->resize_w <= DLB_RECIPE_MAX_PICTURE &&
	    geometry->resize_h <= DLB_RECIPE_MAX_PICTURE)
		return false;
	result->status = DLBOOST_STATUS_TOO_LARGE;
	dlb_sentence(result->message, sizeof(result->message),
		     "%u x %u pixels would be resized to %u x %u; sides of up to %d are possible",
		     geometry->crop_w, geometry->crop_h, geometry->resize_w,
		     geometry->resize_h, DLB_RECIPE_MAX_PICTURE);
	return true;
}

int dlb_decoder_run(struct dlboost_decoder *d,
		    const struct dlb_picture *picture,
		    struct dlboost_result *result, uint64_t *resample_ns)
{
	struct dlboost_image_info probed;
	struct dlb_source source = {
		.bytes = picture->bytes,
		.len_bytes = picture->len_bytes,
		.info = picture->info,
		.limits = &d->limits,
		.reject_warnings = d->reject_warnings,
		.profile = picture->profile,
		.result = result,
	};
	struct dlb_plan plan;
	uint64_t bytes;

	if (resample_ns)
		*resample_ns = 0;
	result_clear(result);
	if (!source.info) {
		if (dlboost_probe(source.bytes, source.len_bytes, &d->limits,
				  &probed, result))
			return 0;
		source.info = &probed;
	}
	if (is_resize_too_large(&picture->geometry, result))
		return 0;
	if (dlb_plan_init(&plan, source.info, picture->recipe, picture->profile,
			  &picture->geometry))
		return -EINVAL;
	bytes = (uint64_t)plan.spec.window_w * plan.spec.window_h * 3 *
		element_bytes(picture->recipe->cast.dtype);
	result->written_bytes = (size_t)bytes;
	if (bytes > picture->dst_bytes)
		return -ENOSPC;
	decode_picture(d, &source, picture, resample_ns);
	result->width = plan.spec.window_w;
	result->height = plan.spec.window_h;
	result->written_bytes = result->status ? 0 : (size_t)bytes;
	return 0;
}

DLB_EXPORT int dlboost_decode(struct dlboost_decoder *d, const void *bytes,
			      size_t len_bytes,
			      const struct dlboost_recipe *recipe,
			      enum dlboost_profile profile,
			      const struct dlboost_geometry *geometry,
			      void *dst, size_t dst_bytes,
			      struct dlboost_result *result)
{
	struct dlb_picture picture = {
		.bytes = bytes,
		.len_bytes = len_bytes,
		.recipe = recipe,
		.profile = profile,
		.dst = dst,
		.dst_bytes = dst_bytes,
	};
	struct dlboost_image_info info;
	uint32_t width, height;
	int ret;

	if (profile != DLBOOST_PROFILE_EXACT && profile != DLBOOST_PROFILE_FAST)
		return -EINVAL;
	if (dlboost_probe(bytes, len_bytes, &d->limits, &info, result))
		return 0;
	picture.info = &info;
	if (geometry) {
		picture.geometry = *geometry;
		return dlb_decoder_run(d, &picture, result, NULL);
	}
	dlb_plan_upright(&info, recipe, &width, &height);
	ret = dlboost_recipe_draw(recipe, width, height, 0, 0, 0,
				  &picture.geometry);
	return ret ? ret : dlb_decoder_run(d, &picture, result, NULL);
}
