/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distributions of positive numbers in little memory: sixteen bins an octave,
 * so that quantiles are right within 4.4 %, whatever the range.
 */
#ifndef DLBOOST_TOOL_HISTOGRAM_H
#define DLBOOST_TOOL_HISTOGRAM_H

#include "canvas.h"

#define HISTOGRAM_BINS_OCTAVE 16
#define HISTOGRAM_FIRST_OCTAVE (-8)
#define HISTOGRAM_NR_OCTAVES 48
#define HISTOGRAM_NR_BINS (HISTOGRAM_BINS_OCTAVE * HISTOGRAM_NR_OCTAVES)

enum histogram_unit {
	HISTOGRAM_PIXELS,
	HISTOGRAM_BYTES,
	HISTOGRAM_RATIO,
};

struct histogram {
	uint64_t bins[HISTOGRAM_NR_BINS];
	double sums[HISTOGRAM_NR_BINS];	/* of the values in each bin */
	uint64_t nr;
	double sum;
	double min;
	double max;
};

void histogram_add(struct histogram *h, double value);
double histogram_quantile(const struct histogram *h, double share);
double histogram_mean(const struct histogram *h);
/* "375", "98 KiB", "1.33" */
char *histogram_figure(char buf[FIGURE_BYTES], double value,
		       enum histogram_unit unit);
/* Up to ten rows of text bars on lines of @width columns */
void histogram_print(const struct histogram *h, const char *title,
		     enum histogram_unit unit, unsigned int width);
/* One panel of a picture: bars, axis, quartiles */
void histogram_draw(const struct histogram *h, struct canvas *canvas,
		    struct box box, const char *title,
		    enum histogram_unit unit);
/* A panel of @nr counts in their own order; @names may be NULL */
void histogram_draw_counts(const uint64_t *counts, const char *const *names,
			   size_t nr, struct canvas *canvas, struct box box,
			   const char *title);

#endif /* DLBOOST_TOOL_HISTOGRAM_H */
