// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Test pictures and the plain use of libjpeg.  Shared by the tests of this
 * folder; asserts nothing itself.
 */
#include "decode_util.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <spng.h>

/* xorshift64*: G. Marsaglia, S. Vigna */
uint64_t rng_next(uint64_t *state)
{
	uint64_t x = *state ? *state : 88172645463325252u;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 2685821657736338717u;
}

uint32_t rng_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((rng_next(state) >> 33) % n);
}

/* Edges, slopes and noise: something for every coefficient */
static uint8_t pattern(uint32_t x, uint32_t y, uint32_t c, uint64_t *state)
{
	uint32_t slope = x * (3 + c) + y * (5 - c);
	uint32_t check = ((x >> 3) ^ (y >> 2) ^ c) & 1 ? 60 : 0;

	return (uint8_t)((slope & 127) + check + rng_below(state, 68));
}

/* Waves of a few hundred pixels and a little noise */
static uint8_t smooth(uint32_t x, uint32_t y, uint32_t c, uint64_t *state)
{
	uint32_t wave = (x * (1 + c) + y * (3 - c)) % 420;

	return (uint8_t)((wave < 210 ? wave : 420 - wave) +
			 rng_below(state, 8));
}

static void make_scans(struct jpeg_compress_struct *c, const struct make *how,
		       jpeg_scan_info *scans)
{
	if (how->coding == CODING_PROGRESSIVE ||
	    how->coding == CODING_ARITHMETIC_PROGRESSIVE) {
		jpeg_simple_progression(c);
		if (how->nr_scans && how->nr_scans < c->num_scans)
			c->num_scans = how->nr_scans;
	}
	if (how->coding != CODING_SEPARATE_SCANS)
		return;
	for (int i = 0; i < c->num_components; i++)
		scans[i] = (jpeg_scan_info){
			.comps_in_scan = 1,
			.component_index = { i },
			.Se = 63,
		};
	c->scan_info = scans;
	c->num_scans = c->num_components;
}

static void make_setup(struct jpeg_compress_struct *c, const struct make *how,
		       jpeg_scan_info *scans)
{
	static const J_COLOR_SPACE in[5] = { 0, JCS_GRAYSCALE, 0, JCS_RGB,
					     JCS_CMYK };

	c->image_width = how->width;
	c->image_height = how->height;
	c->input_components = how->components ? how->components : 3;
	c->in_color_space = in[c->input_components];
	jpeg_set_defaults(c);
	if (how->space)
		jpeg_set_colorspace(c, how->space);
	jpeg_set_quality(c, how->quality ? how->quality : 90, TRUE);
	for (int i = 0; i < c->num_components; i++) {
		uint8_t s = how->sampling[i] ? how->sampling[i] : 0x11;

		c->comp_info[i].h_samp_factor = s >> 4;
		c->comp_info[i].v_samp_factor = s & 15;
	}
	if (how->has_no_markers) {
		c->write_JFIF_header = FALSE;
		c->write_Adobe_marker = FALSE;
	}
	c->restart_interval = (unsigned int)how->restart;
	c->arith_code = how->coding == CODING_ARITHMETIC ||
			how->coding == CODING_ARITHMETIC_PROGRESSIVE;
	make_scans(c, how, scans);
}

