// SPDX-License-Identifier: BSD-2-Clause
#include "diff/measure_locks.h"

#include <errno.h>

#include "base/cleanup.h"
#include "rows/lock_view.h"

DEFINE_CLEANUP(struct function_table *, function_table_free)

bool measure_lock(struct measurement *measurement, const char *name, double wait_ns)
{
	struct diff_key key = {PKBPF_PROFILE_LOCKS, DIFF_LOCK,
			       string_pool_add(measurement->names->texts, name)};

	return key.name != STRING_POOL_NONE &&
	       (wait_ns <= 0 || measurement_add(measurement, &key, wait_ns, 0));
}

int measure_locks(struct measurement *measurement, const struct profile *profile)
{
	_cleanup_(function_table_free_cleanup) struct function_table *functions = NULL;
	struct lock_views views;
	bool added = true;
	int err;

	if (!(profile_info_read(profile)->kinds_mask & 1U << PKBPF_PROFILE_LOCKS))
		return 0;
	functions = function_table_new(profile, &(struct function_table_options){.merge = true});
	if (!functions)
		return -ENOMEM;
	err = lock_views_make(&views, profile, functions);
	if (err)
		return err;
	measurement->has_level[DIFF_LOCK] = true;
	for (size_t i = 0; added && i < views.count; i++) {
		const struct lock_view *view = &views.items[i];
		char name[LOCK_NAME_TEXT_SIZE];

		added = measure_lock(measurement,
				     view->lock->name[0] ? view->lock->name
							 : lock_view_name(name, view, functions),
				     (double)view->lock->wait_ns);
	}
	lock_views_done(&views);
	return added ? 0 : -ENOMEM;
}
