/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a stream is and what it has counted, as members of a JSON object. */
#ifndef DLBOOST_TOOL_STREAM_JSON_H
#define DLBOOST_TOOL_STREAM_JSON_H

#include "json.h"

void json_add_stream_info(struct json_object *obj,
			  const struct dlboost_stream_info *info);
void json_add_stream_stats(struct json_object *obj,
			   const struct dlboost_stream_stats *stats);
uint64_t stream_nr_bad(const struct dlboost_stream_stats *stats);

#endif /* DLBOOST_TOOL_STREAM_JSON_H */
