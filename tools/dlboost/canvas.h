/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture in memory to draw on: rectangles, text, other pictures. */
#ifndef DLBOOST_TOOL_CANVAS_H
#define DLBOOST_TOOL_CANVAS_H

#include "tool.h"

#define FONT_NR_GLYPHS 95
#define FONT_ROWS 9
#define FONT_COLUMNS 5
/* Pixels from one character to the next, and from one line to the next */
#define FONT_ADVANCE 6
#define FONT_LINE 11

extern const uint8_t font_glyphs[FONT_NR_GLYPHS][FONT_ROWS];

/* 0xrrggbb */
#define COLOUR_PAPER 0xffffffu
#define COLOUR_INK 0x202020u
#define COLOUR_PALE 0x7a7a7au
#define COLOUR_GRID 0xddddddu
#define COLOUR_BAR 0x3b6ea5u
#define COLOUR_BAD 0xc03028u

struct canvas {
	unsigned int width;
	unsigned int height;
	uint8_t *rgb;
};

struct box {
	int x;
	int y;
	int w;
	int h;
};

/* Filled with COLOUR_PAPER; 0 or -ENOMEM */
int canvas_init(struct canvas *canvas, unsigned int width, unsigned int height);
void canvas_fini(struct canvas *canvas);
/* What lies outside the canvas is left out, here and below */
void canvas_fill(struct canvas *canvas, struct box box, uint32_t colour);
void canvas_frame(struct canvas *canvas, struct box box, uint32_t colour);
/* @y is the top of the capitals; characters beyond Latin-1 become "?" */
void canvas_text(struct canvas *canvas, int x, int y, unsigned int scale,
		 uint32_t colour, const char *text);
/* The same, cut to @width pixels with ".." in place of what is missing */
void canvas_text_cut(struct canvas *canvas, struct box box, unsigned int scale,
		     uint32_t colour, const char *text, bool keep_end);
int canvas_text_width(const char *text, unsigned int scale);
/* @rgb of @w x @h into @box, enlarged or reduced to it by nearest or area */
void canvas_picture(struct canvas *canvas, struct box box, const uint8_t *rgb,
		    unsigned int w, unsigned int h);
/* PNG; 0 or a negative error number */
int canvas_write_png(const struct canvas *canvas, const char *path);
/* png_write.c: rows of @width RGB pixels */
int png_write_rgb(const char *path, unsigned int width, unsigned int height,
		  const uint8_t *rgb);
int png_encode_rgb(unsigned int width, unsigned int height, const uint8_t *rgb,
		   uint8_t **bytes, size_t *nr_bytes);

#endif /* DLBOOST_TOOL_CANVAS_H */
