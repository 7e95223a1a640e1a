// SPDX-License-Identifier: BSD-2-Clause
/* Reads function starts from symbol tables and from the program's entry code. */
#include "unwind/code/function_starts.h"

#include <elf.h>
#include <stdlib.h>

#include "base/array.h"
#include "elf/elf_program.h"
#include "elf/elf_symbol.h"
#include "instruction/x86_flow.h"
#include "instruction/x86_instruction.h"

/* The entry code of a program passes main() to the C library. */
#define ENTRY_CODE_BYTES 64

static void add_start(struct function_starts *starts, uint64_t offset, uint64_t text_size)
{
	uint32_t *start;

	if (offset >= text_size || offset > UINT32_MAX)
		return;
	start = array_add(starts);
	if (start)
		*start = (uint32_t)offset;
}

/* lea main(%rip),%rdi; or mov $main,%rdi */
static bool takes_address(const struct x86_instruction *instruction, uint64_t end,
			  uint64_t *ret_address)
{
	*ret_address = end + (uint64_t)(int64_t)instruction->displacement;
	if (x86_is_own_address(instruction))
		return true;
	*ret_address = (uint64_t)instruction->immediate;
	return instruction->map == X86_MAP_ONE_BYTE && instruction->rm == X86_RDI &&
	       (instruction->opcode == 0xbf ||
		(instruction->opcode == 0xc7 && instruction->mod == 3));
}

static void add_main(const struct elf_file *file, uint64_t text_start, uint64_t text_size,
		     struct function_starts *starts)
{
	uint64_t entry = file->entry, address;
	struct x86_instruction instruction;
	uint8_t code[ENTRY_CODE_BYTES];

	if (elf_program_role(file) == ELF_ROLE_LIBRARY || file->machine != EM_X86_64 ||
	    elf_file_read_address(file, entry, code, sizeof(code)) < 0)
		return;
	for (size_t at = 0;
	     at < sizeof(code) && x86_decode(code + at, sizeof(code) - at, &instruction);
	     at += instruction.size) {
		if (x86_may_be_last(&instruction))
			return;
		if (takes_address(&instruction, entry + at + instruction.size, &address))
			add_start(starts, address - text_start, text_size);
	}
}

static void read_table(const struct elf_file *file, uint32_t type, uint64_t text_start,
		       uint64_t text_size, struct function_starts *starts)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;

	if (elf_symbol_reader_open(file, type, &reader))
		return;
	if (reader.count > FUNCTION_STARTS_MAX_TABLE_BYTES / sizeof(Elf64_Sym))
		reader.count = FUNCTION_STARTS_MAX_TABLE_BYTES / sizeof(Elf64_Sym);
	while (elf_symbol_reader_next(&reader, &symbol)) {
		if (symbol.type == STT_FUNC && symbol.section != SHN_UNDEF)
			add_start(starts, symbol.address - text_start, text_size);
	}
	elf_symbol_reader_close(&reader);
}

static int compare_starts(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

void function_starts_read(const struct elf_file *file, uint64_t text_start, uint64_t text_size,
			  struct function_starts *ret_starts)
{
	struct function_starts starts = {0};
	size_t count = 0;

	read_table(file, SHT_DYNSYM, text_start, text_size, &starts);
	read_table(file, SHT_SYMTAB, text_start, text_size, &starts);
	add_main(file, text_start, text_size, &starts);
	if (starts.count)
		qsort(starts.items, starts.count, sizeof(*starts.items), compare_starts);
	for (size_t i = 0; i < starts.count; i++) {
		if (count == 0 || starts.items[i] != starts.items[count - 1])
			starts.items[count++] = starts.items[i];
	}
	starts.count = count;
	*ret_starts = starts;
}
