// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * One PNG.  libspng sees IHDR, PLTE, IDAT and IEND alone: the other chunks
 * cannot change a pixel (alpha is dropped, gamma and profiles are ignored, an
 * animation gives its first frame), so they are passed over before it, with
 * whatever they hold.
 *
 * libspng's allocator takes no argument, so the arena of the picture under way
 * stands in a thread-local pointer, set by dlb_png_decode() alone.  All rows
 * are decoded, whatever the crop: the class is that of the whole file.
 * Documentation/pixels.rst, "PNG".
 */
#include "png.h"

#include <string.h>

#include <spng.h>

#include "../base/base.h"
#include "probe.h"

#define SIGNATURE_BYTES 8
#define HEAD_BYTES 8		/* length and type of a chunk */
#define TAIL_BYTES 4		/* CRC */

static __thread struct dlb_arena *png_arena;

/* Each block is preceded by its size, for realloc() */
#define BLOCK_HEAD_BYTES 16

static void *png_malloc(size_t bytes)
{
	uint8_t *p;

	if (bytes > SIZE_MAX - BLOCK_HEAD_BYTES)
		return NULL;
	p = dlb_arena_alloc(png_arena, bytes + BLOCK_HEAD_BYTES,
			    BLOCK_HEAD_BYTES);
	if (!p)
		return NULL;
	memcpy(p, &bytes, sizeof(bytes));
	return p + BLOCK_HEAD_BYTES;
}

static void *png_calloc(size_t nr, size_t bytes)
{
	void *p;

	if (bytes && nr > SIZE_MAX / bytes)
		return NULL;
	p = png_malloc(nr * bytes);
	if (p)
		memset(p, 0, nr * bytes);
	return p;
}

static void *png_realloc(void *old, size_t bytes)
{
	size_t old_bytes;
	void *p = png_malloc(bytes);

	if (!p || !old)
		return p;
	memcpy(&old_bytes, (uint8_t *)old - BLOCK_HEAD_BYTES,
	       sizeof(old_bytes));
	memcpy(p, old, old_bytes < bytes ? old_bytes : bytes);
	return p;
}

/* The picture's end frees everything */
static void png_free(void *p)
{
	(void)p;
}

/**
 * struct png_input - The file as libspng sees it
 * @source: the picture
 * @at: next byte
 * @chunk_end: end of the chunk that is passed on
 * @is_cut: libspng wanted bytes that are not there
 */
struct png_input {
	const struct dlb_source *source;
	size_t at;
	size_t chunk_end;
	bool is_cut;
};

static bool is_wanted(const uint8_t *chunk)
{
	return !memcmp(chunk + 4, "IHDR", 4) || !memcmp(chunk + 4, "PLTE", 4) ||
	       !memcmp(chunk + 4, "IDAT", 4) || !memcmp(chunk + 4, "IEND", 4) ||
	       !(chunk[4] & 0x20);
}

/* At a chunk's start: pass over those that change no pixel */
static void input_next_chunk(struct png_input *in)
{
	const uint8_t *bytes = in->source->bytes;
	size_t len = in->source->len_bytes;

	while (len - in->at >= HEAD_BYTES) {
		size_t data = dlb_be32(bytes + in->at);
		size_t all = HEAD_BYTES + data + TAIL_BYTES;

		if (all > len - in->at)
			all = len - in->at;
		if (is_wanted(bytes + in->at)) {
			in->chunk_end = in->at + all;
			return;
		}
		in->at += all;
	}
	in->chunk_end = len;
}

static int input_read(spng_ctx *ctx, void *user, void *dest, size_t len)
{
	struct png_input *in = user;
	uint8_t *to = dest;

	while (len) {
		size_t nr;

		if (in->at == in->chunk_end)
			input_next_chunk(in);
		nr = in->chunk_end - in->at;
		if (!nr || len > in->source->len_bytes - in->at) {
			in->is_cut = true;
			return SPNG_IO_EOF;
		}
		nr = nr < len ? nr : len;
		memcpy(to, in->source->bytes + in->at, nr);
		in->at += nr;
		to += nr;
		len -= nr;
	}
	return 0;
}

