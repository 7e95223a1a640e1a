// SPDX-License-Identifier: BSD-2-Clause
/* Text of /proc/PID/fdinfo as a driver writes it, or does not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/drm_fdinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct drm_fdinfo info;
	uint64_t bytes;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (drm_fdinfo_read(text, &info)) {
		drm_fdinfo_memory(&info, &bytes);
		for (size_t i = 0; i < info.engine_count; i++)
			if (!info.engines[i].capacity || !info.engines[i].name[0])
				abort();
	}
	free(text);
	return 0;
}
