/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for what dlboost_probe() found. */
#ifndef DLBOOST_TOOL_PICTURE_H
#define DLBOOST_TOOL_PICTURE_H

#include "tool.h"

#define PICTURE_NAME_BYTES 48

/* "4:2:0", "grey", or the factors "2x2,1x2,1x2" */
char *picture_sampling(const struct dlboost_image_info *info,
		       char buf[PICTURE_NAME_BYTES]);
/* "baseline", "progressive", "arithmetic progressive", "lossless", ... */
const char *picture_process(const struct dlboost_image_info *info);
/* "YCbCr", "RGB", "grey", "CMYK", "YCCK", "grey + alpha", "RGBA" */
const char *picture_colour(const struct dlboost_image_info *info);

/*
 * Header of a picture in a file: reads its head, and all of it only when the
 * frame header lies further back.  Returns the status; a file that cannot be
 * read is %DLBOOST_STATUS_IO with a sentence.
 */
unsigned int picture_probe(struct file_buffer *buffer,
			   const struct dlboost_sample *sample,
			   struct dlboost_image_info *info, uint64_t *nr_bytes,
			   struct dlboost_result *result);
/* As dlboost_result of a file that cannot be read */
/* "PATH: STATUS at byte N: message", as everywhere; malloc'ed, or NULL */
char *picture_trouble(const char *path, const struct dlboost_result *result);
unsigned int picture_read_failed(int error, struct dlboost_result *result);

#endif /* DLBOOST_TOOL_PICTURE_H */
