// SPDX-License-Identifier: BSD-2-Clause
#include "rows/cgroup_label.h"

#include <stdio.h>
#include <string.h>

#include "process/cgroup/cgroup_name.h"
#include "profile/account/resource_usage.h"

void cgroup_label(const struct resource_usage *usage, uint64_t id, const char *path, char *ret_text,
		  size_t size)
{
	const char *known = resource_usage_cgroup(usage, id);
	const char *container =
		known && strcmp(known, path) == 0 ? resource_usage_container(usage, id) : NULL;
	struct cgroup_name name;

	cgroup_name_parse(path, &name);
	if (container && name.runtime)
		snprintf(name.id, sizeof(name.id), "%s", container);
	cgroup_name_display(&name, path, ret_text, size);
}
