// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distributions: collecting, quantiles, bars of text.  Bars of pixels are in
 * histogram_draw.c.  Main thread only.
 */
#include "histogram.h"

#include <math.h>
#include <string.h>

#define TEXT_ROWS 10

static int bin_of(double value)
{
	int bin = (int)floor((log2(value) - HISTOGRAM_FIRST_OCTAVE) *
			     HISTOGRAM_BINS_OCTAVE);

	return bin < 0 ? 0 : bin >= HISTOGRAM_NR_BINS ? HISTOGRAM_NR_BINS - 1 :
							bin;
}

static double edge_of(int bin)
{
	return exp2((double)bin / HISTOGRAM_BINS_OCTAVE +
		    HISTOGRAM_FIRST_OCTAVE);
}

void histogram_add(struct histogram *h, double value)
{
	if (!(value > 0))
		return;
	h->bins[bin_of(value)]++;
	h->min = h->nr && h->min < value ? h->min : value;
	h->max = h->nr && h->max > value ? h->max : value;
	h->sum += value;
	h->nr++;
}

double histogram_mean(const struct histogram *h)
{
	return h->nr ? h->sum / (double)h->nr : 0;
}

double histogram_quantile(const struct histogram *h, double share)
{
	uint64_t below = 0, want = (uint64_t)(share * (double)h->nr);
	double value;

	for (int bin = 0; bin < HISTOGRAM_NR_BINS && h->nr; bin++) {
		below += h->bins[bin];
		if (below <= want && below < h->nr)
			continue;
		value = sqrt(edge_of(bin) * edge_of(bin + 1));
		return value < h->min ? h->min : value > h->max ? h->max : value;
	}
	return 0;
}

char *histogram_figure(char buf[FIGURE_BYTES], double value,
		       enum histogram_unit unit)
{
	switch (unit) {
	case HISTOGRAM_PIXELS:
		return figure_count(buf, (uint64_t)(value + 0.5));
	case HISTOGRAM_BYTES:
		return figure_bytes(buf, (uint64_t)(value + 0.5));
	case HISTOGRAM_RATIO:
		break;
	}
	snprintf(buf, FIGURE_BYTES, "%.3g", value);
	return buf;
}

/* Bins a row, so that the occupied range takes TEXT_ROWS rows at most */
static int row_bins(const struct histogram *h)
{
	int nr = bin_of(h->max) - bin_of(h->min) + 1, step = 1;

	/* A row begins at a multiple of its width: one row more may be needed */
	while (nr / step + 2 > TEXT_ROWS)
		step *= 2;
	return step;
}

void histogram_print(const struct histogram *h, const char *title,
		     enum histogram_unit unit, unsigned int width)
{
	uint64_t rows[TEXT_ROWS + 1] = { 0 }, most = 1;
	int step, first;

	if (!h->nr)
		return;
	step = row_bins(h);
	first = bin_of(h->min) / step;
	for (int bin = bin_of(h->min); bin <= bin_of(h->max); bin++)
		rows[bin / step - first] += h->bins[bin];
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		most = rows[i] > most ? rows[i] : most;
	printf("%s\n", title);
	for (int i = 0; i <= bin_of(h->max) / step - first; i++) {
		char low[FIGURE_BYTES], high[FIGURE_BYTES], count[FIGURE_BYTES];
		int bar = (int)((double)rows[i] / (double)most *
				(width > 48 ? width - 48 : 1) + 0.5);

		printf("  %10s - %-10s %12s  ",
		       histogram_figure(low, edge_of((first + i) * step), unit),
		       histogram_figure(high, edge_of((first + i + 1) * step),
					unit), figure_count(count, rows[i]));
		while (bar-- > 0)
			putchar('#');
		putchar('\n');
	}
}
