// SPDX-License-Identifier: BSD-2-Clause
/* Packets of a process that NVIDIA's library has taken over. The first byte of each is its kind. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/nvml_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nvml_told told = {.rejected = 0};

	for (size_t at = 0; at < size;) {
		struct nvml_message message = {.magic = NVML_MAGIC};
		size_t room = sizeof(message) - sizeof(message.magic);
		size_t length = size - at < room ? size - at : room;

		memcpy((char *)&message + sizeof(message.magic), data + at, length);
		message.kind &= 0xff;
		at += length;
		nvml_told_take(&told, &message, length % 7 == 3 ? length : sizeof(message));
		array_foreach(&told.look.uses, use)
			if (use->device >= told.look.device_count || !use->pid ||
			    use->busy_ns > 100)
				abort();
	}
	for (size_t i = 0; i < told.look.device_count; i++)
		if (told.look.devices[i].busy_permille > 1000 ||
		    strnlen(told.look.devices[i].id, GPU_ID_SIZE) == GPU_ID_SIZE)
			abort();
	nvml_told_clear(&told);
	return 0;
}
