// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises: every file of the hard corpus has the class its index states, in
 * both profiles, whatever the crop; with reject_warnings no warned file
 * passes; intact files have the pixels that djpeg 2.1.5 wrote (SHA-256 in the
 * index); probe and decoder agree on what the header decides.
 *
 * The corpus is outside the tree: DLBOOST_TEST_CORPUS names its folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode_util.h"

/* FIPS 180-4 */
struct sha256 {
	uint32_t h[8];
	uint8_t block[64];
	uint64_t len;
};

static uint32_t ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* First 32 bits of the fraction of a root, by integer search */
static uint32_t root_bits(uint32_t prime, int degree)
{
	unsigned __int128 lo = 0, hi = (unsigned __int128)1 << 40;

	while (hi - lo > 1) {
		unsigned __int128 mid = (lo + hi) / 2, p = mid * mid;
		bool is_above;

		if (degree == 2)
			is_above = p > (unsigned __int128)prime << 64;
		else
			is_above = p * mid > (unsigned __int128)prime << 96;
		if (is_above)
			hi = mid;
		else
			lo = mid;
	}
	return (uint32_t)lo;
}

static uint32_t prime_at(int n)
{
	for (uint32_t p = 2, i = 0;; p++) {
		bool is_prime = true;

		for (uint32_t d = 2; d * d <= p; d++)
			is_prime &= p % d != 0;
		if (is_prime && (int)i++ == n)
			return p;
	}
}

static uint32_t k[64];

static void sha256_init(struct sha256 *s)
{
	if (!k[0])
		for (int i = 0; i < 64; i++)
			k[i] = root_bits(prime_at(i), 3);
	for (int i = 0; i < 8; i++)
		s->h[i] = root_bits(prime_at(i), 2);
	s->len = 0;
}

