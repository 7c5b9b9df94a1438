// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPU microseconds a picture of the reconstruction (inverse DCT, upsampling,
 * colour), for each instruction set this machine has, over a folder of JPEGs:
 * whole pictures, and one crop of a training recipe each.  Coefficients are read
 * beforehand and copied to a row that stays in the cache, where an entropy
 * decoder's are (the copying is taken off); pixels go to a few rows that stay
 * there too, as they do on their way to the resampler.  Beside it
 * libjpeg-turbo's share: its whole decode less its reading of coefficients.
 * Prints one line of tab-separated values a set.
 * usage: recon_bench FOLDER [NR-PICTURES [SET]]
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

#include "../unit/recon/recon_util.h"

#define MAX_PICTURES 1000
#define ROUNDS 7
#define TAKE_ROWS 8u

struct picture {
	uint8_t *bytes;
	size_t len;
	struct reference ref;
	struct dlb_extent whole, crop;
};

static struct picture pictures[MAX_PICTURES];
static size_t nr_pictures;
static struct dlb_arena arena;
static uint8_t *rows;
static struct dlb_coef_row hot;
static uint64_t rng = 1;

static double cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* 0..1; xorshift64*: G. Marsaglia, S. Vigna */
static double uniform(void)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (double)(rng * 2685821657736338717u >> 11) / 9007199254740992.0;
}

/* RandomResizedCrop, first try that fits */
static struct dlb_extent draw_crop(uint32_t width, uint32_t height)
{
	for (int i = 0; i < 10; i++) {
		double area = (0.08 + 0.92 * uniform()) * width * height;
		double aspect = exp(log(0.75) + uniform() * 2 * log(4 / 3.0));
		uint32_t w = (uint32_t)lrint(sqrt(area * aspect));
		uint32_t h = (uint32_t)lrint(sqrt(area / aspect));
		uint32_t x, y;

		if (!w || !h || w > width || h > height)
			continue;
		x = (uint32_t)(uniform() * (width - w + 1));
		y = (uint32_t)(uniform() * (height - h + 1));
		return (struct dlb_extent){ x, y, x + w, y + h };
	}
	return (struct dlb_extent){ 0, 0, width, height };
}

static void add_picture(const char *folder, const char *name)
{
	struct picture *p = &pictures[nr_pictures];
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "rb");
	if (!f)
		return;
	fseek(f, 0, SEEK_END);
	p->len = (size_t)ftell(f);
	rewind(f);
	p->bytes = malloc(p->len);
	if (fread(p->bytes, 1, p->len, f) == p->len &&
	    reference_read(&p->ref, p->bytes, p->len)) {
		p->whole.x1 = p->ref.frame.width;
		p->whole.y1 = p->ref.frame.height;
		p->crop = draw_crop(p->whole.x1, p->whole.y1);
		nr_pictures++;
	} else {
		free(p->bytes);
	}
	fclose(f);
}

/* Room for an MCU row of any of the pictures */
static int hot_alloc(void)
{
	for (uint32_t c = 0; c < 3; c++) {
		size_t most = 1;

		for (size_t i = 0; i < nr_pictures; i++) {
			const struct dlb_component *comp =
				&pictures[i].ref.frame.component[c];
			size_t nr = (size_t)comp->v * comp->mcu_row_blocks;

			most = nr > most ? nr : most;
		}
		hot.blocks[c] = aligned_alloc(64, most * 128);
		hot.last[c] = malloc(most);
		if (!hot.blocks[c] || !hot.last[c])
			return -ENOMEM;
	}
	return 0;
}

