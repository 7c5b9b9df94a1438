// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The per-sample geometry: which part of a picture goes where.  A pure function
 * of recipe, picture size and (seed, epoch, sample), equal on every machine and
 * compiler: IEEE double and single steps in the order written, no contraction,
 * nothing of libm but sqrt().  No state, no locks; knows no files, no pixels.
 * The rules are torchvision's, published as RandomResizedCrop, Resize,
 * CenterCrop, RandomCrop; Documentation/order.rst, "Draws", is the definition.
 */
#include "draw.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "../base/base.h"
#include "../base/philox.h"
#include "recipe.h"

#ifdef __FAST_MATH__
#error "order version 1 is defined by IEEE arithmetic: build without -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0,
	       "order version 1 needs arithmetic in the type written");

/* Word addresses of a sample's draws */
enum {
	WORD_AREA = 0,		/* of try 0; try t: 8 * t + ... */
	WORD_ASPECT = 1,
	WORD_TOP = 2,
	WORD_LEFT = 3,
	WORDS_A_TRY = 8,
	WORD_FLIP = 128,
	WORD_PAD_TOP = 129,
	WORD_PAD_LEFT = 130,
};

#define NR_TRIES	10

/* log(j / 32) for j = 24 .. 48 */
static const double log_of_c[25] = {
	-0x1.269621134db92p-2, -0x1.f991c6cb3b379p-3,
	-0x1.a93ed3c8ad9e3p-3, -0x1.5bf406b543db2p-3,
	-0x1.1178e8227e47cp-3, -0x1.9335e5d594989p-4,
	-0x1.08598b59e3a07p-4, -0x1.0415d89e74444p-5,
	0x0p+0, 0x1.f829b0e783300p-6,
	0x1.f0a30c01162a6p-5, 0x1.6f0d28ae56b4cp-4,
	0x1.e27076e2af2e6p-4, 0x1.29552f81ff523p-3,
	0x1.5ff3070a793d4p-3, 0x1.9525a9cf456b4p-3,
	0x1.c8ff7c79a9a22p-3, 0x1.fb9186d5e3e2bp-3,
	0x1.1675cababa60ep-2, 0x1.2e8e2bae11d31p-2,
	0x1.4618bc21c5ec2p-2, 0x1.5d1bdbf5809cap-2,
	0x1.739d7f6bbd007p-2, 0x1.89a3386c1425bp-2,
	0x1.9f323ecbf984cp-2,
};

/* 2^(j / 32) for j = 0 .. 31 */
static const double exp2_of_j[32] = {
	0x1.0000000000000p+0, 0x1.059b0d3158574p+0,
	0x1.0b5586cf9890fp+0, 0x1.11301d0125b51p+0,
	0x1.172b83c7d517bp+0, 0x1.1d4873168b9aap+0,
	0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0,
	0x1.306fe0a31b715p+0, 0x1.371a7373aa9cbp+0,
	0x1.3dea64c123422p+0, 0x1.44e086061892dp+0,
	0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0,
	0x1.5ab07dd485429p+0, 0x1.6247eb03a5585p+0,
	0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0,
	0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0,
	0x1.8ace5422aa0dbp+0, 0x1.93737b0cdc5e5p+0,
	0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0,
	0x1.ae89f995ad3adp+0, 0x1.b7f76f2fb5e47p+0,
	0x1.c199bdd85529cp+0, 0x1.cb720dcef9069p+0,
	0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0,
	0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0,
};

#define LN2_HI		0x1.62e42feep-1	/* 32 bits: products are exact */
#define LN2_LO		0x1.a39ef35793c76p-33
#define INV_STEP	0x1.71547652b82fep+5	/* 32 / ln 2 */
#define STEP_HI		0x1.62e42feep-6		/* ln 2 / 32 */
#define STEP_LO		0x1.a39ef35793c76p-38

