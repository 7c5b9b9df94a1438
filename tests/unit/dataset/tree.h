/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Little trees of files for the tests of data sets.  Helpers assert: a tree
 * that cannot be made fails the test.
 */
#ifndef DLB_TEST_TREE_H
#define DLB_TEST_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream/dataset.h"

/* A new folder, removed with all below it by tree_remove(); static storage */
const char *tree_make(void);
void tree_remove(void);

/* Path below the folder; a few results stay valid at a time */
const char *tree_path(const char *name);
void tree_dir(const char *name);
/* A file of @len_bytes bytes; its folders are made */
void tree_file(const char *name, size_t len_bytes);
void tree_text(const char *name, const char *text);
void tree_bytes(const char *name, const void *data, size_t len_bytes);
void tree_link(const char *target, const char *name);
/* Give everything a time long past, so that an index of it is no racy one */
void tree_age(void);
/* Number of entries of a folder, "." and ".." apart */
int tree_count(const char *name);

/* Sentence of the last failed opening */
extern char tree_error[DLBOOST_ERROR_BYTES];

/* Index at tree_path("../NAME.index"), outside the data set */
struct dlboost_dataset *tree_open(const char *name);
int tree_open_attr(const char *path, const struct dlboost_dataset_attr *attr,
		   struct dlboost_dataset **out);
/* The opening must fail with @ret; @word is in its sentence */
void tree_open_fails(const char *name, int ret, const char *word);
/* Name of sample @id below the folder @name */
const char *tree_sample(const struct dlboost_dataset *dataset, uint64_t id);

#endif /* DLB_TEST_TREE_H */
