// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a command's table to getopt_long(), values in their places, the help
 * text and the hint at a misspelt name.  Knows no command by name.  Runs before
 * any thread exists.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#define MAX_ROWS 48
#define LONG_ONLY 0x100	/* val of the option in row 0; row i has + i */

const struct option_row common_options[] = {
	{ .name = "json", .short_name = 'j', .type = OPTION_FLAG,
	  .offset = offsetof(struct context, has_json),
	  .help = "print one JSON document instead of text" },
	{ .name = "pretty", .short_name = 'p', .type = OPTION_FLAG,
	  .offset = offsetof(struct context, is_pretty),
	  .help = "indent the JSON document (implies -j)" },
	{ .name = "verbose", .short_name = 'v', .type = OPTION_FLAG,
	  .offset = offsetof(struct context, is_verbose),
	  .help = "say more" },
	{ .name = "device", .short_name = 'd', .type = OPTION_TEXT,
	  .metavar = "DEV", .offset = offsetof(struct context, device),
	  .help = "use this device, e.g. dlboost0" },
	{ .name = "help", .short_name = 'h', .type = OPTION_FLAG,
	  .help = "print this help" },
	{ .name = NULL },
};

/* The rows of a command and the common ones, as one numbered list */
struct row_list {
	const struct option_row *rows[MAX_ROWS];
	unsigned int nr_own;
	unsigned int nr;
};

static void row_list_fill(struct row_list *list, const struct command *cmd)
{
	const struct option_row *row;

	memset(list, 0, sizeof(*list));
	for (row = cmd->options; row && row->name; row++)
		list->rows[list->nr++] = row;
	list->nr_own = list->nr;
	for (row = common_options; row->name; row++)
		list->rows[list->nr++] = row;
}

int usage_error(const struct context *ctx, const char *fmt, ...)
{
	char *line = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) < 0)
		line = NULL;
	va_end(ap);
	msg_error("%s: %s (dlboost %s --help)", ctx->cmd->name,
		  line ? line : "wrong usage", ctx->cmd->name);
	free(line);
	return TOOL_USAGE;
}

int outputs_check(const char *const *paths, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		int ret = paths[i] ? file_check_writable(paths[i]) : 0;

		if (!ret)
			continue;
		msg_error("%s: cannot be written: %s", paths[i],
			  strerror(-ret));
		return exit_from_error(ret);
	}
	return TOOL_DONE;
}

int usage_verb(const struct context *ctx, const char *verb)
{
	static const char *const verbs[] = { "list", "show" };
	const char *hint = text_did_you_mean(verb, verbs, ARRAY_SIZE(verbs));

	if (hint)
		return usage_error(ctx, "no verb '%s'; did you mean '%s'?",
				   verb, hint);
	return usage_error(ctx, "no verb '%s'; list or show", verb);
}

static int parse_number(const struct context *ctx, const struct option_row *row,
			const char *text, struct number *out)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text < '0' || *text > '9' ||
	    value < row->min || value > row->max)
		return usage_error(ctx,
			"--%s: '%s' is not a whole number from %llu to %llu",
			row->name, text, (unsigned long long)row->min,
			(unsigned long long)row->max);
	out->value = value;
	out->is_set = true;
	return OPTIONS_RUN;
}

static int parse_share(const struct context *ctx, const struct option_row *row,
		       const char *text, struct share *out)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (*end == '%') {
		value /= 100;
		end++;
	}
	if (errno || end == text || *end || !(value >= 0 && value <= 1))
		return usage_error(ctx,
			"--%s: '%s' is not a share such as 0.1%% or 0.001",
			row->name, text);
	out->value = value;
	out->is_set = true;
	return OPTIONS_RUN;
}

static size_t words_count(const char *const *words)
{
	size_t nr = 0;

	while (words[nr])
		nr++;
	return nr;
}

static int parse_choice(const struct context *ctx, const struct option_row *row,
			const char *text, unsigned int *out)
{
	size_t nr = words_count(row->choices);
	const char *hint;

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(row->choices[i], text)) {
			*out = (unsigned int)i;
			return OPTIONS_RUN;
		}
	hint = text_did_you_mean(text, row->choices, nr);
	if (hint)
		return usage_error(ctx,
				   "--%s: no value '%s'; did you mean '%s'?",
				   row->name, text, hint);
	return usage_error(ctx, "--%s: no value '%s'", row->name, text);
}

