/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cursor over call frame information that cannot leave its bytes.
 *
 * A read past the end gives 0 and sets `failed`; callers check once, after a group of reads. Inline
 * because it is the inner loop of table building.
 */
#ifndef PKBPF_ELF_CFI_READER_H
#define PKBPF_ELF_CFI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cfi_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

/* DW_EH_PE_*: how an address is written. */
enum {
	CFI_POINTER_ABSOLUTE = 0x00,
	CFI_POINTER_ULEB128 = 0x01,
	CFI_POINTER_U16 = 0x02,
	CFI_POINTER_U32 = 0x03,
	CFI_POINTER_U64 = 0x04,
	CFI_POINTER_SLEB128 = 0x09,
	CFI_POINTER_S16 = 0x0a,
	CFI_POINTER_S32 = 0x0b,
	CFI_POINTER_S64 = 0x0c,
	CFI_POINTER_FORMAT_MASK = 0x0f,
	CFI_POINTER_PC_RELATIVE = 0x10,
	CFI_POINTER_DATA_RELATIVE = 0x30,
	CFI_POINTER_BASE_MASK = 0x70,
	CFI_POINTER_INDIRECT = 0x80,
	CFI_POINTER_OMIT = 0xff,
};

static inline size_t cfi_reader_left(const struct cfi_reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

static inline void cfi_read_bytes(struct cfi_reader *reader, void *value, size_t size)
{
	if (cfi_reader_left(reader) < size) {
		reader->failed = true;
		reader->at = reader->end;
		memset(value, 0, size);
		return;
	}
	memcpy(value, reader->at, size);
	reader->at += size;
}

static inline uint8_t cfi_read_u8(struct cfi_reader *reader)
{
	if (reader->at == reader->end) {
		reader->failed = true;
		return 0;
	}
	return *reader->at++;
}

static inline uint16_t cfi_read_u16(struct cfi_reader *reader)
{
	uint16_t value;

	cfi_read_bytes(reader, &value, sizeof(value));
	return value;
}

static inline uint32_t cfi_read_u32(struct cfi_reader *reader)
{
	uint32_t value;

	cfi_read_bytes(reader, &value, sizeof(value));
	return value;
}

static inline uint64_t cfi_read_u64(struct cfi_reader *reader)
{
	uint64_t value;

	cfi_read_bytes(reader, &value, sizeof(value));
	return value;
}

static inline void cfi_skip(struct cfi_reader *reader, uint64_t size)
{
	if (size > cfi_reader_left(reader)) {
		reader->failed = true;
		size = cfi_reader_left(reader);
	}
	reader->at += size;
}

/* Ten bytes hold 64 bits; some writers pad. The limit keeps tables that many functions share from
 * being read to their end by each of them. */
#define CFI_LEB128_MAX_BITS (16 * 7)

/* Bits beyond the 64th are dropped, as all readers of these formats do. */
static inline uint64_t cfi_read_uleb128(struct cfi_reader *reader)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	/* Nearly all are one byte long. */
	if (reader->at != reader->end && *reader->at < 0x80)
		return *reader->at++;
	do {
		byte = cfi_read_u8(reader);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && shift < CFI_LEB128_MAX_BITS);
	if (byte & 0x80)
		reader->failed = true;
	return value;
}

static inline int64_t cfi_read_sleb128(struct cfi_reader *reader)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = cfi_read_u8(reader);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && shift < CFI_LEB128_MAX_BITS);
	if (byte & 0x80)
		reader->failed = true;
	if (shift < 64 && (byte & 0x40))
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

/* The number behind an encoded pointer, without base. */
static inline uint64_t cfi_read_value(struct cfi_reader *reader, uint8_t encoding)
{
	switch (encoding & CFI_POINTER_FORMAT_MASK) {
	case CFI_POINTER_ABSOLUTE:
	case CFI_POINTER_U64:
	case CFI_POINTER_S64:
		return cfi_read_u64(reader);
	case CFI_POINTER_ULEB128:
		return cfi_read_uleb128(reader);
	case CFI_POINTER_U16:
		return cfi_read_u16(reader);
	case CFI_POINTER_U32:
		return cfi_read_u32(reader);
	case CFI_POINTER_SLEB128:
		return (uint64_t)cfi_read_sleb128(reader);
	case CFI_POINTER_S16:
		return (uint64_t)(int64_t)(int16_t)cfi_read_u16(reader);
	case CFI_POINTER_S32:
		return (uint64_t)(int64_t)(int32_t)cfi_read_u32(reader);
	default:
		reader->failed = true;
		return 0;
	}
}

/* An address; field_address is where its first byte is loaded. Indirect and unknown bases fail:
 * they are not resolvable from the file alone. data_base serves .eh_frame_hdr. */
static inline uint64_t cfi_read_pointer(struct cfi_reader *reader, uint8_t encoding,
					uint64_t field_address, uint64_t data_base)
{
	uint64_t value = cfi_read_value(reader, encoding);

	if (encoding & CFI_POINTER_INDIRECT)
		reader->failed = true;
	switch (encoding & CFI_POINTER_BASE_MASK) {
	case CFI_POINTER_ABSOLUTE:
		return value;
	case CFI_POINTER_PC_RELATIVE:
		return value + field_address;
	case CFI_POINTER_DATA_RELATIVE:
		return value + data_base;
	default:
		reader->failed = true;
		return 0;
	}
}

#endif
