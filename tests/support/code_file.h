/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of code that this process could have mapped. */
#ifndef PKBPF_TESTS_CODE_FILE_H
#define PKBPF_TESTS_CODE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "process/file/mapped_file.h"

#define CODE_FILE_MAP_START UINT64_C(0x7f0000001000)

struct code_file {
	struct mapping_view mapping; /* of its text, by us and as of now */
	char path[64];
};

/* Under /tmp, with the contents that elf_recipe_make() has made. false: not written. */
bool code_file_write(struct code_file *code, const void *contents, size_t size, size_t text_size);
/* Nothing where there is none. */
void code_file_remove(struct code_file *code);

#endif
