// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Batches as files: images, labels, ids and status of each as .npy, and
 * manifest.jsonl, one line a batch with the paths of its samples.  The
 * manifest gets its name when the run is over and every batch in it is whole.
 */
#include "run.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "npy.h"
#include "source.h"

static int out_failed(const char *path, int error)
{
	msg_error("%s: %s", path, strerror(error < 0 ? -error : error));
	return exit_from_error(error);
}

static struct json_object *manifest_header(const struct run *run)
{
	const struct dlboost_tensor_spec *t = &run->info.tensor;
	struct json_object *doc = json_document("dlboost-batches");
	struct json_object *classes = json_object_new_array();
	struct json_object *shape = json_object_new_array();
	uint32_t nr_classes = run->info.dataset.nr_classes;
	bool is_chw = t->layout == DLBOOST_LAYOUT_CHW;

	json_add_text(doc, "path", run->path);
	json_add_text(doc, "recipe", dlboost_recipe_canonical(run->recipe));
	json_add_text(doc, "profile", run->opts->profile ? "fast" : "exact");
	json_add_text(doc, "dtype", dtype_name(t->dtype));
	json_add_text(doc, "layout", is_chw ? "chw" : "hwc");
	json_object_array_add(shape, json_object_new_uint64(is_chw ? 3 :
							    t->height));
	json_object_array_add(shape, json_object_new_uint64(is_chw ?
							    t->height :
							    t->width));
	json_object_array_add(shape, json_object_new_uint64(is_chw ?
							    t->width : 3));
	json_add(doc, "sample_shape", shape);
	json_add_u64(doc, "nr_classes", nr_classes);
	for (uint32_t i = 0; i < nr_classes && nr_classes <= SOURCE_MAX_CLASSES;
	     i++)
		json_object_array_add(classes, json_text(
			dlboost_dataset_class_name(run->dataset, i)));
	json_add(doc, "classes", classes);
	return doc;
}

int run_out_open(struct run *run)
{
	struct run_out *out = &run->out;

	if (!run->opts->out)
		return TOOL_DONE;
	out->folder = run->opts->out;
	if (mkdir(out->folder, 0777) && errno != EEXIST)
		return out_failed(out->folder, errno);
	if (asprintf(&out->manifest_path, "%s/manifest.jsonl",
		     out->folder) < 0 ||
	    asprintf(&out->manifest_temporary, "%s.part",
		     out->manifest_path) < 0)
		return out_failed(out->folder, ENOMEM);
	/* A resumed run counts its batches from 0 again: never into the same */
	if (!access(out->manifest_path, F_OK)) {
		msg_error("%s: has batches of another run in it; name a new "
			  "folder", out->folder);
		return TOOL_FAILED;
	}
	out->manifest = fopen(out->manifest_temporary, "we");
	if (!out->manifest)
		return out_failed(out->manifest_temporary, errno);
	json_print_line(out->manifest, manifest_header(run));
	return TOOL_DONE;
}

/* One array of a batch; adds its file name to @line */
static int write_array(struct run *run, struct json_object *line,
		       const struct dlboost_batch_info *info, const char *what,
		       struct npy_array *array)
{
	char name[96];
	char *path = NULL;
	int ret;

	array->shape[0] = info->count;
	snprintf(name, sizeof(name), "epoch-%04u-batch-%06llu-%s.npy",
		 info->epoch, (unsigned long long)info->batch_idx, what);
	json_add_text(line, what, name);
	if (asprintf(&path, "%s/%s", run->out.folder, name) < 0)
		return out_failed(run->out.folder, ENOMEM);
	ret = npy_write(path, array);
	if (ret)
		ret = out_failed(path, ret);
	free(path);
	return ret;
}

static int write_images(struct run *run, struct json_object *line,
			const struct dlboost_batch_info *info)
{
	const struct dlboost_tensor_spec *t = &run->info.tensor;
	bool is_chw = t->layout == DLBOOST_LAYOUT_CHW;
	struct npy_array array = {
		.descr = npy_descr(t->dtype), .nr_axes = 4,
		.shape = { 0, is_chw ? 3 : t->height,
			   is_chw ? t->height : t->width,
			   is_chw ? t->width : 3 },
		.data = info->images,
		.nr_bytes = info->count * t->sample_bytes,
	};

	return write_array(run, line, info, "images", &array);
}

static int write_numbers(struct run *run, struct json_object *line,
			 const struct dlboost_batch_info *info,
			 const char *what, const int64_t *numbers)
{
	struct npy_array array = {
		.descr = BYTE_ORDER == LITTLE_ENDIAN ? "<i8" : ">i8",
		.nr_axes = 1, .data = numbers,
		.nr_bytes = info->count * sizeof(*numbers),
	};

	return write_array(run, line, info, what, &array);
}

static void add_paths(const struct run *run, struct json_object *line,
		      const struct dlboost_batch_info *info)
{
	struct json_object *list = json_object_new_array();
	struct dlboost_sample sample;
	char path[TOOL_PATH_BYTES];

	for (uint32_t i = 0; i < info->count; i++) {
		int ret = dlboost_dataset_sample(run->dataset,
						 (uint64_t)info->ids[i], path,
						 sizeof(path), &sample);

		json_object_array_add(list, json_text(ret ? NULL :
						      sample.path));
	}
	json_add(line, "paths", list);
}

int run_out_batch(struct run *run, const struct dlboost_batch_info *info)
{
	struct npy_array status = { .descr = "|u1", .nr_axes = 1,
				    .data = info->status,
				    .nr_bytes = info->count };
	struct json_object *line;
	int ret;

	if (!run->out.manifest)
		return TOOL_DONE;
	line = json_object_new_object();
	json_add_u64(line, "epoch", info->epoch);
	json_add_u64(line, "batch_idx", info->batch_idx);
	json_add_u64(line, "nr_samples", info->count);
	ret = write_images(run, line, info) ?:
	      write_numbers(run, line, info, "labels", info->labels) ?:
	      write_numbers(run, line, info, "ids", info->ids) ?:
	      write_array(run, line, info, "status", &status);
	add_paths(run, line, info);
	json_print_line(run->out.manifest, line);
	return ret;
}

int run_out_close(struct run *run)
{
	struct run_out *out = &run->out;
	int ret = TOOL_DONE, error = 0;

	if (out->manifest) {
		errno = 0;
		if (fflush(out->manifest) || ferror(out->manifest))
			error = errno ? errno : EIO;
		if (fclose(out->manifest) && !error)
			error = errno;
		if (!error && run->end != RUN_FAILED &&
		    rename(out->manifest_temporary, out->manifest_path))
			error = errno;
		if (error)
			ret = out_failed(out->manifest_path, error);
	}
	free(out->manifest_path);
	free(out->manifest_temporary);
	memset(out, 0, sizeof(*out));
	return ret;
}
