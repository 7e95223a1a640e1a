/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the ELF symbolizer has its files from: a table of mapped files, or somebody who hands in
 * what is open already. */
#ifndef PKBPF_SYMBOL_ELF_ELF_FILES_H
#define PKBPF_SYMBOL_ELF_ELF_FILES_H

#include "process/file/mapped_file.h"
#include "symbol/elf/debug_file.h"

struct elf_place {
	const char *path;
	uint32_t pid; /* a process that maps it; 0: none */
	bool is_vdso;
};

struct elf_files {
	/* false: there is no file with this id. */
	bool (*find)(void *context, uint32_t id, struct elf_place *ret_place);
	/* As mapped_file_open(). */
	int (*open)(void *context, uint32_t id);
	/* As mapped_file_read_vdso(). */
	int (*read_vdso)(void *context, uint32_t id, void **ret_image, size_t *ret_size);
	void *context;
	/* of struct debug_file_search */
	struct file_servers *servers;
	int (*open_debug)(void *context, enum debug_file_root root, const char *path);
};

/* Borrows the table. */
struct elf_files elf_files_of(struct mapped_file_table *table);

#endif
