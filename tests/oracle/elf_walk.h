/* SPDX-License-Identifier: BSD-2-Clause */
/* Every distinct ELF executable and library below some folders. */
#ifndef PKBPF_TESTS_ELF_WALK_H
#define PKBPF_TESTS_ELF_WALK_H

#include <stddef.h>
#include <stdint.h>

struct elf_walk {
	char **paths; /* largest file first */
	uint64_t *sizes;
	size_t count;
	size_t capacity;
};

/* Adds files and, recursively, folders; each inode once; only 64-bit ET_EXEC and ET_DYN of x86-64.
 * Exits on out of memory: a test program has nobody to tell. */
void elf_walk_add(struct elf_walk *walk, const char *path);
/* Keeps one of so many as the environment's PKBPF_FILE_STRIDE says, chosen by name, so that they
 * are the same ones on every run. */
void elf_walk_thin(struct elf_walk *walk);
void elf_walk_sort(struct elf_walk *walk);
void elf_walk_done(struct elf_walk *walk);

#endif