struct blob make_jpeg(const struct make *how)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr err;
	jpeg_scan_info scans[4];
	unsigned char *out = NULL;
	unsigned long len = 0;
	uint8_t (*draw)(uint32_t x, uint32_t y, uint32_t c, uint64_t *state) =
		how->is_smooth ? smooth : pattern;
	uint64_t state = how->seed + 1;
	JSAMPROW row;

	memset(&c, 0, sizeof(c));
	c.err = jpeg_std_error(&err);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &out, &len);
	make_setup(&c, how, scans);
	row = malloc((size_t)how->width * 4);
	jpeg_start_compress(&c, TRUE);
	while (c.next_scanline < c.image_height) {
		for (uint32_t x = 0; x < how->width; x++)
			for (int i = 0; i < c.input_components; i++)
				row[x * (uint32_t)c.input_components + i] =
					draw(x, c.next_scanline, i, &state);
		jpeg_write_scanlines(&c, &row, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	free(row);
	return (struct blob){ out, len };
}

struct blob make_png(uint32_t width, uint32_t height, int colour_type,
		     int depth, bool is_interlaced, uint64_t seed)
{
	static const int channels[7] = { 1, 0, 3, 1, 2, 0, 4 };
	struct spng_ihdr ihdr = {
		.width = width,
		.height = height,
		.bit_depth = (uint8_t)depth,
		.color_type = (uint8_t)colour_type,
		.interlace_method = is_interlaced,
	};
	struct spng_plte plte = { .n_entries = 1u << depth };
	size_t stride = ((size_t)width * channels[colour_type] * depth + 7) / 8;
	uint8_t *pixels = malloc(stride * height);
	spng_ctx *ctx = spng_ctx_new(SPNG_CTX_ENCODER);
	uint64_t state = seed + 1;
	struct blob png = { 0 };
	int err;

	for (size_t i = 0; i < stride * height; i++)
		pixels[i] = (uint8_t)rng_next(&state);
	for (uint32_t i = 0; colour_type == 3 && i < plte.n_entries; i++) {
		plte.entries[i].red = (uint8_t)rng_next(&state);
		plte.entries[i].green = (uint8_t)rng_next(&state);
		plte.entries[i].blue = (uint8_t)rng_next(&state);
	}
	spng_set_option(ctx, SPNG_ENCODE_TO_BUFFER, 1);
	spng_set_ihdr(ctx, &ihdr);
	if (colour_type == 3)
		spng_set_plte(ctx, &plte);
	spng_encode_image(ctx, pixels, stride * height, SPNG_FMT_PNG,
			  SPNG_ENCODE_FINALIZE);
	png.bytes = spng_get_png_buffer(ctx, &png.len, &err);
	spng_ctx_free(ctx);
	free(pixels);
	return png;
}

struct blob with_orientation(const struct blob *file, uint8_t value,
			     bool is_little)
{
	static const uint8_t little[] = {
		0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0,
		8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0,
	};
	static const uint8_t big[] = {
		0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42,
		0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0,
		0, 0, 0, 0,
	};
	struct blob out = { malloc(file->len + sizeof(big)),
			    file->len + sizeof(big) };

	memcpy(out.bytes, file->bytes, 2);
	memcpy(out.bytes + 2, is_little ? little : big, sizeof(big));
	memcpy(out.bytes + 2 + sizeof(big), file->bytes + 2, file->len - 2);
	out.bytes[2 + (is_little ? 28 : 29)] = value;
	return out;
}

struct blob read_file(const char *path)
{
	struct blob blob = { 0 };
	FILE *f = fopen(path, "rb");
	long len;

	if (!f)
		return blob;
	fseek(f, 0, SEEK_END);
	len = ftell(f);
	rewind(f);
	blob.bytes = malloc((size_t)len + 1);
	blob.len = fread(blob.bytes, 1, (size_t)len, f);
	fclose(f);
	return blob;
}

struct plain {
	struct jpeg_error_mgr err;
	jmp_buf bail;
	bool is_in_scan;
	bool is_cut;
};

static void plain_error(j_common_ptr cinfo)
{
	longjmp(((struct plain *)cinfo->err)->bail, 1);
}

static void plain_message(j_common_ptr cinfo, int level)
{
	struct plain *plain = (struct plain *)cinfo->err;

	if (level >= 0)
		return;
	cinfo->err->num_warnings++;
	if (cinfo->err->msg_code == JWRN_JPEG_EOF && plain->is_in_scan)
		plain->is_cut = true;
}

/* Pillow's arithmetic for four components, per pixel; white is 255 - K */
static void plain_cmyk(const uint8_t *cmyk, uint8_t *rgb)
{
	int white = 255 - (255 - cmyk[3]);

	for (int i = 0; i < 3; i++) {
		int t = (255 - cmyk[i]) * white + 128;
		int v = white - (((t >> 8) + t) >> 8);

		rgb[i] = (uint8_t)(v < 0 ? 0 : v);
	}
}

static void plain_rows(struct jpeg_decompress_struct *c, struct opinion *o,
		       uint8_t *row)
{
	while (c->output_scanline < c->output_height) {
		uint8_t *out = o->rgb + (size_t)c->output_scanline *
					o->width * 3;
		JSAMPROW p = row;

		jpeg_read_scanlines(c, &p, 1);
		for (uint32_t x = 0; x < o->width; x++) {
			if (c->num_components == 4)
				plain_cmyk(row + 4 * x, out + 3 * x);
			else
				memcpy(out + 3 * x, row + 3 * x, 3);
		}
	}
}

static void plain_run(struct jpeg_decompress_struct *c, struct plain *plain,
		      struct opinion *o, uint8_t *volatile *row)
{
	jpeg_read_header(c, TRUE);
	c->out_color_space = c->num_components == 4 ? JCS_CMYK : JCS_EXT_RGB;
	o->width = c->image_width;
	o->height = c->image_height;
	o->rgb = malloc((size_t)o->width * o->height * 3);
	*row = malloc((size_t)o->width * 4);
	plain->is_in_scan = true;
	jpeg_start_decompress(c);
	plain_rows(c, o, *row);
	plain->is_in_scan = false;
	jpeg_finish_decompress(c);
}

struct opinion plain_decode(const uint8_t *bytes, size_t len)
{
	struct jpeg_decompress_struct c;
	struct plain plain = { 0 };
	struct opinion o = { 0 };
	uint8_t *volatile row = NULL;

	memset(&c, 0, sizeof(c));
	c.err = jpeg_std_error(&plain.err);
	plain.err.error_exit = plain_error;
	plain.err.emit_message = plain_message;
	if (setjmp(plain.bail)) {
		o.status = DLBOOST_STATUS_CORRUPT;
	} else {
		jpeg_create_decompress(&c);
		jpeg_mem_src(&c, bytes, len);
		plain_run(&c, &plain, &o, &row);
	}
	if (plain.is_cut)
		o.status = DLBOOST_STATUS_TRUNCATED;
	o.nr_warnings = (int)plain.err.num_warnings;
	jpeg_destroy_decompress(&c);
	free(row);
	if (o.status) {
		free(o.rgb);
		o.rgb = NULL;
	}
	return o;
}

struct dlboost_recipe recipe_none(void)
{
	struct dlboost_recipe *parsed, copy;

	if (dlboost_recipe_parse("none", NULL, 0, &parsed))
		abort();
	copy = *parsed;
	dlboost_recipe_destroy(parsed);
	return copy;
}

struct dlboost_geometry crop_geometry(uint32_t x, uint32_t y, uint32_t w,
				      uint32_t h)
{
	return (struct dlboost_geometry){
		.crop_x = x, .crop_y = y, .crop_w = w, .crop_h = h,
		.resize_w = w, .resize_h = h, .window_w = w, .window_h = h,
	};
}
