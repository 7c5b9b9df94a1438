// SPDX-License-Identifier: GPL-2.0-or-later
/* dlboost info, the showing: text with small bars, JSON, a picture. */
#include <string.h>
#include <sys/ioctl.h>

#include "info.h"
#include "json.h"

#define PANEL_W 560
#define PANEL_H 260
#define PANEL_GAP 12
#define HEADER_ROWS 64
#define NR_PANELS 6

static const char *kind_name(const struct info *info)
{
	if (!info->source.parts[0].dataset)
		return "file";
	return info->dataset.kind == DLBOOST_DATASET_MANIFEST ? "manifest" :
								"folder";
}

static unsigned int text_width(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col < 120 ? size.ws_col : 120;
	return 80;
}

static void print_tally(const char *title, const struct tally *tally)
{
	char count[FIGURE_BYTES];

	if (!tally->nr_rows)
		return;
	printf("%-14s", title);
	for (unsigned int i = 0; i < tally->nr_rows; i++)
		printf("%s%s %s", i ? ", " : "", tally->rows[i].name,
		       figure_count(count, tally->rows[i].nr));
	printf("\n");
}

static void print_share(const char *title, uint64_t nr, uint64_t of)
{
	char count[FIGURE_BYTES];

	printf("%-14s%s (%.1f %%)\n", title, figure_count(count, nr),
	       of ? 100.0 * (double)nr / (double)of : 0);
}

static void print_range(const char *title, const struct histogram *h,
			enum histogram_unit unit, const char *suffix)
{
	char a[FIGURE_BYTES], b[FIGURE_BYTES], c[FIGURE_BYTES];

	if (!h->nr)
		return;
	printf("%-14s%s to %s, median %s", title,
	       histogram_figure(a, h->min, unit),
	       histogram_figure(b, h->max, unit),
	       histogram_figure(c, histogram_quantile(h, 0.5), unit));
	printf(", mean %s%s\n", histogram_figure(a, histogram_mean(h), unit),
	       suffix);
}

static void print_orientations(const struct info *info)
{
	char count[FIGURE_BYTES];
	const char *separator = "";

	if (!info->nr_exif_turned)
		return;
	printf("%-14s", "orientation");
	for (unsigned int i = 1; i < ARRAY_SIZE(info->orientations); i++) {
		if (!info->orientations[i])
			continue;
		printf("%s%u: %s", separator, i,
		       figure_count(count, info->orientations[i]));
		separator = ", ";
	}
	printf(" (recipes ignore it unless orient=exif)\n");
}

static void class_range(const struct info *info, uint32_t *least,
			uint32_t *most)
{
	*least = 0;
	*most = 0;
	for (uint32_t i = 1; i < info->dataset.nr_classes; i++) {
		if (info->class_counts[i] < info->class_counts[*least])
			*least = i;
		if (info->class_counts[i] > info->class_counts[*most])
			*most = i;
	}
}

static void print_class(const struct info *info, uint32_t label)
{
	const char *name;
	char count[FIGURE_BYTES];

	name = dlboost_dataset_class_name(info->source.parts[0].dataset, label);
	if (name)
		text_print_escaped(stdout, name);
	else
		printf("label %u:", label);
	printf(" %s", figure_count(count, info->class_counts[label]));
}

static void print_classes(const struct info *info)
{
	uint32_t least, most;

	if (!info->class_counts) {
		if (info->dataset.nr_classes)
			printf("%-14s%u by their labels, too many to count "
			       "each\n", "classes", info->dataset.nr_classes);
		return;
	}
	class_range(info, &least, &most);
	printf("%-14s%u; smallest ", "classes", info->dataset.nr_classes);
	print_class(info, least);
	printf(", largest ");
	print_class(info, most);
	printf("\n");
}

static void print_odd(const struct info *info)
{
	char count[FIGURE_BYTES];

	for (unsigned int i = 0; i < NR_ODD; i++) {
		const struct odd_kind *odd = &info->odd[i];

		if (!odd->nr)
			continue;
		printf("%s file%s: %s\n", figure_count(count, odd->nr),
		       odd->nr == 1 ? "" : "s", odd->title);
		for (uint64_t j = 0; j < INFO_EXAMPLES && j < odd->nr; j++) {
			printf("  ");
			text_print_escaped(stdout, odd->examples[j] ?
					   odd->examples[j] : "?");
			printf("\n");
		}
		if (odd->nr > INFO_EXAMPLES)
			printf("  ... and %s more\n", figure_count(count,
			       odd->nr - INFO_EXAMPLES));
	}
}

