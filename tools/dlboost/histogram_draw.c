// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Panels of a histogram picture: a title with the quartiles, bars over a
 * logarithmic axis with ticks at 1, 2 and 5, and the count of the tallest bar.
 */
#include "histogram.h"

#include <math.h>
#include <string.h>

#define PAD 12
#define TITLE_ROWS 46
#define AXIS_ROWS 24
#define TICK_GAP 14	/* pixels between tick labels, at least */
#define MAX_BARS 256

static struct box plot_area(struct box box)
{
	return (struct box){ box.x + PAD, box.y + TITLE_ROWS,
			     box.w - 2 * PAD, box.h - TITLE_ROWS - AXIS_ROWS };
}

static void draw_bars(struct canvas *canvas, struct box plot,
		      const uint64_t *counts, size_t nr)
{
	char text[FIGURE_BYTES + 16], count[FIGURE_BYTES];
	uint64_t most = 1;

	for (size_t i = 0; i < nr; i++)
		most = counts[i] > most ? counts[i] : most;
	for (int i = 1; i <= 4; i++)
		canvas_fill(canvas, (struct box){ plot.x,
			    plot.y + plot.h - plot.h * i / 4, plot.w, 1 },
			    COLOUR_GRID);
	for (size_t i = 0; i < nr; i++) {
		int left = plot.x + (int)(i * (size_t)plot.w / nr);
		int right = plot.x + (int)((i + 1) * (size_t)plot.w / nr);
		int height = (int)((double)counts[i] / (double)most * plot.h +
				   0.5);

		/* What is there shows, however little it is */
		height = counts[i] && !height ? 1 : height;
		canvas_fill(canvas, (struct box){ left,
			    plot.y + plot.h - height,
			    right - left > 2 ? right - left - 1 : right - left,
			    height }, COLOUR_BAR);
	}
	canvas_fill(canvas, (struct box){ plot.x, plot.y + plot.h, plot.w, 1 },
		    COLOUR_INK);
	snprintf(text, sizeof(text), "max %s", figure_count(count, most));
	canvas_text(canvas, plot.x + plot.w - canvas_text_width(text, 1),
		    plot.y - 10, 1, COLOUR_PALE, text);
}

static void draw_tick(struct canvas *canvas, struct box plot, int x,
		      const char *text, int *free_x)
{
	int width = canvas_text_width(text, 1), left = x - width / 2;

	if (left < *free_x || left + width > plot.x + plot.w + PAD)
		return;
	canvas_fill(canvas, (struct box){ x, plot.y + plot.h, 1, 5 },
		    COLOUR_INK);
	canvas_text(canvas, left, plot.y + plot.h + 8, 1, COLOUR_INK, text);
	*free_x = left + width + TICK_GAP;
}

static void draw_tick_at(struct canvas *canvas, struct box plot, double low,
			 double high, double value, enum histogram_unit unit,
			 int *free_x)
{
	char text[FIGURE_BYTES], *zero;

	if (value < low * 0.999 || value > high * 1.001)
		return;
	histogram_figure(text, value, unit);
	/* "64.0 KiB" says no more than "64 KiB" */
	zero = unit == HISTOGRAM_BYTES ? strstr(text, ".0 ") : NULL;
	if (zero)
		memmove(zero, zero + 2, strlen(zero + 2) + 1);
	draw_tick(canvas, plot, plot.x + (int)(log(value / low) /
		  log(high / low) * plot.w), text, free_x);
}

/* Ticks at 1, 2, 5 times a power of ten; at even steps in a narrow range */
static void draw_ticks(struct canvas *canvas, struct box plot, double low,
		       double high, enum histogram_unit unit)
{
	static const double tens[] = { 1, 2, 5 };
	int free_x = plot.x - PAD;
	double step = pow(10, floor(log10((high - low) / 2)));

	if (high < low * 6 && unit != HISTOGRAM_BYTES) {
		for (double v = ceil(low / step) * step; v <= high; v += step)
			draw_tick_at(canvas, plot, low, high, v, unit, &free_x);
		return;
	}
	for (int i = -9; i < 150; i++)
		draw_tick_at(canvas, plot, low, high,
			     unit == HISTOGRAM_BYTES ? exp2(i) :
			     tens[(i + 9) % 3] * pow(10, (i + 9) / 3 - 3), unit,
			     &free_x);
}

