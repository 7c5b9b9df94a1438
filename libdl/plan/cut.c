// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Gradients into messages.  They are taken in the order in which autograd makes
 * them, fused until a message is large enough, and cut where it is too large.
 * Documentation/planning.rst, "Messages".
 */
#include "net.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"

/* Room for one more entry of @bytes at @*entries */
static int make_room(void **entries, uint32_t nr, uint32_t *cap, size_t bytes)
{
	uint32_t more = *cap ? 2 * *cap : 64;
	void *grown;

	if (nr < *cap)
		return 0;
	grown = realloc(*entries, more * bytes);
	if (!grown)
		return -ENOMEM;
	*entries = grown;
	*cap = more;
	return 0;
}

static int add_message(struct dlb_cut *cut, uint32_t graph)
{
	if (make_room((void **)&cut->messages, cut->nr_messages,
		      &cut->cap_messages, sizeof(*cut->messages)))
		return -ENOMEM;
	cut->messages[cut->nr_messages++] = (struct dlboost_plan_message){
		.graph = graph, .first_slice = cut->nr_slices };
	return 0;
}

static int add_slice(struct dlb_cut *cut, uint32_t layer, uint64_t offset_bytes,
		     uint64_t len_bytes)
{
	struct dlboost_plan_message *message =
		&cut->messages[cut->nr_messages - 1];

	if (make_room((void **)&cut->slices, cut->nr_slices, &cut->cap_slices,
		      sizeof(*cut->slices)))
		return -ENOMEM;
	cut->slices[cut->nr_slices++] = (struct dlboost_plan_slice){
		.layer = layer, .offset_bytes = offset_bytes,
		.len_bytes = len_bytes };
	message->nr_slices++;
	message->len_bytes += len_bytes;
	return 0;
}

/* @layer into the open message, and into as many more as it fills */
static int cut_layer(struct dlb_cut *cut, const struct dlb_layer *layer,
		     uint32_t l, bool *is_open)
{
	uint64_t left = layer->raw->parameter_bytes, offset = 0;
	int ret = 0;

	while (!ret && left) {
		uint64_t room, len;

		if (!*is_open)
			ret = add_message(cut, layer->graph);
		if (ret)
			return ret;
		*is_open = true;
		room = cut->slice_bytes -
		       cut->messages[cut->nr_messages - 1].len_bytes;
		len = left < room ? left : room;
		ret = add_slice(cut, l, offset, len);
		offset += len;
		left -= len;
		*is_open = len < room;
	}
	return ret;
}

static int cut_job(struct dlb_cut *cut, const struct dlb_step *step,
		   const struct dlb_job *job, uint64_t first_bytes)
{
	uint64_t limit = first_bytes;
	bool is_open = false;
	int ret = 0;

	for (uint32_t i = job->nr_layers; !ret && i-- > 0; ) {
		uint32_t l = job->first_layer + i;
		uint32_t owner = step->layers[l].owner;

		/* Autograd is done with a tied gradient at the lowest layer */
		if (!step->layers[owner].is_trained ||
		    step->layers[l].lowest != l)
			continue;
		ret = cut_layer(cut, &step->layers[owner], owner, &is_open);
		if (is_open && cut->messages[cut->nr_messages - 1].len_bytes >=
			       limit)
			is_open = false;
		if (!is_open)
			limit = cut->bucket_bytes;
	}
	return ret;
}

int dlb_cut_init(struct dlb_cut *cut, const struct dlb_step *step,
		 uint64_t first_bytes, uint64_t bucket_bytes,
		 uint64_t slice_bytes)
{
	int ret = 0;

	memset(cut, 0, sizeof(*cut));
	cut->bucket_bytes = bucket_bytes;
	cut->slice_bytes = slice_bytes;
	if (step->attr->ranks == 1)
		return 0;
	for (uint32_t j = 0; !ret && j < step->nr_jobs; j++)
		ret = cut_job(cut, step, &step->jobs[j], first_bytes);
	if (ret)
		dlb_cut_fini(cut);
	return ret;
}

void dlb_cut_fini(struct dlb_cut *cut)
{
	free(cut->messages);
	free(cut->slices);
	memset(cut, 0, sizeof(*cut));
}
