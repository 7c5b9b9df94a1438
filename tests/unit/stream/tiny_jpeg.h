/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Small JPEGs made on the spot, for tests and benchmarks that need many files
 * and no test framework.
 */
#ifndef TINY_JPEG_H
#define TINY_JPEG_H

#include <stddef.h>

/* 0, or -1 with errno */
int tiny_file_write(const char *path, const void *data, size_t bytes);
/*
 * Another picture for each @id, 16 + @id % 48 wide and 16 + @id % 31 high; 0, or
 * -1 with errno
 */
int tiny_jpeg_write(const char *path, unsigned int id);

#endif /* TINY_JPEG_H */
