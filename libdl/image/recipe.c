// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Recipes as text: built-in names, "NAME[:key=value,...]" -> struct
 * dlboost_recipe, and the canonical form back.  One table of keys serves
 * reading, writing and every error sentence; a built-in recipe is its own
 * default text, whose keys are the ones it takes.  Knows nothing of pictures
 * (draw.c does).  No locks: a recipe never changes once parsed.  Numbers are
 * read and written in the C locale, whatever the program's.
 * Documentation/pixels.rst, "Recipes".
 */
#include "recipe.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/base.h"
#include "draw.h"

struct builtin {
	const char *name;
	const char *description;
	enum dlb_geometry_rule rule;
	const char *defaults;
};

#define IMAGENET_NORM	"mean=0.485/0.456/0.406,std=0.229/0.224/0.225"
#define CIFAR_NORM	"mean=0.4914/0.4822/0.4465,std=0.247/0.2435/0.2616"

static const struct builtin builtins[] = {
	{
		"imagenet-train",
		"Random resized crop to 224, random flip, normalised float",
		DLB_GEOMETRY_RANDOM_RESIZED_CROP,
		"size=224,filter=bilinear,dtype=f32,layout=chw,order=rgb,"
		"scale=div," IMAGENET_NORM ",orient=ignore,fill=0,"
		"area=0.08/1,ratio=0.75/1.3333333333333333,flip=0.5",
	}, {
		"imagenet-eval",
		"Shorter side to 256, centre crop of 224, normalised float",
		DLB_GEOMETRY_SHORT_SIDE_CENTER,
		"size=224,filter=bilinear,dtype=f32,layout=chw,order=rgb,"
		"scale=div," IMAGENET_NORM ",orient=ignore,fill=0,resize=256",
	}, {
		"cifar-train",
		"Padding of 4, random crop of 32, random flip, normalised float",
		DLB_GEOMETRY_PAD_RANDOM_CROP,
		"size=32,filter=bilinear,dtype=f32,layout=chw,order=rgb,"
		"scale=div," CIFAR_NORM ",orient=ignore,fill=0,pad=4,flip=0.5",
	}, {
		"cifar-eval",
		"The picture as it is, 32 x 32, normalised float",
		DLB_GEOMETRY_WHOLE,
		"size=32,filter=bilinear,dtype=f32,layout=chw,order=rgb,"
		"scale=div," CIFAR_NORM ",orient=ignore,fill=0",
	}, {
		"none",
		"Decoding only: the picture's own size, bytes, rows of pixels",
		DLB_GEOMETRY_WHOLE,
		"size=none,filter=bilinear,dtype=u8,layout=hwc,order=rgb,"
		"scale=div,mean=none,std=none,orient=ignore,fill=0",
	},
};

enum key_kind {
	KEY_SIZE,	/* N, WxH or none; two uint32_t */
	KEY_WORD,	/* one of @words; index as bool or uint32_t */
	KEY_COUNT,	/* whole number; uint8_t or uint32_t */
	KEY_REAL,	/* one double */
	KEY_RANGE,	/* min/max; two doubles */
	KEY_COLOUR,	/* R/G/B or none; three floats */
};

struct key {
	const char *name;
	enum key_kind kind;
	uint16_t offset;
	uint16_t bytes;
	double min, max;
	const char *words[7];
};

#define FIELD(member)						\
	offsetof(struct dlboost_recipe, member),		\
	sizeof(((struct dlboost_recipe *)NULL)->member)

#define MEAN_MAX	65504.0
#define STD_MIN		0.000001
#define RATIO_MIN	0.001
#define RATIO_MAX	1000.0

