/* SPDX-License-Identifier: BSD-2-Clause */
/* Derives container or unit from a cgroup's path. Runtimes nest: the deepest container element
 * counts. Any user may choose paths: an unknown shape is not a container. */
#ifndef PKBPF_PROCESS_CGROUP_CGROUP_NAME_H
#define PKBPF_PROCESS_CGROUP_CGROUP_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_NAME_SIZE 256 /* longest possible path element, with its NUL */

struct cgroup_name {
	const char *runtime;		/* "docker", "containerd", …; NULL: no container */
	char id[CGROUP_NAME_SIZE];	/* of the container, or its chosen name */
	char pod_uid[CGROUP_NAME_SIZE]; /* of a Kubernetes pod, with '-'; "": none */
	/* of systemd, unescaped: "postgresql@15-main.service"; "": none */
	char unit[CGROUP_NAME_SIZE];
	/* Of the user whose manager has the container or unit ("user@1000.service" above it). */
	bool has_user;
	uint32_t user;
	/* bytes of the path up to the end of the container's element, of the container's that it
	 * runs in (0: none), and of the unit's */
	size_t container_end, outer_end, unit_end;
};

/* Fills every field. */
void cgroup_name_parse(const char *path, struct cgroup_name *ret_name);
/* "docker:0123456789ab", "postgresql.service", or the path itself. */
void cgroup_name_display(const struct cgroup_name *name, const char *path, char *ret_text,
			 size_t size);
/* The same with the name that the container's user gave: "docker:web"; "" or NULL: unknown. */
void container_label(const struct cgroup_name *name, const char *container, const char *path,
		     char *ret_text, size_t size);

#endif
