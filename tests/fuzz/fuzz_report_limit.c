// SPDX-License-Identifier: BSD-2-Clause
/* Parses anything as a limit: what is accepted has a figure and a number, what is not has a reason.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/limit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct error error = {""};
	struct limit limit;

	require(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (limit_parse(text, &limit, &error) == 0) {
		require(limit.figure && isfinite(limit.value));
		require((limit.any_row || limit.pid) == 0 || limit.name[0] == '\0');
		require(limit.figure->unit == FIGURE_SIGNED_BYTES || limit.value >= 0);
	} else {
		require(error.text[0]);
	}
	free(text);
	return 0;
}
