// SPDX-License-Identifier: BSD-2-Clause
#include "alert/function_shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/function_table.h"

#define DEPTH_MAX 1024

static int weigh_functions(const struct profile *profile, const struct function_table *functions,
			   bool total, double *weights, double *ret_all)
{
	size_t count, depth, function_count = function_table_count(functions);
	const struct profile_row *rows = profile_rows(profile, &count);
	_cleanup_free_ uint32_t *stack = malloc(DEPTH_MAX * sizeof(*stack));
	_cleanup_free_ size_t *last = calloc(function_count + 1, sizeof(*last));

	*ret_all = 0;
	if (!stack || !last)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].kind != PKBPF_PROFILE_CPU)
			continue;
		depth = function_table_stack(functions, profile, rows[i].stack, stack, DEPTH_MAX);
		depth = depth < DEPTH_MAX ? depth : DEPTH_MAX;
		*ret_all += (double)rows[i].weight;
		for (size_t j = 0; j < (total ? depth : depth > 0); j++) {
			/* A recursive function counts once. */
			if (last[stack[j]] == i + 1)
				continue;
			last[stack[j]] = i + 1;
			weights[stack[j]] += (double)rows[i].weight;
		}
	}
	return 0;
}

int function_shares_each(const struct profile *profile, const char *wanted, bool total,
			 function_share_take take, void *context)
{
	const struct function_table_options options = {.merge = true};
	struct function_table *functions = function_table_new(profile, &options);
	size_t count = functions ? function_table_count(functions) : 0;
	_cleanup_free_ double *weights = calloc(count + 1, sizeof(*weights));
	double all = 0;
	int err = functions && weights ? weigh_functions(profile, functions, total, weights, &all)
				       : -ENOMEM;

	if (err == 0 && !(all > 0))
		err = -ENODATA;
	for (uint32_t i = 0; i < count && err == 0; i++) {
		const char *name = function_table_get(functions, i)->name;

		if (weights[i] > 0 && (strcmp(wanted, "*") == 0 || strcmp(wanted, name) == 0))
			take(context, name, 100 * weights[i] / all);
	}
	function_table_free(functions);
	return err;
}
