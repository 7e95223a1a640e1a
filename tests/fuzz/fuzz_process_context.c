// SPDX-License-Identifier: BSD-2-Clause
/* Feeds hostile messages to the reader of process contexts. */
#include <stdlib.h>

#include "process/process_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const wanted[] = {"http.route", "", "tenant"};
	struct process_context_keys keys;

	if (process_context_parse(data, size, wanted, 3, &keys) == 0) {
		if (keys.count > PROCESS_CONTEXT_KEYS || (keys.has_schema && keys.is_unknown))
			abort();
		for (size_t i = 0; i < PROCESS_CONTEXT_KEYS; i++)
			if (keys.places[i] > 3 || (keys.places[i] && i >= keys.count))
				abort();
	}
	return 0;
}
