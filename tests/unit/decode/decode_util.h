/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * For the tests of the decoder: pictures made by libjpeg's encoder, and a
 * second opinion by libjpeg used plainly (its own memory and source managers,
 * whole picture, one pass) that shares no code with libdl/image.
 */
#ifndef DECODE_UTIL_H
#define DECODE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#include <dlboost/dlboost.h>

#include "image/recipe.h"

/* A file in memory; free() @bytes */
struct blob {
	uint8_t *bytes;
	size_t len;
};

enum coding {
	CODING_BASELINE,
	CODING_PROGRESSIVE,
	CODING_ARITHMETIC,
	CODING_ARITHMETIC_PROGRESSIVE,
	CODING_SEPARATE_SCANS,
	NR_CODINGS,
};

/* How to make a JPEG; zero members are sensible: 4:4:4 YCbCr baseline */
struct make {
	uint32_t width, height;
	int components;			/* 1, 3 or 4; 0: 3 */
	J_COLOR_SPACE space;		/* of the file; 0: the usual one */
	uint8_t sampling[4];		/* high nibble horizontal; 0: 1x1 */
	enum coding coding;
	int restart;			/* MCUs */
	int quality;			/* 0: 90 */
	bool has_no_markers;		/* neither JFIF nor Adobe */
	int nr_scans;			/* progressive: only the first ones */
	bool is_smooth;			/* slopes alone, as in a photograph */
	uint64_t seed;
};

/* What libjpeg itself makes of a file */
struct opinion {
	unsigned int status;		/* by the rules of errors.rst */
	int nr_warnings;
	uint32_t width, height;
	uint8_t *rgb;			/* status OK only; free() it */
};

uint64_t rng_next(uint64_t *state);
uint32_t rng_below(uint64_t *state, uint32_t n);

struct blob make_jpeg(const struct make *how);
/* channels 1..4 of 8 bits; free() @bytes */
struct blob make_png(uint32_t width, uint32_t height, int colour_type,
		     int depth, bool is_interlaced, uint64_t seed);
/* A copy with an EXIF segment of one entry behind SOI; free() @bytes */
struct blob with_orientation(const struct blob *file, uint8_t value,
			     bool is_little);
struct blob read_file(const char *path);

struct opinion plain_decode(const uint8_t *bytes, size_t len);

/* The recipe "none", as a value to be changed */
struct dlboost_recipe recipe_none(void);
/* Crop without a resize, window = crop */
struct dlboost_geometry crop_geometry(uint32_t x, uint32_t y, uint32_t w,
				      uint32_t h);

#endif /* DECODE_UTIL_H */
