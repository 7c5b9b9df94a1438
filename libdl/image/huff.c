// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The entropy decoder's pictures: from header to end, MCU rows and restart
 * intervals, and which instruction set runs.
 *
 * A file that is not in order in every point ends with -EILSEQ and is then
 * libjpeg-turbo's, from its start; so nothing is mended here and no damage is
 * classed.  Knows nothing of pixels.  One thread a decoder; the choice of the
 * instruction set is one process-wide pointer.
 * ITU-T T.81, annex F.2; Documentation/errors.rst, "Classes".
 */
#include "huff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/base.h"
#include "huff_int.h"

#define MARKER_RST0 0xd0
#define MARKER_EOI 0xd9

static bool has_always(void)
{
	return true;
}

#if defined(__x86_64__)
static bool has_bmi2(void)
{
	return __builtin_cpu_supports("avx2") &&
	       __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#endif

/* Best first */
static const struct {
	const struct huff_kernels *kernels;
	bool (*is_supported)(void);
} sets[] = {
#if defined(__x86_64__)
	{ &dlb_huff_kernels_bmi2, has_bmi2 },
#endif
	{ &dlb_huff_kernels_c, has_always },
};

static const struct huff_kernels *chosen;

int dlb_huff_simd_set(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		if ((name && strcmp(name, sets[i].kernels->name)) ||
		    !sets[i].is_supported())
			continue;
		__atomic_store_n(&chosen, sets[i].kernels, __ATOMIC_RELAXED);
		return 0;
	}
	return -EOPNOTSUPP;
}

static const struct huff_kernels *huff_kernels(void)
{
	const struct huff_kernels *kernels;

	kernels = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
	if (!kernels) {
		dlb_huff_simd_set(NULL);
		kernels = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
	}
	return kernels;
}

const char *dlb_huff_simd_name(void)
{
	return huff_kernels()->name;
}

int dlb_huff_create(struct dlb_huff **out)
{
	/* The window is read beyond its last byte: all of it has a value */
	struct dlb_huff *huff = calloc(1, sizeof(*huff));

	if (!huff)
		return -ENOMEM;
	huff->is_broken = true;
	*out = huff;
	return 0;
}

void dlb_huff_destroy(struct dlb_huff *huff)
{
	free(huff);
}

static void huff_open_units(struct dlb_huff *huff,
			    const struct dlb_jpeg_head *head)
{
	huff->nr_units = 0;
	for (uint32_t i = 0; i < head->frame.nr_components; i++) {
		const struct dlb_component *c = &head->frame.component[i];
		struct huff_dc *dc = &huff->dc[head->dc_table[i]];
		struct huff_ac *ac = &huff->ac[head->ac_table[i]];

		dlb_huff_dc_build(dc, head->dc[head->dc_table[i]]);
		dlb_huff_ac_build(ac, head->ac[head->ac_table[i]]);
		for (uint32_t b = 0; b < (uint32_t)c->h * c->v; b++)
			huff->units[huff->nr_units++] = (struct huff_unit){
				.dc = dc,
				.ac = ac,
				.component = i,
				.step = c->h,
				.first = b / c->h * c->mcu_row_blocks +
					 b % c->h,
			};
	}
}

int dlb_huff_open(struct dlb_huff *huff, const uint8_t *bytes,
		  size_t len_bytes, struct dlb_frame *frame)
{
	struct dlb_jpeg_head head;
	int ret;

	huff->is_broken = true;
	ret = dlb_jpeg_head_parse(&head, bytes, len_bytes);
	if (ret)
		return ret;
	huff_open_units(huff, &head);
	huff->nr_components = head.frame.nr_components;
	huff->mcu_cols = head.frame.mcu_cols;
	huff->rows_left = head.frame.mcu_rows;
	huff->restart_interval = head.restart_interval;
	huff->restart_left = head.restart_interval;
	huff->next_restart = 0;
	memset(huff->predictor, 0, sizeof(huff->predictor));
	huff->src = bytes + head.scan_at;
	huff->src_end = bytes + len_bytes;
	huff->is_broken = dlb_huff_segment_open(huff);
	*frame = head.frame;
	return 0;
}

static int huff_restart(struct dlb_huff *huff)
{
	if (dlb_huff_segment_close(huff) ||
	    huff->marker != MARKER_RST0 + huff->next_restart)
		return -EILSEQ;
	huff->next_restart = (huff->next_restart + 1) & 7;
	huff->restart_left = huff->restart_interval;
	memset(huff->predictor, 0, sizeof(huff->predictor));
	return dlb_huff_segment_open(huff);
}

/* MCUs [@mcu, @end) of the row under way */
static int huff_run(struct dlb_huff *huff, uint32_t mcu, uint32_t end,
		    bool is_stored)
{
	const struct huff_kernels *kernels = huff_kernels();

	while (mcu < end) {
		uint32_t nr = end - mcu;
		int ret;

		if (huff->restart_interval) {
			if (!huff->restart_left && huff_restart(huff))
				return -EILSEQ;
			if (nr > huff->restart_left)
				nr = huff->restart_left;
			huff->restart_left -= nr;
		}
		ret = is_stored ? kernels->store(huff, mcu, mcu + nr) :
				  kernels->drop(huff, mcu, mcu + nr);
		if (ret)
			return ret;
		mcu += nr;
	}
	return 0;
}

static void huff_aim(struct dlb_huff *huff, const struct dlb_coef_row *row)
{
	for (uint32_t i = 0; i < huff->nr_units; i++) {
		struct huff_unit *u = &huff->units[i];

		u->blocks = row->blocks[u->component] +
			    (size_t)u->first * DLB_BLOCK_COEFS;
		u->last = row->last[u->component] + u->first;
	}
}

int dlb_huff_row(struct dlb_huff *huff, const struct dlb_coef_row *row,
		 uint32_t first_mcu, uint32_t end_mcu)
{
	uint32_t cols = huff->mcu_cols;

	if (huff->is_broken || !huff->rows_left)
		return -EILSEQ;
	if (!row)
		first_mcu = end_mcu = cols;
	else
		huff_aim(huff, row);
	if (end_mcu > cols)
		end_mcu = cols;
	if (first_mcu > end_mcu)
		first_mcu = end_mcu;
	huff->rows_left--;
	if (huff_run(huff, 0, first_mcu, false) ||
	    huff_run(huff, first_mcu, end_mcu, true) ||
	    huff_run(huff, end_mcu, cols, false)) {
		huff->is_broken = true;
		return -EILSEQ;
	}
	return 0;
}

int dlb_huff_finish(struct dlb_huff *huff)
{
	if (huff->is_broken || huff->rows_left)
		return -EILSEQ;
	huff->is_broken = true;
	return dlb_huff_segment_close(huff) || huff->marker != MARKER_EOI ?
	       -EILSEQ : 0;
}
