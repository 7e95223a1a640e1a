// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_limits.h"

#include <errno.h>

/* The figure is known with this limit alone. */
static int add_needed(const struct alert_term *term, struct region_limits *limits,
		      struct error *error)
{
	const struct region_condition *region = &term->region;
	int err;

	if (term->subject != ALERT_OF_REGION || !region->limit_ns)
		return 0;
	err = region_limits_add(limits, region->name, region->limit_ns);
	if (err == -EEXIST)
		return error_set(
			error, EINVAL,
			"region[%s].over() has two limits: regions of one name are counted "
			"from one on",
			region->name);
	return err < 0 ? error_set(error, EINVAL, "region[%s].over(): %d regions can have a limit",
				   region->name, PKBPF_SPAN_LIMITS)
		       : 0;
}

/* Without it the verdict is that of a percentile, and violations are not counted. */
static void add_useful(const struct alert_term *term, struct region_limits *limits)
{
	/* A value of the past is not known yet. */
	uint64_t limit_ns = term->subject == ALERT_OF_REGION && !term->is_past
				    ? region_condition_limit_ns(&term->region)
				    : 0;

	if (limit_ns)
		region_limits_add(limits, term->region.name, limit_ns);
}

int serve_limits_choose(const struct serve_config *config, struct region_limits *ret_limits,
			struct error *error)
{
	int err = 0;

	*ret_limits = (struct region_limits){0};
	array_foreach(&config->objectives.list, objective)
		err = err < 0 ? err : add_needed(&objective->term, ret_limits, error);
	array_foreach(&config->rules.list, rule)
		for (size_t i = 0; i < rule->term_count && err == 0; i++)
			err = add_needed(&rule->terms[i], ret_limits, error);
	array_foreach(&config->objectives.list, objective)
		add_useful(&objective->term, ret_limits);
	array_foreach(&config->rules.list, rule)
		for (size_t i = 0; i < rule->term_count; i++)
			add_useful(&rule->terms[i], ret_limits);
	return err;
}
