/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Data sets: which sample is number 7, and what is its label.
 * Documentation/datasets.rst fixes order, labels and fingerprint.
 */
#ifndef DLBOOST_DATASET_H
#define DLBOOST_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include <dlboost/image.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLBOOST_ERROR_BYTES 512
#define DLBOOST_FINGERPRINT_BYTES 33

/** struct dlboost_dataset - An opened data set; opaque, immutable */
struct dlboost_dataset;

/**
 * enum dlboost_dataset_kind - Where the samples of a data set stand
 * @DLBOOST_DATASET_FOLDER: files below a folder, one folder a class
 * @DLBOOST_DATASET_MANIFEST: lines of a text file that name path and label
 *
 * Since: 0.1
 */
enum dlboost_dataset_kind {
	DLBOOST_DATASET_FOLDER = 0,
	DLBOOST_DATASET_MANIFEST = 1,
};

/**
 * struct dlboost_dataset_attr - How to open a data set
 * @size: sizeof(struct dlboost_dataset_attr)
 * @index_path: index file to use or to write; NULL: in the user's cache folder
 *	($XDG_CACHE_HOME/dlboost), or in memory when that cannot be written
 * @allow_empty: 1 lets class folders without a picture pass
 * @rebuild: 1 makes the index anew even if it looks current
 * @progress: called now and then while the folder is read, may be NULL; a
 *	return other than 0 ends the opening with -ECANCELED
 * @progress_arg: first argument of @progress
 *
 * Since: 0.1
 */
struct dlboost_dataset_attr {
	size_t size;
	const char *index_path;
	uint32_t allow_empty;
	uint32_t rebuild;
	int (*progress)(void *arg, uint64_t nr_samples);
	void *progress_arg;
};

#define DLBOOST_DATASET_ATTR_INIT \
	{ .size = sizeof(struct dlboost_dataset_attr) }

/**
 * struct dlboost_dataset_info - What a data set is
 * @kind: a value of enum dlboost_dataset_kind
 * @nr_classes: classes; 0 when there are no labels
 * @nr_samples: samples
 * @nr_skipped: files of a folder that are no samples, by name, kind or place
 * @total_bytes: bytes of all samples; of a manifest, 0 unless it states them
 * @index_bytes: size of the index
 * @index_rebuilt: 1 when this opening made the index
 * @index_in_memory: 1 when no folder for the index could be written
 * @fingerprint: hash over (path, label, size) of every sample, hexadecimal
 *
 * Since: 0.1
 */
struct dlboost_dataset_info {
	uint32_t kind;
	uint32_t nr_classes;
	uint64_t nr_samples;
	uint64_t nr_skipped;
	uint64_t total_bytes;
	uint64_t index_bytes;
	uint32_t index_rebuilt;
	uint32_t index_in_memory;
	char fingerprint[DLBOOST_FINGERPRINT_BYTES];
};

/**
 * struct dlboost_sample - One sample of a data set
 * @path: path of its file as one would open it; any bytes but NUL; in the
 *	buffer given
 * @label: label, -1 for none
 * @reserved: 0
 * @offset_bytes: first byte inside the file
 * @len_bytes: length, or -1 for "to the end of the file"
 *
 * Since: 0.1
 */
struct dlboost_sample {
	const char *path;
	int32_t label;
	uint32_t reserved;
	uint64_t offset_bytes;
	int64_t len_bytes;
};

/**
 * dlboost_dataset_open() - Open a folder of pictures or a manifest
 * @path: a folder, or a manifest file
 * @attr: options, or NULL for the defaults
 * @error: receives one sentence on failure; may be NULL
 * @error_bytes: size of @error
 * @out: receives the data set; drop with dlboost_dataset_close()
 *
 * Since: 0.1
 *
 * Context: Any thread.  The data set may be shared by threads.
 *
 * Return:
 * * %0		- success
 * * %-ENOENT	- no such file or folder
 * * %-ENODATA	- no picture in it, or an empty class folder
 * * %-EINVAL	- malformed manifest (line named) or attribute
 * * %-ENAMETOOLONG - a path of 4096 bytes or more
 * * %-EEXIST	- index_path names a file that is no index
 * * %-EAGAIN	- the manifest was written to while it was read
 * * %-ELOOP	- links in a circle
 * * %-ENOSPC	- no room for the index file
 * * %-ECANCELED - @progress asked for it
 * * %-ENOMEM	- out of memory
 * * others	- as the operating system reported them
 */
int dlboost_dataset_open(const char *path,
			 const struct dlboost_dataset_attr *attr, char *error,
			 size_t error_bytes, struct dlboost_dataset **out);

/**
 * dlboost_dataset_close() - Drop a data set
 * @dataset: the data set, or NULL
 *
 * Streams made from it keep what they need.
 *
 * Since: 0.1
 */
void dlboost_dataset_close(struct dlboost_dataset *dataset);

/**
 * dlboost_dataset_info() - What the data set is
 * @dataset: the data set
 * @out: receives it
 *
 * Since: 0.1
 */
void dlboost_dataset_info(const struct dlboost_dataset *dataset,
			  struct dlboost_dataset_info *out);

/**
 * dlboost_dataset_class_name() - Name of a class
 * @dataset: the data set
 * @label: 0 .. nr_classes - 1
 *
 * Since: 0.1
 *
 * Return: text owned by the data set, or NULL.
 */
const char *dlboost_dataset_class_name(const struct dlboost_dataset *dataset,
				       uint32_t label);

/**
 * dlboost_dataset_sample() - Where one sample stands
 * @dataset: the data set
 * @sample_id: 0 .. nr_samples - 1
 * @buf: room for the path
 * @buf_bytes: size of @buf; 4096 + 256 is always enough
 * @out: receives the sample
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return:
 * * %0		- success
 * * %-ERANGE	- no such sample
 * * %-ENOSPC	- @buf too small
 * * %-EIO	- the index could not be read
 */
int dlboost_dataset_sample(const struct dlboost_dataset *dataset,
			   uint64_t sample_id, char *buf, size_t buf_bytes,
			   struct dlboost_sample *out);

/**
 * dlboost_dataset_read() - Read the encoded bytes of one sample
 * @dataset: the data set
 * @sample_id: 0 .. nr_samples - 1
 * @buf: where they go; NULL to learn the size
 * @buf_bytes: room at @buf
 * @len_bytes: receives the length of the sample
 * @result: receives IO status and message; may be NULL
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return:
 * * %0		- success
 * * %-ENOSPC	- @buf_bytes too small, @len_bytes says how much is needed
 * * %-ERANGE	- no such sample
 * * %-ESTALE	- the file changed since the index was made
 * * others	- as the operating system reported them
 */
int dlboost_dataset_read(const struct dlboost_dataset *dataset,
			 uint64_t sample_id, void *buf, size_t buf_bytes,
			 size_t *len_bytes, struct dlboost_result *result);

#ifdef __cplusplus
}
#endif
#endif /* DLBOOST_DATASET_H */
