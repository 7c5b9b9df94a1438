/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures that the command carries with it, and what must come out of them. */
#ifndef DLBOOST_TOOL_BUILTIN_H
#define DLBOOST_TOOL_BUILTIN_H

#include <stddef.h>
#include <stdint.h>

#include <dlboost/recipe.h>

struct builtin_case {
	const char *name;
	const uint8_t *bytes;
	size_t nr_bytes;
	const char *recipe;
	struct dlboost_geometry geometry;
	const char *sha256;
};

extern const struct builtin_case builtin_cases[];
extern const size_t builtin_nr_cases;

/*
 * A JPEG of @width x @height with detail at every scale, for figures without
 * a data set (synth.c); malloc'ed.  0 or -ENOMEM.
 */
int synth_jpeg(unsigned int width, unsigned int height, unsigned int seed,
	       uint8_t **bytes, size_t *nr_bytes);

#endif /* DLBOOST_TOOL_BUILTIN_H */
