// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The dlboost command: finds the subcommand, lets its table read the options
 * and runs it.  Exit codes and output rules: dlboost(1).
 */
#include "tool.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#include "cmd.h"
#include "options.h"
#include "progress.h"

const struct command *const tool_commands[] = {
	&cmd_run, &cmd_index, &cmd_info, &cmd_decode, &cmd_verify,
	&cmd_selftest, &cmd_bench, &cmd_recipe, &cmd_engine, &cmd_stats,
	&cmd_plan,
};
const size_t tool_nr_commands = ARRAY_SIZE(tool_commands);

static void print_usage(FILE *file)
{
	fputs("usage: dlboost COMMAND [options] [arguments]\n\n"
	      "Training batches from pictures.\n\nCommands:\n", file);
	for (size_t i = 0; i < tool_nr_commands; i++)
		fprintf(file, "  %-10s%s\n", tool_commands[i]->name,
			tool_commands[i]->summary);
	fputs("\nOptions:\n"
	      "  --help                        print this help\n"
	      "  --version                     print the versions in use\n"
	      "  --completion bash|zsh|fish    print a completion script\n\n"
	      "Every command knows --help, -j (JSON) and -v (say more).\n"
	      "Begin with: dlboost run FOLDER --contact-sheet sheet.png\n"
	      "More: man dlboost\n", file);
}

static int print_version(void)
{
	struct dlboost_engine_info info;

	printf("dlboost %s\nlibdlboost %s\n", DLB_VERSION, dlboost_version());
	if (!dlboost_engine_list(0, &info))
		printf("%s\nSIMD %s\n", info.decoder ? info.decoder : "",
		       info.simd ? info.simd : "");
	return stdout_finish(TOOL_DONE);
}

static const struct command *find_command(const char *name)
{
	const char *names[ARRAY_SIZE(tool_commands)], *hint;

	for (size_t i = 0; i < tool_nr_commands; i++) {
		names[i] = tool_commands[i]->name;
		if (!strcmp(names[i], name))
			return tool_commands[i];
	}
	hint = text_did_you_mean(name, names, tool_nr_commands);
	if (hint)
		msg_error("no command '%s'; did you mean '%s'?", name, hint);
	else
		msg_error("no command '%s' (dlboost --help)", name);
	return NULL;
}

/* A device that is not there is said before anything else is tried */
static int check_device(const struct context *ctx)
{
	char path[256];

	if (!ctx->device)
		return TOOL_DONE;
	snprintf(path, sizeof(path), "%s%s", strchr(ctx->device, '/') ? "" :
		 "/dev/", ctx->device);
	if (!access(path, F_OK))
		return TOOL_DONE;
	msg_error("device %s: %s", ctx->device,
		  strerror(errno == ENOENT ? ENODEV : errno));
	return errno == EACCES ? TOOL_NO_PERMISSION : TOOL_NO_DEVICE;
}

static int run_command(const struct command *cmd, int argc, char **argv)
{
	struct context ctx = { .cmd = cmd };
	void *opts = calloc(1, cmd->opts_bytes ? cmd->opts_bytes : 1);
	unsigned int nr_args;
	char **args;
	int ret;

	if (!opts) {
		msg_error("out of memory");
		return TOOL_FAILED;
	}
	ret = options_parse(cmd, argc, argv, &ctx, opts, &nr_args, &args);
	if (ret == OPTIONS_RUN)
		ret = check_device(&ctx) ?: cmd->run(&ctx, opts, nr_args, args);
	options_free(cmd, opts);
	progress_hide();
	return stdout_finish(ret);
}

static int run_global(const char *word, int argc, char **argv)
{
	static const char *const names[] = { "help", "version", "completion" };
	const char *hint;

	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		print_usage(stdout);
		return stdout_finish(TOOL_DONE);
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return print_version();
	if (!strcmp(word, "--completion")) {
		if (argc > 2)
			return stdout_finish(completion_print(argv[2]));
		msg_error("--completion needs bash, zsh or fish");
		return TOOL_USAGE;
	}
	hint = strncmp(word, "--", 2) ? NULL :
	       text_did_you_mean(word + 2, names, ARRAY_SIZE(names));
	if (hint)
		msg_error("no option '%s'; did you mean '--%s'?", word, hint);
	else
		msg_error("no option '%s' before the command (dlboost --help)",
			  word);
	return TOOL_USAGE;
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	int ret;

	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		print_usage(stderr);
		return TOOL_USAGE;
	}
	if (argv[1][0] == '-')
		return run_global(argv[1], argc, argv);
	if (!strcmp(argv[1], "help") && argc == 2)
		return run_global("--help", argc, argv);
	cmd = find_command(!strcmp(argv[1], "help") ? argv[2] : argv[1]);
	if (!cmd)
		return TOOL_USAGE;
	if (!strcmp(argv[1], "help")) {
		options_help(cmd, stdout);
		return stdout_finish(TOOL_DONE);
	}
	signals_install();
	log_install();
	ret = run_command(cmd, argc - 1, argv + 1);
	signals_finish();
	return ret;
}