void info_print_text(const struct info *info)
{
	char a[FIGURE_BYTES], b[FIGURE_BYTES];
	unsigned int width = text_width();

	text_print_escaped(stdout, info->path);
	printf(": %s, %s pictures, %s\n", kind_name(info),
	       figure_count(a, info->nr_done), figure_bytes(b, info->nr_bytes));
	if (info->dataset.nr_skipped)
		printf("%-14s%s files that are no pictures by name\n",
		       "skipped", figure_count(a, info->dataset.nr_skipped));
	if (info->source.parts[0].dataset)
		printf("%-14s%s\n", "fingerprint", info->dataset.fingerprint);
	print_classes(info);
	print_tally("types", &info->types);
	print_tally("process", &info->processes);
	print_tally("sampling", &info->samplings);
	print_tally("colour", &info->colours);
	print_orientations(info);
	if (info->nr_restart)
		print_share("restarts", info->nr_restart, info->nr_done);
	if (info->nr_icc)
		print_share("ICC profile", info->nr_icc, info->nr_done);
	print_range("width", &info->width, HISTOGRAM_PIXELS, "");
	print_range("height", &info->height, HISTOGRAM_PIXELS, "");
	print_range("bytes", &info->file_bytes, HISTOGRAM_BYTES, " a file");
	print_range("", &info->bytes_per_pixel, HISTOGRAM_RATIO, " a pixel");
	if (info->nr_done > 1) {
		histogram_print(&info->width, "width, pixels",
				HISTOGRAM_PIXELS, width);
		histogram_print(&info->height, "height, pixels",
				HISTOGRAM_PIXELS, width);
		histogram_print(&info->aspect, "width / height",
				HISTOGRAM_RATIO, width);
		histogram_print(&info->file_bytes, "bytes a file",
				HISTOGRAM_BYTES, width);
	}
	print_odd(info);
}

static void add_tally(struct json_object *doc, const char *key,
		      const struct tally *tally)
{
	struct json_object *obj = json_object_new_object();

	for (unsigned int i = 0; i < tally->nr_rows; i++)
		json_add_u64(obj, tally->rows[i].name, tally->rows[i].nr);
	json_add(doc, key, obj);
}

static void add_histogram(struct json_object *doc, const char *key,
			  const struct histogram *h)
{
	struct json_object *obj = json_object_new_object();

	json_add_real(obj, "min", h->min, 4);
	json_add_real(obj, "p5", histogram_quantile(h, 0.05), 4);
	json_add_real(obj, "median", histogram_quantile(h, 0.5), 4);
	json_add_real(obj, "p95", histogram_quantile(h, 0.95), 4);
	json_add_real(obj, "max", h->max, 4);
	json_add_real(obj, "mean", histogram_mean(h), 4);
	json_add(doc, key, obj);
}

static void add_odd(struct json_object *doc, const struct info *info)
{
	struct json_object *all = json_object_new_object();

	for (unsigned int i = 0; i < NR_ODD; i++) {
		const struct odd_kind *odd = &info->odd[i];
		struct json_object *kind = json_object_new_object();
		struct json_object *list = json_object_new_array();

		for (unsigned int j = 0; j < INFO_EXAMPLES && j < odd->nr; j++)
			json_object_array_add(list,
					      json_text(odd->examples[j]));
		json_add_u64(kind, "nr_files", odd->nr);
		json_add(kind, "examples", list);
		json_add(all, odd->name, kind);
	}
	json_add(doc, "odd", all);
}

static void add_classes(struct json_object *doc, const struct info *info)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; info->class_counts &&
	     i < info->dataset.nr_classes; i++) {
		struct json_object *row = json_object_new_object();

		json_add_text(row, "name", dlboost_dataset_class_name(
			      info->source.parts[0].dataset, i));
		json_add_u64(row, "nr_samples", info->class_counts[i]);
		json_object_array_add(list, row);
	}
	json_add(doc, "classes", list);
}

static uint64_t tally_of(const struct tally *tally, const char *name)
{
	for (unsigned int i = 0; i < tally->nr_rows; i++)
		if (!strcmp(tally->rows[i].name, name))
			return tally->rows[i].nr;
	return 0;
}

