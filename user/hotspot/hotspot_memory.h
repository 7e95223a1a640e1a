/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the memory of a process with a HotSpot JVM, or of a test. */
#ifndef PKBPF_HOTSPOT_HOTSPOT_MEMORY_H
#define PKBPF_HOTSPOT_HOTSPOT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct hotspot_memory {
	/* Reads all bytes (0), or returns a negative errno. */
	int (*read)(void *context, uint64_t address, void *buffer, size_t size);
	void *context;
};

static inline int hotspot_read(const struct hotspot_memory *memory, uint64_t address, void *buffer,
			       size_t size)
{
	return memory->read(memory->context, address, buffer, size);
}

/* The NUL-terminated string at an address, cut to size - 1 bytes. Bytes behind it need not be
 * mapped. */
int hotspot_read_string(const struct hotspot_memory *memory, uint64_t address, char *buffer,
			size_t size);

#endif
