/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the cgroups of the containers or units that somebody chose by name, and those of the same
 * choice that start later. One owner thread. */
#ifndef PKBPF_LIVE_CONTAINER_WATCH_H
#define PKBPF_LIVE_CONTAINER_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/log.h"
#include "process/cgroup/cgroup.h"

struct container_watch;

/* A cgroup got a place in the list of targets. */
typedef int (*container_found_fn)(void *context, size_t place, const char *path);

/* All borrowed. */
struct container_choice {
	const char *text;	      /* see container_match() */
	const char *root;	      /* "" or a test directory with the files of runtimes */
	struct cgroup_paths *targets; /* gets the directories of matching cgroups */
	const struct log *log;
};

/* Finds those that run. Takes the cgroup root. -ESRCH: none matches, and the text is no pattern;
 * -EINVAL: several ids begin so; -ERANGE: too many. */
int container_watch_new(const struct container_choice *choice, struct cgroup_root *cgroups,
			struct container_watch **ret_watch, struct error *error);
/* Readable when cgroups were created; -1: those that start later cannot be seen. */
int container_watch_fd(const struct container_watch *watch);
/* Reads what is readable. Puts new cgroups into the list of targets, in the place of removed ones
 * where there are some, and calls found for each. Negative errno: that of found, or -ENOMEM. */
int container_watch_look(struct container_watch *watch, container_found_fn found, void *context);
/* After how many milliseconds to look again, since a container may get its name later than its
 * cgroup; -1: not before the descriptor is readable. */
int container_watch_rest_ms(const struct container_watch *watch);
void container_watch_free(struct container_watch *watch);

#endif
