// SPDX-License-Identifier: BSD-2-Clause
#include "rows/cgroup_label.h"

#include <string.h>

#include "process/cgroup/cgroup_name.h"
#include "profile/account/resource_usage.h"

/* Cgroups whose containers are compared. */
#define SEARCHED_MAX 1024

/* The name of the same container from another of its cgroups: of one below or above, or of that in
 * another hierarchy, which has another id. */
static const char *name_elsewhere(const struct resource_usage *usage,
				  const struct cgroup_name *wanted)
{
	const char *container, *path;
	size_t cursor = 0;
	uint64_t id;

	for (size_t i = 0; i < SEARCHED_MAX; i++) {
		struct cgroup_name name;

		container = resource_usage_container_at(usage, &cursor, &id);
		if (!container)
			break;
		path = resource_usage_cgroup(usage, id);
		if (!path || !strstr(path, wanted->id))
			continue;
		cgroup_name_parse(path, &name);
		if (name.runtime == wanted->runtime && strcmp(name.id, wanted->id) == 0)
			return container;
	}
	return NULL;
}

void cgroup_label(const struct resource_usage *usage, uint64_t id, const char *path, char *ret_text,
		  size_t size)
{
	const char *known = resource_usage_cgroup(usage, id);
	const char *container =
		known && strcmp(known, path) == 0 ? resource_usage_container(usage, id) : NULL;
	struct cgroup_name name;

	cgroup_name_parse(path, &name);
	if (!container && name.runtime)
		container = name_elsewhere(usage, &name);
	container_label(&name, container, path, ret_text, size);
}
