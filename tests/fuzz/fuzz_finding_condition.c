// SPDX-License-Identifier: BSD-2-Clause
/* Parses anything as a condition: what is accepted has a figure and a number, what is not has a
 * reason.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "finding/condition.h"

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
	struct condition condition;

	require(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (condition_parse(text, &condition, &error) == 0) {
		require(condition.figure && isfinite(condition.value));
		require((condition.any_row || condition.pid) == 0 || condition.name[0] == '\0');
		require(condition.figure->unit == FIGURE_SIGNED_BYTES || condition.value >= 0);
	} else {
		require(error.text[0]);
	}
	free(text);
	return 0;
}