/* The order of the canonical form */
static const struct key keys[] = {
	{ "size", KEY_SIZE, FIELD(width), 1, DLB_RECIPE_MAX_SIDE },
	{ "filter", KEY_WORD, FIELD(filter), 0, 0,
	  { "nearest", "box", "bilinear", "hamming", "bicubic", "lanczos" } },
	{ "dtype", KEY_WORD, FIELD(cast.dtype), 0, 0,
	  { "u8", "f16", "bf16", "f32" } },
	{ "layout", KEY_WORD, FIELD(cast.layout), 0, 0, { "hwc", "chw" } },
	{ "order", KEY_WORD, FIELD(cast.is_bgr), 0, 0, { "rgb", "bgr" } },
	{ "scale", KEY_WORD, FIELD(cast.has_scale_mul), 0, 0,
	  { "div", "mul" } },
	{ "mean", KEY_COLOUR, FIELD(cast.mean), -MEAN_MAX, MEAN_MAX },
	{ "std", KEY_COLOUR, FIELD(cast.std), STD_MIN, MEAN_MAX },
	{ "orient", KEY_WORD, FIELD(has_exif), 0, 0, { "ignore", "exif" } },
	{ "fill", KEY_COUNT, FIELD(fill), 0, 255 },
	{ "resize", KEY_COUNT, FIELD(resize_short), 1, DLB_RECIPE_MAX_SIDE },
	{ "area", KEY_RANGE, FIELD(area_min), 0, 1 },
	{ "ratio", KEY_RANGE, FIELD(ratio_min), RATIO_MIN, RATIO_MAX },
	{ "pad", KEY_COUNT, FIELD(pad), 0, DLB_RECIPE_MAX_PAD },
	{ "flip", KEY_REAL, FIELD(flip), 0, 1 },
};

enum { NR_KEYS = ARRAY_SIZE(keys), KEY_IDX_MEAN = 6, KEY_IDX_STD = 7 };

_Static_assert(offsetof(struct dlboost_recipe, height) ==
	       offsetof(struct dlboost_recipe, width) + sizeof(uint32_t) &&
	       offsetof(struct dlboost_recipe, area_max) ==
	       offsetof(struct dlboost_recipe, area_min) + sizeof(double) &&
	       offsetof(struct dlboost_recipe, ratio_max) ==
	       offsetof(struct dlboost_recipe, ratio_min) + sizeof(double),
	       "KEY_SIZE and KEY_RANGE write two neighbours");

struct parse {
	struct dlboost_recipe *recipe;
	const struct builtin *builtin;
	char *error;
	size_t error_bytes;
	uint32_t takes;		/* keys of this recipe, a bit each */
	uint32_t given;		/* keys the caller wrote */
	uint32_t is_none;	/* KEY_COLOUR keys whose value is "none" */
	bool is_default;	/* reading the built-in text */
};

static int refuse(struct parse *p, const char *fmt, ...) DLB_PRINTF(2, 3);

static int refuse(struct parse *p, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dlb_sentence(p->error, p->error_bytes, "recipe %s: %s",
		     p->builtin->name, text);
	return -EINVAL;
}

static int refuse_value(struct parse *p, const struct key *key,
			const char *value)
{
	char list[96] = "";
	const char *near;
	size_t at = 0, nr = 0;

	switch (key->kind) {
	case KEY_SIZE:
		return refuse(p, "%s=%.40s is not N or WxH with sides of 1 to %.0f pixels%s",
			      key->name, value, key->max,
			      p->recipe->rule == DLB_GEOMETRY_WHOLE ?
			      ", or none" : "");
	case KEY_COUNT:
		return refuse(p, "%s=%.40s is not a whole number from %.0f to %.0f",
			      key->name, value, key->min, key->max);
	case KEY_REAL:
		return refuse(p, "%s=%.40s is not a number from %.10g to %.10g",
			      key->name, value, key->min, key->max);
	case KEY_RANGE:
		return refuse(p, "%s=%.60s is not MIN/MAX, two numbers from %.10g to %.10g in this order",
			      key->name, value, key->min, key->max);
	case KEY_COLOUR:
		return refuse(p, "%s=%.60s is not R/G/B, three numbers from %.10g to %.10g, or none",
			      key->name, value, key->min, key->max);
	case KEY_WORD:
		break;
	}
	while (key->words[nr]) {
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s",
				       nr ? ", " : "", key->words[nr]);
		nr++;
	}
	near = dlb_did_you_mean(value, key->words, nr);
	return refuse(p, "%s=%.40s is none of %s%s%s%s", key->name, value,
		      list, near ? "; did you mean " : "", near ? near : "",
		      near ? "?" : "");
}

