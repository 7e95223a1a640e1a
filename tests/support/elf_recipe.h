/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes small ELF executables in memory for tests: text, .eh_frame and .debug_frame as given. */
#ifndef PKBPF_TESTS_ELF_RECIPE_H
#define PKBPF_TESTS_ELF_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_RECIPE_TEXT_ADDRESS UINT64_C(0x401000)
#define ELF_RECIPE_TEXT_OFFSET	0x1000
/* its .eh_frame_hdr is 16 bytes before */
#define ELF_RECIPE_EH_FRAME_ADDRESS UINT64_C(0x10000010)

struct elf_recipe {
	uint16_t machine; /* 0: EM_X86_64 */
	uint64_t entry;
	const uint8_t *text; /* NULL: int3 */
	size_t text_size;
	const uint8_t *eh_frame;
	size_t eh_frame_size;
	const uint8_t *debug_frame;
	size_t debug_frame_size;
	bool debug_frame_is_compressed; /* the bytes are a complete compressed section */
	bool has_no_sections;
	const char *extra_section; /* name of one more, e.g. ".gopclntab", at most 31 bytes */
	const uint8_t *extra;
	size_t extra_size;
	const uint8_t *symbols; /* a section .symtab, as Elf64_Sym */
	size_t symbols_size;
	bool symbols_are_dynamic; /* .dynsym instead */
	uint64_t plt_size;	  /* the first bytes of the text are a section .plt */
};

/* Heap memory, or NULL. */
uint8_t *elf_recipe_make(const struct elf_recipe *recipe, size_t *ret_size);

#endif
