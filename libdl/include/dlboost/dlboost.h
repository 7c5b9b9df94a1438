/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Everything of libdlboost.  Calls return 0 or a negative error number, leave
 * their outputs untouched on error, print nothing and never exit.
 */
#ifndef DLBOOST_DLBOOST_H
#define DLBOOST_DLBOOST_H

#include <dlboost/dataset.h>
#include <dlboost/engine.h>
#include <dlboost/image.h>
#include <dlboost/log.h>
#include <dlboost/plan.h>
#include <dlboost/recipe.h>
#include <dlboost/status.h>
#include <dlboost/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * dlboost_version() - Version of the library, "0.1.0"
 *
 * Since: 0.1
 *
 * Return: a static string.
 */
const char *dlboost_version(void);

#ifdef __cplusplus
}
#endif
#endif /* DLBOOST_DLBOOST_H */