/* Digits only, so that "+1", " 1" and "0x1" are no numbers */
static bool parse_count(const char *text, size_t len, double min, double max,
			uint32_t *out)
{
	uint32_t value = 0;

	if (!len || len > 6)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint32_t)(text[i] - '0');
	}
	*out = value;
	return value >= min && value <= max;
}

#define MAX_NUMBER_LEN	63

/* A decimal number without what strtod() takes beside: hex, inf, nan, spaces */
static bool is_decimal(const char *text)
{
	size_t len = strlen(text);

	return len && len <= MAX_NUMBER_LEN &&
	       strspn(text, "0123456789.eE+-") == len &&
	       strcspn(text, "0123456789") < len && text[0] != '+';
}

/* True when @value is exactly @nr decimal numbers parted by '/' */
static bool split_values(char *copy, const char *value, size_t copy_bytes,
			 const char *parts[3], size_t nr)
{
	char *next = copy;
	size_t n = 0;

	if (strlen(value) >= copy_bytes)
		return false;
	memcpy(copy, value, strlen(value) + 1);
	while (next && n < nr) {
		parts[n] = strsep(&next, "/");
		if (!is_decimal(parts[n]))
			return false;
		n++;
	}
	return n == nr && !next;
}

static bool parse_real(const char *text, const struct key *key, double *out)
{
	char *end;
	double value = strtod(text, &end) + 0.0;	/* -0 becomes 0 */

	*out = value;
	return !*end && value >= key->min && value <= key->max;
}

static bool parse_reals(const char *value, const struct key *key, size_t nr,
			double *out)
{
	char copy[4 * (MAX_NUMBER_LEN + 1)];
	const char *parts[3];
	double values[3];

	if (!split_values(copy, value, sizeof(copy), parts, nr))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!parse_real(parts[i], key, &values[i]))
			return false;
	if (nr == 2 && values[0] > values[1])
		return false;
	memcpy(out, values, nr * sizeof(*out));
	return true;
}

/* strtof(), not a rounded double: the float32 nearest to the decimal (F4) */
static bool parse_colour(const char *value, const struct key *key, float *out)
{
	char copy[4 * (MAX_NUMBER_LEN + 1)];
	const char *parts[3];
	double checked;

	if (!split_values(copy, value, sizeof(copy), parts, 3))
		return false;
	for (size_t i = 0; i < 3; i++) {
		if (!parse_real(parts[i], key, &checked))
			return false;
		out[i] = strtof(parts[i], NULL) + 0.0f;
	}
	return true;
}

static bool parse_size(struct parse *p, const struct key *key,
		       const char *value, uint32_t *out)
{
	const char *cross = strchr(value, 'x');
	size_t len = cross ? (size_t)(cross - value) : strlen(value);

	if (!strcmp(value, "none") || !strcmp(value, "0")) {
		out[0] = 0;
		out[1] = 0;
		return p->recipe->rule == DLB_GEOMETRY_WHOLE;
	}
	if (!parse_count(value, len, key->min, key->max, &out[0]))
		return false;
	out[1] = out[0];
	return !cross || parse_count(cross + 1, strlen(cross + 1), key->min,
				     key->max, &out[1]);
}

static void store(void *field, const struct key *key, uint32_t value)
{
	if (key->bytes == sizeof(uint32_t))
		*(uint32_t *)field = value;
	else
		*(uint8_t *)field = (uint8_t)value;
}

static uint32_t load(const void *field, const struct key *key)
{
	if (key->bytes == sizeof(uint32_t))
		return *(const uint32_t *)field;
	return *(const uint8_t *)field;
}

