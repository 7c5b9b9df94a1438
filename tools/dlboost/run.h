/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dlboost run in parts: cmd_run.c reads the options and makes the stream,
 * run_loop.c takes its batches, run_out.c stores them, run_report.c tells.
 */
#ifndef DLBOOST_TOOL_RUN_H
#define DLBOOST_TOOL_RUN_H

#include "options.h"
#include "progress.h"
#include "recipe_text.h"
#include "sha256.h"

#define RUN_EXAMPLES 3
#define RUN_STATE_BYTES 8192

struct run_opts {
	struct number epochs;
	struct number epoch;
	struct number batch;
	struct number batches;
	const char *recipe;
	unsigned int profile;
	struct text_list engines;
	unsigned int tail;
	struct number seed;
	struct number augment_seed;
	struct number rank;
	struct number world;
	struct text_list resume;
	bool allow_repeat;
	const char *state_out;
	unsigned int on_error;
	struct share max_bad;
	unsigned int warnings;
	const char *quarantine;
	struct number slots;
	struct number hold;
	struct number max_pixels;
	const char *contact_sheet;
	const char *out;
	bool has_digest;
	bool no_shuffle;
	bool allow_empty;
	const char *index;
	bool no_progress;
};

/** enum run_end - Why a run ended */
enum run_end {
	RUN_COMPLETE,
	RUN_STOPPED,		/* --batches */
	RUN_INTERRUPTED,	/* a signal */
	RUN_BAD_SAMPLE,		/* --on-error fail */
	RUN_OVER_BUDGET,	/* --max-bad */
	RUN_FAILED,
};

/* A bad file with what was wrong */
struct run_example {
	char *path;
	char *line;	/* path and reason, for people */
	struct dlboost_result result;
};

/* Folder of .npy files being written; NULL members when there is none */
struct run_out {
	const char *folder;
	FILE *manifest;
	char *manifest_path;
	char *manifest_temporary;
};

struct run {
	const struct context *ctx;
	const struct run_opts *opts;
	const char *path;
	struct dlboost_recipe *recipe;
	struct dlboost_dataset *dataset;
	struct dlboost_stream *stream;
	struct dlboost_stream_info info;
	struct dlboost_stream_stats stats;
	struct run_out out;
	char *states[1024];
	unsigned int nr_states;
	uint32_t first_epoch;		/* where this run begins */
	uint64_t end_epoch;		/* one past the last one */
	uint32_t nr_epochs_done;
	uint64_t position;		/* where the first epoch begins */
	char state[RUN_STATE_BYTES];	/* after the last batch taken */
	bool has_state;
	struct dlboost_batch *first;	/* kept for the contact sheet, or NULL */
	bool has_first;
	bool has_sheet;
	struct sha256 digest;
	char digest_hex[SHA256_HEX_BYTES];
	struct progress_state progress;
	struct run_example examples[DLBOOST_NR_STATUS][RUN_EXAMPLES];
	uint64_t nr_batches;
	uint64_t peak_bytes;
	uint64_t memory_ns;		/* when memory was last looked at */
	uint64_t start_ns;
	double start_cpu_s;
	double elapsed_s;
	double cpu_s;
	enum run_end end;
	char error[DLBOOST_ERROR_BYTES];
};

/* run_loop.c: take batches to the end; sets @end, @error; an exit code */
int run_loop(struct run *run);

/* run_out.c: exit codes, with messages */
int run_out_open(struct run *run);
int run_out_batch(struct run *run, const struct dlboost_batch_info *info);
int run_out_close(struct run *run);

/* run_report.c */
void run_print_start(const struct run *run);
void run_print_report(const struct run *run);

#endif /* DLBOOST_TOOL_RUN_H */
