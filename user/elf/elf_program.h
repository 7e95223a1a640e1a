/* SPDX-License-Identifier: BSD-2-Clause */
/* A program or library that unwind tables are made of, kept open for as long as it is needed. */
#ifndef PKBPF_ELF_ELF_PROGRAM_H
#define PKBPF_ELF_ELF_PROGRAM_H

#include "elf/elf_file.h"

/* Executables and libraries of x86-64 and arm64, on the heap; anything else gives -ENOEXEC. The fd
 * is duplicated. */
int elf_program_open(int fd, struct elf_file **ret_file);
/* The bytes are borrowed until elf_program_free(). */
int elf_program_open_memory(const void *data, size_t size, struct elf_file **ret_file);
void elf_program_free(struct elf_file *file);

/* When its file was last written; 0: memory. What is read later may be another program. */
uint64_t elf_program_written_ns(const struct elf_file *file);
/* In our memory, for as long as it is open. */
size_t elf_program_kept_bytes(const struct elf_file *file);

enum elf_role {
	ELF_ROLE_PROGRAM, /* dynamically linked */
	ELF_ROLE_STATIC_PROGRAM,
	ELF_ROLE_C_LIBRARY, /* or its dynamic loader */
	ELF_ROLE_LIBRARY,
};

/* By what the dynamic loader reads, not by the file's name. */
enum elf_role elf_program_role(const struct elf_file *file);
/* DT_SONAME, cut to size - 1 bytes; "" when the file has none. */
void elf_program_soname(const struct elf_file *file, char *buffer, size_t size);

#endif
