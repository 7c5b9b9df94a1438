// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * What submitters of jobs share: defaults of limits and the drawing of a job's
 * geometry.  Pure; knows no engine.
 */
#include "engine.h"

#include "../base/base.h"
#include "../image/decoder.h"

void dlb_engine_limits_fill(struct dlboost_limits *limits)
{
	struct dlboost_limits in = *limits;

	dlb_limits_resolve(&in, limits);
}

unsigned int dlb_job_draw(struct dlb_job *job, uint64_t augment_seed,
			  uint32_t epoch, uint64_t sample_id,
			  struct dlboost_result *result)
{
	uint32_t width = job->info.width;
	uint32_t height = job->info.height;

	/* EXIF orientations 5 to 8 exchange the sides */
	if (job->recipe->has_exif && job->info.orientation >= 5) {
		width = job->info.height;
		height = job->info.width;
	}
	if (!dlboost_recipe_draw(job->recipe, width, height, augment_seed,
				 epoch, sample_id, &job->geometry))
		return DLBOOST_STATUS_OK;
	result->status = DLBOOST_STATUS_TOO_LARGE;
	result->offset_bytes = -1;
	dlb_sentence(result->message, sizeof(result->message),
		     "%u x %u pixels: recipes take sides from 1 to 65535",
		     width, height);
	return DLBOOST_STATUS_TOO_LARGE;
}
