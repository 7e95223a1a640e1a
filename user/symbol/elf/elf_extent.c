// SPDX-License-Identifier: BSD-2-Clause
/* Ends of functions from unwind information, and from the padding that assemblers put between
 * functions. */
#include "symbol/elf/elf_extent.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "instruction/x86_flow.h"

/* Both assemblers' and compilers' usual alignment of functions. */
#define ALIGNMENT 16U
/* No function of assembly is known to be longer, and no file to have more without a size. */
#define MAX_EXTENT_BYTES (64U << 10)
#define MAX_BYTES	 (4U << 20)
/* Each costs a read or two. x264, which has most of those seen, has 12. */
#define MAX_PLACES 4096U

static size_t arm64_padding(const uint8_t *code, size_t size)
{
	static const uint8_t nop[] = {0x1f, 0x20, 0x03, 0xd5}, udf[4] = {0};

	return size >= 4 && (memcmp(code, nop, 4) == 0 || memcmp(code, udf, 4) == 0) ? 4 : 0;
}

struct instruction {
	size_t size;
	size_t distance; /* of a jump from behind it, perhaps a conditional one; 0: it is none */
	bool is_return;
};

/* The instruction at code; one byte that is nothing where there is none. 32-bit code is read as if
 * it were of x86-64: a few are cut elsewhere, and soon the same follow again. */
static struct instruction read_instruction(uint16_t machine, const uint8_t *code, size_t size)
{
	static const uint8_t arm64_return[] = {0xc0, 0x03, 0x5f, 0xd6};
	struct x86_instruction x86;
	enum x86_flow flow;

	if (machine == EM_AARCH64 && size >= 4)
		return (struct instruction){.size = 4,
					    .is_return = memcmp(code, arm64_return, 4) == 0};
	if ((machine != EM_X86_64 && machine != EM_386) || !x86_decode(code, size, &x86))
		return (struct instruction){.size = 1};
	flow = x86_flow_of(&x86);
	return (struct instruction){
		.size = x86.size,
		.distance = flow == X86_FLOW_BRANCH || flow == X86_FLOW_JUMP ? (size_t)x86.immediate
									     : 0,
		.is_return = x86_is_return(&x86),
	};
}

/* Whether padding, some of it, fills all from code to the next aligned address. */
static bool is_padded(uint16_t machine, const uint8_t *code, size_t size, uint64_t address)
{
	size_t wanted = (size_t)(-address % ALIGNMENT);

	if (wanted == 0 || wanted > size)
		return false;
	for (size_t at = 0; at < wanted;) {
		size_t length = machine == EM_AARCH64 ? arm64_padding(code + at, wanted - at)
						      : x86_padding_size(code + at, wanted - at);

		if (length == 0 || length > wanted - at)
			return false;
		at += length;
	}
	return true;
}

struct bounder {
	const struct elf_file *file;
	struct elf_functions *functions;
	/* bytes that may still be read: who made the file decides how many there are */
	size_t budget;
	uint8_t code[MAX_EXTENT_BYTES];
	bool is_target[MAX_EXTENT_BYTES / ALIGNMENT +
		       1]; /* of a jump from before, by aligned address */
};

/* Bytes up to behind the first return that padding follows, and that no jump leads across; `size`:
 * there is none. */
static size_t padded_size(struct bounder *bounder, size_t size, uint64_t start)
{
	uint16_t machine = bounder->file->machine;
	const uint8_t *code = bounder->code;
	size_t first = start % ALIGNMENT;

	memset(bounder->is_target, 0, sizeof(bounder->is_target));
	for (size_t at = 0, end; at < size; at = end) {
		struct instruction instruction = read_instruction(machine, code + at, size - at);
		size_t target;

		end = at + instruction.size;
		if (instruction.is_return &&
		    is_padded(machine, code + end, size - end, start + end) &&
		    !bounder->is_target[(first + end + ALIGNMENT - 1) / ALIGNMENT])
			return end;
		target = end + instruction.distance;
		if (target > end && target < size && (first + target) % ALIGNMENT == 0)
			bounder->is_target[(first + target) / ALIGNMENT] = true;
	}
	return size;
}

static uint64_t find_end(struct bounder *bounder, uint64_t start, uint64_t end)
{
	const struct elf_file *file = bounder->file;
	uint64_t size, function, limit;

	limit = elf_functions_end(bounder->functions, file, start);
	if (limit < end)
		end = limit;
	if (elf_functions_find(bounder->functions, file, start, &function) == 0)
		return end;
	if (end - start > MAX_EXTENT_BYTES)
		end = start + MAX_EXTENT_BYTES;
	size = elf_file_bytes_after(file, start);
	if (!size)
		return end;
	if (size > end - start)
		size = end - start;
	if (size > bounder->budget ||
	    elf_file_read_address(file, start, bounder->code, (size_t)size))
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

void elf_extent_bound(struct symbol_table *table, struct elf_functions *functions,
		      const struct elf_file *file)
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
