/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocators whose C++ operators the sampler of a command does not see. */
#ifndef PKBPF_SOURCE_ALLOC_ALLOCATOR_OPERATORS_H
#define PKBPF_SOURCE_ALLOC_ALLOCATOR_OPERATORS_H

#include <stdbool.h>

#include "base/log.h"
#include "elf/elf_file.h"

/* Warns of such files, and of Go programs, among those that a command is linked with, or that
 * LD_PRELOAD has. */
void allocator_operators_warn(const char *command, const struct log *log);

#endif
