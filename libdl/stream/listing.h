/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Listings: a folder or a manifest read from front to back into an index
 * writer.  Each reader owns one file of that name.
 */
#ifndef DLB_STREAM_LISTING_H
#define DLB_STREAM_LISTING_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "stream/index.h"

/**
 * struct dlb_listing - A listing being read
 * @path: the data set as the user named it, for sentences
 * @writer: receives the samples
 * @error: receives one sentence on failure, may be NULL
 * @error_bytes: size of @error
 * @progress: see struct dlboost_dataset_attr
 * @progress_arg: its first argument
 */
struct dlb_listing {
	const char *path;
	struct dlb_index_writer *writer;
	char *error;
	size_t error_bytes;
	int (*progress)(void *arg, uint64_t nr_samples);
	void *progress_arg;
};

/*
 * Read everything below @dir_fd, which is taken.  0, -ENODATA (no picture),
 * -ELOOP, -ENAMETOOLONG, -ECANCELED, -ENOMEM, or as the operating system
 * reported it; @listing->error names the file.  A negative return without a
 * sentence is the writer's.
 */
int dlb_folder_read(struct dlb_listing *listing, int dir_fd);
/* Does the name end like that of a picture? */
bool dlb_folder_is_picture(const char *name, size_t name_bytes);

/* The same for a manifest, whose @fd is not taken; -EINVAL: malformed */
int dlb_manifest_read(struct dlb_listing *listing, int fd);

/* Calls the user back; 0 or -ECANCELED */
static inline int dlb_listing_progress(const struct dlb_listing *listing)
{
	uint64_t nr = dlb_index_writer_nr_samples(listing->writer);

	if (listing->progress && listing->progress(listing->progress_arg, nr))
		return -ECANCELED;
	return 0;
}

/* Samples between two calls of progress */
#define DLB_LISTING_STEP 1024

#endif /* DLB_STREAM_LISTING_H */
