/* SPDX-License-Identifier: BSD-2-Clause */
/* One mapped file for the symbolizer: its segments and symbol tables. */
#ifndef PKBPF_SYMBOL_ELF_ELF_MODULE_H
#define PKBPF_SYMBOL_ELF_ELF_MODULE_H

#include "symbol/elf/debug_file.h"
#include "symbol/elf/debuginfod.h"
#include "symbol/dwarf/dwarf_lines.h"
#include "elf/elf_functions.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/symbolizer.h"

#define ELF_MODULE_MAX_SOURCES 4
#define ELF_MODULE_MAX_STUBS   4

/* Where a symbol table's names are read from. */
enum elf_source_place {
	ELF_SOURCE_FILE,  /* the mapped file itself (or the vdso image) */
	ELF_SOURCE_DEBUG, /* its separate debug file */
	ELF_SOURCE_MINI,  /* the image unpacked from .gnu_debugdata */
};

struct elf_source {
	enum elf_source_place place;
	struct elf_symbols symbols;
};

struct elf_module {
	/* SYMBOL_FOUND: usable; otherwise why no address in it can be named */
	enum symbol_result state;
	struct elf_file file; /* its segments alone; bytes are given with each question */
	struct elf_source sources[ELF_MODULE_MAX_SOURCES]; /* best first */
	size_t source_count;
	bool lacks_debug_file; /* that could have been used */
	/* why an address without a symbol has none: SYMBOL_NOT_IN_TABLE, SYMBOL_STRIPPED, or what
	 * came in between with a table that would have it */
	enum symbol_result without_symbol;
	struct symbol_range stubs[ELF_MODULE_MAX_STUBS]; /* .plt sections */
	size_t stub_count;
	struct elf_functions functions; /* loaded where .symtab is missing, or when asked for */
	int debug_fd;			/* -1: none */
	uint64_t debug_size;
	void *mini_image; /* owned */
	size_t mini_size;
	struct dwarf_lines *dwarf; /* NULL: no DWARF, or not asked for */
};

struct elf_module_options {
	struct debug_file_search search;
	bool want_dwarf;
	bool want_lines;	    /* from DWARF: not only inlined functions */
	bool want_debug_file_dwarf; /* also from a separate debug file */
	struct dwarf_budget *dwarf_budget;
	struct debuginfod *debuginfod; /* NULL: not asked */
	bool may_open_debug;	       /* a descriptor may be kept */
	bool is_at_debug_limit;	       /* and else might be */
};

/* Takes what it needs from *file (its segments move over); what is wrong with the file becomes
 * module->state. */
void elf_module_load(struct elf_module *module, struct elf_file *file,
		     const struct elf_module_options *options);
void elf_module_done(struct elf_module *module);

/*
 * Name of the function at an address as linked; fd: the mapped file, or -1 with image for one in
 * memory. *ret_entry: whose name it is; NULL: a stub's. -ENOENT: no symbol covers it.
 */
int elf_module_find(const struct elf_module *module, int fd, const void *image, uint64_t address,
		    char ret_name[ELF_SYMBOL_NAME_SIZE], const struct symbol_entry **ret_entry);
/* The symbol that is asked first for the name of an address: where it is the one that gave a name,
 * this is the name, which need not be read again. NULL: none. */
const struct symbol_entry *elf_module_locate(const struct elf_module *module, uint64_t address);

/*
 * Whether a return address without a symbol at the byte before may have the name of the function
 * it begins. True where padding comes before (the stack of glibc's makecontext(), a signal's
 * trampoline). False where a function ends there by unwind information: its last call does not
 * return, and the next function has nothing to do with it.
 */
bool elf_module_begins_by_return(struct elf_module *module, int fd, const void *image,
				 uint64_t return_address);
/* Start of the function that holds an address for which the file has no name. -ENOENT: not
 * known. */
int elf_module_function_start(struct elf_module *module, int fd, const void *image,
			      uint64_t address, uint64_t *ret_start);

#endif
