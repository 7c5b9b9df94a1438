/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A labelled grid of the pictures of one batch. */
#ifndef DLBOOST_TOOL_CONTACT_SHEET_H
#define DLBOOST_TOOL_CONTACT_SHEET_H

#include "recipe_text.h"

/**
 * struct contact_sheet - What to draw
 * @dataset: for names of classes and files
 * @recipe: recipe of the stream
 * @tensor: shape of one sample
 * @batch: the batch
 * @title: first line
 */
struct contact_sheet {
	const struct dlboost_dataset *dataset;
	const struct dlboost_recipe *recipe;
	const struct dlboost_tensor_spec *tensor;
	const struct dlboost_batch *batch;
	const char *title;
};

/* 0 or a negative error number */
int contact_sheet_write(const struct contact_sheet *sheet, const char *path);

#endif /* DLBOOST_TOOL_CONTACT_SHEET_H */
