// SPDX-License-Identifier: BSD-2-Clause
/* Parses any path as that of a cgroup: what comes out is part of what went in, but for escapes, and
 * fits. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "process/cgroup/cgroup_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cgroup_name name;
	char *path = malloc(size + 1);
	char text[64];

	require(path);
	memcpy(path, data, size);
	path[size] = '\0';
	cgroup_name_parse(path, &name);
	require(strlen(name.id) < sizeof(name.id) && strlen(name.unit) < sizeof(name.unit));
	require(!name.id[0] == !name.runtime);
	require(strstr(path, name.id) || strstr(path, "\\x"));
	require(!strchr(name.id, '/'));
	require(strlen(name.pod_uid) <= 36);
	cgroup_name_display(&name, path, text, sizeof(text));
	require(strlen(text) < sizeof(text));
	free(path);
	return 0;
}
