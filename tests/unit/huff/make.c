// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Pictures by libjpeg's encoder.  Shared by the tests of this folder.
 */
#include "make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* xorshift64*: G. Marsaglia, S. Vigna */
uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state ? *state : 88172645463325252u;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 2685821657736338717u;
}

uint32_t random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((random_next(state) >> 33) % n);
}

static uint8_t sample(enum content content, uint32_t x, uint32_t y, uint32_t c,
		      uint64_t *state)
{
	switch (content) {
	case CONTENT_NOISE:
		return (uint8_t)random_next(state);
	case CONTENT_SMOOTH:
		return (uint8_t)(x * (2 + c) + y * (3 - c) / 2 +
				 random_below(state, 5));
	case CONTENT_EDGES:
		return ((x / 5 ^ y / 7 ^ c) & 1 ? 230 : 20) +
		       (uint8_t)random_below(state, 20);
	default:
		return (uint8_t)(100 + 20 * c);
	}
}

struct encoding random_encoding(uint64_t *state)
{
	/* Products of factors of one interleaved scan: at most 10 blocks */
	static const uint8_t samplings[][3] = {
		{ 0x11, 0x11, 0x11 }, { 0x22, 0x11, 0x11 },
		{ 0x21, 0x11, 0x11 }, { 0x12, 0x11, 0x11 },
		{ 0x41, 0x11, 0x11 }, { 0x42, 0x11, 0x11 },
		{ 0x14, 0x11, 0x11 }, { 0x24, 0x11, 0x11 },
		{ 0x22, 0x21, 0x21 }, { 0x22, 0x12, 0x12 },
		{ 0x22, 0x22, 0x11 }, { 0x11, 0x21, 0x21 },
		{ 0x11, 0x22, 0x11 }, { 0x32, 0x11, 0x11 },
		{ 0x23, 0x11, 0x11 }, { 0x22, 0x21, 0x12 },
		{ 0x31, 0x11, 0x31 }, { 0x21, 0x21, 0x22 },
	};
	const uint8_t *s = samplings[random_below(state, 18)];
	struct encoding how = {
		.width = 1 + random_below(state, 70),
		.height = 1 + random_below(state, 70),
		.components = "\3\3\3\3\3\1\1\4"[random_below(state, 8)],
		.sampling = { s[0], s[1], s[2], 0x11 },
		.quality = 1 + (int)random_below(state, 100),
		.restart = random_below(state, 3) ? 0 :
			   1 + (int)random_below(state, 20),
		.is_optimised = random_below(state, 2),
		.content = random_below(state, NR_CONTENTS),
		.seed = random_next(state),
	};

	if (how.components == 4 && (s[0] >> 4) * (s[0] & 15) > 4)
		memset(how.sampling, 0x11, 4);
	if (how.components == 1)
		how.sampling[0] = "\x11\x22\x21\x44"[random_below(state, 4)];
	return how;
}

static void encode_setup(struct jpeg_compress_struct *c,
			 const struct encoding *how)
{
	static const J_COLOR_SPACE in[5] = { 0, JCS_GRAYSCALE, 0, JCS_RGB,
					     JCS_CMYK };

	c->image_width = how->width;
	c->image_height = how->height;
	c->input_components = how->components;
	c->in_color_space = in[how->components];
	jpeg_set_defaults(c);
	if (how->components == 3 && how->seed % 5 == 0)
		jpeg_set_colorspace(c, JCS_RGB);
	if (how->components == 4 && how->seed % 2)
		jpeg_set_colorspace(c, JCS_YCCK);
	jpeg_set_quality(c, how->quality, how->seed % 7 != 0);
	for (int i = 0; i < c->num_components; i++) {
		c->comp_info[i].h_samp_factor = how->sampling[i] >> 4;
		c->comp_info[i].v_samp_factor = how->sampling[i] & 15;
	}
	if (how->seed % 3 == 0) {
		c->write_JFIF_header = FALSE;
		c->write_Adobe_marker = FALSE;
	}
	c->restart_interval = (unsigned int)how->restart;
	c->optimize_coding = how->is_optimised;
}

static void encode_message(j_common_ptr cinfo, int level)
{
}

struct file encode(const struct encoding *how)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr err;
	unsigned char *out = NULL;
	unsigned long len = 0;
	uint64_t state = how->seed + 1;
	uint32_t nr = (uint32_t)how->components;
	JSAMPROW row;

	memset(&c, 0, sizeof(c));
	c.err = jpeg_std_error(&err);
	err.emit_message = encode_message;
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &out, &len);
	encode_setup(&c, how);
	row = malloc((size_t)how->width * 4);
	jpeg_start_compress(&c, TRUE);
	while (c.next_scanline < c.image_height) {
		for (uint32_t x = 0; x < how->width; x++)
			for (uint32_t i = 0; i < nr; i++)
				row[x * nr + i] = sample(how->content, x,
							 c.next_scanline, i,
							 &state);
		jpeg_write_scanlines(&c, &row, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	free(row);
	return (struct file){ out, len };
}
