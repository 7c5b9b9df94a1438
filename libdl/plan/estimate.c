// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * From the shape of a layer to its times on a device.  A model with few figures
 * that are all stated, not a measurement.  Documentation/planning.rst, "Costs".
 */
#include <errno.h>
#include <stdbool.h>

#include <dlboost/plan.h>

#include "../base/base.h"

/* Elements of a shape have this size */
#define SHAPE_ELEMENT_BYTES 4
/* Momentum: the gradient is read, state and parameter are read and written */
#define UPDATE_PASSES 5

/* @a * @b at @rate a second, times p / 1000 and q / 1000; or UINT64_MAX */
static uint64_t time_ns(uint64_t a, uint64_t b, uint64_t rate, uint32_t p,
			uint32_t q)
{
	unsigned __int128 work = (unsigned __int128)a * b;
	unsigned __int128 per_ms = (unsigned __int128)rate * p;

	/* Keeps the product below 2^128: 2^70 * 10^15 */
	if (work >> 70)
		return UINT64_MAX;
	work *= 1000000000000000u;
	per_ms *= q;
	work = (work + per_ms - 1) / per_ms;
	return work > DLBOOST_PLAN_MAX_NS ? UINT64_MAX : (uint64_t)work;
}

static uint64_t compute_ns(const struct dlboost_plan_shape *shape,
			   const struct dlboost_plan_hardware *hw,
			   uint32_t batch)
{
	return time_ns(shape->flops, batch, hw->flops_per_s,
		       hw->efficiency_permille, shape->efficiency_permille);
}

static uint64_t memory_ns(const struct dlboost_plan_hardware *hw,
			  uint64_t weights, uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		return UINT64_MAX;
	bytes += weights;
	return time_ns(bytes, 1, hw->bytes_per_s,
		       hw->memory_efficiency_permille, 1000);
}

/* Sum, or UINT64_MAX when a part is; the parts are small otherwise */
static uint64_t sum(uint64_t a, uint64_t b, uint64_t c)
{
	if (a == UINT64_MAX || b == UINT64_MAX || c == UINT64_MAX)
		return UINT64_MAX;
	return a + b + c;
}

static uint64_t scaled(uint64_t bytes, uint32_t batch,
		       const struct dlboost_plan_hardware *hw)
{
	unsigned __int128 all = (unsigned __int128)bytes * batch;

	all = all * hw->element_bytes / SHAPE_ELEMENT_BYTES;
	return all > DLBOOST_PLAN_MAX_BYTES ? UINT64_MAX : (uint64_t)all;
}

static int check_arguments(const struct dlboost_plan_shape *shape,
			   const struct dlboost_plan_hardware *hw,
			   uint32_t batch)
{
	if (!batch || !hw->flops_per_s || !hw->bytes_per_s ||
	    !hw->efficiency_permille || !hw->memory_efficiency_permille ||
	    !hw->element_bytes || !hw->gradient_element_bytes ||
	    !shape->efficiency_permille || hw->element_bytes > 16 ||
	    hw->gradient_element_bytes > 16 ||
	    hw->state_bytes_per_parameter > 1024 ||
	    hw->efficiency_permille > 1000 ||
	    shape->efficiency_permille > 10000 ||
	    hw->memory_efficiency_permille > 1000)
		return -EINVAL;
	if (shape->parameters > DLBOOST_PLAN_MAX_BYTES / 1024 ||
	    shape->bytes > DLBOOST_PLAN_MAX_BYTES ||
	    shape->backward_bytes > DLBOOST_PLAN_MAX_BYTES ||
	    hw->launch_ns > DLBOOST_PLAN_MAX_NS)
		return -EOVERFLOW;
	return 0;
}

static int check_result(const struct dlboost_plan_layer *layer)
{
	const uint64_t ns[] = { layer->forward_ns, layer->input_grad_ns,
				layer->weight_grad_ns, layer->update_ns };

	for (size_t i = 0; i < ARRAY_SIZE(ns); i++)
		if (ns[i] > DLBOOST_PLAN_MAX_NS)
			return -EOVERFLOW;
	return layer->activation_bytes > DLBOOST_PLAN_MAX_BYTES ||
	       layer->gradient_bytes > DLBOOST_PLAN_MAX_BYTES ? -EOVERFLOW : 0;
}

DLB_EXPORT int dlboost_plan_estimate(
	const struct dlboost_plan_shape *shape,
	const struct dlboost_plan_hardware *hardware, uint32_t batch,
	struct dlboost_plan_layer *layer)
{
	const struct dlboost_plan_hardware *hw = hardware;
	bool has_dw = shape->parameters ||
		      (layer->flags & DLBOOST_PLAN_LAYER_TIED);
	uint64_t weights = shape->parameters * hw->element_bytes, flops_ns;
	struct dlboost_plan_layer out = *layer;
	int ret = check_arguments(shape, hw, batch);

	if (ret)
		return ret;
	flops_ns = compute_ns(shape, hw, batch);
	out.forward_ns = sum(hw->launch_ns, flops_ns, memory_ns(hw, weights,
				scaled(shape->bytes, batch, hw)));
	/* Without parameters both factors are activations, with a dX each */
	out.input_grad_ns = sum(hw->launch_ns, has_dw ? flops_ns :
				sum(flops_ns, flops_ns, 0), memory_ns(hw,
				weights, scaled(shape->backward_bytes, batch,
						hw)));
	out.parameter_bytes = shape->parameters * hw->gradient_element_bytes;
	out.weight_grad_ns = has_dw ? sum(hw->launch_ns, flops_ns,
					  memory_ns(hw, 0, out.parameter_bytes)) :
			     0;
	out.update_ns = shape->parameters ?
			sum(hw->launch_ns, memory_ns(hw, 0, shape->parameters *
				hw->gradient_element_bytes * UPDATE_PASSES), 0) :
			0;
	out.activation_bytes = scaled(shape->activation_bytes, batch, hw);
	out.gradient_bytes = scaled(shape->output_bytes, batch, hw);
	out.static_bytes = shape->parameters * hw->state_bytes_per_parameter;
	ret = check_result(&out);
	if (!ret)
		*layer = out;
	return ret;
}
