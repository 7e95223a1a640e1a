/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads out of a cgroup's path which container or unit it is. Runtimes nest: the deepest element
 * that tells of a container counts. Paths are made by strangers: whatever is not understood is no
 * container.
 */
#ifndef PKBPF_PROCESS_CGROUP_CGROUP_NAME_H
#define PKBPF_PROCESS_CGROUP_CGROUP_NAME_H

#include <stddef.h>

#define CGROUP_NAME_SIZE 256 /* the longest element of a path there can be, with its NUL */

struct cgroup_name {
	const char *runtime;		/* "docker", "containerd", …; NULL: no container */
	char id[CGROUP_NAME_SIZE];	/* of the container, or its free name */
	char pod_uid[CGROUP_NAME_SIZE]; /* of a Kubernetes pod, with '-'; "" none */
	/* of systemd, escapes undone: "postgresql@15-main.service"; "" none */
	char unit[CGROUP_NAME_SIZE];
};

/* Fills all of it. */
void cgroup_name_parse(const char *path, struct cgroup_name *ret_name);
/* "docker:0123456789ab", "postgresql.service", or the path itself. */
void cgroup_name_display(const struct cgroup_name *name, const char *path, char *ret_text,
			 size_t size);

#endif
