// SPDX-License-Identifier: BSD-2-Clause
/* Feeds bytes to the finder of probes on functions. */
#include <stdlib.h>

#include "instruction/function_exits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct function_probes probes;

	function_probes_find(data, size, &probes);
	if (!function_probes_has_entry(&probes))
		return 0;
	if (probes.entry >= size)
		abort();
	for (size_t i = 0; i < probes.exit_count; i++)
		if (probes.exits[i].at >= size)
			abort();
	return 0;
}
