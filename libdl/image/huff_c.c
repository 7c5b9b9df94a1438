// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The entropy decoder's loops for any machine; see huff_core.h.
 */
#define HUFF_CORE c
#include "huff_core.h"
