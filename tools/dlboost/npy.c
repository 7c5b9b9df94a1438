// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * .npy files: a ten-byte preamble, a Python literal padded so that the data
 * begin at a multiple of 64, the data.  Format: NumPy's NEP 1.
 */
#include "npy.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

const char *npy_descr(uint32_t dtype)
{
	switch (dtype) {
	case DLBOOST_DTYPE_F32:
		return "<f4";
	case DLBOOST_DTYPE_F16:
		return "<f2";
	case DLBOOST_DTYPE_BF16:
		return "<u2";
	default:
		return "|u1";
	}
}

const char *dtype_name(uint32_t dtype)
{
	static const char *const names[] = { "u8", "f16", "bf16", "f32" };

	return dtype < ARRAY_SIZE(names) ? names[dtype] : "?";
}

/* Returns the length of the header */
static size_t format_header(const struct npy_array *array, char *buf,
			    size_t bytes)
{
	size_t len = 10, padded;
	uint16_t rest;

	len += (size_t)snprintf(buf + len, bytes - len,
				"{'descr': '%s', 'fortran_order': False, 'shape': (",
				array->descr);
	for (unsigned int i = 0; i < array->nr_axes; i++)
		len += (size_t)snprintf(buf + len, bytes - len, "%llu, ",
					(unsigned long long)array->shape[i]);
	/* (3, 4, ) is no worse a tuple than (3, 4), and (3, ) needs its comma */
	len += (size_t)snprintf(buf + len, bytes - len, "), }");
	padded = (len + 1 + 63) / 64 * 64;
	memset(buf + len, ' ', padded - len);
	buf[padded - 1] = '\n';
	memcpy(buf, "\x93NUMPY\x01\x00", 8);
	rest = htole16((uint16_t)(padded - 10));
	memcpy(buf + 8, &rest, sizeof(rest));
	return padded;
}

int npy_write(const char *path, const struct npy_array *array)
{
	char header[512];
	size_t len = format_header(array, header, sizeof(header));

	return file_write_parts(path, (struct file_part[]){
			{ header, len }, { array->data, array->nr_bytes } }, 2);
}
