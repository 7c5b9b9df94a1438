// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Synthetic pictures for "dlboost bench" without a data set: smoothed noise of
 * several scales, quality 95, 4:2:0, which gives about the four bits per pixel of
 * a photograph.  A stand-in only; the command says so.
 */
#include "builtin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#define NR_SCALES 6

/* Value of a lattice point, 0..255, without state */
static unsigned int noise(unsigned int x, unsigned int y, unsigned int key)
{
	uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ key * 0xc2b2ae3du;

	h ^= h >> 15;
	h *= 0x2c1b3c6du;
	h ^= h >> 12;
	h *= 0x297a2d39u;
	return (h ^ h >> 15) & 255;
}

/* Lattice of 2^shift pixels, bilinear between its points */
static unsigned int smooth_noise(unsigned int x, unsigned int y,
				 unsigned int shift, unsigned int key)
{
	unsigned int step = 1u << shift, fx = x % step, fy = y % step;
	unsigned int cx = x >> shift, cy = y >> shift;
	unsigned int top = noise(cx, cy, key) * (step - fx) +
			   noise(cx + 1, cy, key) * fx;
	unsigned int bottom = noise(cx, cy + 1, key) * (step - fx) +
			      noise(cx + 1, cy + 1, key) * fx;

	return (top * (step - fy) + bottom * fy) >> (2 * shift);
}

/* How strong each scale is, coarse to fine; their sum is 64 */
static const unsigned int weights[NR_SCALES] = { 14, 10, 8, 8, 10, 14 };

static void fill_row(uint8_t *row, unsigned int width, unsigned int y,
		     unsigned int seed)
{
	for (unsigned int x = 0; x < width; x++) {
		for (unsigned int c = 0; c < 3; c++) {
			unsigned int value = 0;

			/* The finer scales are grey, as in photographs */
			for (unsigned int s = 0; s < NR_SCALES; s++)
				value += weights[s] *
					 smooth_noise(x, y, NR_SCALES - s,
						      seed * 31 + s * 3 +
						      c * (s < 3));
			row[3 * x + c] = (uint8_t)(value / 64);
		}
	}
}

int synth_jpeg(unsigned int width, unsigned int height, unsigned int seed,
	       uint8_t **bytes, size_t *nr_bytes)
{
	struct jpeg_compress_struct cinfo;
	struct jpeg_error_mgr error;
	unsigned long length = 0;
	uint8_t *row = malloc((size_t)width * 3);

	if (!row)
		return -ENOMEM;
	*bytes = NULL;
	cinfo.err = jpeg_std_error(&error);
	jpeg_create_compress(&cinfo);
	jpeg_mem_dest(&cinfo, bytes, &length);
	cinfo.image_width = width;
	cinfo.image_height = height;
	cinfo.input_components = 3;
	cinfo.in_color_space = JCS_RGB;
	jpeg_set_defaults(&cinfo);
	jpeg_set_quality(&cinfo, 95, TRUE);
	jpeg_start_compress(&cinfo, TRUE);
	while (cinfo.next_scanline < height) {
		fill_row(row, width, cinfo.next_scanline, seed);
		jpeg_write_scanlines(&cinfo, &row, 1);
	}
	jpeg_finish_compress(&cinfo);
	jpeg_destroy_compress(&cinfo);
	free(row);
	*nr_bytes = length;
	return 0;
}
