/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Logarithm and exponential of the draws, equal on every machine.  Their steps
 * and constants are part of order version 1 (Documentation/order.rst, "log and
 * exp"): changing one changes crops.
 */
#ifndef DLB_IMAGE_DRAW_H
#define DLB_IMAGE_DRAW_H

/* @x normal and > 0 */
double dlb_draw_log(float x);
/* |@x| < 300 */
double dlb_draw_exp(double x);

#endif /* DLB_IMAGE_DRAW_H */