static int append_text(struct text_list *list, const char *text)
{
	const char **grown = realloc(list->items,
				     (list->nr + 1) * sizeof(*grown));

	if (!grown) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	list->items = grown;
	list->items[list->nr++] = text;
	return OPTIONS_RUN;
}

static int parse_value(const struct context *ctx, const struct option_row *row,
		       const char *text, void *where)
{
	switch (row->type) {
	case OPTION_FLAG:
		*(bool *)where = true;
		return OPTIONS_RUN;
	case OPTION_NUMBER:
		return parse_number(ctx, row, text, where);
	case OPTION_SHARE:
		return parse_share(ctx, row, text, where);
	case OPTION_TEXT:
		if (!*text)
			return usage_error(ctx, "--%s: the value is empty",
					   row->name);
		*(const char **)where = text;
		return OPTIONS_RUN;
	case OPTION_LIST:
		return append_text(where, text);
	case OPTION_CHOICE:
		return parse_choice(ctx, row, text, where);
	}
	return TOOL_FAILED;
}

static void presets_fill(const struct row_list *list, void *opts)
{
	for (unsigned int i = 0; i < list->nr_own; i++) {
		const struct option_row *row = list->rows[i];
		char *where = (char *)opts + row->offset;

		if (row->type == OPTION_NUMBER)
			((struct number *)where)->value = row->preset;
		else if (row->type == OPTION_SHARE)
			((struct share *)where)->value =
				(double)row->preset / 1000;
		else if (row->type == OPTION_CHOICE)
			*(unsigned int *)where = (unsigned int)row->preset;
	}
}

static int unknown_option(const struct context *ctx,
			  const struct row_list *list, const char *word)
{
	const char *names[MAX_ROWS], *hint = NULL;
	char bare[64];

	if (!strncmp(word, "--", 2)) {
		for (unsigned int i = 0; i < list->nr; i++)
			names[i] = list->rows[i]->name;
		snprintf(bare, sizeof(bare), "%s", word + 2);
		bare[strcspn(bare, "=")] = '\0';
		hint = text_did_you_mean(bare, names, list->nr);
	}
	if (hint)
		return usage_error(ctx, "no option '%s'; did you mean '--%s'?",
				   word, hint);
	return usage_error(ctx, "no option '%s'", word);
}

static void getopt_fill(const struct row_list *list, struct option *longs,
			char *shorts)
{
	*shorts++ = ':';
	for (unsigned int i = 0; i < list->nr; i++) {
		const struct option_row *row = list->rows[i];
		bool has_value = row->type != OPTION_FLAG;

		longs[i].name = row->name;
		longs[i].has_arg = has_value ? required_argument : no_argument;
		longs[i].val = LONG_ONLY + (int)i;
		if (!row->short_name)
			continue;
		*shorts++ = row->short_name;
		if (has_value)
			*shorts++ = ':';
	}
	*shorts = '\0';
}

static int row_of(const struct row_list *list, int val)
{
	if (val >= LONG_ONLY)
		return val - LONG_ONLY;
	for (unsigned int i = 0; i < list->nr; i++)
		if (list->rows[i]->short_name == val)
			return (int)i;
	return -1;
}

/* What getopt_long() could not take, in words */
static int refuse_option(const struct context *ctx, const struct row_list *list,
			 int val, char **argv)
{
	int idx = row_of(list, optopt);
	char word[3] = { '-', (char)optopt, '\0' };

	if (val == ':')
		return usage_error(ctx, "--%s needs a value",
				   list->rows[idx]->name);
	if (optopt >= LONG_ONLY)
		return usage_error(ctx, "--%s takes no value",
				   list->rows[idx]->name);
	return unknown_option(ctx, list, optopt ? word : argv[optind - 1]);
}