static int read_folder(const char *folder, size_t max)
{
	struct dirent **names;
	int nr = scandir(folder, &names, NULL, alphasort);

	for (int i = 0; i < nr; i++) {
		if (nr_pictures < max && names[i]->d_name[0] != '.')
			add_picture(folder, names[i]->d_name);
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
	return nr_pictures ? 0 : -ENOENT;
}

/* The columns needed, to a row in the cache: where an entropy decoder's are */
static void copy_row(const struct reference *ref, const struct dlb_recon *rc,
		     uint32_t m)
{
	for (uint32_t c = 0; c < ref->frame.nr_components; c++) {
		const struct dlb_component *comp = &ref->frame.component[c];
		size_t nr = (size_t)comp->v * comp->mcu_row_blocks;
		size_t n = (size_t)(rc->mcu_col1 - rc->mcu_col0) * comp->h;

		for (uint32_t v = 0; v < comp->v; v++) {
			size_t to = (size_t)v * comp->mcu_row_blocks +
				    (size_t)rc->mcu_col0 * comp->h;
			size_t from = m * nr + to;

			memcpy(hot.blocks[c] + to * DLB_BLOCK_COEFS,
			       ref->blocks[c] + from * DLB_BLOCK_COEFS,
			       n * DLB_BLOCK_COEFS * sizeof(int16_t));
			memcpy(hot.last[c] + to, ref->last[c] + from, n);
		}
	}
}

static void reconstruct(const struct reference *ref,
			const struct dlb_extent *rect, bool is_copy_alone)
{
	size_t stride = ((size_t)(rect->x1 - rect->x0) * DLB_PIXEL_BYTES +
			 63) & ~(size_t)63;
	struct dlb_recon rc;

	dlb_arena_reset(&arena, SIZE_MAX);
	if (dlb_recon_begin(&rc, &arena, &ref->frame, rect))
		return;
	for (uint32_t m = rc.mcu_row0; m < rc.mcu_row1; m++) {
		copy_row(ref, &rc, m);
		if (is_copy_alone)
			continue;
		if (dlb_recon_push(&rc, &hot))
			return;
		while (dlb_recon_take(&rc, rows, stride, TAKE_ROWS))
			;
	}
}

static void decode_whole(struct picture *p)
{
	struct jpeg_decompress_struct c;
	struct jpeg_error_mgr err;
	/* To rows of 32-byte alignment it would store around the cache */
	JSAMPROW row = rows + 16;

	c.err = jpeg_std_error(&err);
	jpeg_create_decompress(&c);
	jpeg_mem_src(&c, p->bytes, p->len);
	jpeg_read_header(&c, TRUE);
	c.out_color_space = JCS_EXT_RGBX;
	jpeg_start_decompress(&c);
	while (c.output_scanline < c.output_height)
		jpeg_read_scanlines(&c, &row, 1);
	jpeg_destroy_decompress(&c);
}

static void decode_coefs(struct picture *p)
{
	struct jpeg_decompress_struct c;
	struct jpeg_error_mgr err;

	c.err = jpeg_std_error(&err);
	jpeg_create_decompress(&c);
	jpeg_mem_src(&c, p->bytes, p->len);
	jpeg_read_header(&c, TRUE);
	jpeg_read_coefficients(&c);
	jpeg_destroy_decompress(&c);
}

static void reconstruct_whole(struct picture *p)
{
	reconstruct(&p->ref, &p->whole, false);
}

static void copy_whole(struct picture *p)
{
	reconstruct(&p->ref, &p->whole, true);
}

static void reconstruct_crop(struct picture *p)
{
	reconstruct(&p->ref, &p->crop, false);
}

static void copy_crop(struct picture *p)
{
	reconstruct(&p->ref, &p->crop, true);
}

/* Sum over the pictures of each one's best of ROUNDS, a picture */
static double measure(void (*work)(struct picture *p))
{
	double sum = 0;

	for (size_t i = 0; i < nr_pictures; i++) {
		double best = INFINITY;

		for (int r = 0; r < ROUNDS; r++) {
			double start = cpu_us();

			work(&pictures[i]);
			best = fmin(best, cpu_us() - start);
		}
		sum += best;
	}
	return sum / (double)nr_pictures;
}

static void measure_set(const char *name)
{
	if (dlb_resample_simd_set(name))
		return;
	printf("%s\t%.1f\t%.1f\n", name,
	       measure(reconstruct_whole) - measure(copy_whole),
	       measure(reconstruct_crop) - measure(copy_crop));
}

int main(int argc, char **argv)
{
	static const char *const sets[] = { "c", "sse4.1", "avx2", "avx512",
					    "neon" };
	size_t max = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
	double whole, coefs;

	if (argc < 2 || max > MAX_PICTURES || read_folder(argv[1], max)) {
		fprintf(stderr,
			"usage: recon_bench FOLDER [NR-PICTURES [SET]]; FOLDER holds no JPEG that can be read, or NR-PICTURES is above %d\n",
			MAX_PICTURES);
		return 2;
	}
	rows = aligned_alloc(64, (size_t)65536 * DLB_PIXEL_BYTES * TAKE_ROWS);
	if (!rows || hot_alloc() ||
	    dlb_arena_init(&arena, (size_t)64 << 20))
		return 1;
	whole = measure(decode_whole);
	coefs = measure(decode_coefs);
	printf("# %zu pictures\nset\twhole_us\tcrop_us\n", nr_pictures);
	printf("libjpeg-turbo\t%.1f\t-\n", whole - coefs);
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (argc < 4 || !strcmp(argv[3], sets[i]))
			measure_set(sets[i]);
	return 0;
}
