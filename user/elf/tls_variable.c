// SPDX-License-Identifier: BSD-2-Clause
#include "elf/tls_variable.h"

#include <errno.h>
#include <string.h>

#include "elf/elf_dynamic.h"
#include "elf/elf_program.h"
#include "elf/elf_relocation.h"
#include "elf/elf_symbol.h"

#define MAX_STRING_BYTES (64U << 20)
#define MAX_SYMBOLS	 (4U << 20)
#define MAX_NAME	 64
#define MAX_BLOCK	 (1U << 30)
#define MAX_ALIGNMENT	 (1U << 20)
/* The thread pointer of arm64 points to two words before the block. */
#define ARM64_HEAD_BYTES 16

struct search {
	const struct elf_file *file;
	const char *name;
	uint64_t index; /* of the symbol in .dynsym; 0: not there */
	uint64_t value;
	bool is_defined;
	struct tls_variable *found;
};

/* true: the table has it. */
static bool is_meant(const struct search *search, const struct elf_strings *strings,
		     const struct elf_symbol *symbol)
{
	char name[MAX_NAME];

	return symbol->type == STT_TLS &&
	       elf_strings_read(strings, search->file, symbol->name, name, sizeof(name)) == 0 &&
	       strcmp(name, search->name) == 0;
}

static int find_symbol(struct search *search, uint32_t table)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	int err = elf_symbol_reader_open(search->file, table, &reader);

	if (err)
		return err;
	err = elf_strings_load(&reader.strings, search->file, MAX_STRING_BYTES);
	while (!err && reader.next < MAX_SYMBOLS && elf_symbol_reader_next(&reader, &symbol)) {
		if (!is_meant(search, &reader.strings, &symbol))
			continue;
		search->index = table == SHT_DYNSYM ? reader.next - 1 : 0;
		search->value = symbol.address;
		search->is_defined = symbol.section != SHN_UNDEF;
		elf_symbol_reader_close(&reader);
		return 0;
	}
	elf_symbol_reader_close(&reader);
	return err ? err : -ENOENT;
}

static enum tls_model model_of(uint16_t machine, uint32_t type)
{
	if (machine == EM_AARCH64)
		return type == R_AARCH64_TLS_TPREL    ? TLS_OFFSET
		       : type == R_AARCH64_TLS_DTPMOD ? TLS_MODULE
		       : type == R_AARCH64_TLSDESC    ? TLS_DESCRIPTOR
						      : 0;
	return type == R_X86_64_TPOFF64	   ? TLS_OFFSET
	       : type == R_X86_64_DTPMOD64 ? TLS_MODULE
	       : type == R_X86_64_TLSDESC  ? TLS_DESCRIPTOR
					   : 0;
}

/* One that names the symbol, or the variables of the file with its offset. */
static bool take_relocation(void *context, const Elf64_Rela *relocation)
{
	struct search *search = context;
	enum tls_model model =
		model_of(search->file->machine, (uint32_t)ELF64_R_TYPE(relocation->r_info));
	uint64_t symbol = ELF64_R_SYM(relocation->r_info);
	bool names_it = search->index && symbol == search->index;

	if (!model)
		return false;
	if (!names_it) {
		if (symbol || !search->is_defined ||
		    (model != TLS_MODULE && (uint64_t)relocation->r_addend != search->value))
			return false;
		if (model == TLS_MODULE)
			model = TLS_MODULE_ALONE;
	}
	*search->found = (struct tls_variable){
		.model = model,
		.value = (int64_t)search->value,
		.slot = relocation->r_offset,
	};
	return names_it;
}

/* Alignment of the block; 1: the file says nonsense. */
static uint64_t tls_alignment(const struct elf_file *file)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (elf_file_read(file, 0, &header, sizeof(header)) ||
	    header.e_phentsize != sizeof(segment))
		return 1;
	for (uint32_t i = 0; i < header.e_phnum && i < ELF_FILE_MAX_SEGMENTS; i++) {
		if (elf_file_read(file, header.e_phoff + i * sizeof(segment), &segment,
				  sizeof(segment)))
			return 1;
		if (segment.p_type == PT_TLS)
			return segment.p_align && segment.p_align <= MAX_ALIGNMENT &&
					       !(segment.p_align & (segment.p_align - 1))
				       ? segment.p_align
				       : 1;
	}
	return 1;
}

/* Of the program itself, the block of variables lies beside the thread pointer. */
static int find_fixed(const struct search *search)
{
	const struct elf_segment *segment = elf_segments_find(&search->file->segments, PT_TLS);
	uint64_t align = tls_alignment(search->file);

	if (!segment || !search->is_defined || search->value >= segment->memory_size ||
	    segment->memory_size > MAX_BLOCK)
		return -ENOTSUP;
	search->found->model = TLS_FIXED;
	if (search->file->machine == EM_AARCH64)
		search->found->value =
			(int64_t)(search->value + ((ARM64_HEAD_BYTES + align - 1) & ~(align - 1)));
	else
		search->found->value = (int64_t)search->value -
				       (int64_t)((segment->memory_size + align - 1) & ~(align - 1));
	return 0;
}

/* Plug-ins may have no name, but they are not where a program begins. */
static bool is_program(const struct elf_file *file)
{
	struct elf_dynamic dynamic;

	if (elf_segments_find(&file->segments, PT_INTERP) || file->type == ET_EXEC)
		return elf_program_role(file) != ELF_ROLE_C_LIBRARY;
	return file->entry && elf_dynamic_read(file, &dynamic) && !dynamic.values[DT_NEEDED] &&
	       elf_program_role(file) == ELF_ROLE_STATIC_PROGRAM;
}

int tls_variable_find(const struct elf_file *file, const char *name,
		      struct tls_variable *ret_variable)
{
	struct search search = {.file = file, .name = name, .found = ret_variable};
	int err;

	*ret_variable = (struct tls_variable){0};
	if (!file->is_64 || strlen(name) >= MAX_NAME)
		return -ENOENT;
	err = find_symbol(&search, SHT_DYNSYM);
	if (err && is_program(file))
		err = find_symbol(&search, SHT_SYMTAB);
	if (err)
		return err;
	elf_relocation_each(file, ELF_RELOCATIONS_WITHOUT_TARGET, take_relocation, &search);
	if (!ret_variable->model || ret_variable->model == TLS_MODULE_ALONE)
		elf_relocation_each(file, ELF_RELOCATIONS_WITH_TARGET, take_relocation, &search);
	if ((!ret_variable->model || ret_variable->model == TLS_MODULE_ALONE) && is_program(file))
		return find_fixed(&search);
	return ret_variable->model ? 0 : -ENOTSUP;
}
