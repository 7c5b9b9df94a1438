// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: <dlboost/recipe.h> and Documentation/pixels.rst, "Recipes":
 * the built-in recipes and their defaults, the canonical form, numbers to the
 * bit in every locale, refusals that say what is wrong and what would be right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <locale.h>

#include "image/recipe.h"

static struct dlboost_recipe *parse(const char *spec)
{
	struct dlboost_recipe *recipe = NULL;
	char error[512] = "";

	if (dlboost_recipe_parse(spec, error, sizeof(error), &recipe))
		fail_msg("%s: %s", spec, error);
	return recipe;
}

static void check_canonical(const char *spec, const char *canonical)
{
	struct dlboost_recipe *recipe = parse(spec), *again;

	assert_string_equal(dlboost_recipe_canonical(recipe), canonical);
	again = parse(dlboost_recipe_canonical(recipe));
	assert_memory_equal(recipe, again, sizeof(*recipe));
	dlboost_recipe_destroy(again);
	dlboost_recipe_destroy(recipe);
}

static void check_refused(const char *spec, const char *sentence)
{
	struct dlboost_recipe *recipe = (void *)-1;
	char error[512] = "";

	assert_int_equal(dlboost_recipe_parse(spec, error, sizeof(error),
					      &recipe), -EINVAL);
	assert_string_equal(error, sentence);
	assert_ptr_equal(recipe, (void *)-1);
	assert_int_equal(dlboost_recipe_parse(spec, NULL, 0, &recipe), -EINVAL);
}

static void canonical_form_has_every_key(void **state)
{
	(void)state;
	check_canonical("imagenet-train",
			"imagenet-train:size=224,filter=bilinear,dtype=f32,layout=chw,order=rgb,scale=div,mean=0.485/0.456/0.406,std=0.229/0.224/0.225,orient=ignore,fill=0,area=0.08/1,ratio=0.75/1.3333333333333333,flip=0.5");
	check_canonical("imagenet-eval",
			"imagenet-eval:size=224,filter=bilinear,dtype=f32,layout=chw,order=rgb,scale=div,mean=0.485/0.456/0.406,std=0.229/0.224/0.225,orient=ignore,fill=0,resize=256");
	check_canonical("cifar-train",
			"cifar-train:size=32,filter=bilinear,dtype=f32,layout=chw,order=rgb,scale=div,mean=0.4914/0.4822/0.4465,std=0.247/0.2435/0.2616,orient=ignore,fill=0,pad=4,flip=0.5");
	check_canonical("cifar-eval",
			"cifar-eval:size=32,filter=bilinear,dtype=f32,layout=chw,order=rgb,scale=div,mean=0.4914/0.4822/0.4465,std=0.247/0.2435/0.2616,orient=ignore,fill=0");
	check_canonical("none",
			"none:size=none,filter=bilinear,dtype=u8,layout=hwc,order=rgb,scale=div,mean=none,std=none,orient=ignore,fill=0");
	check_canonical("imagenet-train:flip=2.5e-1,size=160x192,ratio=.5/2.0,dtype=bf16,order=bgr,scale=mul,mean=none,orient=exif,filter=lanczos,fill=128,layout=hwc,area=0.10/0.9",
			"imagenet-train:size=160x192,filter=lanczos,dtype=bf16,layout=hwc,order=bgr,scale=mul,mean=none,std=none,orient=exif,fill=128,area=0.1/0.9,ratio=0.5/2,flip=0.25");
	check_canonical("cifar-train:dtype=u8,pad=0,flip=-0",
			"cifar-train:size=32,filter=bilinear,dtype=u8,layout=chw,order=rgb,scale=div,mean=none,std=none,orient=ignore,fill=0,pad=0,flip=0");
	check_canonical("none:dtype=f32,mean=1e-3/0/-1,std=0.33333333333333/1/65504",
			"none:size=none,filter=bilinear,dtype=f32,layout=hwc,order=rgb,scale=div,mean=0.001/0/-1,std=0.33333334/1/65504,orient=ignore,fill=0");
	check_canonical("none:size=0", "none:size=none,filter=bilinear,dtype=u8,layout=hwc,order=rgb,scale=div,mean=none,std=none,orient=ignore,fill=0");
}

static uint32_t bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static void numbers_are_the_nearest(void **state)
{
	struct dlboost_recipe *recipe;

	(void)state;
	/* The middle value rounds twice, and wrongly, by way of a double */
	recipe = parse("imagenet-eval:mean=0.485/1.00000017881393432617187499/1e-50");
	assert_int_equal(bits_of(recipe->cast.mean[0]), 0x3ef851ec);
	assert_int_equal(bits_of(recipe->cast.mean[1]), 0x3f800001);
	assert_int_equal(bits_of(recipe->cast.mean[2]), 0);
	assert_int_equal(bits_of(recipe->cast.std[2]), 0x3e666666);
	dlboost_recipe_destroy(recipe);

	recipe = parse("imagenet-train:ratio=0.74999999999999989/1.3333333333333335");
	assert_true(recipe->ratio_min == 0x1.7ffffffffffffp-1);
	assert_true(recipe->ratio_max == 0x1.5555555555556p+0);
	dlboost_recipe_destroy(recipe);
}

