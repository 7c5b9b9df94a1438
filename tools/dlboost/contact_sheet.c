// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The contact sheet: what a trainer would see of its first batch, brought back
 * from the tensor itself (not decoded again), so that a wrong crop, a swapped
 * channel or a wrong label shows.
 */
#include "contact_sheet.h"

#include <errno.h>
#include <string.h>

#include "canvas.h"

#define MAX_TILES 64
#define GAP 8
#define HEADER_ROWS 54
#define CAPTION_ROWS 46
#define BIG_CAPTION 160	/* tiles this wide carry large letters */
#define MIN_TILE 112
#define MAX_TILE 256

struct layout {
	unsigned int nr;	/* tiles */
	unsigned int columns;
	int tile_w;
	int tile_h;
	int cell_w;
	int cell_h;
};

/* Tiles keep the tensor's proportions; small ones grow by whole factors */
static void layout_fill(struct layout *l, const struct dlboost_tensor_spec *t,
			unsigned int nr)
{
	unsigned int longer = t->width > t->height ? t->width : t->height;
	double scale = 1;

	if (longer > MAX_TILE)
		scale = (double)MAX_TILE / longer;
	else if (longer < MIN_TILE)
		scale = (MIN_TILE + longer - 1) / longer;
	l->nr = nr < MAX_TILES ? nr : MAX_TILES;
	l->tile_w = (int)(t->width * scale + 0.5);
	l->tile_h = (int)(t->height * scale + 0.5);
	l->tile_w = l->tile_w ? l->tile_w : 1;
	l->tile_h = l->tile_h ? l->tile_h : 1;
	l->cell_w = (l->tile_w < MIN_TILE ? MIN_TILE : l->tile_w) + GAP;
	l->cell_h = l->tile_h + CAPTION_ROWS + GAP;
	for (l->columns = 1; l->columns < 8 &&
	     l->columns * l->columns < l->nr; l->columns++)
		;
}

static const char *class_text(const struct contact_sheet *sheet, int64_t label,
			      char *buf, size_t bytes)
{
	const char *name = NULL;

	if (label < 0)
		return "no label";
	if (label <= UINT32_MAX)
		name = dlboost_dataset_class_name(sheet->dataset,
						  (uint32_t)label);
	if (name)
		snprintf(buf, bytes, "%lld %s", (long long)label, name);
	else
		snprintf(buf, bytes, "label %lld", (long long)label);
	return buf;
}

static const char *trouble_text(const struct dlboost_batch_info *info,
				unsigned int i)
{
	if (info->status[i] != DLBOOST_STATUS_OK)
		return dlboost_status_name(info->status[i]);
	if (info->flags[i] & DLBOOST_SAMPLE_F_REPLACED)
		return "stands in for a bad one";
	if (info->flags[i] & DLBOOST_SAMPLE_F_WARNED)
		return "decoder warned";
	return info->flags[i] & DLBOOST_SAMPLE_F_DUPLICATE ? "repeated" : "";
}

static void draw_caption(const struct contact_sheet *sheet,
			 struct canvas *canvas, struct box box,
			 const struct dlboost_batch_info *info, unsigned int i)
{
	char path[TOOL_PATH_BYTES], label[300];
	struct dlboost_sample sample;
	char file[TOOL_PATH_BYTES + 32];
	const char *name = "";
	unsigned int scale = box.w >= BIG_CAPTION ? 2 : 1;

	if (!dlboost_dataset_sample(sheet->dataset, (uint64_t)info->ids[i],
				    path, sizeof(path), &sample)) {
		name = strrchr(sample.path, '/');
		name = name ? name + 1 : sample.path;
	}
	snprintf(file, sizeof(file), "%lld %s", (long long)info->ids[i], name);
	canvas_text_cut(canvas, (struct box){ box.x, box.y, box.w, 0 }, scale,
			COLOUR_INK, class_text(sheet, info->labels[i], label,
					       sizeof(label)), false);
	box.y += FONT_LINE * (int)scale;
	canvas_text_cut(canvas, (struct box){ box.x, box.y, box.w, 0 }, 1,
			COLOUR_PALE, file, false);
	box.y += FONT_LINE;
	canvas_text_cut(canvas, (struct box){ box.x, box.y, box.w, 0 }, 1,
			COLOUR_BAD, trouble_text(info, i), false);
}

static void draw_tile(const struct contact_sheet *sheet, struct canvas *canvas,
		      const struct layout *l,
		      const struct dlboost_batch_info *info, unsigned int i,
		      const uint8_t *rgb)
{
	struct box tile = {
		GAP + (int)(i % l->columns) * l->cell_w,
		HEADER_ROWS + (int)(i / l->columns) * l->cell_h,
		l->tile_w, l->tile_h,
	};
	bool is_bad = info->status[i] != DLBOOST_STATUS_OK;

	if (is_bad)
		canvas_fill(canvas, tile, COLOUR_GRID);
	else
		canvas_picture(canvas, tile, rgb, sheet->tensor->width,
			       sheet->tensor->height);
	if (is_bad || info->flags[i] & DLBOOST_SAMPLE_F_REPLACED)
		canvas_frame(canvas, tile, COLOUR_BAD);
	draw_caption(sheet, canvas, (struct box){ tile.x, tile.y + tile.h + 4,
		     l->cell_w - GAP, CAPTION_ROWS }, info, i);
}

static void draw_header(const struct contact_sheet *sheet,
			struct canvas *canvas,
			const struct dlboost_batch_info *info,
			const struct layout *l)
{
	char text[96];
	int width = (int)canvas->width - 2 * GAP;

	snprintf(text, sizeof(text), "epoch %u, batch %llu: %u of %u samples",
		 info->epoch, (unsigned long long)info->batch_idx, l->nr,
		 info->count);
	canvas_text_cut(canvas, (struct box){ GAP, 8, width, 0 }, 2,
			COLOUR_INK, sheet->title, true);
	canvas_text_cut(canvas, (struct box){ GAP, 32, width, 0 }, 1,
			COLOUR_PALE, dlboost_recipe_canonical(sheet->recipe),
			false);
	canvas_text_cut(canvas, (struct box){ GAP, 32 + FONT_LINE, width, 0 },
			1, COLOUR_PALE, text, false);
}

int contact_sheet_write(const struct contact_sheet *sheet, const char *path)
{
	const struct dlboost_tensor_spec *t = sheet->tensor;
	struct dlboost_batch_info info;
	struct recipe_cast cast;
	struct canvas canvas;
	struct layout l;
	uint8_t *rgb;
	int ret;

	dlboost_batch_info(sheet->batch, &info);
	if (!info.count || !t->width || !t->height)
		return -ENODATA;
	layout_fill(&l, t, info.count);
	recipe_cast_read(sheet->recipe, &cast);
	rgb = malloc((size_t)t->width * t->height * 3);
	if (!rgb)
		return -ENOMEM;
	ret = canvas_init(&canvas, l.columns * (unsigned int)l.cell_w + GAP,
			  HEADER_ROWS + (l.nr + l.columns - 1) / l.columns *
			  (unsigned int)l.cell_h);
	if (!ret) {
		draw_header(sheet, &canvas, &info, &l);
		for (unsigned int i = 0; i < l.nr; i++) {
			recipe_sample_to_rgb(t, &cast,
				(const uint8_t *)info.images +
				i * t->sample_bytes, rgb);
			draw_tile(sheet, &canvas, &l, &info, i, rgb);
		}
		ret = canvas_write_png(&canvas, path);
		canvas_fini(&canvas);
	}
	free(rgb);
	return ret;
}