static void sha256_block(struct sha256 *s, const uint8_t *p)
{
	uint32_t w[64], v[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
		       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, s->h, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t t1 = v[7] + (ror(v[4], 6) ^ ror(v[4], 11) ^
			      ror(v[4], 25)) + ((v[4] & v[5]) ^
			      (~v[4] & v[6])) + k[i] + w[i];
		uint32_t t2 = (ror(v[0], 2) ^ ror(v[0], 13) ^ ror(v[0], 22)) +
			      ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		s->h[i] += v[i];
}

static void sha256_add(struct sha256 *s, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (; s->len % 64 == 0 && len >= 64; len -= 64, p += 64, s->len += 64)
		sha256_block(s, p);
	for (; len; len--, p++) {
		s->block[s->len++ % 64] = *p;
		if (s->len % 64 == 0)
			sha256_block(s, s->block);
	}
}

static void sha256_end(struct sha256 *s, char hex[65])
{
	uint64_t bits = s->len * 8;
	uint8_t tail[8];

	for (int i = 0; i < 8; i++)
		tail[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(s, "\x80", 1);
	while (s->len % 64 != 56)
		sha256_add(s, "", 1);
	sha256_add(s, tail, 8);
	for (int i = 0; i < 8; i++)
		sprintf(hex + 8 * i, "%08x", s->h[i]);
}

/* Where the index was derived from less than the file holds */
static const struct {
	const char *path, *status, *why;
} corrections[] = {
	{ "fuzz/ljtseed_id_003998_src_003977_op_flip1_pos_171.jpg", "TRUNCATED",
	  "djpeg prints its first warning only; the premature end follows" },
};

struct entry {
	char path[256];
	char status[32];
	char sha256[80];
	int components;
};

static struct entry entries[512];
static size_t nr_entries;
static const char *corpus;

static int column(const char *header, const char *name)
{
	int idx = 0;

	for (const char *p = header; p; p = strchr(p, '\t'), idx++) {
		size_t n;

		p += *p == '\t';
		n = strcspn(p, "\t\n");
		if (n == strlen(name) && !strncmp(p, name, n))
			return idx;
	}
	return -1;
}

static void field(const char *line, int idx, char *out, size_t out_bytes)
{
	size_t n;

	for (; idx > 0; idx--)
		line = strchr(line, '\t') + 1;
	n = strcspn(line, "\t\n");
	if (n >= out_bytes)
		n = out_bytes - 1;
	memcpy(out, line, n);
	out[n] = '\0';
}

static void read_entry(const char *header, const char *line)
{
	struct entry *e = &entries[nr_entries++];
	char components[8];

	field(line, column(header, "path"), e->path, sizeof(e->path));
	field(line, column(header, "status"), e->status, sizeof(e->status));
	field(line, column(header, "components"), components,
	      sizeof(components));
	field(line, column(header, "djpeg_2.1.5_ppm_sha256"), e->sha256,
	      sizeof(e->sha256));
	e->components = atoi(components);
	for (size_t i = 0; i < sizeof(corrections) / sizeof(corrections[0]); i++)
		if (!strcmp(e->path, corrections[i].path))
			strcpy(e->status, corrections[i].status);
}

static int setup(void **state)
{
	static char header[4096], line[4096];
	char *path;
	FILE *f;

	if (asprintf(&path, "%s/INDEX.tsv", corpus) < 0)
		return -1;
	f = fopen(path, "r");
	free(path);
	if (!f || !fgets(header, sizeof(header), f))
		return -1;
	while (fgets(line, sizeof(line), f) &&
	       nr_entries < sizeof(entries) / sizeof(entries[0]))
		read_entry(header, line);
	fclose(f);
	return nr_entries ? 0 : -1;
}

struct run {
	struct dlboost_decoder *decoder;
	struct dlboost_recipe recipe;
	enum dlboost_profile profile;
};

static struct run start(enum dlboost_profile profile, bool reject_warnings)
{
	struct dlboost_decoder_attr attr = DLBOOST_DECODER_ATTR_INIT;
	struct run run = { .recipe = recipe_none(), .profile = profile };

	attr.reject_warnings = reject_warnings;
	assert_int_equal(dlboost_decoder_create(&attr, &run.decoder), 0);
	return run;
}

static struct blob load(const struct entry *e)
{
	struct blob file;
	char *path;

	assert_true(asprintf(&path, "%s/%s", corpus, e->path) > 0);
	file = read_file(path);
	free(path);
	assert_non_null(file.bytes);
	return file;
}

/* Whole picture for @g NULL; *@tensor is the caller's to free */
static struct dlboost_result decode(struct run *run, const struct blob *file,
				    const struct dlboost_geometry *g,
				    uint8_t **tensor)
{
	struct dlboost_image_info info;
	struct dlboost_result result;
	size_t bytes = 1;

	if (!dlboost_probe(file->bytes, file->len, NULL, &info, NULL))
		bytes = (size_t)info.width * info.height * 3;
	*tensor = malloc(bytes);
	assert_int_equal(dlboost_decode(run->decoder, file->bytes, file->len,
					&run->recipe, run->profile, g, *tensor,
					bytes, &result), 0);
	assert_true(result.status == DLBOOST_STATUS_OK || result.message[0]);
	return result;
}

static void status_text(const struct dlboost_result *r, char out[32])
{
	snprintf(out, 32, "%s%s", dlboost_status_name(r->status),
		 r->flags & DLBOOST_SAMPLE_F_WARNED ? "+WARNED" : "");
}

static void check_status(enum dlboost_profile profile)
{
	struct run run = start(profile, false);

	for (size_t i = 0; i < nr_entries; i++) {
		struct blob file = load(&entries[i]);
		struct dlboost_result r;
		uint8_t *tensor;
		char got[32];

		r = decode(&run, &file, NULL, &tensor);
		status_text(&r, got);
		if (strcmp(got, entries[i].status))
			fail_msg("%s is %s, not %s: %s", entries[i].path, got,
				 entries[i].status, r.message);
		free(tensor);
		free(file.bytes);
	}
	dlboost_decoder_destroy(run.decoder);
}

static void status_exact(void **state)
{
	check_status(DLBOOST_PROFILE_EXACT);
}

static void status_fast(void **state)
{
	check_status(DLBOOST_PROFILE_FAST);
}

/* One pixel at the top: the class is the same, warnings may not be met */
static void status_of_one_pixel(void **state)
{
	struct run run;

	run = start(DLBOOST_PROFILE_EXACT, false);
	for (size_t i = 0; i < nr_entries; i++) {
		struct dlboost_geometry g = crop_geometry(0, 0, 1, 1);
		struct blob file = load(&entries[i]);
		struct dlboost_result r;
		uint8_t *tensor;
		const char *got;

		r = decode(&run, &file, &g, &tensor);
		got = dlboost_status_name(r.status);
		if (strncmp(got, entries[i].status, strlen(got)))
			fail_msg("%s is %s in its first pixel, not %s: %s",
				 entries[i].path, got, entries[i].status,
				 r.message);
		free(tensor);
		free(file.bytes);
	}
	dlboost_decoder_destroy(run.decoder);
}

static void reject_warnings(void **state)
{
	struct run run;

	run = start(DLBOOST_PROFILE_EXACT, true);
	for (size_t i = 0; i < nr_entries; i++) {
		struct blob file = load(&entries[i]);
		const char *want = entries[i].status;
		struct dlboost_result r;
		uint8_t *tensor;
		const char *got;

		r = decode(&run, &file, NULL, &tensor);
		got = dlboost_status_name(r.status);
		if (!strcmp(want, "OK+WARNED"))
			want = "CORRUPT";
		if (strcmp(got, want) &&
		    (strcmp(want, "TRUNCATED") || strcmp(got, "CORRUPT")))
			fail_msg("%s is %s, not %s: %s", entries[i].path, got,
				 want, r.message);
		free(tensor);
		free(file.bytes);
	}
	dlboost_decoder_destroy(run.decoder);
}

/* djpeg writes grey as P5 */
static void hash_ppm(const struct dlboost_result *r, const uint8_t *tensor,
		     bool is_grey, char hex[65])
{
	char header[64];
	struct sha256 s;
	size_t nr = (size_t)r->width * r->height;

	sha256_init(&s);
	sha256_add(&s, header, (size_t)snprintf(header, sizeof(header),
						"P%d\n%u %u\n255\n",
						is_grey ? 5 : 6, r->width,
						r->height));
	/* The header is no multiple of a block: fill it up first */
	if (!is_grey) {
		size_t first = (64 - s.len % 64) % 64;

		first = first < nr * 3 ? first : nr * 3;
		sha256_add(&s, tensor, first);
		sha256_add(&s, tensor + first, nr * 3 - first);
	}
	for (size_t i = 0; is_grey && i < nr; i++)
		sha256_add(&s, tensor + 3 * i, 1);
	sha256_end(&s, hex);
}

static void pixels_of_djpeg(void **state)
{
	unsigned int nr_compared = 0;
	struct run run;

	run = start(DLBOOST_PROFILE_EXACT, false);
	for (size_t i = 0; i < nr_entries; i++) {
		const struct entry *e = &entries[i];
		struct dlboost_result r;
		struct blob file;
		uint8_t *tensor;
		char hex[65];

		if (!e->sha256[0] || (e->components != 1 && e->components != 3) ||
		    strncmp(e->status, "OK", 2))
			continue;
		file = load(e);
		r = decode(&run, &file, NULL, &tensor);
		/* Other versions of the library smooth otherwise */
		if (!(r.flags & DLBOOST_SAMPLE_F_DEGRADED)) {
			hash_ppm(&r, tensor, e->components == 1, hex);
			if (strcmp(hex, e->sha256))
				fail_msg("%s: pixels are not djpeg's", e->path);
			nr_compared++;
		}
		free(tensor);
		free(file.bytes);
	}
	assert_true(nr_compared > 0);
	dlboost_decoder_destroy(run.decoder);
}

/* What the probe refuses the decoder refuses alike */
static void probe_agrees(void **state)
{
	struct run run;

	run = start(DLBOOST_PROFILE_EXACT, false);
	for (size_t i = 0; i < nr_entries; i++) {
		struct blob file = load(&entries[i]);
		struct dlboost_result p, r;
		struct dlboost_image_info info;
		uint8_t pixel[3];
		struct dlboost_geometry g = crop_geometry(0, 0, 1, 1);

		dlboost_probe(file.bytes, file.len, NULL, &info, &p);
		dlboost_decode(run.decoder, file.bytes, file.len, &run.recipe,
			       DLBOOST_PROFILE_EXACT, &g, pixel, 3, &r);
		if (p.status) {
			assert_int_equal(p.status, r.status);
			assert_string_equal(p.message, r.message);
		}
		free(file.bytes);
	}
	dlboost_decoder_destroy(run.decoder);
}

static void sha256_known_answer(void **state)
{
	struct sha256 s;
	char hex[65];

	sha256_init(&s);
	sha256_add(&s, "abc", 3);
	sha256_end(&s, hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223"
				 "b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_known_answer),
		cmocka_unit_test(status_exact),
		cmocka_unit_test(status_fast),
		cmocka_unit_test(status_of_one_pixel),
		cmocka_unit_test(reject_warnings),
		cmocka_unit_test(pixels_of_djpeg),
		cmocka_unit_test(probe_agrees),
	};

	/* cmocka writes its own skips as "not ok": say it for the whole file */
	corpus = getenv("DLBOOST_TEST_CORPUS");
	if (!corpus) {
		puts("1..0 # SKIP DLBOOST_TEST_CORPUS names no folder");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, NULL);
}