void info_print_json(const struct context *ctx, const struct info *info)
{
	struct json_object *doc = json_document("dlboost-info");
	struct json_object *orientations = json_object_new_object();
	uint64_t nr_progressive = tally_of(&info->processes, "progressive") +
		tally_of(&info->processes, "arithmetic progressive");
	uint64_t nr_jpeg = tally_of(&info->types, "JPEG");

	json_add_text(doc, "path", info->path);
	json_add_text(doc, "kind", kind_name(info));
	json_add_u64(doc, "nr_samples", info->nr_done);
	json_add_u64(doc, "total_bytes", info->nr_bytes);
	json_add_u64(doc, "nr_skipped", info->dataset.nr_skipped);
	json_add_text(doc, "fingerprint", info->dataset.fingerprint);
	json_add_u64(doc, "nr_classes", info->dataset.nr_classes);
	add_classes(doc, info);
	add_tally(doc, "status", &info->statuses);
	add_tally(doc, "types", &info->types);
	add_tally(doc, "processes", &info->processes);
	add_tally(doc, "samplings", &info->samplings);
	add_tally(doc, "colours", &info->colours);
	json_add_real(doc, "progressive_share", nr_jpeg ?
		      (double)nr_progressive / (double)nr_jpeg : 0, 6);
	for (unsigned int i = 1; i < ARRAY_SIZE(info->orientations); i++)
		json_add_u64(orientations, (char[]){ (char)('0' + i), '\0' },
			     info->orientations[i]);
	json_add(doc, "orientations", orientations);
	json_add_u64(doc, "nr_restart", info->nr_restart);
	json_add_u64(doc, "nr_icc", info->nr_icc);
	json_add_u64(doc, "nr_interlaced", info->nr_interlaced);
	add_histogram(doc, "width_pixels", &info->width);
	add_histogram(doc, "height_pixels", &info->height);
	add_histogram(doc, "area_pixels", &info->pixels);
	add_histogram(doc, "aspect", &info->aspect);
	add_histogram(doc, "file_bytes", &info->file_bytes);
	add_histogram(doc, "bytes_per_pixel", &info->bytes_per_pixel);
	add_odd(doc, info);
	json_print(ctx, doc);
}

static struct box panel_box(unsigned int i)
{
	return (struct box){
		PANEL_GAP + (int)(i % 2) * (PANEL_W + PANEL_GAP),
		HEADER_ROWS + (int)(i / 2) * (PANEL_H + PANEL_GAP),
		PANEL_W, PANEL_H,
	};
}

static void draw_header(const struct info *info, struct canvas *canvas)
{
	char text[160], a[FIGURE_BYTES], b[FIGURE_BYTES], c[FIGURE_BYTES];
	int width = (int)canvas->width - 2 * PANEL_GAP;

	canvas_text_cut(canvas, (struct box){ PANEL_GAP, 12, width, 0 }, 2,
			COLOUR_INK, info->path, true);
	snprintf(text, sizeof(text),
		 "%s pictures, %s, %s classes, %s that cannot be decoded",
		 figure_count(a, info->nr_done),
		 figure_bytes(b, info->nr_bytes),
		 figure_count(c, info->dataset.nr_classes),
		 figure_count((char[FIGURE_BYTES]){ 0 },
			      info->odd[ODD_BAD_HEADER].nr));
	canvas_text_cut(canvas, (struct box){ PANEL_GAP, 40, width, 0 }, 1,
			COLOUR_PALE, text, false);
}

static void draw_classes(const struct info *info, struct canvas *canvas,
			 struct box box)
{
	const char *names[16];
	uint32_t nr = info->class_counts ? info->dataset.nr_classes : 0;

	for (uint32_t i = 0; i < nr && i < ARRAY_SIZE(names); i++) {
		names[i] = dlboost_dataset_class_name(
				info->source.parts[0].dataset, i);
		if (!names[i])
			names[i] = "";
	}
	histogram_draw_counts(info->class_counts,
			      nr <= ARRAY_SIZE(names) ? names : NULL, nr,
			      canvas, box, nr || !info->dataset.nr_classes ?
			      "pictures a class" :
			      "pictures a class (too many)");
}

int info_draw(const struct info *info, const char *path)
{
	struct canvas canvas;
	int ret = canvas_init(&canvas, 2 * PANEL_W + 3 * PANEL_GAP,
			      HEADER_ROWS + NR_PANELS / 2 *
			      (PANEL_H + PANEL_GAP));

	if (ret)
		return ret;
	draw_header(info, &canvas);
	histogram_draw(&info->width, &canvas, panel_box(0), "width, pixels",
		       HISTOGRAM_PIXELS);
	histogram_draw(&info->height, &canvas, panel_box(1), "height, pixels",
		       HISTOGRAM_PIXELS);
	histogram_draw(&info->aspect, &canvas, panel_box(2), "width / height",
		       HISTOGRAM_RATIO);
	histogram_draw(&info->file_bytes, &canvas, panel_box(3),
		       "bytes a file", HISTOGRAM_BYTES);
	histogram_draw(&info->bytes_per_pixel, &canvas, panel_box(4),
		       "bytes a pixel", HISTOGRAM_RATIO);
	draw_classes(info, &canvas, panel_box(5));
	ret = canvas_write_png(&canvas, path);
	canvas_fini(&canvas);
	return ret;
}
