/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * JPEG by libjpeg-turbo's public API: bytes -> rows into a feed.
 */
#ifndef DLB_IMAGE_JPEG_H
#define DLB_IMAGE_JPEG_H

#include <setjmp.h>

#include "feed.h"
#include "jpeg_mem.h"

/* Beside enum dlboost_status: the arena was too small, try a larger one */
#define DLB_STATUS_OVERFLOW ((unsigned int)DLBOOST_NR_STATUS)

/**
 * struct dlb_source - One encoded picture on its way through a decoder
 * @bytes: the whole file
 * @len_bytes: its length
 * @info: its header
 * @limits: limits, defaults filled in
 * @reject_warnings: a warning is CORRUPT
 * @profile: exact or fast
 * @plan: what is wanted of it
 * @feed: where the rows go
 * @arena: memory for everything
 * @result: receives offset, message, warnings, flags
 */
struct dlb_source {
	const uint8_t *bytes;
	size_t len_bytes;
	const struct dlboost_image_info *info;
	const struct dlboost_limits *limits;
	bool reject_warnings;
	uint32_t profile;
	const struct dlb_plan *plan;
	struct dlb_feed *feed;
	struct dlb_arena *arena;
	struct dlboost_result *result;
};

/**
 * enum dlb_jpeg_phase - What the end of the file means just now
 * @DLB_JPEG_HEADER: nothing yet: libjpeg will miss something and say what
 * @DLB_JPEG_SCAN: rows are missing: TRUNCATED
 * @DLB_JPEG_TAIL: all rows are there: a warning
 */
enum dlb_jpeg_phase {
	DLB_JPEG_HEADER,
	DLB_JPEG_SCAN,
	DLB_JPEG_TAIL,
};

/**
 * struct dlb_jpeg - libjpeg's decompressor and what it calls back into
 * @cinfo: lives as long as this object, see jpeg.c
 * @library_mem: the manager libjpeg made for itself
 * @bail: where an error jumps to, valid during dlb_jpeg_decode()
 * @status: why it jumped
 * @source: the picture under way
 * @nr_scan_warnings: warnings met while the pixels were decoded
 */
struct dlb_jpeg {
	struct jpeg_decompress_struct cinfo;
	struct jpeg_error_mgr err;
	struct jpeg_source_mgr src;
	struct jpeg_progress_mgr progress;
	struct dlb_jpeg_mem mem;
	struct jpeg_memory_mgr *library_mem;
	jmp_buf bail;
	unsigned int status;
	enum dlb_jpeg_phase phase;
	const struct dlb_source *source;
	uint32_t nr_scan_warnings;
};

/* 0 or -ENOMEM */
int dlb_jpeg_create(struct dlb_jpeg **out);
void dlb_jpeg_destroy(struct dlb_jpeg *jpeg);

/* jpeg.c, for jpeg_decode.c: ready for a picture; leave it with a status */
void dlb_jpeg_start(struct dlb_jpeg *jpeg, const struct dlb_source *source);
void dlb_jpeg_bail(struct dlb_jpeg *jpeg, unsigned int status)
	__attribute__((noreturn));
int64_t dlb_jpeg_offset(const struct dlb_jpeg *jpeg);

/*
 * Decode what @source->plan needs into @source->feed.  A value of enum
 * dlboost_status or DLB_STATUS_OVERFLOW; @source->result has the rest.
 */
unsigned int dlb_jpeg_decode(struct dlb_jpeg *jpeg,
			     const struct dlb_source *source);

/* "libjpeg-turbo 2.1.5" */
const char *dlb_jpeg_library(void);

#endif /* DLB_IMAGE_JPEG_H */
