// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Completion scripts for bash, zsh and fish, made from the commands' tables.
 * The scripts ask nothing of the command at completion time: names of recipes
 * and engines are written into them.
 */
#include "options.h"

#include <string.h>

static void print_recipes(void)
{
	const char *name;

	for (unsigned int i = 0; (name = dlboost_recipe_name(i, NULL)); i++)
		printf("%s%s", i ? " " : "", name);
}

static void print_engines(void)
{
	struct dlboost_engine_info info;

	for (unsigned int i = 0; !dlboost_engine_list(i, &info); i++)
		printf("%s%s", i ? " " : "", info.name);
}

static void print_words(const char *const *words)
{
	for (size_t i = 0; words && words[i]; i++)
		printf("%s%s", i ? " " : "", words[i]);
}

/* The words a value or an argument may be, blank-separated */
static void print_values(enum option_complete complete,
			 const char *const *words)
{
	if (complete == COMPLETE_RECIPE)
		print_recipes();
	else if (complete == COMPLETE_ENGINE)
		print_engines();
	else
		print_words(words);
}

static void each_option(const struct command *cmd,
			void (*visit)(const struct command *cmd,
				      const struct option_row *row))
{
	const struct option_row *row;

	for (row = cmd->options; row && row->name; row++)
		visit(cmd, row);
	for (row = common_options; row->name; row++)
		visit(cmd, row);
}

static void bash_option_name(const struct command *cmd,
			     const struct option_row *row)
{
	printf(" --%s", row->name);
	if (row->short_name)
		printf(" -%c", row->short_name);
}

static void bash_compgen(enum option_complete complete,
			 const char *const *words)
{
	if (complete == COMPLETE_FILE)
		printf("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")");
	else if (complete == COMPLETE_FOLDER)
		printf("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")");
	else {
		printf("mapfile -t COMPREPLY < <(compgen -W '");
		print_values(complete, words);
		printf("' -- \"$cur\")");
	}
}

static void bash_option_value(const struct command *cmd,
			      const struct option_row *row)
{
	if (row->type == OPTION_FLAG)
		return;
	printf("\t%s:--%s", cmd->name, row->name);
	if (row->short_name)
		printf("|%s:-%c", cmd->name, row->short_name);
	printf(")\n\t\t");
	if (row->complete || row->choices)
		bash_compgen(row->complete, row->choices);
	else
		printf(":");
	printf("\n\t\treturn ;;\n");
}

static void bash_command(const struct command *cmd)
{
	printf("\t%s)\n\t\tif [[ $cur == -* ]]; then\n"
	       "\t\t\tmapfile -t COMPREPLY < <(compgen -W '", cmd->name);
	each_option(cmd, bash_option_name);
	printf("' -- \"$cur\")\n\t\telse\n\t\t\t");
	if (cmd->complete)
		bash_compgen(cmd->complete, cmd->words);
	else
		printf(":");
	printf("\n\t\tfi ;;\n");
}

static void bash_print(void)
{
	printf("# bash completion for dlboost; made by dlboost --completion bash\n"
	       "_dlboost()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]}\n"
	       "\tlocal prev=${COMP_WORDS[COMP_CWORD-1]}\n\n"
	       "\tCOMPREPLY=()\n\tif [[ $COMP_CWORD -eq 1 ]]; then\n"
	       "\t\tmapfile -t COMPREPLY < <(compgen -W '");
	for (size_t i = 0; i < tool_nr_commands; i++)
		printf("%s ", tool_commands[i]->name);
	printf("--help --version --completion' -- \"$cur\")\n\t\treturn\n\tfi\n"
	       "\tcase $cmd:$prev in\n");
	for (size_t i = 0; i < tool_nr_commands; i++)
		each_option(tool_commands[i], bash_option_value);
	printf("\tesac\n\tcase $cmd in\n");
	for (size_t i = 0; i < tool_nr_commands; i++)
		bash_command(tool_commands[i]);
	printf("\t--completion)\n"
	       "\t\tmapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- \"$cur\") ;;\n"
	       "\tesac\n}\ncomplete -F _dlboost dlboost\n");
}

