// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * See tiny_jpeg.h.  Uses libjpeg alone, nothing of dlboost.
 */
#include "tiny_jpeg.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jpeglib.h>

int tiny_file_write(const char *path, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, data, bytes);
	if (close(fd) || n != (ssize_t)bytes)
		return -1;
	return 0;
}

int tiny_jpeg_write(const char *path, unsigned int id)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr err;
	unsigned char *out = NULL, row[64 * 3];
	unsigned long out_bytes = 0;
	JSAMPROW rows[1] = { row };
	int ret;

	c.err = jpeg_std_error(&err);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &out, &out_bytes);
	c.image_width = 16 + id % 48;
	c.image_height = 16 + id % 31;
	c.input_components = 3;
	c.in_color_space = JCS_RGB;
	jpeg_set_defaults(&c);
	jpeg_start_compress(&c, TRUE);
	while (c.next_scanline < c.image_height) {
		for (unsigned int x = 0; x < c.image_width; x++) {
			row[3 * x] = (unsigned char)(id * 37 + x);
			row[3 * x + 1] = (unsigned char)(id >> 3);
			row[3 * x + 2] =
				(unsigned char)(id * 11 + c.next_scanline);
		}
		jpeg_write_scanlines(&c, rows, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	ret = tiny_file_write(path, out, out_bytes);
	free(out);
	return ret;
}
