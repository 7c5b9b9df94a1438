// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promise tested (Documentation/pixels.rst, "Resize", "Cast"): resize, window,
 * flip and cast equal Pillow 12.3 and numpy to the bit, in every instruction
 * set.  The values are hashes that tests/golden/make_resample_vectors.py made
 * from Pillow; of u8 and of each float type apart, so that a difference shows
 * where it starts.
 */
#include "resample_case.h"

#include <cmocka.h>

static const char *table_path;

struct row {
	char stratum[16], filter[16];
	uint32_t in_w, in_h, out_w, out_h;
	int32_t window_x, window_y;
	uint32_t window_w, window_h, flip, fill, kind;
	uint64_t seed;
	uint32_t hash[4];
};

static const char *const filter_names[] = {
	"nearest", "box", "bilinear", "hamming", "bicubic", "lanczos",
};

/* Form of the tensor behind each hash */
static const struct {
	uint32_t dtype, layout;
} forms[4] = {
	{ DLBOOST_DTYPE_U8, DLBOOST_LAYOUT_HWC },
	{ DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW },
	{ DLBOOST_DTYPE_F16, DLBOOST_LAYOUT_CHW },
	{ DLBOOST_DTYPE_BF16, DLBOOST_LAYOUT_CHW },
};

static bool parse_row(const char *line, struct row *r)
{
	unsigned long long seed;
	int nr = sscanf(line,
			"%15s %15s %u %u %u %u %d %d %u %u %u %u %u %llu %x %x %x %x",
			r->stratum, r->filter, &r->in_w, &r->in_h, &r->out_w,
			&r->out_h, &r->window_x, &r->window_y, &r->window_w,
			&r->window_h, &r->flip, &r->fill, &r->kind, &seed,
			&r->hash[0], &r->hash[1], &r->hash[2], &r->hash[3]);

	r->seed = seed;
	return nr == 18;
}

static uint32_t filter_of(const char *name)
{
	for (uint32_t i = 0; i < 6; i++)
		if (!strcmp(name, filter_names[i]))
			return i;
	fail_msg("%s: no filter '%s'", table_path, name);
	return 0;
}

static uint32_t digest(const uint8_t *data, size_t bytes)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < bytes; i++)
		hash = hash * 0x9e3779b97f4a7c15u + data[i] + 1;
	return (uint32_t)(hash >> 32);
}

static void check_form(struct bench *b, const struct picture *p,
		       const struct row *r, unsigned int form,
		       const char *const *names, uint32_t nr_names)
{
	struct dlb_cast cast = cast_of(forms[form].dtype, forms[form].layout);
	struct dlb_resample_spec spec;
	struct tensor t;

	spec_whole(&spec, r->in_w, r->in_h, r->out_w, r->out_h,
		   filter_of(r->filter));
	spec.window_x = r->window_x;
	spec.window_y = r->window_y;
	spec.window_w = r->window_w;
	spec.window_h = r->window_h;
	spec.has_flip = r->flip;
	spec.fill = (uint8_t)r->fill;
	spec.cast = &cast;
	tensor_make(&t, (size_t)r->window_w * r->window_h * 3 *
			cast_bytes(&cast), 0);
	spec.dst = t.data;
	for (uint32_t i = 0; i < nr_names; i++) {
		assert_int_equal(dlb_resample_simd_set(names[i]), 0);
		assert_int_equal(run_case(b, p, &spec, 8), 0);
		if (digest(t.data, t.bytes) != r->hash[form])
			fail_msg("%s, form %u differs from Pillow: %s %s %ux%u to %ux%u, window %d,%d %ux%u, seed %llu",
				 names[i], form, r->stratum, r->filter,
				 r->in_w, r->in_h, r->out_w, r->out_h,
				 r->window_x, r->window_y, r->window_w,
				 r->window_h, (unsigned long long)r->seed);
	}
	tensor_free(&t);
}

static void every_set_equals_pillow(void **state)
{
	FILE *table = fopen(table_path, "r");
	const char *names[5];
	uint32_t nr = list_sets(names), nr_rows = 0;
	char line[512];
	struct bench b;

	(void)state;
	if (!table)
		fail_msg("%s: cannot be read", table_path);
	bench_make(&b, 1 << 20, 64u << 20);
	while (fgets(line, sizeof(line), table)) {
		struct picture p;
		struct row r;

		if (line[0] == '#')
			continue;
		if (!parse_row(line, &r))
			fail_msg("%s: not a row: %s", table_path, line);
		picture_make(&p, r.in_w, r.in_h, r.seed, r.kind);
		for (unsigned int form = 0; form < 4; form++)
			check_form(&b, &p, &r, form, names, nr);
		picture_free(&p);
		nr_rows++;
	}
	fclose(table);
	bench_free(&b);
	assert_true(nr_rows >= 500);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_set_equals_pillow),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: pillow_test pillow.tsv\n");
		return 2;
	}
	table_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
