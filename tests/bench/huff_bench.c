// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPU microseconds a picture of entropy decoding: our own decoder, coefficients
 * stored and dropped, in each set of instructions, beside libjpeg-turbo's
 * (jpeg_read_coefficients(), and decoding at 1/8, which keeps the DC alone).
 * The contestants take turns; the least of several rounds counts.
 * Prints one line of tab-separated values each.
 * usage: huff_bench ROUNDS FILE...
 */
#include <image/huff.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

struct picture {
	uint8_t *bytes;
	size_t len;
};

struct room {
	struct dlb_huff *huff;
	struct dlb_coef_row row;
	size_t room_blocks[DLB_MAX_COMPONENTS];
	struct jpeg_decompress_struct cinfo;
	struct jpeg_error_mgr err;
	uint32_t nr_refused;
};

/* CPU time: others may use the machine as well */
static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "huff_bench: out of memory\n");
		exit(1);
	}
	return p;
}

/* One MCU row, used again and again: it stays in the cache, as a decoder's */
static void room_for(struct room *room, const struct dlb_frame *frame)
{
	for (uint32_t i = 0; i < frame->nr_components; i++) {
		const struct dlb_component *c = &frame->component[i];
		size_t blocks = (size_t)c->mcu_row_blocks * c->v;

		if (blocks <= room->room_blocks[i])
			continue;
		free(room->row.blocks[i]);
		free(room->row.last[i]);
		room->row.blocks[i] = must(aligned_alloc(64, blocks * 128));
		room->row.last[i] = must(malloc(blocks));
		room->room_blocks[i] = blocks;
	}
}

static void own_decode(struct room *room, const struct picture *p,
		       const struct dlb_coef_row *row)
{
	struct dlb_frame frame;

	if (dlb_huff_open(room->huff, p->bytes, p->len, &frame)) {
		room->nr_refused++;
		return;
	}
	room_for(room, &frame);
	for (uint32_t y = 0; y < frame.mcu_rows; y++)
		if (dlb_huff_row(room->huff, row, 0, frame.mcu_cols)) {
			room->nr_refused++;
			return;
		}
	if (dlb_huff_finish(room->huff))
		room->nr_refused++;
}

static void own_store(struct room *room, const struct picture *p)
{
	own_decode(room, p, &room->row);
}

static void own_drop(struct room *room, const struct picture *p)
{
	own_decode(room, p, NULL);
}

static void turbo_store(struct room *room, const struct picture *p)
{
	jpeg_mem_src(&room->cinfo, p->bytes, p->len);
	jpeg_read_header(&room->cinfo, TRUE);
	jpeg_read_coefficients(&room->cinfo);
	jpeg_finish_decompress(&room->cinfo);
}

static void turbo_drop(struct room *room, const struct picture *p)
{
	static JSAMPLE line[65536 * 4];
	JSAMPROW rows[1] = { line };

	jpeg_mem_src(&room->cinfo, p->bytes, p->len);
	jpeg_read_header(&room->cinfo, TRUE);
	room->cinfo.scale_num = 1;
	room->cinfo.scale_denom = 8;
	room->cinfo.out_color_space = room->cinfo.jpeg_color_space;
	jpeg_start_decompress(&room->cinfo);
	while (room->cinfo.output_scanline < room->cinfo.output_height)
		jpeg_read_scanlines(&room->cinfo, rows, 1);
	jpeg_finish_decompress(&room->cinfo);
}

static const struct contestant {
	const char *name, *set;
	void (*decode)(struct room *room, const struct picture *p);
} contestants[] = {
	{ "libjpeg-store", NULL, turbo_store },
	{ "libjpeg-drop", NULL, turbo_drop },
	{ "own-store-bmi2", "bmi2", own_store },
	{ "own-drop-bmi2", "bmi2", own_drop },
	{ "own-store-c", "c", own_store },
	{ "own-drop-c", "c", own_drop },
};

#define NR_CONTESTANTS (sizeof(contestants) / sizeof(contestants[0]))

static void measure(struct room *room, const struct picture *pictures,
		    uint32_t nr, double best[NR_CONTESTANTS])
{
	for (size_t i = 0; i < NR_CONTESTANTS; i++) {
		const struct contestant *c = &contestants[i];
		uint64_t start;
		double us;

		if (c->set && dlb_huff_simd_set(c->set))
			continue;
		start = cpu_ns();
		for (uint32_t j = 0; j < nr; j++)
			c->decode(room, &pictures[j]);
		us = (double)(cpu_ns() - start) / nr / 1000;
		if (!best[i] || us < best[i])
			best[i] = us;
	}
}

static struct picture read_picture(const char *path)
{
	struct picture p = { 0 };
	FILE *f = fopen(path, "rb");
	long len;

	if (!f || fseek(f, 0, SEEK_END) || (len = ftell(f)) < 0) {
		fprintf(stderr, "huff_bench: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	rewind(f);
	p.bytes = must(malloc((size_t)len + 1));
	p.len = fread(p.bytes, 1, (size_t)len, f);
	fclose(f);
	return p;
}

int main(int argc, char **argv)
{
	double best[NR_CONTESTANTS] = { 0 };
	struct picture *pictures;
	struct room room = { 0 };
	uint32_t nr = argc > 2 ? (uint32_t)argc - 2 : 0;
	size_t bytes = 0;
	int rounds;

	if (!nr || (rounds = atoi(argv[1])) < 1) {
		fprintf(stderr, "usage: huff_bench ROUNDS FILE...\n");
		return 2;
	}
	pictures = must(calloc(nr, sizeof(*pictures)));
	for (uint32_t i = 0; i < nr; i++) {
		pictures[i] = read_picture(argv[i + 2]);
		bytes += pictures[i].len;
	}
	if (dlb_huff_create(&room.huff))
		must(NULL);
	room.cinfo.err = jpeg_std_error(&room.err);
	jpeg_create_decompress(&room.cinfo);
	while (rounds--)
		measure(&room, pictures, nr, best);
	printf("contestant\tus_per_picture\tmb_per_s\tpictures\tnot_taken\n");
	for (size_t i = 0; i < NR_CONTESTANTS; i++)
		if (best[i])
			printf("%s\t%.1f\t%.1f\t%u\t%u\n", contestants[i].name,
			       best[i], (double)bytes / nr / best[i], nr,
			       contestants[i].set ? room.nr_refused : 0);
	dlb_huff_destroy(room.huff);
	jpeg_destroy_decompress(&room.cinfo);
	for (uint32_t i = 0; i < nr; i++)
		free(pictures[i].bytes);
	free(pictures);
	for (int i = 0; i < DLB_MAX_COMPONENTS; i++) {
		free(room.row.blocks[i]);
		free(room.row.last[i]);
	}
	return 0;
}
