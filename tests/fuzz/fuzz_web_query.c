// SPDX-License-Identifier: BSD-2-Clause
/* Parameters of a request: "name=value" lines. */
#include <stdlib.h>
#include <string.h>

#include "web/web_query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *line;
	struct web_query query;
	struct error error;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	web_query_init(&query, 1700000000LL * 1000000000LL);
	while ((line = strsep(&rest, "\n"))) {
		char *value = strchr(line, '=');

		if (value)
			*value++ = '\0';
		if (web_query_set(&query, line, value ? value : "", &error) < 0 && !error.text[0])
			abort();
	}
	if (query.seconds > 600 || memchr(query.comm, '\0', sizeof(query.comm)) == NULL)
		abort();
	free(text);
	return 0;
}
