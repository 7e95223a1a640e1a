/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the functions of a file begin, known without any symbol: from the search table that comes
 * with its unwind information (.eh_frame_hdr). Two call sites in one unresolved function then count
 * as one function.
 *
 * Source: Linux Standard Base Core, "DWARF Extensions", Exception Frames.
 */
#ifndef PKBPF_ELF_ELF_FUNCTIONS_H
#define PKBPF_ELF_ELF_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

/* Chromium, the largest known, has about 1.5 M; a longer table is not believed. */
#define ELF_FUNCTIONS_MAX (4U << 20)

struct elf_function_entry {
	int32_t start; /* relative to the header's address, ascending */
	int32_t fde;
};

struct elf_functions { /* zero-initialised: none known */
	struct elf_function_entry *entries;
	size_t count;
	uint64_t base; /* address of the header, as linked */
	/* the one found last, its start and size; NULL: none */
	const struct elf_function_entry *last;
	uint64_t last_start;
	uint32_t last_size;
};

/* Address, as linked, of .eh_frame, by what the file tells its run-time. false: it does not. */
bool elf_functions_find_frames(const struct elf_file *file, uint64_t *ret_address);

/* -ENOENT: the file has no such table, or one in an encoding nobody writes; -EBADMSG: nonsense in
 * it; -EIO, -ENOMEM. */
int elf_functions_load(struct elf_functions *functions, const struct elf_file *file);
/* Start of the function that holds address, as linked. file needs its contents and segments, no
 * more. -ENOENT: between functions, or its description cannot be read. */
int elf_functions_find(struct elf_functions *functions, const struct elf_file *file,
		       uint64_t address, uint64_t *ret_start);
/* End of the function that holds address, or start of the next one, as linked; UINT64_MAX: neither
 * is known. */
uint64_t elf_functions_end(struct elf_functions *functions, const struct elf_file *file,
			   uint64_t address);
void elf_functions_done(struct elf_functions *functions);

#endif