static unsigned int png_fail(const struct png_input *in, int err)
{
	struct dlboost_result *result = in->source->result;

	if (in->source->arena->has_overflowed)
		return DLB_STATUS_OVERFLOW;
	if (in->is_cut)
		return dlb_probe_fail(result, DLBOOST_STATUS_TRUNCATED,
				      (int64_t)in->source->len_bytes,
				      "the file ends after %zu bytes, before its last row: copy it again from its source",
				      in->source->len_bytes);
	return dlb_probe_fail(result, DLBOOST_STATUS_CORRUPT, (int64_t)in->at,
			      "damaged PNG data: %s", spng_strerror(err));
}

/* 0, or libspng's error; the end of the picture is no error */
static int png_row(spng_ctx *ctx, uint8_t *row, uint32_t width)
{
	int err = spng_decode_row(ctx, row, (size_t)width * DLB_PIXEL_BYTES);

	return err == SPNG_EOI ? 0 : err;
}

/* Rows in order: those of the plan straight into the feed */
static int png_stream(spng_ctx *ctx, const struct dlb_source *source,
		      uint8_t *unseen)
{
	const struct dlb_rect *r = &source->plan->rect;
	uint32_t width = source->plan->stored_w, nr;

	for (uint32_t y = 0; y < source->plan->stored_h; y++) {
		bool is_needed = y >= r->y0 && y < r->y1;
		uint8_t *row = is_needed ? *dlb_feed_space(source->feed, &nr) :
					   unseen;
		int err = png_row(ctx, row, width);

		if (err)
			return err;
		if (is_needed)
			dlb_feed_commit(source->feed, 1);
	}
	return 0;
}

/* Interlaced: the whole picture, then the rows of the plan */
static int png_collect(spng_ctx *ctx, const struct dlb_source *source,
		       uint8_t *picture)
{
	const struct dlb_rect *r = &source->plan->rect;
	uint32_t width = source->plan->stored_w, nr;
	size_t stride = (size_t)width * DLB_PIXEL_BYTES;
	struct spng_row_info info;
	int err;

	for (;;) {
		if (spng_get_row_info(ctx, &info))
			break;
		err = png_row(ctx, picture + info.row_num * stride, width);
		if (err)
			return err;
	}
	for (uint32_t y = r->y0; y < r->y1; y++) {
		memcpy(*dlb_feed_space(source->feed, &nr), picture + y * stride,
		       stride);
		dlb_feed_commit(source->feed, 1);
	}
	return 0;
}

static unsigned int png_rows(spng_ctx *ctx, struct png_input *in)
{
	const struct dlb_source *source = in->source;
	const struct dlb_rect *r = &source->plan->rect;
	bool is_interlaced = source->info->is_interlaced;
	uint32_t width = source->plan->stored_w;
	uint8_t *room;
	int err;

	if (r->x0 < r->x1 &&
	    !dlb_feed_open(source->feed, r->x0, width - r->x1))
		return DLB_STATUS_OVERFLOW;
	room = dlb_arena_alloc(source->arena, (size_t)width * DLB_PIXEL_BYTES *
			       (is_interlaced ? source->plan->stored_h : 1),
			       64);
	if (!room)
		return DLB_STATUS_OVERFLOW;
	err = spng_decode_image(ctx, NULL, 0, SPNG_FMT_RGBA8,
				SPNG_DECODE_PROGRESSIVE);
	if (!err)
		err = is_interlaced ? png_collect(ctx, source, room) :
				      png_stream(ctx, source, room);
	return err ? png_fail(in, err) : DLBOOST_STATUS_OK;
}

unsigned int dlb_png_decode(const struct dlb_source *source)
{
	struct spng_alloc alloc = {
		.malloc_fn = png_malloc,
		.realloc_fn = png_realloc,
		.calloc_fn = png_calloc,
		.free_fn = png_free,
	};
	struct png_input in = { .source = source };
	unsigned int status = DLB_STATUS_OVERFLOW;
	spng_ctx *ctx;
	int err;

	in.chunk_end = SIGNATURE_BYTES;
	png_arena = source->arena;
	ctx = spng_ctx_new2(&alloc, 0);
	if (ctx) {
		err = spng_set_png_stream(ctx, input_read, &in);
		status = err ? png_fail(&in, err) : png_rows(ctx, &in);
		spng_ctx_free(ctx);
	}
	png_arena = NULL;
	return status;
}
