// SPDX-License-Identifier: BSD-2-Clause
#include "process/cgroup/container_match.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "process/cgroup/container_name.h"

bool container_from(const char *path, const char *name, struct container *ret_container)
{
	struct cgroup_name *cgroup = &ret_container->cgroup;
	size_t length = strlen(path);

	cgroup_name_parse(path, cgroup);
	if (cgroup->runtime && cgroup->container_end == length) {
		snprintf(ret_container->name, sizeof(ret_container->name), "%s", name);
	} else if (cgroup->unit[0] && cgroup->unit_end == length) {
		/* A unit inside a container is known by its own name. */
		cgroup->runtime = NULL;
		ret_container->name[0] = '\0';
	} else {
		return false;
	}
	container_label(cgroup, ret_container->name, path, ret_container->label,
			sizeof(ret_container->label));
	return true;
}

bool container_at(const char *root, const char *path, struct container *ret_container)
{
	char name[CGROUP_NAME_SIZE];

	if (!container_from(path, "", ret_container))
		return false;
	return ret_container->cgroup.runtime &&
			       container_name_find(root, &ret_container->cgroup, name, sizeof(name))
		       ? container_from(path, name, ret_container)
		       : true;
}

bool container_is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

/* Is text some of the parts of name between its slashes, one after the other? */
static bool has_parts(const char *name, const char *text)
{
	size_t length = strlen(text);

	for (const char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (strncmp(part, text, length) == 0 && (!part[length] || part[length] == '/'))
			return true;
	}
	return false;
}

enum container_match container_match(const char *text, const struct container *container)
{
	const struct cgroup_name *cgroup = &container->cgroup;
	const char *name = container->name[0] ? container->name : cgroup->id;
	size_t runtime = cgroup->runtime ? strlen(cgroup->runtime) : 0;

	if (!runtime)
		name = cgroup->unit;
	else if (strncmp(text, cgroup->runtime, runtime) == 0 && text[runtime] == ':')
		text += runtime + 1;
	if (!*text)
		return CONTAINER_DIFFERS;
	if (strcmp(text, name) == 0 || (container_is_pattern(text) && fnmatch(text, name, 0) == 0))
		return CONTAINER_IS_NAMED;
	if (!runtime)
		return CONTAINER_DIFFERS;
	if (strcmp(text, cgroup->id) == 0 || (container->name[0] && has_parts(name, text)) ||
	    (cgroup->pod_uid[0] && strcmp(text, cgroup->pod_uid) == 0))
		return CONTAINER_IS_NAMED;
	if (strlen(text) >= CONTAINER_ID_PREFIX_MIN && strncmp(text, cgroup->id, strlen(text)) == 0)
		return CONTAINER_HAS_ID_PREFIX;
	return CONTAINER_DIFFERS;
}
