// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The entropy decoder's loops for AVX2 and BMI2 (shifts that leave their count
 * and the flags alone); see huff_core.h.
 */
#define HUFF_CORE bmi2
#include "huff_core.h"
