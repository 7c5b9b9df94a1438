/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command was asked to look at: data sets and single files in any mix,
 * as one numbered list of pictures.
 */
#ifndef DLBOOST_TOOL_SOURCE_H
#define DLBOOST_TOOL_SOURCE_H

#include "tool.h"

struct source_part {
	const char *path;
	struct dlboost_dataset *dataset;	/* NULL: the file @path */
	uint64_t first_idx;
	uint64_t nr_items;
	bool has_places;	/* a file may hold several samples */
};

/*
 * Classes that are listed one by one.  The number of classes is the largest
 * label plus 1: one line of a manifest can make it two thousand million.
 */
#define SOURCE_MAX_CLASSES (1u << 17)

struct source {
	struct source_part *parts;
	unsigned int nr_parts;
	uint64_t nr_items;
};

/* How to open the data sets: NULL members and false for the defaults */
struct source_options {
	const char *index_path;
	bool allow_empty;
	bool rebuild;
	bool no_progress;
};

/* Open one data set with progress and messages; an exit code */
int dataset_open(const struct context *ctx, const char *path,
		 const struct source_options *options,
		 struct dlboost_dataset **out);
/* An exit code; messages are printed */
int source_open(const struct context *ctx, unsigned int nr_paths, char **paths,
		const struct source_options *options, struct source *out);
void source_close(struct source *source);
/* Where item @idx stands; 0 or a negative error number.  Any thread. */
bool source_has_places(const struct source *source, uint64_t idx);
/*
 * Its bytes into @buffer, as a stream would read them; a status, and @result
 * filled in unless it is OK.  With status IO, errno tells the cause.  Any thread
 * that owns @buffer.
 */
unsigned int source_load(const struct source *source, uint64_t idx,
			 struct file_buffer *buffer,
			 struct dlboost_result *result);
int source_locate(const struct source *source, uint64_t idx,
		  char buf[TOOL_PATH_BYTES], struct dlboost_sample *out);

#endif /* DLBOOST_TOOL_SOURCE_H */
