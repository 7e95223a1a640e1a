// SPDX-License-Identifier: BSD-2-Clause
/* Copies words and arrays out of V8's heap. */
#include "v8/v8_memory.h"

#include <errno.h>
#include <stdlib.h>

#include <pkbpf/v8.h>

/* The same in all versions with 64-bit references. */
#define ARRAY_LENGTH 8
#define ARRAY_DATA   16
#define WORD_BYTES   8

int v8_read_bytes(const struct v8_memory *memory, uint64_t object, size_t offset, void *buffer,
		  size_t size)
{
	return v8_is_object(object) ? v8_read(memory, v8_strong(object) - 1 + offset, buffer, size)
				    : -EINVAL;
}

int v8_read_smi(const struct v8_memory *memory, uint64_t object, size_t offset, int32_t *ret_value)
{
	uint64_t value;
	int err = v8_read_word(memory, object, offset, &value);

	if (err)
		return err;
	*ret_value = v8_smi(value);
	return v8_is_smi(value) ? 0 : -EINVAL;
}

int v8_read_type(const struct v8_memory *memory, uint64_t object, uint16_t *ret_type)
{
	uint64_t map;
	int err = v8_read_word(memory, object, 0, &map);

	return err ? err
		   : v8_read_bytes(memory, map, PKBPF_V8_MAP_TYPE, ret_type, sizeof(*ret_type));
}

int v8_read_element(const struct v8_memory *memory, uint64_t array, uint32_t index,
		    uint64_t *ret_value)
{
	int32_t length;
	int err = v8_read_smi(memory, array, ARRAY_LENGTH, &length);

	if (err)
		return err;
	if (length < 0 || index >= (uint32_t)length)
		return -ENOENT;
	return v8_read_word(memory, array, ARRAY_DATA + (size_t)index * WORD_BYTES, ret_value);
}

int v8_read_byte_array(const struct v8_memory *memory, uint64_t array, size_t max_size,
		       uint8_t **ret_bytes, size_t *ret_size)
{
	int32_t length;
	int err = v8_read_smi(memory, array, ARRAY_LENGTH, &length);

	*ret_bytes = NULL;
	*ret_size = 0;
	if (err || !length)
		return err;
	if (length < 0 || (size_t)length > max_size)
		return -EFBIG;
	*ret_bytes = malloc((size_t)length);
	if (!*ret_bytes)
		return -ENOMEM;
	err = v8_read_bytes(memory, array, ARRAY_DATA, *ret_bytes, (size_t)length);
	if (err) {
		free(*ret_bytes);
		*ret_bytes = NULL;
		return err;
	}
	*ret_size = (size_t)length;
	return 0;
}
