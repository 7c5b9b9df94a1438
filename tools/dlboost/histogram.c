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
	h->sums[bin_of(value)] += value;
	h->min = h->nr && h->min < value ? h->min : value;
	h->max = h->nr && h->max > value ? h->max : value;
	h->sum += value;
	h->nr++;
}

double histogram_mean(const struct histogram *h)
{
	return h->nr ? h->sum / (double)h->nr : 0;
}

/* The mean of the bin in which the quantile lies */
double histogram_quantile(const struct histogram *h, double share)
{
	uint64_t below = 0, want = (uint64_t)(share * (double)h->nr);

	for (int bin = 0; bin < HISTOGRAM_NR_BINS && h->nr; bin++) {
		below += h->bins[bin];
		if (below > want || (h->bins[bin] && below == h->nr))
			return h->sums[bin] / (double)h->bins[bin];
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

/**
 * struct text_rows - How bins go into rows of text
 * @first: first bin of the second row; what is below goes into the first
 * @step: bins a row
 * @nr: rows, those for what is below and above included
 */
struct text_rows {
	int first;
	int step;
	int nr;
};

/* Single outliers must not stretch the rows: 98 % decide, the rest is tails */
static void text_rows_plan(const struct histogram *h, struct text_rows *rows)
{
	int low = bin_of(histogram_quantile(h, 0.01));
	int high = bin_of(histogram_quantile(h, 0.99));

	rows->step = 1;
	while (high / rows->step - low / rows->step + 1 > TEXT_ROWS - 2)
		rows->step *= 2;
	rows->first = low / rows->step * rows->step;
	rows->nr = high / rows->step - low / rows->step + 3;
}

static int text_row_of(const struct text_rows *rows, int bin)
{
	int row = bin < rows->first ? 0 :
		  (bin - rows->first) / rows->step + 1;

	return row < rows->nr ? row : rows->nr - 1;
}

static void print_row_name(const struct text_rows *rows, int row,
			   enum histogram_unit unit)
{
	char low[FIGURE_BYTES], high[FIGURE_BYTES];

	histogram_figure(low, edge_of(rows->first + (row - 1) * rows->step),
			 unit);
	histogram_figure(high, edge_of(rows->first + row * rows->step), unit);
	if (row == 0)
		printf("  %10s   %-10s", "below", high);
	else if (row == rows->nr - 1)
		printf("  %10s   %-10s", low, "and above");
	else
		printf("  %10s - %-10s", low, high);
}

void histogram_print(const struct histogram *h, const char *title,
		     enum histogram_unit unit, unsigned int width)
{
	uint64_t counts[TEXT_ROWS] = { 0 }, most = 1;
	struct text_rows rows;

	if (!h->nr)
		return;
	text_rows_plan(h, &rows);
	for (int bin = bin_of(h->min); bin <= bin_of(h->max); bin++)
		counts[text_row_of(&rows, bin)] += h->bins[bin];
	for (int i = 0; i < rows.nr; i++)
		most = counts[i] > most ? counts[i] : most;
	printf("%s\n", title);
	for (int i = 0; i < rows.nr; i++) {
		char count[FIGURE_BYTES];
		int bar = (int)((double)counts[i] / (double)most *
				(width > 48 ? width - 42 : 6) + 0.5);

		if (!counts[i] && (i == 0 || i == rows.nr - 1))
			continue;
		print_row_name(&rows, i, unit);
		printf("%12s%s", figure_count(count, counts[i]),
		       bar ? "  " : "");
		while (bar-- > 0)
			putchar('#');
		putchar('\n');
	}
}
