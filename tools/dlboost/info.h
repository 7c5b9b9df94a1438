/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "dlboost info" collects, and its three ways of showing it. */
#ifndef DLBOOST_TOOL_INFO_H
#define DLBOOST_TOOL_INFO_H

#include "histogram.h"
#include "source.h"

#define INFO_EXAMPLES 3
#define INFO_MAX_NAMES 64

/* Words and how often each was met, in order of first meeting */
struct tally {
	struct {
		char name[48];
		uint64_t nr;
	} rows[INFO_MAX_NAMES];
	unsigned int nr_rows;
};

/* One kind of file worth a look */
struct odd_kind {
	const char *name;	/* key in JSON */
	const char *title;	/* in the text */
	uint64_t nr;
	char *examples[INFO_EXAMPLES];
};

enum odd_index {
	ODD_BAD_HEADER,
	ODD_WRONG_NAME,
	ODD_FOUR_COLOURS,
	ODD_TINY,
	ODD_HUGE,
	ODD_NARROW,
	NR_ODD,
};

struct info {
	const char *path;
	struct source source;
	struct dlboost_dataset_info dataset;	/* zero for single files */
	uint64_t nr_done;
	uint64_t nr_bytes;
	uint64_t nr_exif_turned;
	uint64_t nr_restart;
	uint64_t nr_icc;
	uint64_t nr_interlaced;
	struct tally types;
	struct tally processes;
	struct tally samplings;
	struct tally colours;
	struct tally statuses;
	uint64_t orientations[9];
	struct odd_kind odd[NR_ODD];
	struct histogram width;
	struct histogram height;
	struct histogram aspect;
	struct histogram file_bytes;
	struct histogram bytes_per_pixel;
	struct histogram pixels;
	uint64_t *class_counts;
};

void info_print_text(const struct info *info);
void info_print_json(const struct context *ctx, const struct info *info);
/* 0 or a negative error number */
int info_draw(const struct info *info, const char *path);

#endif /* DLBOOST_TOOL_INFO_H */