static bool parse_word(const char *value, const struct key *key, void *field)
{
	for (uint32_t i = 0; key->words[i]; i++) {
		if (strcmp(value, key->words[i]))
			continue;
		store(field, key, i);
		return true;
	}
	return false;
}

static bool parse_value(struct parse *p, const struct key *key,
			const char *value)
{
	void *field = (char *)p->recipe + key->offset;
	uint32_t bit = 1u << (key - keys), count;

	switch (key->kind) {
	case KEY_SIZE:
		return parse_size(p, key, value, field);
	case KEY_WORD:
		return parse_word(value, key, field);
	case KEY_COUNT:
		if (!parse_count(value, strlen(value), key->min, key->max,
				 &count))
			return false;
		store(field, key, count);
		return true;
	case KEY_REAL:
		return parse_reals(value, key, 1, field);
	case KEY_RANGE:
		return parse_reals(value, key, 2, field);
	case KEY_COLOUR:
		p->is_none &= ~bit;
		if (!strcmp(value, "none")) {
			p->is_none |= bit;
			return true;
		}
		return parse_colour(value, key, field);
	}
	return false;
}

static int refuse_key(struct parse *p, const char *name, bool is_known)
{
	const char *near, *names[NR_KEYS];
	char list[128] = "";
	size_t nr = 0, at = 0;

	for (size_t i = 0; i < NR_KEYS; i++) {
		if (!(p->takes & (1u << i)))
			continue;
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s",
				       nr ? ", " : "", keys[i].name);
		names[nr++] = keys[i].name;
	}
	if (is_known)
		return refuse(p, "takes no key \"%s\"; its keys are %s", name,
			      list);
	near = dlb_did_you_mean(name, names, nr);
	if (near)
		return refuse(p, "no key \"%.40s\"; did you mean \"%s\"?",
			      name, near);
	return refuse(p, "no key \"%.40s\"; the keys are %s", name, list);
}

static int set_key(void *arg, const char *name, const char *value)
{
	struct parse *p = arg;
	const struct key *key = NULL;
	uint32_t bit = 1;

	for (size_t i = 0; i < NR_KEYS && !key; i++)
		if (!strcmp(name, keys[i].name))
			key = &keys[i];
	if (key)
		bit = 1u << (key - keys);
	if (p->is_default)
		p->takes |= bit;
	if (!key || !(p->takes & bit))
		return refuse_key(p, name, key);
	if (!p->is_default) {
		if (p->given & bit)
			return refuse(p, "key \"%s\" is given twice", name);
		p->given |= bit;
	}
	return parse_value(p, key, value) ? 0 : refuse_value(p, key, value);
}

/* mean and std go together, and only floats are normalised */
static int settle_cast(struct parse *p)
{
	static const uint32_t mean = 1u << KEY_IDX_MEAN;
	static const uint32_t std = 1u << KEY_IDX_STD;
	struct dlb_cast *cast = &p->recipe->cast;
	uint32_t set = p->given & (mean | std) & ~p->is_none;

	if (cast->dtype == DLBOOST_DTYPE_U8 && set)
		return refuse(p, "%s needs dtype f16, bf16 or f32; this recipe has dtype=u8",
			      set & mean ? "mean" : "std");
	if (cast->dtype == DLBOOST_DTYPE_U8 && cast->has_scale_mul)
		return refuse(p, "scale=mul needs dtype f16, bf16 or f32; this recipe has dtype=u8");
	if (cast->dtype == DLBOOST_DTYPE_U8)
		p->is_none = mean | std;
	if (p->is_none && p->is_none != (mean | std)) {
		if (set)
			return refuse(p, "mean and std go together: give both, or none for both");
		p->is_none = mean | std;
	}
	cast->has_normalise = !p->is_none;
	for (int i = 0; i < 3 && p->is_none; i++) {
		cast->mean[i] = 0.0f;
		cast->std[i] = 1.0f;
	}
	return 0;
}

