// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pictures to PNG files by libspng.  Made in memory first, so that a full disk
 * leaves no half a picture under the name asked for.
 */
#include "canvas.h"

#include <errno.h>
#include <spng.h>

int png_encode_rgb(unsigned int width, unsigned int height, const uint8_t *rgb,
		   uint8_t **bytes, size_t *nr_bytes)
{
	struct spng_ihdr ihdr = {
		.width = width, .height = height, .bit_depth = 8,
		.color_type = SPNG_COLOR_TYPE_TRUECOLOR,
	};
	spng_ctx *ctx = spng_ctx_new(SPNG_CTX_ENCODER);
	int ret;

	if (!ctx)
		return -ENOMEM;
	ret = spng_set_option(ctx, SPNG_ENCODE_TO_BUFFER, 1) ?:
	      spng_set_option(ctx, SPNG_IMG_COMPRESSION_LEVEL, 6) ?:
	      spng_set_ihdr(ctx, &ihdr) ?:
	      spng_encode_image(ctx, rgb, (size_t)width * height * 3,
				SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
	if (!ret)
		*bytes = spng_get_png_buffer(ctx, nr_bytes, &ret);
	spng_ctx_free(ctx);
	return ret == SPNG_EMEM ? -ENOMEM : ret ? -EIO : 0;
}

int png_write_rgb(const char *path, unsigned int width, unsigned int height,
		  const uint8_t *rgb)
{
	uint8_t *bytes = NULL;
	size_t nr_bytes;
	int ret = png_encode_rgb(width, height, rgb, &bytes, &nr_bytes);

	if (!ret)
		ret = file_write_atomic(path, bytes, nr_bytes);
	free(bytes);
	return ret;
}
