/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * From state documents to the place where a stream begins.
 */
#ifndef DLB_STREAM_RESUME_H
#define DLB_STREAM_RESUME_H

#include "stream.h"

/* Where to begin: epoch, global position, budget used so far */
struct dlb_resume {
	uint32_t epoch;
	uint64_t position;
	uint64_t bad;
};

/*
 * Read attr->states; the stream's seeds and order become those of the state.
 * 0, -EINVAL, -ESTALE or -ENOMEM with one sentence.
 */
int dlb_resume_read(struct dlboost_stream *stream,
		    const struct dlboost_stream_attr *attr,
		    struct dlb_resume *out, char *error, size_t error_bytes);

#endif /* DLB_STREAM_RESUME_H */