/* Random values of one key at a time: writing loses nothing */
static void random_numbers_survive(void **state)
{
	struct dlboost_recipe *a, *b;
	char spec[256];

	(void)state;
	srand48(1);
	for (int i = 0; i < 5000; i++) {
		snprintf(spec, sizeof(spec),
			 "imagenet-train:mean=%.17g/%.9g/%.3g,std=%.17g/1/2,area=%.17g/1,ratio=%.16g/%.17g,flip=%.17g",
			 drand48() * 3 - 1, drand48(), drand48() * 1e4,
			 drand48() + 1e-3, drand48(), drand48() + 1e-3,
			 drand48() + 1.1, drand48());
		a = parse(spec);
		b = parse(dlboost_recipe_canonical(a));
		assert_memory_equal(a, b, sizeof(*a));
		dlboost_recipe_destroy(a);
		dlboost_recipe_destroy(b);
	}
}

/* A locale with a decimal comma, compiled here when none is installed */
static bool set_comma_locale(char dir[64])
{
	char command[256];

	if (setlocale(LC_ALL, "de_DE.UTF-8"))
		return true;
	snprintf(dir, 64, "/tmp/dlboost-locale-XXXXXX");
	if (!mkdtemp(dir))
		return false;
	snprintf(command, sizeof(command),
		 "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
		 dir);
	if (system(command))
		return false;
	setenv("LOCPATH", dir, 1);
	return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void locale_changes_nothing(void **state)
{
	char dir[64] = "", command[128];
	bool is_set = set_comma_locale(dir);

	(void)state;
	if (dir[0]) {
		snprintf(command, sizeof(command), "rm -rf %s", dir);
		assert_int_equal(system(command), 0);
	}
	if (!is_set) {
		print_message("# no locale with a decimal comma: package locales\n");
		skip();
	}
	assert_string_equal(localeconv()->decimal_point, ",");
	canonical_form_has_every_key(NULL);
	numbers_are_the_nearest(NULL);
	assert_string_equal(localeconv()->decimal_point, ",");
	setlocale(LC_ALL, "C");
}

static void refusals_name_key_and_remedy(void **state)
{
	(void)state;
	check_refused("", "the recipe is empty; write NAME[:key=value,...], e.g. imagenet-train:size=160");
	check_refused(NULL, "the recipe is empty; write NAME[:key=value,...], e.g. imagenet-train:size=160");
	check_refused("none:size=3 ", "byte 11 of the recipe is a space or not printable; write NAME[:key=value,...] without spaces");
	check_refused("no\xc3\xa9", "byte 2 of the recipe is a space or not printable; write NAME[:key=value,...] without spaces");
	check_refused("none:", "the recipe ends with ':'; a key=value is missing after it");
	check_refused("none:size=3,", "the recipe ends with ','; a key=value is missing after it");
	check_refused("imagenet-trian", "no recipe \"imagenet-trian\"; did you mean \"imagenet-train\"?");
	check_refused("resnet", "no recipe \"resnet\"; there are imagenet-train, imagenet-eval, cifar-train, cifar-eval and none");
	check_refused("none:fil=3", "recipe none: no key \"fil\"; did you mean \"fill\"?");
	check_refused("none:flip=1", "recipe none: takes no key \"flip\"; its keys are size, filter, dtype, layout, order, scale, mean, std, orient, fill");
	check_refused("none:,size=3", "recipe none: no key \"\"; the keys are size, filter, dtype, layout, order, scale, mean, std, orient, fill");
	check_refused("none:size=3,size=3", "recipe none: key \"size\" is given twice");
	check_refused("none:size", "recipe none: size= is not N or WxH with sides of 1 to 65500 pixels, or none");
	check_refused("none:filter=bicubick", "recipe none: filter=bicubick is none of nearest, box, bilinear, hamming, bicubic, lanczos; did you mean bicubic?");
	check_refused("none:layout=planar", "recipe none: layout=planar is none of hwc, chw");
	check_refused("none:fill=256", "recipe none: fill=256 is not a whole number from 0 to 255");
	check_refused("imagenet-eval:resize=0", "recipe imagenet-eval: resize=0 is not a whole number from 1 to 65500");
	check_refused("cifar-train:pad=1025", "recipe cifar-train: pad=1025 is not a whole number from 0 to 1024");
	check_refused("cifar-train:flip=1.01", "recipe cifar-train: flip=1.01 is not a number from 0 to 1");
	check_refused("imagenet-train:area=0.5", "recipe imagenet-train: area=0.5 is not MIN/MAX, two numbers from 0 to 1 in this order");
	check_refused("imagenet-train:area=0.5/0.4", "recipe imagenet-train: area=0.5/0.4 is not MIN/MAX, two numbers from 0 to 1 in this order");
	check_refused("imagenet-train:mean=0.5/0.5", "recipe imagenet-train: mean=0.5/0.5 is not R/G/B, three numbers from -65504 to 65504, or none");
	check_refused("imagenet-train:std=1/1/0", "recipe imagenet-train: std=1/1/0 is not R/G/B, three numbers from 1e-06 to 65504, or none");
	check_refused("imagenet-train:dtype=u8,std=1/1/1", "recipe imagenet-train: std needs dtype f16, bf16 or f32; this recipe has dtype=u8");
	check_refused("imagenet-train:dtype=u8,scale=mul", "recipe imagenet-train: scale=mul needs dtype f16, bf16 or f32; this recipe has dtype=u8");
	check_refused("imagenet-train:mean=none,std=1/1/1", "recipe imagenet-train: mean and std go together: give both, or none for both");
}

static void odd_numbers_are_refused(void **state)
{
	static const char *const specs[] = {
		"imagenet-train:size=0", "imagenet-train:size=none",
		"cifar-train:size=none", "imagenet-eval:size=0",
		"none:size=65501", "none:size=1x0", "none:size=x1",
		"none:size=1x", "none:size=1x2x3", "none:size=+1",
		"none:size=0x10", "none:size=4294967297", "none:size=1.0",
		"cifar-train:flip=nan", "cifar-train:flip=inf",
		"cifar-train:flip=0x1p-1", "cifar-train:flip=1e",
		"cifar-train:flip=+1", "cifar-train:flip=.",
		"cifar-train:flip=0.5.5", "cifar-train:flip=-0.1",
		"cifar-train:flip=1/2", "cifar-train:flip=0,5",
		"imagenet-train:ratio=0/1", "imagenet-train:ratio=1/1001",
		"imagenet-train:ratio=/1", "imagenet-train:ratio=1/",
		"imagenet-train:mean=1/2/3/4", "imagenet-train:mean=1//3",
		"imagenet-train:mean=1e99/1/1", "imagenet-train:mean=NONE",
		"cifar-train:flip=0.0000000000000000000000000000000000000000000000000000000000000001",
	};
	struct dlboost_recipe *recipe;

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		if (!dlboost_recipe_parse(specs[i], NULL, 0, &recipe))
			fail_msg("%s was taken", specs[i]);
}

static void shape_follows_the_keys(void **state)
{
	struct dlboost_tensor_spec spec;
	struct dlboost_recipe *recipe;

	(void)state;
	recipe = parse("imagenet-train:size=160x192,dtype=bf16");
	dlboost_recipe_tensor(recipe, &spec);
	assert_int_equal(spec.width, 160);
	assert_int_equal(spec.height, 192);
	assert_int_equal(spec.channels, 3);
	assert_int_equal(spec.dtype, DLBOOST_DTYPE_BF16);
	assert_int_equal(spec.layout, DLBOOST_LAYOUT_CHW);
	assert_int_equal(spec.element_bytes, 2);
	assert_int_equal(spec.sample_bytes, 160 * 192 * 3 * 2);
	dlboost_recipe_destroy(recipe);

	recipe = parse("none:size=65500,dtype=f32");
	dlboost_recipe_tensor(recipe, &spec);
	assert_true(spec.sample_bytes == (size_t)65500 * 65500 * 3 * 4);
	dlboost_recipe_destroy(recipe);

	recipe = parse("none");
	dlboost_recipe_tensor(recipe, &spec);
	assert_int_equal(spec.width, 0);
	assert_int_equal(spec.height, 0);
	assert_int_equal(spec.sample_bytes, 0);
	dlboost_recipe_destroy(recipe);
	dlboost_recipe_destroy(NULL);
}

static void names_are_enumerated(void **state)
{
	static const char *const names[] = {
		"imagenet-train", "imagenet-eval", "cifar-train", "cifar-eval",
		"none",
	};
	const char *description = NULL;

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		description = NULL;
		assert_string_equal(dlboost_recipe_name(i, &description),
				    names[i]);
		assert_true(strlen(description) > 20);
	}
	assert_string_equal(dlboost_recipe_name(0, NULL), names[0]);
	assert_null(dlboost_recipe_name(5, &description));
	assert_null(dlboost_recipe_name(UINT32_MAX, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(canonical_form_has_every_key),
		cmocka_unit_test(numbers_are_the_nearest),
		cmocka_unit_test(random_numbers_survive),
		cmocka_unit_test(locale_changes_nothing),
		cmocka_unit_test(refusals_name_key_and_remedy),
		cmocka_unit_test(odd_numbers_are_refused),
		cmocka_unit_test(shape_follows_the_keys),
		cmocka_unit_test(names_are_enumerated),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
