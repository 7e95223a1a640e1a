/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels of cgroups in reports: container or unit. */
#ifndef PKBPF_ROWS_CGROUP_LABEL_H
#define PKBPF_ROWS_CGROUP_LABEL_H

#include <stddef.h>
#include <stdint.h>

struct resource_usage;

/* "docker:web", "postgresql.service", or its path; not escaped. id: 0 when
 * unknown. A container has the same label by each of its cgroups. */
void cgroup_label(const struct resource_usage *usage, uint64_t id, const char *path, char *ret_text,
		  size_t size);

#endif
