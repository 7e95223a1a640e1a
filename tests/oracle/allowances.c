// SPDX-License-Identifier: BSD-2-Clause
#include "allowances.h"

#include <err.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

void allowances_read(struct allowances *allowances, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[1024];

	if (!file)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), file)) {
		struct allowance *each = &allowances->items[allowances->count];
		char reason[2];

		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (allowances->count == MAX_ALLOWANCES - 1 ||
		    sscanf(line, "%255s %lu %1s", each->pattern, &each->max_count, reason) != 3)
			errx(2, "%s: not \"pattern count reason\": %s", path, line);
		allowances->count++;
	}
	fclose(file);
}

unsigned long allowances_find(const struct allowances *allowances, const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (size_t i = 0; i < allowances->count; i++)
		if (fnmatch(allowances->items[i].pattern, name, 0) == 0)
			return allowances->items[i].max_count;
	return 0;
}