double dlb_draw_log(float x)
{
	uint32_t bits;
	float m;

	memcpy(&bits, &x, sizeof(bits));
	int exponent = (int)(bits >> 23) - 127;

	bits = (bits & 0x7fffff) | 0x3f800000;
	memcpy(&m, &bits, sizeof(m));
	if (m >= 1.5f) {
		m *= 0.5f;
		exponent++;
	}

	/* log m = log c + 2 atanh s with c = j / 32, the nearest to m */
	int j = (int)((double)m * 32.0 + 0.5);
	double c = (double)j * (1.0 / 32.0);
	double s = ((double)m - c) / ((double)m + c);
	double t = s * s;
	double p = t * (1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0)));
	double small = 2.0 * s + 2.0 * s * p;

	return (small + (double)exponent * LN2_LO) +
	       (log_of_c[j - 24] + (double)exponent * LN2_HI);
}

double dlb_draw_exp(double x)
{
	/* x = (32 q + j) * ln 2 / 32 + r, |r| <= ln 2 / 64 */
	int k = (int)(x * INV_STEP + (x < 0.0 ? -0.5 : 0.5));
	double r = (x - (double)k * STEP_HI) - (double)k * STEP_LO;
	double p = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0));
	int q = (k + 32 * 1024) / 32 - 1024;
	uint64_t bits = (uint64_t)(1023 + q) << 52;
	double scale, base = exp2_of_j[k - 32 * q];

	p = r + r * r * (1.0 / 2.0 + r * (1.0 / 6.0 + r * p));
	memcpy(&scale, &bits, sizeof(scale));
	return (base + base * p) * scale;
}

/* As Python's round(): half to even; 0 <= @x < 2^53 */
static uint64_t round_half_even(double x)
{
	uint64_t whole = (uint64_t)x;
	double rest = x - (double)whole;

	if (rest > 0.5 || (rest == 0.5 && (whole & 1)))
		whole++;
	return whole;
}

/* As torch's uniform_() on a float32 tensor */
static float uniform_between(uint32_t word, float from, float to)
{
	float u = (float)dlb_draw_uniform(word);
	float scaled = u * (to - from);

	return scaled + from;
}

static void draw_words(const uint32_t id[3], uint32_t word, uint32_t out[4],
		       uint64_t seed)
{
	const uint32_t counter[4] = { id[0], id[1], id[2], word / 4 };

	dlb_philox(seed, counter, out);
}

struct picture {
	uint32_t width, height;
	uint64_t seed;
	uint32_t id[3];	/* sample low, high, epoch: the counter's head */
};

static void crop_centre(const struct dlboost_recipe *recipe,
			const struct picture *picture,
			struct dlboost_geometry *out)
{
	double width = picture->width, height = picture->height;
	uint64_t w = picture->width, h = picture->height;

	if (width / height < recipe->ratio_min)
		h = round_half_even(width / recipe->ratio_min);
	else if (width / height > recipe->ratio_max)
		w = round_half_even(height * recipe->ratio_max);
	/* A strip of a pixel and an extreme ratio: torchvision has no answer */
	out->crop_w = w ? (uint32_t)w : 1;
	out->crop_h = h ? (uint32_t)h : 1;
	out->crop_x = (picture->width - out->crop_w) / 2;
	out->crop_y = (picture->height - out->crop_h) / 2;
}

static void crop_random_resized(const struct dlboost_recipe *recipe,
				const struct picture *picture,
				struct dlboost_geometry *out)
{
	const float area_min = (float)recipe->area_min;
	const float area_max = (float)recipe->area_max;
	double area = (double)((uint64_t)picture->width * picture->height);
	uint32_t words[4];

	for (uint32_t i = 0; i < NR_TRIES; i++) {
		draw_words(picture->id, i * WORDS_A_TRY, words, picture->seed);

		double target = area * (double)uniform_between(
			words[WORD_AREA], area_min, area_max);
		float exponent = uniform_between(words[WORD_ASPECT],
						 recipe->log_ratio_min,
						 recipe->log_ratio_max);
		double aspect = (double)(float)dlb_draw_exp((double)exponent);
		uint64_t w = round_half_even(sqrt(target * aspect));
		uint64_t h = round_half_even(sqrt(target / aspect));

		if (!w || w > picture->width || !h || h > picture->height)
			continue;
		out->crop_w = (uint32_t)w;
		out->crop_h = (uint32_t)h;
		out->crop_y = dlb_draw_below(words[WORD_TOP],
					     picture->height - out->crop_h + 1);
		out->crop_x = dlb_draw_below(words[WORD_LEFT],
					     picture->width - out->crop_w + 1);
		return;
	}
	crop_centre(recipe, picture, out);
}

