// SPDX-License-Identifier: BSD-2-Clause
/* Copies bytes and strings out of a process. */
#include "hotspot/hotspot_memory.h"

#include <string.h>

#define PAGE_BYTES 4096U

int hotspot_read_string(const struct hotspot_memory *memory, uint64_t address, char *buffer,
			size_t size)
{
	size_t length = 0;

	while (length + 1 < size) {
		size_t left = PAGE_BYTES - (size_t)((address + length) % PAGE_BYTES);
		size_t piece = size - 1 - length < left ? size - 1 - length : left;
		int err = hotspot_read(memory, address + length, buffer + length, piece);

		if (err)
			return err;
		if (memchr(buffer + length, '\0', piece))
			return 0;
		length += piece;
	}
	buffer[length] = '\0';
	return 0;
}
