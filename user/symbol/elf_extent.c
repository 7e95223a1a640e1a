// SPDX-License-Identifier: BSD-2-Clause
/* Ends of functions from unwind information, and from the padding that assemblers put between
 * functions. */
#include "symbol/elf_extent.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Both assemblers' and compilers' usual alignment of functions. */
#define ALIGNMENT 16U
/* No function of assembly is known to be longer, and no file to have more without a size. */
#define MAX_EXTENT_BYTES (64U << 10)
#define MAX_BYTES	 (4U << 20)
/* Each costs a read or two. x264, which has most of those seen, has 12. */
#define MAX_PLACES	 4096U

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

/* Where the jump of x86, perhaps a conditional one, that the bytes at an offset may be leads to; 0: it is none. */
static size_t jump_target(const uint8_t *code, size_t size, size_t at)
{
	int32_t distance;

	if (at + 2 <= size && ((code[at] & 0xf0) == 0x70 || code[at] == 0xeb))
		return at + 2 + (size_t)(int8_t)code[at + 1];
	if (at + 5 > size || (code[at] != 0xe9 && !(at > 0 && code[at - 1] == 0x0f && (code[at] & 0xf0) == 0x80)))
		return 0;
	memcpy(&distance, code + at + 1, sizeof(distance));
	return at + 5 + (size_t)distance;
}

struct bounder {
	const struct elf_file *file;
	struct elf_functions *functions;
	size_t budget; /* bytes that may still be read: who made the file decides how many there are */
	uint8_t code[MAX_EXTENT_BYTES];
	bool is_target[MAX_EXTENT_BYTES / ALIGNMENT + 1]; /* of a jump from before, by aligned address */
};

/* Bytes up to behind the first return that padding follows, and that no jump leads across; `size`: there is none. */
static size_t padded_size(struct bounder *bounder, size_t size, uint64_t start)
{
	uint16_t machine = bounder->file->machine;
	const uint8_t *code = bounder->code;
	size_t first = start % ALIGNMENT;

	memset(bounder->is_target, 0, sizeof(bounder->is_target));
	for (size_t at = 0; at < size; at++) {
		size_t length = return_length(machine, code + at, size - at), end = at + length, target;

		if (length && is_padded(machine, code + end, size - end, start + end) &&
		    !bounder->is_target[(first + end + ALIGNMENT - 1) / ALIGNMENT])
			return end;
		target = machine == EM_AARCH64 ? 0 : jump_target(code, size, at);
		if (target > at && target < size && (first + target) % ALIGNMENT == 0)
			bounder->is_target[(first + target) / ALIGNMENT] = true;
	}
	return size;
}

static uint64_t find_end(struct bounder *bounder, uint64_t start, uint64_t end)
{
	const struct elf_file *file = bounder->file;
	uint64_t offset, size, function, limit;

	limit = elf_functions_end(bounder->functions, file, file->segments, file->segment_count, start);
	if (limit < end)
		end = limit;
	if (elf_functions_find(bounder->functions, file, file->segments, file->segment_count, start, &function) == 0)
		return end;
	if (end - start > MAX_EXTENT_BYTES)
		end = start + MAX_EXTENT_BYTES;
	if (!elf_segments_offset(file->segments, file->segment_count, start, &offset, &size))
		return end;
	if (size > end - start)
		size = end - start;
	if (size > bounder->budget || elf_file_read(file, offset, bounder->code, (size_t)size))
		return end;
	bounder->budget -= (size_t)size;
	limit = padded_size(bounder, (size_t)size, start);
	return limit < size ? start + limit : end;
}

static struct bounder *bounder_new(struct elf_functions *functions, const struct elf_file *file)
{
	struct bounder *bounder = malloc(sizeof(*bounder));

	if (bounder) {
		bounder->file = file;
		bounder->functions = functions;
		bounder->budget = MAX_BYTES;
	}
	return bounder;
}

void elf_extent_bound(struct symbol_table *table, struct elf_functions *functions, const struct elf_file *file)
{
	_cleanup_free_ struct bounder *bounder = NULL;
	uint64_t start = 0, end = 0;
	size_t places = 0;

	for (size_t i = 0; i < table->count; i++) {
		struct symbol_entry *entry = &table->entries[i];

		if (!entry->size_is_guess || entry->size == 0)
			continue;
		/* Aliases end at the same place. */
		if (places == 0 || entry->address != start) {
			if (!bounder)
				bounder = bounder_new(functions, file);
			if (!bounder || places++ == MAX_PLACES)
				return;
			start = entry->address;
			end = find_end(bounder, start, start + entry->size);
		}
		entry->size = (uint32_t)(end - start);
	}
}
