/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table a command.  getopt_long(), the help text, "did you mean" and the
 * shells' completion all come from it, and a test holds the manual pages
 * against it.
 */
#ifndef DLBOOST_TOOL_OPTIONS_H
#define DLBOOST_TOOL_OPTIONS_H

#include "tool.h"

/**
 * enum option_type - What stands behind an option, and in which type it lands
 * @OPTION_FLAG: nothing; bool
 * @OPTION_NUMBER: whole number; struct number
 * @OPTION_SHARE: "0.1%" or "0.001"; struct share
 * @OPTION_TEXT: text; const char *
 * @OPTION_LIST: text, repeatable; struct text_list
 * @OPTION_CHOICE: one of @choices; unsigned int, its index
 */
enum option_type {
	OPTION_FLAG,
	OPTION_NUMBER,
	OPTION_SHARE,
	OPTION_TEXT,
	OPTION_LIST,
	OPTION_CHOICE,
};

/** enum option_complete - What a shell offers for a value or an argument */
enum option_complete {
	COMPLETE_NOTHING,
	COMPLETE_FILE,
	COMPLETE_FOLDER,
	COMPLETE_RECIPE,
	COMPLETE_ENGINE,
	COMPLETE_WORDS,
};

struct number {
	uint64_t value;
	bool is_set;
};

struct share {
	double value;
	bool is_set;
};

struct text_list {
	const char **items;
	unsigned int nr;
};

/**
 * struct option_row - One option
 * @name: long name
 * @short_name: one letter, or 0
 * @type: see enum option_type
 * @metavar: name of the value in the help; NULL for flags and choices
 * @help: what it does, a line or more; no full stop
 * @offset: where the value goes inside the command's struct
 * @min: smallest number
 * @max: largest number
 * @preset: default of a number, share (in 1/1000) or choice; the help names
 *	it, unless @has_no_preset
 * @has_no_preset: there is no default worth naming
 * @choices: OPTION_CHOICE: the words, NULL at the end
 * @complete: what a shell offers for the value
 */
struct option_row {
	const char *name;
	char short_name;
	enum option_type type;
	const char *metavar;
	const char *help;
	size_t offset;
	uint64_t min;
	uint64_t max;
	uint64_t preset;
	bool has_no_preset;
	const char *const *choices;
	enum option_complete complete;
};

/**
 * struct command - One subcommand
 * @name: "run"
 * @arguments: as in the synopsis, "PATH"
 * @summary: one line, no full stop
 * @details: paragraphs for --help; may be NULL
 * @options: rows, one without a name at the end
 * @opts_bytes: size of the struct the options go into
 * @min_arguments: fewest arguments
 * @max_arguments: most arguments
 * @complete: what a shell offers for an argument
 * @words: COMPLETE_WORDS: the words, NULL at the end
 * @run: does it; returns a value of enum tool_exit
 */
struct command {
	const char *name;
	const char *arguments;
	const char *summary;
	const char *details;
	const struct option_row *options;
	size_t opts_bytes;
	unsigned int min_arguments;
	unsigned int max_arguments;
	enum option_complete complete;
	const char *const *words;
	int (*run)(const struct context *ctx, void *opts, unsigned int nr_args,
		   char **args);
};

extern const struct command *const tool_commands[];
extern const size_t tool_nr_commands;
/* The rows every command has; they go into struct context */
extern const struct option_row common_options[];

/* Value of --recipe and --engine */
#define SPEC_METAVAR "NAME[:key=value,...]"

#define OPTIONS_RUN (-1)
/*
 * Fill @ctx and @opts from argv[0] (the command's name) on; @args and @nr_args
 * receive the arguments.  OPTIONS_RUN to go on, else the exit code.
 */
int options_parse(const struct command *cmd, int argc, char **argv,
		  struct context *ctx, void *opts, unsigned int *nr_args,
		  char ***args);
void options_help(const struct command *cmd, FILE *file);
/* Says what is wrong in the name of the running command; TOOL_USAGE */
int usage_error(const struct context *ctx, const char *fmt, ...)
	TOOL_PRINTF(2, 3);
/* As usage_error(), for the verb of "recipe" and "engine" */
/* Can these files (or NULL) be written?  An exit code, with a message */
int outputs_check(const char *const *paths, size_t nr);
int usage_verb(const struct context *ctx, const char *verb);
void options_free(const struct command *cmd, void *opts);

/* Script for "bash", "zsh" or "fish" on stdout; an exit code */
int completion_print(const char *shell);

#endif /* DLBOOST_TOOL_OPTIONS_H */
