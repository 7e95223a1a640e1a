/* SPDX-License-Identifier: BSD-2-Clause */
/* Little-endian numbers at fixed places, and checksums. */
#ifndef PKBPF_RECORDING_RECORDING_BYTES_H
#define PKBPF_RECORDING_RECORDING_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include <zlib.h>

static inline void recording_put16(uint8_t *to, uint16_t value)
{
	value = htole16(value);
	memcpy(to, &value, sizeof(value));
}
static inline void recording_put32(uint8_t *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
}
static inline void recording_put64(uint8_t *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
}
static inline uint16_t recording_get16(const uint8_t *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return le16toh(value);
}
static inline uint32_t recording_get32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return le32toh(value);
}
static inline uint64_t recording_get64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return le64toh(value);
}
static inline uint32_t recording_checksum(const void *data, size_t size)
{
	return (uint32_t)crc32_z(0, data, size);
}

#endif
