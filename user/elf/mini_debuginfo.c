// SPDX-License-Identifier: BSD-2-Clause
/* Unpacks .gnu_debugdata. */
#include "elf/mini_debuginfo.h"

#include <errno.h>
#include <stdlib.h>

#include <lzma.h>

#include "base/cleanup.h"

#define FIRST_BYTES (256U << 10)

/* The unpacked size is not known beforehand: the buffer doubles until it suffices. */
static int unpack(lzma_stream *stream, void **ret_image, size_t *ret_size)
{
	_cleanup_free_ uint8_t *image = NULL;
	size_t size = 0;

	for (size_t room = FIRST_BYTES;; room *= 2) {
		uint8_t *larger = realloc(image, room);
		lzma_ret result;

		if (!larger)
			return -ENOMEM;
		image = larger;
		stream->next_out = image + size;
		stream->avail_out = room - size;
		result = lzma_code(stream, LZMA_FINISH);
		size = room - stream->avail_out;
		if (result == LZMA_STREAM_END)
			break;
		if (result == LZMA_MEM_ERROR || result == LZMA_MEMLIMIT_ERROR)
			return -ENOMEM;
		if (result != LZMA_OK || stream->avail_out != 0)
			return -ENOEXEC;
		if (room >= MINI_DEBUGINFO_MAX_BYTES)
			return -EFBIG;
	}
	*ret_image = take_pointer(image);
	*ret_size = size;
	return 0;
}

int mini_debuginfo_read(const struct elf_file *file, void **ret_image, size_t *ret_size)
{
	const struct elf_section *section = elf_file_find_section(file, ".gnu_debugdata");
	_cleanup_free_ void *packed = NULL;
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t packed_size;
	int err;

	if (!section)
		return -ENOENT;
	err = elf_file_read_section(file, section, MINI_DEBUGINFO_MAX_COMPRESSED_BYTES, &packed,
				    &packed_size);
	if (err)
		return err;
	if (lzma_stream_decoder(&stream, MINI_DEBUGINFO_MAX_DECODER_BYTES, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = packed;
	stream.avail_in = packed_size;
	err = unpack(&stream, ret_image, ret_size);
	lzma_end(&stream);
	return err;
}
