/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that block devices transferred between two looks. */
#ifndef PKBPF_PROCESS_RELATION_DEVICE_BYTES_H
#define PKBPF_PROCESS_RELATION_DEVICE_BYTES_H

#include "process/relation/relation_writer.h"

#define DEVICES_MAX 256

struct device_bytes {
	uint32_t major, minor;
	uint64_t bytes;
};

/* Since boot; returns how many devices, at most DEVICES_MAX. */
size_t device_bytes_read(const char *path, struct device_bytes devices[DEVICES_MAX]);
/* Writes a relation for each device that transferred anything since `before`. */
void device_bytes_write(const struct device_bytes *before, size_t count,
			const struct relation_writer *writer);

#endif
