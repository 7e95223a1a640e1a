// SPDX-License-Identifier: BSD-2-Clause
/* Scales the weights of page-fault stacks to the exact number of each process. */
#include "profile/fault_counts.h"

#include <errno.h>

#include <pkbpf/faults.h>

static int add_without_stack(struct profile *profile, const struct distribution *exact)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), exact->key.process);
	struct profile_row row = {
		.kind = PKBPF_PROFILE_FAULTS,
		.process = exact->key.process,
		.tid = PROFILE_NO_THREAD,
		.comm = profile_intern_string(profile, process ? process->comm : ""),
		.stack = profile_intern_stack(profile, NULL, 0),
		.state = exact->key.state,
		.count = exact->count,
		.weight = exact->count,
	};

	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX)
		return -ENOMEM;
	return profile_add(profile, &row);
}

int profile_scale_faults(struct profile *profile)
{
	const struct distribution *exact;

	for (size_t i = 0; (exact = profile_distribution_at(profile, i)); i++) {
		struct profile_row_set rows = {
			.kind = PKBPF_PROFILE_FAULTS,
			.process = exact->key.process,
			.state_mask = PKBPF_FAULT_MASK,
			.state = exact->key.state & PKBPF_FAULT_MASK,
		};

		if (exact->key.kind != PKBPF_PROFILE_FAULTS ||
		    exact->key.measure != PKBPF_FAULT_EXACT || !exact->count)
			continue;
		if (!profile_scale(profile, &rows, exact->count) &&
		    add_without_stack(profile, exact))
			return -ENOMEM;
	}
	return 0;
}
