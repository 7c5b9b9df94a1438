/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the subcommands of dlboost share: the context of one call, messages,
 * signals, files, figures.  Only <dlboost/...> of the library is used.
 */
#ifndef DLBOOST_TOOL_H
#define DLBOOST_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <dlboost/dlboost.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define TOOL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TOOL_PATH_BYTES (4096 + 256)

/* Exit codes of every subcommand: dlboost(1), EXIT STATUS */
enum tool_exit {
	TOOL_DONE = 0,
	TOOL_FAILED = 1,
	TOOL_USAGE = 2,
	TOOL_NO_DEVICE = 3,
	TOOL_NO_PERMISSION = 4,
	TOOL_PARTLY = 5,
};

struct command;

/**
 * struct context - One call of dlboost
 * @cmd: the subcommand that runs
 * @has_json: -j
 * @is_pretty: -p
 * @is_verbose: -v
 * @device: -d, or NULL
 */
struct context {
	const struct command *cmd;
	bool has_json;
	bool is_pretty;
	bool is_verbose;
	const char *device;
};

/* text.c: diagnostics and figures */
void msg_error(const char *fmt, ...) TOOL_PRINTF(1, 2);
void msg_note(const char *fmt, ...) TOOL_PRINTF(1, 2);
/*
 * Show the library's warnings and errors; DLBOOST_LOG asks for more or less.
 * Errors are things that were asked for and not done.
 */
void log_install(void);
bool log_has_errors(void);
/* Exit code for a failure that the operating system or the library reported */
int exit_from_error(int error);
/* Length of the well-formed UTF-8 sequence at @s, 0 when there is none */
size_t text_utf8_length(const unsigned char *s);
/* @text with control bytes and broken UTF-8 as \n, \x1b; malloc'ed */
char *text_escape(const char *text);
void text_print_escaped(FILE *file, const char *text);
/* "1,281,167"; "36.8 MiB"; "1:02:03"; the buffer is returned */
#define FIGURE_BYTES 32
char *figure_count(char buf[FIGURE_BYTES], uint64_t count);
char *figure_bytes(char buf[FIGURE_BYTES], uint64_t bytes);
char *figure_duration(char buf[FIGURE_BYTES], double seconds);
/* Best of @names within two edits of @word, or NULL */
const char *text_did_you_mean(const char *word, const char *const *names,
			      size_t nr);
/* Flush stdout and say why when that fails; @code, or TOOL_FAILED */
int stdout_finish(int code);

/* signals.c: SIGINT and SIGTERM set a flag; the second one kills */
void signals_install(void);
void signals_set_hook(void (*hook)(void));
int signals_caught(void);
/* Ends the process by the signal caught, so that the caller sees it */
void signals_finish(void);

/* file.c */
/* Kept and grown from file to file */
struct file_buffer {
	uint8_t *bytes;
	size_t cap_bytes;
	size_t len_bytes;
};
int file_buffer_grow(struct file_buffer *buffer, size_t bytes);
/* At most @max_bytes; "-" is standard input; 0 or a negative error number */
int file_buffer_read(struct file_buffer *buffer, const char *path,
		     uint64_t offset_bytes, int64_t len_bytes,
		     size_t max_bytes);
/*
 * The same, but what is neither "-" nor a regular file is -EISDIR or -ENOTSUP,
 * unread and not waited for.
 */
int file_buffer_read_regular(struct file_buffer *buffer, const char *path,
			     uint64_t offset_bytes, int64_t len_bytes,
			     size_t max_bytes);
/* Written beside @path, synced, then renamed; "-" is stdout */
int file_write_atomic(const char *path, const void *bytes, size_t nr_bytes);
/* The same in several parts and without the sync, for files by the thousand */
struct file_part {
	const void *bytes;
	size_t nr_bytes;
};
int file_write_parts(const char *path, const struct file_part *parts,
		     unsigned int nr_parts);
/* Could @path be written?  Asked before hours of work; 0 or -errno */
int file_check_writable(const char *path);
bool file_has_ending(const char *path, const char *ending);
bool file_is_picture_name(const char *path);

/* machine.c */
uint64_t now_ns(void);
double cpu_seconds(void);
/* RssAnon + RssShmem + HugetlbPages of this process, bytes */
uint64_t memory_now_bytes(void);
unsigned int cpus_allowed(void);

#endif /* DLBOOST_TOOL_H */