struct text {
	char *buf;
	size_t bytes, len;
};

static void put(struct text *t, const char *fmt, ...) DLB_PRINTF(2, 3);

static void put(struct text *t, const char *fmt, ...)
{
	size_t room = t->len < t->bytes ? t->bytes - t->len : 0;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room ? t->buf + t->len : NULL, room, fmt, ap);
	va_end(ap);
	t->len += n > 0 ? (size_t)n : 0;
}

/* The shortest decimal that reads back as the same number */
static void put_real(struct text *t, double value)
{
	char number[32];
	int digits = 0;

	do {
		snprintf(number, sizeof(number), "%.*g", ++digits, value);
	} while (digits < 17 && strtod(number, NULL) != value);
	put(t, "%s", number);
}

static void put_float(struct text *t, float value)
{
	char number[32];
	int digits = 0;

	do {
		snprintf(number, sizeof(number), "%.*g", ++digits,
			 (double)value);
	} while (digits < 9 && strtof(number, NULL) != value);
	put(t, "%s", number);
}

static void put_value(struct text *t, const struct dlboost_recipe *recipe,
		      const struct key *key)
{
	const void *field = (const char *)recipe + key->offset;
	const uint32_t *size = field;
	const double *real = field;
	const float *colour = field;

	switch (key->kind) {
	case KEY_SIZE:
		if (!size[0])
			put(t, "none");
		else if (size[0] == size[1])
			put(t, "%u", size[0]);
		else
			put(t, "%ux%u", size[0], size[1]);
		break;
	case KEY_WORD:
		put(t, "%s", key->words[load(field, key)]);
		break;
	case KEY_COUNT:
		put(t, "%u", load(field, key));
		break;
	case KEY_RANGE:
		put_real(t, real[0]);
		put(t, "/");
		put_real(t, real[1]);
		break;
	case KEY_REAL:
		put_real(t, real[0]);
		break;
	case KEY_COLOUR:
		if (!recipe->cast.has_normalise) {
			put(t, "none");
			break;
		}
		for (int i = 0; i < 3; i++) {
			put(t, "%s", i ? "/" : "");
			put_float(t, colour[i]);
		}
		break;
	}
}

static void write_canonical(struct parse *p)
{
	struct dlboost_recipe *recipe = p->recipe;
	struct text t = { recipe->canonical, sizeof(recipe->canonical), 0 };
	char mark = ':';

	put(&t, "%s", recipe->name);
	for (size_t i = 0; i < NR_KEYS; i++) {
		if (!(p->takes & (1u << i)))
			continue;
		put(&t, "%c%s=", mark, keys[i].name);
		put_value(&t, recipe, &keys[i]);
		mark = ',';
	}
}

static const struct builtin *find_builtin(const char *spec, size_t len,
					  char *error, size_t error_bytes)
{
	const char *near, *names[ARRAY_SIZE(builtins)];
	char name[41];

	snprintf(name, sizeof(name), "%.*s", (int)(len < 40 ? len : 40), spec);
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		names[i] = builtins[i].name;
		if (strlen(names[i]) == len && !memcmp(names[i], spec, len))
			return &builtins[i];
	}
	near = dlb_did_you_mean(name, names, ARRAY_SIZE(builtins));
	if (near)
		dlb_sentence(error, error_bytes,
			     "no recipe \"%s\"; did you mean \"%s\"?", name,
			     near);
	else
		dlb_sentence(error, error_bytes,
			     "no recipe \"%s\"; there are imagenet-train, imagenet-eval, cifar-train, cifar-eval and none",
			     name);
	return NULL;
}

