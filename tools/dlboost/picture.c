// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Headers of pictures: reading as little as needed, and words for what is in
 * them.  No state; any thread.
 */
#include "picture.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_BYTES ((size_t)64 << 10)
/* The frame header may lie behind long previews and profiles, not behind more */
#define MAX_HEAD_BYTES ((size_t)64 << 20)

static unsigned int factor_h(const struct dlboost_image_info *info, int c)
{
	return info->sampling[c] >> 4;
}

static unsigned int factor_v(const struct dlboost_image_info *info, int c)
{
	return info->sampling[c] & 15;
}

/* "4:a:b" for a luma of @h x @v over chroma of 1 x 1, NULL if it has no name */
static const char *common_name(unsigned int h, unsigned int v)
{
	static const struct {
		unsigned int h, v;
		const char *name;
	} names[] = {
		{ 1, 1, "4:4:4" }, { 2, 1, "4:2:2" }, { 2, 2, "4:2:0" },
		{ 1, 2, "4:4:0" }, { 4, 1, "4:1:1" }, { 4, 2, "4:1:0" },
		{ 1, 4, "4:4:1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].h == h && names[i].v == v)
			return names[i].name;
	return NULL;
}

char *picture_sampling(const struct dlboost_image_info *info,
		       char buf[PICTURE_NAME_BYTES])
{
	const char *name = NULL;
	unsigned int h, v;
	size_t len = 0;

	if (info->components == 1) {
		snprintf(buf, PICTURE_NAME_BYTES, "grey");
		return buf;
	}
	h = factor_h(info, 1);
	v = factor_v(info, 1);
	if (info->components == 3 && h && v &&
	    info->sampling[1] == info->sampling[2] &&
	    factor_h(info, 0) % h == 0 && factor_v(info, 0) % v == 0)
		name = common_name(factor_h(info, 0) / h,
				   factor_v(info, 0) / v);
	if (name) {
		snprintf(buf, PICTURE_NAME_BYTES, "%s", name);
		return buf;
	}
	buf[0] = '\0';
	for (int c = 0; c < (int)info->components && c < 4; c++)
		len += (size_t)snprintf(buf + len, PICTURE_NAME_BYTES - len,
					"%s%ux%u", c ? "," : "",
					factor_h(info, c), factor_v(info, c));
	return buf;
}

const char *picture_process(const struct dlboost_image_info *info)
{
	switch (info->sof) {
	case 0xc0:
		return "baseline";
	case 0xc1:
		return "extended";
	case 0xc2:
		return "progressive";
	case 0xc3:
	case 0xcb:
		return "lossless";
	case 0xc9:
		return "arithmetic";
	case 0xca:
		return "arithmetic progressive";
	case 0xc5: case 0xc6: case 0xc7: case 0xcd: case 0xce: case 0xcf:
		return "hierarchical";
	default:
		return "unknown";
	}
}

const char *picture_colour(const struct dlboost_image_info *info)
{
	bool is_png = info->type == DLBOOST_IMAGE_PNG;

	switch (info->components) {
	case 1:
		return is_png ? "grey or palette" : "grey";
	case 2:
		return is_png ? "grey + alpha" : "2 components";
	case 3:
		return is_png || info->is_rgb ? "RGB" : "YCbCr";
	case 4:
		if (is_png)
			return "RGBA";
		return info->adobe_transform == 2 ? "YCCK" : "CMYK";
	default:
		return "unknown";
	}
}

char *picture_trouble(const char *path, const struct dlboost_result *result)
{
	const char *status = dlboost_status_name(result->status);
	const char *warned = !result->status &&
			     result->flags & DLBOOST_SAMPLE_F_WARNED ?
			     ", with a warning" : "";
	const char *separator = result->message[0] ? ": " : "";
	char *line = NULL;
	int n;

	if (result->offset_bytes >= 0)
		n = asprintf(&line, "%s: %s%s at byte %lld%s%s", path, status,
			     warned, (long long)result->offset_bytes,
			     separator, result->message);
	else
		n = asprintf(&line, "%s: %s%s%s%s", path, status, warned,
			     separator, result->message);
	return n < 0 ? NULL : line;
}

unsigned int picture_read_failed(int error, struct dlboost_result *result)
{
	memset(result, 0, sizeof(*result));
	result->status = DLBOOST_STATUS_IO;
	result->offset_bytes = -1;
	snprintf(result->message, sizeof(result->message), "cannot be read: %s",
		 error == -ENOTSUP ? "a pipe, socket or device, where a file "
		 "should be" : strerror(-error));
	return DLBOOST_STATUS_IO;
}

static uint64_t size_of(const struct dlboost_sample *sample, size_t read_bytes)
{
	struct stat st;

	if (sample->len_bytes >= 0)
		return (uint64_t)sample->len_bytes;
	if (!stat(sample->path, &st) && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size >= sample->offset_bytes)
		return (uint64_t)st.st_size - sample->offset_bytes;
	return read_bytes;
}

unsigned int picture_probe(struct file_buffer *buffer,
			   const struct dlboost_sample *sample,
			   struct dlboost_image_info *info, uint64_t *nr_bytes,
			   struct dlboost_result *result)
{
	/* Standard input can be read once only */
	size_t max_bytes = strcmp(sample->path, "-") ? HEAD_BYTES :
							MAX_HEAD_BYTES;
	unsigned int status;
	int ret;

	memset(info, 0, sizeof(*info));
	*nr_bytes = 0;
	for (;;) {
		ret = file_buffer_read_regular(buffer, sample->path,
					       sample->offset_bytes,
					       sample->len_bytes, max_bytes);
		if (ret)
			return picture_read_failed(ret, result);
		status = dlboost_probe(buffer->bytes, buffer->len_bytes, NULL,
				       info, result);
		if (!status || buffer->len_bytes < max_bytes ||
		    max_bytes == MAX_HEAD_BYTES)
			break;
		max_bytes = MAX_HEAD_BYTES;
	}
	*nr_bytes = size_of(sample, buffer->len_bytes);
	return status;
}
