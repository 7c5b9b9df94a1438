/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Where an index file stands, and how a new one takes its name there: whole or
 * not at all, whoever else writes the same one at the same time.
 */
#ifndef DLB_STREAM_INDEX_PLACE_H
#define DLB_STREAM_INDEX_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct dlb_index_place - Where an index file stands or will stand
 * @path: its name, or NULL: memory only
 * @folder: the folder of @path
 * @temp: name of the unfinished file, or NULL when it has none
 * @is_explicit: the user named it: failure to write is an error
 */
struct dlb_index_place {
	char *path;
	char *folder;
	char *temp;
	bool is_explicit;
};

/*
 * @index_path: as the user named it, or NULL for the cache folder, which is
 * made as needed; @source: absolute path of the data set.  0 or -ENOMEM.
 */
int dlb_index_place_init(struct dlb_index_place *place, const char *index_path,
			 const char *source);
void dlb_index_place_fini(struct dlb_index_place *place);

/*
 * An existing file to read, or -errno; -EEXIST: the user named something that
 * is no index and that must not be overwritten.
 */
int dlb_index_place_open(const struct dlb_index_place *place);
/* Would writing there change the folder @source it describes? */
bool dlb_index_place_is_inside(const struct dlb_index_place *place,
			       const char *source);
/* A new, nameless or temporarily named file there (or in memory); or -errno */
int dlb_index_place_create(struct dlb_index_place *place);
/* Onto the disk, then under its name: 0 or -errno */
int dlb_index_place_publish(struct dlb_index_place *place, int fd);

#endif /* DLB_STREAM_INDEX_PLACE_H */
