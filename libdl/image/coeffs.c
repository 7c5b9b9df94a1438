// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Coefficient tables: which input pixels an output pixel takes, with which
 * weight.  A pure function of the axis, in IEEE double without contraction;
 * every sum is in the order that Pillow (Jeffrey A. Clark and contributors,
 * Resample.c) defines, because a different order gives different bits.
 * Documentation/pixels.rst, "Resize".  Knows neither cache nor pixels.
 */
#include "coeffs_int.h"

#include <math.h>
#include <string.h>

#include <dlboost/recipe.h>

#define PI 3.14159265358979323846	/* M_PI is no part of C11 */

static double filter_box(double x)
{
	return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double filter_bilinear(double x)
{
	if (x < 0.0)
		x = -x;
	return x < 1.0 ? 1.0 - x : 0.0;
}

static double filter_hamming(double x)
{
	if (x < 0.0)
		x = -x;
	if (x == 0.0)
		return 1.0;
	if (x >= 1.0)
		return 0.0;
	x = x * PI;
	/* The constants are floats by definition */
	return sin(x) / x * ((double)0.54f + (double)0.46f * cos(x));
}

static double filter_bicubic(double x)
{
	const double a = -0.5;

	if (x < 0.0)
		x = -x;
	if (x < 1.0)
		return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
	if (x < 2.0)
		return (((x - 5) * x + 8) * x - 4) * a;
	return 0.0;
}

static double sinc(double x)
{
	if (x == 0.0)
		return 1.0;
	x = x * PI;
	return sin(x) / x;
}

static double filter_lanczos(double x)
{
	return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

static const struct {
	double (*weight)(double x);
	double support;
} filters[] = {
	[DLBOOST_FILTER_BOX] = { filter_box, 0.5 },
	[DLBOOST_FILTER_BILINEAR] = { filter_bilinear, 1.0 },
	[DLBOOST_FILTER_HAMMING] = { filter_hamming, 1.0 },
	[DLBOOST_FILTER_BICUBIC] = { filter_bicubic, 2.0 },
	[DLBOOST_FILTER_LANCZOS] = { filter_lanczos, 3.0 },
};

static double axis_scale(const struct dlb_axis *axis)
{
	return (axis->box1 - axis->box0) / axis->out;
}

static double axis_support(const struct dlb_axis *axis)
{
	double scale = axis_scale(axis);

	return filters[axis->filter].support * (scale < 1.0 ? 1.0 : scale);
}

uint32_t dlb_axis_max_taps(const struct dlb_axis *axis)
{
	double taps;

	if (axis->filter == DLBOOST_FILTER_NEAREST)
		return 1;
	taps = ceil(axis_support(axis)) * 2.0 + 1.0;
	return taps < axis->in ? (uint32_t)taps : axis->in;
}

/* Input indexes of output @idx: [*first, return value) */
static uint32_t axis_span(const struct dlb_axis *axis, double centre,
			  double support, uint32_t *first)
{
	double low = centre - support + 0.5;
	double high = centre + support + 0.5;

	*first = low > 0.0 ? (uint32_t)low : 0;
	return high < axis->in ? (uint32_t)high : axis->in;
}

/* @exact: room for @count doubles; @step: 1 / max(scale, 1) */
static void fill_weights(double (*filter)(double x), double step,
			 double centre, uint32_t first, uint32_t count,
			 double *exact, int32_t *weight)
{
	double sum = 0.0;

	for (uint32_t k = 0; k < count; k++) {
		exact[k] = filter(((double)(k + first) - centre + 0.5) * step);
		sum += exact[k];
	}
	for (uint32_t k = 0; k < count; k++) {
		if (sum != 0.0)
			exact[k] /= sum;
		exact[k] *= DLB_COEFF_ONE;
		weight[k] = (int32_t)(exact[k] < 0 ? exact[k] - 0.5 :
						     exact[k] + 0.5);
	}
}

/* The position accumulates: the closed form gives other pixels */
static void fill_nearest(const struct dlb_axis *axis, uint32_t out0,
			 struct dlb_taps *taps)
{
	double scale = axis_scale(axis);
	double at = axis->box0 + scale * 0.5;

	for (uint32_t i = 0; i < out0; i++)
		at += scale;
	for (uint32_t i = 0; i < taps->nr; i++) {
		uint32_t idx = at > 0.0 ? (uint32_t)at : 0;

		taps->first[i] = idx < axis->in ? idx : axis->in - 1;
		taps->count[i] = 1;
		taps->weight[i] = DLB_COEFF_ONE;
		at += scale;
	}
}

static size_t align8(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

size_t dlb_axis_fill_bytes(const struct dlb_axis *axis, uint32_t nr)
{
	size_t taps = dlb_axis_max_taps(axis);

	return taps * sizeof(double) + 2 * align8(nr * sizeof(uint32_t)) +
	       align8(nr * taps * sizeof(int32_t));
}

void dlb_axis_fill(const struct dlb_axis *axis, uint32_t out0, uint32_t nr,
		   void *mem, struct dlb_taps *taps)
{
	double *exact = mem;
	double scale = axis_scale(axis), support, step;

	taps->nr = nr;
	taps->stride = dlb_axis_max_taps(axis);
	taps->first = (void *)(exact + taps->stride);
	taps->count = (void *)((char *)taps->first + align8(nr * 4u));
	taps->weight = (void *)((char *)taps->count + align8(nr * 4u));
	if (axis->filter == DLBOOST_FILTER_NEAREST) {
		fill_nearest(axis, out0, taps);
		return;
	}

	support = axis_support(axis);
	step = 1.0 / (scale < 1.0 ? 1.0 : scale);
	for (uint32_t i = 0; i < nr; i++) {
		double centre = axis->box0 + ((double)(out0 + i) + 0.5) * scale;
		int32_t *weight = taps->weight + (size_t)i * taps->stride;
		uint32_t first, end = axis_span(axis, centre, support, &first);

		taps->first[i] = first;
		taps->count[i] = end - first;
		fill_weights(filters[axis->filter].weight, step, centre, first,
			     end - first, exact, weight);
		for (uint32_t k = end - first; k < taps->stride; k++)
			weight[k] = 0;
	}
}

void dlb_taps_trim(struct dlb_taps *taps)
{
	for (uint32_t i = 0; i < taps->nr; i++) {
		int32_t *weight = taps->weight + (size_t)i * taps->stride;
		uint32_t count = taps->count[i], lead = 0;

		while (count > 1 && !weight[count - 1])
			count--;
		while (lead + 1 < count && !weight[lead])
			lead++;
		taps->count[i] = count - lead;
		if (!lead)
			continue;
		memmove(weight, weight + lead,
			(count - lead) * sizeof(*weight));
		memset(weight + count - lead, 0, lead * sizeof(*weight));
		taps->first[i] += lead;
	}
}

static void swap_words(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;

	*a = *b;
	*b = t;
}

void dlb_taps_reverse(struct dlb_taps *taps)
{
	uint32_t *weight = (uint32_t *)taps->weight;

	for (uint32_t i = 0, j = taps->nr - 1; i < j; i++, j--) {
		uint32_t *a = weight + (size_t)i * taps->stride;
		uint32_t *b = weight + (size_t)j * taps->stride;

		swap_words(&taps->first[i], &taps->first[j]);
		swap_words(&taps->count[i], &taps->count[j]);
		for (uint32_t k = 0; k < taps->stride; k++)
			swap_words(&a[k], &b[k]);
	}
}

uint32_t dlb_taps_max(const struct dlb_taps *taps)
{
	uint32_t max = 0;

	for (uint32_t i = 0; i < taps->nr; i++)
		if (taps->count[i] > max)
			max = taps->count[i];
	return max;
}
