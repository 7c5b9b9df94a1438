/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * libjpeg's memory manager over an arena: no malloc for a picture, and the
 * arena's cap is the memory limit.
 */
#ifndef DLB_IMAGE_JPEG_MEM_H
#define DLB_IMAGE_JPEG_MEM_H

#include <stdio.h>

#include <jpeglib.h>

#include "arena.h"

/* @pub is first: cinfo->mem points at it */
struct dlb_jpeg_mem {
	struct jpeg_memory_mgr pub;
	struct dlb_arena *arena;
	jvirt_sarray_ptr sarrays;
	jvirt_barray_ptr barrays;
};

/*
 * Ready for a picture whose memory is @arena.  What was handed out for the
 * picture before is gone, JPOOL_PERMANENT included.
 */
void dlb_jpeg_mem_init(struct dlb_jpeg_mem *mem, struct dlb_arena *arena);

#endif /* DLB_IMAGE_JPEG_MEM_H */