static void draw_title(const struct histogram *h, struct canvas *canvas,
		       struct box box, const char *title,
		       enum histogram_unit unit)
{
	char low[FIGURE_BYTES], middle[FIGURE_BYTES], high[FIGURE_BYTES];
	char text[4 * FIGURE_BYTES];

	canvas_text(canvas, box.x + PAD, box.y + 8, 2, COLOUR_INK, title);
	if (!h->nr) {
		canvas_text(canvas, box.x + PAD, box.y + 32, 1, COLOUR_PALE,
			    "nothing to show");
		return;
	}
	snprintf(text, sizeof(text), "min %s  median %s  max %s",
		 histogram_figure(low, h->min, unit),
		 histogram_figure(middle, histogram_quantile(h, 0.5), unit),
		 histogram_figure(high, h->max, unit));
	canvas_text(canvas, box.x + PAD, box.y + 32, 1, COLOUR_PALE, text);
}

void histogram_draw(const struct histogram *h, struct canvas *canvas,
		    struct box box, const char *title, enum histogram_unit unit)
{
	const double octave = HISTOGRAM_BINS_OCTAVE;
	uint64_t bars[MAX_BARS] = { 0 };
	int first = 0, last = HISTOGRAM_NR_BINS - 1, step = 1;

	canvas_frame(canvas, box, COLOUR_GRID);
	draw_title(h, canvas, box, title, unit);
	if (!h->nr)
		return;
	while (!h->bins[first])
		first++;
	while (!h->bins[last])
		last--;
	/* A little air on both sides, and half an octave at least */
	first = first > 4 ? first - 4 : 0;
	last = last + 4 < HISTOGRAM_NR_BINS ? last + 4 : HISTOGRAM_NR_BINS - 1;
	while ((last - first + 1) / step + 1 > MAX_BARS)
		step *= 2;
	for (int bin = first; bin <= last; bin++)
		bars[(bin - first) / step] += h->bins[bin];
	draw_bars(canvas, plot_area(box), bars,
		  (size_t)((last - first) / step + 1));
	draw_ticks(canvas, plot_area(box),
		   exp2(first / octave + HISTOGRAM_FIRST_OCTAVE),
		   exp2((first + ((last - first) / step + 1) * step) / octave +
			HISTOGRAM_FIRST_OCTAVE), unit);
}

/* Under the bars: their numbers, or as much of their names as fits */
static void draw_names(struct canvas *canvas, struct box plot,
		       const char *const *names, size_t nr, size_t nr_bars)
{
	int free_x = plot.x - PAD;
	char text[32];

	for (size_t i = 0; i < nr_bars; i++) {
		int left = plot.x + (int)(i * (size_t)plot.w / nr_bars);
		int width = plot.w / (int)nr_bars;

		snprintf(text, sizeof(text), "%zu", i * nr / nr_bars);
		if (names && nr == nr_bars && width >= 8 * FONT_ADVANCE)
			canvas_text_cut(canvas, (struct box){ left + 2,
					plot.y + plot.h + 8, width - 4, 0 }, 1,
					COLOUR_INK, names[i], false);
		else
			draw_tick(canvas, plot, left + width / 2, text,
				  &free_x);
	}
}

void histogram_draw_counts(const uint64_t *counts, const char *const *names,
			   size_t nr, struct canvas *canvas, struct box box,
			   const char *title)
{
	struct box plot = plot_area(box);
	uint64_t bars[MAX_BARS] = { 0 };
	size_t nr_bars = nr < MAX_BARS ? nr : MAX_BARS;
	char text[64];

	canvas_frame(canvas, box, COLOUR_GRID);
	canvas_text(canvas, box.x + PAD, box.y + 8, 2, COLOUR_INK, title);
	if (!nr) {
		canvas_text(canvas, box.x + PAD, box.y + 32, 1, COLOUR_PALE,
			    "nothing to show");
		return;
	}
	snprintf(text, sizeof(text), nr > nr_bars ?
		 "%zu classes; a bar is the mean of neighbours" : "%zu classes",
		 nr);
	canvas_text(canvas, box.x + PAD, box.y + 32, 1, COLOUR_PALE, text);
	for (size_t bar = 0; bar < nr_bars; bar++) {
		size_t begin = bar * nr / nr_bars;
		size_t end = (bar + 1) * nr / nr_bars;

		for (size_t i = begin; i < end; i++)
			bars[bar] += counts[i];
		bars[bar] = (bars[bar] + (end - begin) / 2) / (end - begin);
	}
	draw_bars(canvas, plot, bars, nr_bars);
	draw_names(canvas, plot, names, nr, nr_bars);
}
