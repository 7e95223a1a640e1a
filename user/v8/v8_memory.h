/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads objects of V8's heap in the memory of a process, or of a test. */
#ifndef PKBPF_V8_V8_MEMORY_H
#define PKBPF_V8_V8_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct v8_memory {
	/* Reads all bytes (0), or returns a negative errno. */
	int (*read)(void *context, uint64_t address, void *buffer, size_t size);
	void *context;
};

static inline int v8_read(const struct v8_memory *memory, uint64_t address, void *buffer,
			  size_t size)
{
	return memory->read(memory->context, address, buffer, size);
}

/* Objects are named by tagged references, as they stand in memory: odd numbers (weak ones have
 * bit 1 as well). Offsets are counted from the object's first word. */
static inline bool v8_is_object(uint64_t reference)
{
	return (reference & 5) == 1 && reference >> 47 == 0;
}

/* A strong reference to the same object. */
static inline uint64_t v8_strong(uint64_t reference)
{
	return reference & ~2ULL;
}

/* Small integers are in the upper half. */
static inline bool v8_is_smi(uint64_t value)
{
	return !(uint32_t)value;
}

static inline int32_t v8_smi(uint64_t value)
{
	return (int32_t)(value >> 32);
}

/* -EINVAL: no reference. */
int v8_read_bytes(const struct v8_memory *memory, uint64_t object, size_t offset, void *buffer,
		  size_t size);
static inline int v8_read_word(const struct v8_memory *memory, uint64_t object, size_t offset,
			       uint64_t *ret_value)
{
	return v8_read_bytes(memory, object, offset, ret_value, sizeof(*ret_value));
}
/* A small integer. -EINVAL: it is none. */
int v8_read_smi(const struct v8_memory *memory, uint64_t object, size_t offset, int32_t *ret_value);
/* The type of an object (Map.instance_type). */
int v8_read_type(const struct v8_memory *memory, uint64_t object, uint16_t *ret_type);
/* Element of a FixedArray and its kin. -ENOENT: index is beyond its length. */
int v8_read_element(const struct v8_memory *memory, uint64_t array, uint32_t index,
		    uint64_t *ret_value);
/* The bytes of a ByteArray, to be freed; NULL and 0 bytes where it is empty. -EFBIG beyond
 * max_size. */
int v8_read_byte_array(const struct v8_memory *memory, uint64_t array, size_t max_size,
		       uint8_t **ret_bytes, size_t *ret_size);

#endif
