// SPDX-License-Identifier: BSD-2-Clause
/* Ends of functions from unwind information, and from the padding that assemblers put between
 * functions. */
#include "symbol/elf_extent.h"

#include <elf.h>
#include <string.h>

/* Both assemblers' and compilers' usual alignment of functions. */
#define ALIGNMENT 16U
#define WINDOW	  4096U

/* Bytes of the padding instruction at code, of which size are left; 0: none. */
static size_t x86_padding(const uint8_t *code, size_t size)
{
	size_t at = 0;

	if (code[0] == 0x90 || code[0] == 0xcc)
		return 1;
	while (at < size && code[at] == 0x66)
		at++;
	if (at < size && at > 0 && code[at] == 0x90)
		return at + 1;
	if (at < size && code[at] == 0x2e)
		at++;
	if (size - at < 3 || code[at] != 0x0f || code[at + 1] != 0x1f)
		return 0;
	switch (code[at + 2]) {
	case 0x00:
		return at + 3;
	case 0x40:
		return at + 4;
	case 0x44:
		return at + 5;
	case 0x80:
		return at + 7;
	case 0x84:
		return at + 8;
	default:
		return 0;
	}
}

static size_t arm64_padding(const uint8_t *code, size_t size)
{
	static const uint8_t nop[] = {0x1f, 0x20, 0x03, 0xd5}, udf[4] = {0};

	return size >= 4 && (memcmp(code, nop, 4) == 0 || memcmp(code, udf, 4) == 0) ? 4 : 0;
}

/* Length of a return instruction at code; 0: there is none. */
static size_t return_length(uint16_t machine, const uint8_t *code, size_t size)
{
	static const uint8_t arm64_return[] = {0xc0, 0x03, 0x5f, 0xd6};

	if (machine == EM_X86_64 || machine == EM_386)
		return code[0] == 0xc3 ? 1 : 0;
	return machine == EM_AARCH64 && size >= 4 && memcmp(code, arm64_return, 4) == 0 ? 4 : 0;
}

/* Whether padding, some of it, fills all from code to the next aligned address. */
static bool is_padded(uint16_t machine, const uint8_t *code, size_t size, uint64_t address)
{
	size_t wanted = (size_t)(-address % ALIGNMENT);

	if (wanted == 0 || wanted > size)
		return false;
	for (size_t at = 0; at < wanted;) {
		size_t length = machine == EM_AARCH64 ? arm64_padding(code + at, wanted - at)
						      : x86_padding(code + at, wanted - at);

		if (length == 0 || length > wanted - at)
			return false;
		at += length;
	}
	return true;
}

static bool file_offset(const struct elf_file *file, uint64_t address, uint64_t *ret_offset,
			uint64_t *ret_size)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (segment->type == PT_LOAD && (segment->flags & PF_X) &&
		    address >= segment->address &&
		    address - segment->address < segment->file_size) {
			*ret_offset = segment->offset + (address - segment->address);
			*ret_size = segment->file_size - (address - segment->address);
			return true;
		}
	}
	return false;
}

/* Behind the first return before end that padding follows; end: there is none, or it cannot be
 * read. */
static uint64_t padded_end(const struct elf_file *file, uint64_t start, uint64_t end)
{
	/* With room for a return at the end of the window and its padding. */
	uint8_t window[WINDOW + 2 * ALIGNMENT];
	uint64_t offset, size;

	if (!file_offset(file, start, &offset, &size))
		return end;
	if (size > end - start)
		size = end - start;
	for (uint64_t done = 0; done < size; done += WINDOW) {
		size_t here = size - done < sizeof(window) ? (size_t)(size - done) : sizeof(window);

		if (elf_file_read(file, offset + done, window, here))
			return end;
		for (size_t at = 0; at < here && at < WINDOW; at++) {
			size_t length = return_length(file->machine, window + at, here - at);
			uint64_t behind = start + done + at + length;

			if (length && is_padded(file->machine, window + at + length,
						here - at - length, behind))
				return behind;
		}
	}
	return end;
}

void elf_extent_bound(struct symbol_table *table, struct elf_functions *functions,
		      const struct elf_file *file)
{
	uint64_t start = 0, end = 0;

	for (size_t i = 0; i < table->count; i++) {
		struct symbol_entry *entry = &table->entries[i];
		uint64_t limit;

		if (!entry->size_is_guess || entry->size == 0)
			continue;
		/* Aliases end at the same place. */
		if (entry->address != start || end == 0) {
			start = entry->address;
			end = start + entry->size;
			limit = elf_functions_end(functions, file, file->segments,
						  file->segment_count, start);
			end = padded_end(file, start, limit < end ? limit : end);
		}
		entry->size = (uint32_t)(end - start);
	}
}
