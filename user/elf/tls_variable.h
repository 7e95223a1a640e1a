/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds a thread-local variable of a file: its place in a thread's memory, or the words of a
 * process that lead there. */
#ifndef PKBPF_ELF_TLS_VARIABLE_H
#define PKBPF_ELF_TLS_VARIABLE_H

#include "elf/elf_file.h"

enum tls_model {
	TLS_FIXED = 1,	  /* thread pointer + value */
	TLS_OFFSET,	  /* thread pointer + word at the slot */
	TLS_MODULE,	  /* module and offset at the slot */
	TLS_MODULE_ALONE, /* module at the slot; the offset is the value */
	TLS_DESCRIPTOR,	  /* a function and its argument at the slot */
};

struct tls_variable {
	enum tls_model model;
	int64_t value;
	uint64_t slot; /* address as linked */
};

/* The variable of this name, by its symbol and the relocation that names it. -ENOENT: there is
 * none; -ENOTSUP: nothing tells where it is; -ENOMEM, -EIO. */
int tls_variable_find(const struct elf_file *file, const char *name,
		      struct tls_variable *ret_variable);

#endif
