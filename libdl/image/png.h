/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * PNG by libspng: bytes -> rows into a feed.  No state between pictures.
 */
#ifndef DLB_IMAGE_PNG_H
#define DLB_IMAGE_PNG_H

#include "jpeg.h"

/* As dlb_jpeg_decode() */
unsigned int dlb_png_decode(const struct dlb_source *source);

#endif /* DLB_IMAGE_PNG_H */
