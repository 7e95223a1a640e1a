// SPDX-License-Identifier: BSD-2-Clause
#include "process/cgroup/frozen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file_io.h"
#include "process/cgroup/cgroup_limits.h"
#include "process/cgroup/container_match.h"

/* Cgroups that are looked at. */
#define MAX_CGROUPS 4096

bool frozen_cgroup(const char *path)
{
	static const char *const mounts[] = {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"};

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		_cleanup_free_ char *text = NULL;
		char events[PATH_MAX];
		size_t size;

		snprintf(events, sizeof(events), "%s%.3000s/cgroup.events", mounts[i], path);
		if (file_read_all(AT_FDCWD, events, 4096, &text, &size) == 0)
			return strstr(text, "frozen 1");
	}
	return false;
}

/* context: which container; NULL: any cgroup. */
static int stop_at_frozen(void *context, const struct cgroup_limit *limit)
{
	struct container container;

	if (!limit->frozen)
		return 0;
	if (!context)
		return -ECANCELED;
	return container_at("", limit->path, &container) &&
			       container_match(context, &container) != CONTAINER_DIFFERS
		       ? -ECANCELED
		       : 0;
}

static bool read_and_close(struct cgroup_limits *limits, int err, void *context)
{
	if (!err)
		err = cgroup_limits_read(limits, 0, stop_at_frozen, context);
	cgroup_limits_close(limits);
	return err == -ECANCELED;
}

bool frozen_process(uint32_t pid)
{
	struct cgroup_limits *limits = cgroup_limits_open("", CGROUP_FREEZER, MAX_CGROUPS);

	return limits && read_and_close(limits, cgroup_limits_add_of(limits, pid), NULL);
}

bool frozen_container(const char *text)
{
	struct cgroup_limits *limits = cgroup_limits_open("", CGROUP_FREEZER, MAX_CGROUPS);

	return limits && read_and_close(limits, cgroup_limits_add_all(limits), (void *)text);
}
