// SPDX-License-Identifier: BSD-2-Clause
/* A plugin that leaks 200 KiB per second. */
#include <stdlib.h>
#include <string.h>

void leak_plugin(void)
{
	char *volatile block = malloc(4000);

	memset(block, 1, 4000);
}
