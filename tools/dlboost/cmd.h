/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommands; each stands in a file of its own, cmd_NAME.c. */
#ifndef DLBOOST_TOOL_CMD_H
#define DLBOOST_TOOL_CMD_H

#include "options.h"

extern const struct command cmd_bench;
extern const struct command cmd_decode;
extern const struct command cmd_engine;
extern const struct command cmd_index;
extern const struct command cmd_info;
extern const struct command cmd_plan;
extern const struct command cmd_recipe;
extern const struct command cmd_run;
extern const struct command cmd_selftest;
extern const struct command cmd_stats;
extern const struct command cmd_verify;

#endif /* DLBOOST_TOOL_CMD_H */
