/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of PLT stubs: "malloc@plt". */
#ifndef PKBPF_SYMBOL_ELF_ELF_PLT_H
#define PKBPF_SYMBOL_ELF_ELF_PLT_H

#include "elf/elf_file.h"

/*
 * -ENOENT: address is in no stub that can be named. Only x86-64: the stub's jump is decoded and the
 * slot it goes through is looked up among the relocations, which works for .plt, .plt.sec and
 * .plt.got of every linker.
 */
int elf_plt_find(const struct elf_file *file, uint64_t address, char *name, size_t name_size);

#endif