static int check_text(const char *spec, char *error, size_t error_bytes)
{
	size_t i = 0;

	if (!spec || !*spec) {
		dlb_sentence(error, error_bytes,
			     "the recipe is empty; write NAME[:key=value,...], e.g. imagenet-train:size=160");
		return -EINVAL;
	}
	while (spec[i] > ' ' && spec[i] <= '~')
		i++;
	if (spec[i]) {
		dlb_sentence(error, error_bytes,
			     "byte %zu of the recipe is a space or not printable; write NAME[:key=value,...] without spaces",
			     i);
		return -EINVAL;
	}
	if (spec[i - 1] == ':' || spec[i - 1] == ',') {
		dlb_sentence(error, error_bytes,
			     "the recipe ends with '%c'; a key=value is missing after it",
			     spec[i - 1]);
		return -EINVAL;
	}
	return 0;
}

static int parse_recipe(struct parse *p, const char *options)
{
	struct dlboost_recipe *recipe = p->recipe;
	int ret;

	snprintf(recipe->name, sizeof(recipe->name), "%s", p->builtin->name);
	recipe->rule = p->builtin->rule;
	p->is_default = true;
	ret = dlb_parse_options(p->builtin->defaults, set_key, p);
	p->is_default = false;
	if (!ret)
		ret = dlb_parse_options(options, set_key, p);
	if (!ret)
		ret = settle_cast(p);
	if (ret)
		return ret;
	if (recipe->rule == DLB_GEOMETRY_RANDOM_RESIZED_CROP) {
		recipe->log_ratio_min =
			(float)dlb_draw_log((float)recipe->ratio_min);
		recipe->log_ratio_max =
			(float)dlb_draw_log((float)recipe->ratio_max);
	}
	write_canonical(p);
	return 0;
}

DLB_EXPORT int dlboost_recipe_parse(const char *spec, char *error,
				    size_t error_bytes,
				    struct dlboost_recipe **out)
{
	struct parse p = { .error = error, .error_bytes = error_bytes };
	locale_t c_locale, previous;
	const char *colon;
	int ret;

	if (check_text(spec, error, error_bytes))
		return -EINVAL;
	colon = strchrnul(spec, ':');
	p.builtin = find_builtin(spec, (size_t)(colon - spec), error,
				 error_bytes);
	if (!p.builtin)
		return -EINVAL;
	p.recipe = calloc(1, sizeof(*p.recipe));
	c_locale = newlocale(LC_ALL_MASK, "C", NULL);
	ret = -ENOMEM;
	if (p.recipe && c_locale) {
		previous = uselocale(c_locale);
		ret = parse_recipe(&p, *colon ? colon + 1 : "");
		uselocale(previous);
	}
	if (c_locale)
		freelocale(c_locale);
	if (ret) {
		free(p.recipe);
		if (ret == -ENOMEM)
			dlb_sentence(error, error_bytes,
				     "out of memory for a recipe");
		return ret;
	}
	*out = p.recipe;
	return 0;
}

DLB_EXPORT void dlboost_recipe_destroy(struct dlboost_recipe *recipe)
{
	free(recipe);
}

DLB_EXPORT const char *
dlboost_recipe_canonical(const struct dlboost_recipe *recipe)
{
	return recipe->canonical;
}

DLB_EXPORT void dlboost_recipe_tensor(const struct dlboost_recipe *recipe,
				      struct dlboost_tensor_spec *out)
{
	static const uint32_t element_bytes[] = {
		[DLBOOST_DTYPE_U8] = 1, [DLBOOST_DTYPE_F16] = 2,
		[DLBOOST_DTYPE_BF16] = 2, [DLBOOST_DTYPE_F32] = 4,
	};

	*out = (struct dlboost_tensor_spec) {
		.dtype = recipe->cast.dtype,
		.layout = recipe->cast.layout,
		.width = recipe->width,
		.height = recipe->height,
		.channels = 3,
		.element_bytes = element_bytes[recipe->cast.dtype],
	};
	out->sample_bytes = (size_t)recipe->width * recipe->height * 3 *
			    out->element_bytes;
}

DLB_EXPORT const char *dlboost_recipe_name(unsigned int idx,
					   const char **description)
{
	if (idx >= ARRAY_SIZE(builtins))
		return NULL;
	if (description)
		*description = builtins[idx].description;
	return builtins[idx].name;
}