static int take_options(const struct command *cmd, const struct row_list *list,
			int argc, char **argv, struct context *ctx, void *opts)
{
	struct option longs[MAX_ROWS + 1] = { { NULL, 0, NULL, 0 } };
	char shorts[2 * MAX_ROWS + 2];
	int val, ret;

	getopt_fill(list, longs, shorts);
	opterr = 0;
	optind = 1;
	while ((val = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		bool is_common;
		int idx;

		if (val == '?' || val == ':')
			return refuse_option(ctx, list, val, argv);
		idx = row_of(list, val);
		is_common = idx >= (int)list->nr_own;
		if (!strcmp(list->rows[idx]->name, "help")) {
			options_help(cmd, stdout);
			return TOOL_DONE;
		}
		ret = parse_value(ctx, list->rows[idx], optarg,
				  (char *)(is_common ? (void *)ctx : opts) +
					list->rows[idx]->offset);
		if (ret != OPTIONS_RUN)
			return ret;
	}
	return OPTIONS_RUN;
}

int options_parse(const struct command *cmd, int argc, char **argv,
		  struct context *ctx, void *opts, unsigned int *nr_args,
		  char ***args)
{
	struct row_list list;
	int ret;

	row_list_fill(&list, cmd);
	ctx->cmd = cmd;
	presets_fill(&list, opts);
	ret = take_options(cmd, &list, argc, argv, ctx, opts);
	if (ret != OPTIONS_RUN)
		return ret;
	ctx->has_json |= ctx->is_pretty;
	*nr_args = (unsigned int)(argc - optind);
	*args = argv + optind;
	if (*nr_args < cmd->min_arguments)
		return usage_error(ctx, "%s is missing", cmd->arguments);
	if (*nr_args > cmd->max_arguments)
		return usage_error(ctx, "one argument too many: '%s'",
				   (*args)[cmd->max_arguments]);
	return OPTIONS_RUN;
}

void options_free(const struct command *cmd, void *opts)
{
	const struct option_row *row;

	for (row = cmd->options; opts && row && row->name; row++)
		if (row->type == OPTION_LIST)
			free(((struct text_list *)
				((char *)opts + row->offset))->items);
	free(opts);
}

static void help_value(const struct option_row *row, char *buf, size_t bytes)
{
	size_t len = 0;

	buf[0] = '\0';
	if (row->metavar) {
		snprintf(buf, bytes, " %s", row->metavar);
		return;
	}
	for (size_t i = 0; row->choices && row->choices[i]; i++)
		len += (size_t)snprintf(buf + len, bytes - len, "%c%s",
					i ? '|' : ' ', row->choices[i]);
}

#define HELP_INDENT 30
#define HELP_COLUMNS 80

/* " (default 256)" */
static void help_default(const struct option_row *row, char *buf, size_t bytes)
{
	buf[0] = '\0';
	if (row->has_no_preset)
		return;
	if (row->type == OPTION_NUMBER)
		snprintf(buf, bytes, "(default %llu)",
			 (unsigned long long)row->preset);
	else if (row->type == OPTION_SHARE)
		snprintf(buf, bytes, "(default %g%%)",
			 (double)row->preset / 10);
	else if (row->type == OPTION_CHOICE)
		snprintf(buf, bytes, "(default %s)",
			 row->choices[row->preset]);
}

/* Help texts may hold newlines: each line goes under the one before */
static void help_text(const struct option_row *row, FILE *file)
{
	char preset[64];
	const char *line = row->help;

	for (const char *end; (end = strchr(line, '\n')); line = end + 1)
		fprintf(file, "%.*s\n%*s", (int)(end - line), line,
			HELP_INDENT, "");
	fputs(line, file);
	help_default(row, preset, sizeof(preset));
	if (!preset[0])
		fputc('\n', file);
	else if (HELP_INDENT + strlen(line) + 1 + strlen(preset) < HELP_COLUMNS)
		fprintf(file, " %s\n", preset);
	else
		fprintf(file, "\n%*s%s\n", HELP_INDENT, "", preset);
}

static void help_row(const struct option_row *row, FILE *file)
{
	char value[80], left[128];

	help_value(row, value, sizeof(value));
	if (row->short_name)
		snprintf(left, sizeof(left), "  -%c, --%s%s", row->short_name,
			 row->name, value);
	else
		snprintf(left, sizeof(left), "      --%s%s", row->name, value);
	fprintf(file, "%-*s", HELP_INDENT, left);
	if (strlen(left) >= HELP_INDENT)
		fprintf(file, "\n%*s", HELP_INDENT, "");
	help_text(row, file);
}

void options_help(const struct command *cmd, FILE *file)
{
	struct row_list list;

	row_list_fill(&list, cmd);
	fprintf(file, "usage: dlboost %s [options]%s%s\n\n%s.\n", cmd->name,
		*cmd->arguments ? " " : "", cmd->arguments, cmd->summary);
	if (cmd->details)
		fprintf(file, "\n%s\n", cmd->details);
	fputs(list.nr_own ? "\nOptions:\n" : "", file);
	for (unsigned int i = 0; i < list.nr_own; i++)
		help_row(list.rows[i], file);
	fputs("\nCommon options:\n", file);
	for (unsigned int i = list.nr_own; i < list.nr; i++)
		help_row(list.rows[i], file);
	fprintf(file, "\nMore: man dlboost-%s\n", cmd->name);
}
