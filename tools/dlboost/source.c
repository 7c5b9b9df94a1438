// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the paths on a command line to a numbered list of pictures.  A folder
 * or a manifest is a data set; a file that is a picture by its name or by its
 * first bytes is itself.  Immutable once opened, so threads may share it.
 */
#include "source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "options.h"
#include "picture.h"
#include "progress.h"

static bool is_picture_bytes(const char *path)
{
	struct file_buffer head = { 0 };
	struct dlboost_image_info info = { 0 };
	bool is_picture = false;

	if (!file_buffer_read(&head, path, 0, -1, 64) && head.len_bytes) {
		dlboost_probe(head.bytes, head.len_bytes, NULL, &info, NULL);
		is_picture = info.type == DLBOOST_IMAGE_JPEG ||
			     info.type == DLBOOST_IMAGE_PNG;
	}
	free(head.bytes);
	return is_picture;
}

/* Names decide before contents, so that a text named x.jpg is a bad picture */
static bool is_single_file(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return true;
	if (stat(path, &st))
		return file_is_picture_name(path) && !lstat(path, &st);
	return S_ISREG(st.st_mode) &&
	       (file_is_picture_name(path) || is_picture_bytes(path));
}

static int indexing_tick(void *arg, uint64_t nr_samples)
{
	progress_update(&(struct progress_state){ .done = nr_samples });
	return signals_caught();
}

int dataset_open(const struct context *ctx, const char *path,
		 const struct source_options *options,
		 struct dlboost_dataset **out)
{
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	char error[DLBOOST_ERROR_BYTES] = "";
	int ret;

	if (is_single_file(path) && !access(path, F_OK))
		return usage_error(ctx, "%s is a picture, not a folder or a "
				   "manifest; dlboost decode takes pictures",
				   path);
	attr.index_path = options->index_path;
	attr.allow_empty = options->allow_empty;
	attr.rebuild = options->rebuild;
	attr.progress = indexing_tick;
	progress_start(ctx, "files found", !options->no_progress);
	ret = dlboost_dataset_open(path, &attr, error, sizeof(error), out);
	progress_stop();
	if (!ret)
		return TOOL_DONE;
	if (ret != -ECANCELED || !signals_caught())
		msg_error("%s", error[0] ? error : strerror(-ret));
	return exit_from_error(ret);
}

static int part_open(const struct context *ctx, const char *path,
		     const struct source_options *options,
		     struct source_part *part)
{
	struct dlboost_dataset_info info;
	int ret;

	part->path = path;
	part->nr_items = 1;
	if (is_single_file(path))
		return TOOL_DONE;
	ret = dataset_open(ctx, path, options, &part->dataset);
	if (ret)
		return ret;
	dlboost_dataset_info(part->dataset, &info);
	part->nr_items = info.nr_samples;
	part->has_places = info.kind == DLBOOST_DATASET_MANIFEST;
	return TOOL_DONE;
}

int source_open(const struct context *ctx, unsigned int nr_paths, char **paths,
		const struct source_options *options, struct source *out)
{
	int ret = TOOL_DONE;

	memset(out, 0, sizeof(*out));
	out->parts = calloc(nr_paths, sizeof(*out->parts));
	if (!out->parts) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	while (!ret && out->nr_parts < nr_paths) {
		struct source_part *part = &out->parts[out->nr_parts];

		part->first_idx = out->nr_items;
		ret = part_open(ctx, paths[out->nr_parts], options, part);
		if (ret)
			break;
		out->nr_items += part->nr_items;
		out->nr_parts++;
	}
	if (ret)
		source_close(out);
	return ret;
}

void source_close(struct source *source)
{
	for (unsigned int i = 0; i < source->nr_parts; i++)
		dlboost_dataset_close(source->parts[i].dataset);
	free(source->parts);
	memset(source, 0, sizeof(*source));
}

static const struct source_part *part_of(const struct source *source,
					 uint64_t idx)
{
	unsigned int low = 0, high = source->nr_parts;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (source->parts[middle].first_idx <= idx)
			low = middle;
		else
			high = middle;
	}
	return &source->parts[low];
}

bool source_has_places(const struct source *source, uint64_t idx)
{
	return part_of(source, idx)->has_places;
}

int source_locate(const struct source *source, uint64_t idx,
		  char buf[TOOL_PATH_BYTES], struct dlboost_sample *out)
{
	const struct source_part *part = part_of(source, idx);

	if (part->dataset) {
		int ret = dlboost_dataset_sample(part->dataset,
						 idx - part->first_idx, buf,
						 TOOL_PATH_BYTES, out);

		/* A file of that name beside a manifest: no standard input */
		if (!ret && !strcmp(out->path, "-"))
			out->path = "./-";
		return ret;
	}
	if (snprintf(buf, TOOL_PATH_BYTES, "%s", part->path) >=
	    TOOL_PATH_BYTES)
		return -ENAMETOOLONG;
	*out = (struct dlboost_sample){ .path = buf, .label = -1,
					.len_bytes = -1 };
	return 0;
}

/* As libdlboost: no picture is larger */
#define MAX_FILE_BYTES ((size_t)1 << 30)
#define FIRST_BYTES ((size_t)256 << 10)

static unsigned int refuse_large(size_t nr_bytes, struct dlboost_result *result)
{
	picture_read_failed(-EFBIG, result);
	result->status = DLBOOST_STATUS_TOO_LARGE;
	snprintf(result->message, sizeof(result->message),
		 "%zu bytes are more than the limit for a file", nr_bytes);
	return result->status;
}

static unsigned int load_sample(const struct dlboost_dataset *dataset,
				uint64_t sample_id, struct file_buffer *buffer,
				struct dlboost_result *result)
{
	int ret = file_buffer_grow(buffer, FIRST_BYTES);

	if (ret)
		return picture_read_failed(ret, result);
	ret = dlboost_dataset_read(dataset, sample_id, buffer->bytes,
				   buffer->cap_bytes, &buffer->len_bytes,
				   result);
	errno = -ret;
	if (ret != -ENOSPC)
		return result->status;
	if (buffer->len_bytes > MAX_FILE_BYTES)
		return refuse_large(buffer->len_bytes, result);
	ret = file_buffer_grow(buffer, buffer->len_bytes);
	if (ret)
		return picture_read_failed(ret, result);
	ret = dlboost_dataset_read(dataset, sample_id, buffer->bytes,
				   buffer->cap_bytes, &buffer->len_bytes,
				   result);
	errno = -ret;
	return result->status;
}

unsigned int source_load(const struct source *source, uint64_t idx,
			 struct file_buffer *buffer,
			 struct dlboost_result *result)
{
	const struct source_part *part = part_of(source, idx);
	int ret;

	buffer->len_bytes = 0;
	if (part->dataset)
		return load_sample(part->dataset, idx - part->first_idx,
				   buffer, result);
	ret = file_buffer_read(buffer, part->path, 0, -1, MAX_FILE_BYTES + 1);
	errno = -ret;
	if (ret)
		return picture_read_failed(ret, result);
	if (buffer->len_bytes > MAX_FILE_BYTES)
		return refuse_large(buffer->len_bytes, result);
	memset(result, 0, sizeof(*result));
	return DLBOOST_STATUS_OK;
}
