/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The two halves of a comparison: a file's coefficients and pixels as libjpeg
 * gives them, and the pixels that the reconstruction makes of those
 * coefficients.
 */
#ifndef RECON_UTIL_H
#define RECON_UTIL_H

#include <image/recon.h>

/**
 * struct reference - A JPEG by libjpeg
 * @frame: its header
 * @blocks: coefficients, MCU row by MCU row, each as struct dlb_coef_row
 * @last: likewise
 * @rgbx: all pixels
 */
struct reference {
	struct dlb_frame frame;
	int16_t *blocks[3];
	uint8_t *last[3];
	uint8_t *rgbx;
};

/*
 * False: libjpeg refuses the file or warns of it; the file has neither 1 nor 3
 * components, or not all coefficients (block smoothing would touch the pixels),
 * or is too large for a test
 */
bool reference_read(struct reference *ref, const uint8_t *bytes, size_t len);
void reference_free(struct reference *ref);

/*
 * Reconstruct @rect to @out, rows of @rect's width without gaps; coefficients
 * outside the blocks asked for are poisoned.  dlb_recon_begin() or _push()'s
 * error, or -EPROTO when not all rows came.
 */
int recon_rect(const struct reference *ref, const struct dlb_extent *rect,
	       struct dlb_arena *arena, uint8_t *out);

#endif /* RECON_UTIL_H */