/* Where a window stands on one axis; a smaller picture is centred in it */
static int32_t centre_offset(uint64_t length, uint32_t window)
{
	if (window > length)
		return -(int32_t)((window - length) / 2);

	uint64_t rest = length - window;

	/* round((length - window) / 2.0), half to even */
	return (int32_t)(rest / 2 + ((rest & 1) & ((rest / 2) & 1)));
}

static void window_centre(const struct dlboost_recipe *recipe,
			  const struct picture *picture,
			  struct dlboost_geometry *out)
{
	uint64_t w = picture->width, h = picture->height;
	uint64_t side = recipe->resize_short;

	out->resize_w = (uint32_t)(w <= h ? side : side * w / h);
	out->resize_h = (uint32_t)(w <= h ? side * h / w : side);
	out->window_x = centre_offset(out->resize_w, recipe->width);
	out->window_y = centre_offset(out->resize_h, recipe->height);
}

/* One axis of a crop at a random place; @length includes the padding */
static void place_random(uint32_t length, uint32_t size, uint32_t word,
			 uint32_t *first, uint32_t *len, int32_t *window)
{
	*first = 0;
	*len = length;
	*window = centre_offset(length, size);
	if (length < size)
		return;
	*first = dlb_draw_below(word, length - size + 1);
	*len = size;
	*window = 0;
}

static void crop_padded(const struct dlboost_recipe *recipe,
			const struct picture *picture, const uint32_t words[4],
			struct dlboost_geometry *out)
{
	place_random(picture->width + 2 * recipe->pad, recipe->width,
		     words[WORD_PAD_LEFT % 4], &out->crop_x, &out->crop_w,
		     &out->window_x);
	place_random(picture->height + 2 * recipe->pad, recipe->height,
		     words[WORD_PAD_TOP % 4], &out->crop_y, &out->crop_h,
		     &out->window_y);
	out->resize_w = out->crop_w;
	out->resize_h = out->crop_h;
}

static void follow_rule(const struct dlboost_recipe *recipe,
			const struct picture *picture, const uint32_t words[4],
			struct dlboost_geometry *out)
{
	switch (recipe->rule) {
	case DLB_GEOMETRY_WHOLE:
		break;
	case DLB_GEOMETRY_RANDOM_RESIZED_CROP:
		crop_random_resized(recipe, picture, out);
		out->resize_w = recipe->width;
		out->resize_h = recipe->height;
		break;
	case DLB_GEOMETRY_SHORT_SIDE_CENTER:
		window_centre(recipe, picture, out);
		break;
	case DLB_GEOMETRY_PAD_RANDOM_CROP:
		crop_padded(recipe, picture, words, out);
		break;
	}
}

DLB_EXPORT int dlboost_recipe_draw(const struct dlboost_recipe *recipe,
				   uint32_t width, uint32_t height,
				   uint64_t augment_seed, uint32_t epoch,
				   uint64_t sample_id,
				   struct dlboost_geometry *out)
{
	const struct picture picture = {
		.width = width, .height = height, .seed = augment_seed,
		.id = { (uint32_t)sample_id, (uint32_t)(sample_id >> 32),
			epoch },
	};
	struct dlboost_geometry geometry = {
		.crop_w = width, .crop_h = height,
		.resize_w = width, .resize_h = height,
	};
	uint32_t words[4] = { 0 };

	if (!width || width > DLB_RECIPE_MAX_PICTURE || !height ||
	    height > DLB_RECIPE_MAX_PICTURE)
		return -EINVAL;
	if (recipe->flip > 0.0 || recipe->rule == DLB_GEOMETRY_PAD_RANDOM_CROP)
		draw_words(picture.id, WORD_FLIP, words, augment_seed);
	geometry.window_w = recipe->width ? recipe->width : width;
	geometry.window_h = recipe->height ? recipe->height : height;
	geometry.flip = recipe->flip > dlb_draw_uniform(words[WORD_FLIP % 4]);
	follow_rule(recipe, &picture, words, &geometry);
	*out = geometry;
	return 0;
}
