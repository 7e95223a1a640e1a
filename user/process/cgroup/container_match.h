/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares containers and units with the text somebody chose them by. */
#ifndef PKBPF_PROCESS_CGROUP_CONTAINER_MATCH_H
#define PKBPF_PROCESS_CGROUP_CONTAINER_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "process/cgroup/cgroup_name.h"

enum container_match {
	CONTAINER_DIFFERS,
	CONTAINER_HAS_ID_PREFIX, /* its id begins so */
	CONTAINER_IS_NAMED, /* its id, its name, or that of its pod; or a pattern matches the name
			     */
};

/* Shortest prefix of an id that chooses a container. */
#define CONTAINER_ID_PREFIX_MIN 3

struct container {
	struct cgroup_name cgroup;
	char name[CGROUP_NAME_SIZE];	  /* given by its user; "": unknown */
	char label[2 * CGROUP_NAME_SIZE]; /* as in reports: "docker:web", "nginx.service" */
};

/* Reads what is known of the cgroup with this path below the root of its hierarchy. False: the
 * directory is neither that of a container nor that of a unit. root: as in
 * container_name_find(). */
bool container_at(const char *root, const char *path, struct container *ret_container);
/* The same with a name known otherwise, "" for none. */
bool container_from(const char *path, const char *name, struct container *ret_container);
/* Does the text hold a character of a pattern: * ? [ */
bool container_is_pattern(const char *text);
/* text: an id or its prefix; a name such as "web", "namespace/pod/container", "namespace/pod",
 * "pod/container" or a part of these; a unit; a pattern of a name; each also behind "runtime:", as
 * in reports. */
enum container_match container_match(const char *text, const struct container *container);

#endif
