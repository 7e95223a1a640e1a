// SPDX-License-Identifier: BSD-2-Clause
#include "top/terminal_names.h"

#include <stdlib.h>
#include <string.h>

#ifdef PKBPF_STATIC

static const struct {
	const char *name, *description;
} terminals[] = {
#include "embedded/terminals.inc"
	{NULL, NULL}};

#define ANY "xterm-256color"

const char *terminal_names_describe(const char *name)
{
	const char *found = NULL, *any = NULL;

	if (!name || !*name || strcmp(name, "dumb") == 0)
		return NULL;
	for (size_t i = 0; terminals[i].name && !found; i++) {
		if (strcmp(terminals[i].name, name) == 0)
			found = terminals[i].description;
		if (strcmp(terminals[i].name, ANY) == 0)
			any = terminals[i].description;
	}
	if (setenv("TERMINFO", found ? found : any, 1) < 0 ||
	    setenv("TERM", found ? name : ANY, 1) < 0)
		return NULL;
	return getenv("TERM");
}

#else

const char *terminal_names_describe(const char *name)
{
	(void)name;
	return NULL;
}

#endif