/* Text inside single quotes; zsh also wants no brackets and colons */
static void print_help_text(const char *text, bool is_zsh)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (*text == '\n')
			putchar(' ');
		else if (is_zsh && strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void zsh_values(const char *what, enum option_complete complete,
		       const char *const *words)
{
	if (complete == COMPLETE_FILE) {
		printf(":%s:_files", what);
	} else if (complete == COMPLETE_FOLDER) {
		printf(":%s:_files -/", what);
	} else {
		printf(":%s:(", what);
		print_values(complete, words);
		putchar(')');
	}
}

static void zsh_option(const struct command *cmd, const struct option_row *row)
{
	printf(" \\\n\t\t\t'%s--%s%s[", row->type == OPTION_LIST ? "*" : "",
	       row->name, row->type == OPTION_FLAG ? "" : "=");
	print_help_text(row->help, true);
	putchar(']');
	if (row->type != OPTION_FLAG)
		zsh_values(row->name, row->complete, row->choices);
	putchar('\'');
}

static void zsh_print(void)
{
	printf("#compdef dlboost\n"
	       "# zsh completion for dlboost; made by dlboost --completion zsh\n"
	       "_dlboost()\n{\n\tlocal -a commands\n\tcommands=(\n");
	for (size_t i = 0; i < tool_nr_commands; i++) {
		printf("\t\t'%s:", tool_commands[i]->name);
		print_help_text(tool_commands[i]->summary, true);
		printf("'\n");
	}
	printf("\t)\n\tif (( CURRENT == 2 )); then\n"
	       "\t\t_describe command commands\n\t\treturn\n\tfi\n"
	       "\tlocal cmd=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n"
	       "\tcase $cmd in\n");
	for (size_t i = 0; i < tool_nr_commands; i++) {
		const struct command *cmd = tool_commands[i];

		printf("\t%s)\n\t\t_arguments", cmd->name);
		each_option(cmd, zsh_option);
		if (cmd->complete) {
			printf(" \\\n\t\t\t'*");
			zsh_values("argument", cmd->complete, cmd->words);
			putchar('\'');
		}
		printf(" ;;\n");
	}
	printf("\tesac\n}\n"
	       "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
	       "\t_dlboost \"$@\"\nelse\n\tcompdef _dlboost dlboost\nfi\n");
}

static void fish_option(const struct command *cmd, const struct option_row *row)
{
	printf("complete -c dlboost -n '__fish_seen_subcommand_from %s' -l %s",
	       cmd->name, row->name);
	if (row->short_name)
		printf(" -s %c", row->short_name);
	if (row->type != OPTION_FLAG) {
		printf(row->complete == COMPLETE_FILE ||
		       row->complete == COMPLETE_FOLDER ? " -rF" : " -x");
		if (row->choices || row->complete == COMPLETE_RECIPE ||
		    row->complete == COMPLETE_ENGINE) {
			printf(" -a '");
			print_values(row->complete, row->choices);
			putchar('\'');
		}
	}
	printf(" -d '");
	print_help_text(row->help, false);
	printf("'\n");
}

static void fish_print(void)
{
	printf("# fish completion for dlboost; made by dlboost --completion fish\n");
	for (size_t i = 0; i < tool_nr_commands; i++) {
		const struct command *cmd = tool_commands[i];

		printf("complete -c dlboost -n __fish_use_subcommand -f -a %s -d '",
		       cmd->name);
		print_help_text(cmd->summary, false);
		printf("'\n");
		each_option(cmd, fish_option);
		if (cmd->complete == COMPLETE_WORDS ||
		    cmd->complete == COMPLETE_ENGINE ||
		    cmd->complete == COMPLETE_RECIPE) {
			printf("complete -c dlboost -n '__fish_seen_subcommand_from %s' -f -a '",
			       cmd->name);
			print_values(cmd->complete, cmd->words);
			printf("'\n");
		}
	}
}

int completion_print(const char *shell)
{
	if (!strcmp(shell, "bash")) {
		bash_print();
	} else if (!strcmp(shell, "zsh")) {
		zsh_print();
	} else if (!strcmp(shell, "fish")) {
		fish_print();
	} else {
		msg_error("--completion: no shell '%s'; bash, zsh or fish",
			  shell);
		return TOOL_USAGE;
	}
	return TOOL_DONE;
}
