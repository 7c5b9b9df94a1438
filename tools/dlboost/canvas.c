// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Drawing for contact sheets and histograms.  Knows neither; everything is
 * clipped, so that callers need not count pixels to be safe.
 */
#include "canvas.h"

#include <errno.h>
#include <string.h>

int canvas_init(struct canvas *canvas, unsigned int width, unsigned int height)
{
	canvas->width = width;
	canvas->height = height;
	canvas->rgb = malloc((size_t)width * height * 3);
	if (!canvas->rgb)
		return -ENOMEM;
	memset(canvas->rgb, 0xff, (size_t)width * height * 3);
	return 0;
}

void canvas_fini(struct canvas *canvas)
{
	free(canvas->rgb);
	canvas->rgb = NULL;
}

static uint8_t *pixel_at(const struct canvas *canvas, int x, int y)
{
	return canvas->rgb + ((size_t)y * canvas->width + (size_t)x) * 3;
}

static void put_pixel(uint8_t *p, uint32_t colour)
{
	p[0] = (uint8_t)(colour >> 16);
	p[1] = (uint8_t)(colour >> 8);
	p[2] = (uint8_t)colour;
}

static struct box clip(const struct canvas *canvas, struct box box)
{
	int right = box.x + box.w, bottom = box.y + box.h;

	box.x = box.x < 0 ? 0 : box.x;
	box.y = box.y < 0 ? 0 : box.y;
	right = right > (int)canvas->width ? (int)canvas->width : right;
	bottom = bottom > (int)canvas->height ? (int)canvas->height : bottom;
	box.w = right > box.x ? right - box.x : 0;
	box.h = bottom > box.y ? bottom - box.y : 0;
	return box;
}

void canvas_fill(struct canvas *canvas, struct box box, uint32_t colour)
{
	box = clip(canvas, box);
	for (int y = box.y; y < box.y + box.h; y++)
		for (int x = box.x; x < box.x + box.w; x++)
			put_pixel(pixel_at(canvas, x, y), colour);
}

void canvas_frame(struct canvas *canvas, struct box box, uint32_t colour)
{
	canvas_fill(canvas, (struct box){ box.x, box.y, box.w, 1 }, colour);
	canvas_fill(canvas, (struct box){ box.x, box.y + box.h - 1, box.w, 1 },
		    colour);
	canvas_fill(canvas, (struct box){ box.x, box.y, 1, box.h }, colour);
	canvas_fill(canvas, (struct box){ box.x + box.w - 1, box.y, 1, box.h },
		    colour);
}

static void draw_glyph(struct canvas *canvas, int x, int y, unsigned int scale,
		       uint32_t colour, const uint8_t *rows)
{
	int s = (int)scale;

	for (int r = 0; r < FONT_ROWS; r++)
		for (int c = 0; c < FONT_COLUMNS; c++)
			if (rows[r] & (0x10 >> c))
				canvas_fill(canvas, (struct box){ x + c * s,
					    y + r * s, s, s }, colour);
}

/* Letters of the Latin-1 supplement go without their marks; others are "?" */
static unsigned int glyph_of(const unsigned char *s)
{
	static const char bare[] =
		"AAAAAAACEEEEIIIIDNOOOOOxOUUUUYPsaaaaaaaceeeeiiiidnooooo/ouuuuypy";

	if (s[0] == 0xc3 && (s[1] & 0xc0) == 0x80)
		return (unsigned char)bare[s[1] & 0x3f];
	return s[0] >= ' ' && s[0] <= '~' ? s[0] : '?';
}

void canvas_text(struct canvas *canvas, int x, int y, unsigned int scale,
		 uint32_t colour, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	for (; *s; s++) {
		/* One mark for a whole character beyond ASCII */
		if ((*s & 0xc0) == 0x80)
			continue;
		draw_glyph(canvas, x, y, scale, colour,
			   font_glyphs[glyph_of(s) - ' ']);
		x += FONT_ADVANCE * (int)scale;
	}
}

static int text_columns(const char *text)
{
	int nr = 0;

	for (; *text; text++)
		nr += (*text & 0xc0) != 0x80;
	return nr;
}

int canvas_text_width(const char *text, unsigned int scale)
{
	return text_columns(text) * FONT_ADVANCE * (int)scale;
}

/* The byte where character @column of @text begins */
static const char *text_column(const char *text, int column)
{
	for (; *text; text++)
		if ((*text & 0xc0) != 0x80 && column-- == 0)
			break;
	return text;
}

void canvas_text_cut(struct canvas *canvas, struct box box, unsigned int scale,
		     uint32_t colour, const char *text, bool keep_end)
{
	int room = box.w / (FONT_ADVANCE * (int)scale);
	int columns = text_columns(text);
	char *cut = NULL;
	int ret;

	if (columns <= room) {
		canvas_text(canvas, box.x, box.y, scale, colour, text);
		return;
	}
	if (room < 3)
		return;
	if (keep_end)
		ret = asprintf(&cut, "..%s",
			       text_column(text, columns - room + 2));
	else
		ret = asprintf(&cut, "%.*s..",
			       (int)(text_column(text, room - 2) - text), text);
	if (ret >= 0)
		canvas_text(canvas, box.x, box.y, scale, colour, cut);
	free(ret >= 0 ? cut : NULL);
}

/* Mean of the source pixels that fall on one pixel of the destination */
static void mean_pixel(uint8_t *out, const uint8_t *rgb, unsigned int w,
		       struct box from)
{
	uint64_t sum[3] = { 0 };
	uint64_t nr = (uint64_t)from.w * (uint64_t)from.h;

	for (int y = from.y; y < from.y + from.h; y++) {
		const uint8_t *p = rgb + ((size_t)y * w + (size_t)from.x) * 3;

		for (int x = 0; x < from.w; x++, p += 3)
			for (int c = 0; c < 3; c++)
				sum[c] += p[c];
	}
	for (int c = 0; c < 3; c++)
		out[c] = (uint8_t)((sum[c] + nr / 2) / nr);
}

/* Source span [first, first + len) of destination pixel @i of @n */
static void span(int i, int n, unsigned int size, int *first, int *len)
{
	int64_t begin = (int64_t)i * size / n;
	int64_t end = ((int64_t)i + 1) * size / n;

	*first = (int)begin;
	*len = end > begin ? (int)(end - begin) : 1;
}

void canvas_picture(struct canvas *canvas, struct box box, const uint8_t *rgb,
		    unsigned int w, unsigned int h)
{
	for (int y = 0; y < box.h; y++) {
		for (int x = 0; x < box.w; x++) {
			int tx = box.x + x, ty = box.y + y;
			struct box from;

			if (tx < 0 || ty < 0 || tx >= (int)canvas->width ||
			    ty >= (int)canvas->height)
				continue;
			span(x, box.w, w, &from.x, &from.w);
			span(y, box.h, h, &from.y, &from.h);
			mean_pixel(pixel_at(canvas, tx, ty), rgb, w, from);
		}
	}
}

int canvas_write_png(const struct canvas *canvas, const char *path)
{
	return png_write_rgb(path, canvas->width, canvas->height, canvas->rgb);
}
