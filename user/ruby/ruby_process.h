/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds what the kernel side needs of a process that runs Ruby, and checks the layout against its
 * memory: a wrong one would give wrong names.
 */
#ifndef PKBPF_RUBY_RUBY_PROCESS_H
#define PKBPF_RUBY_RUBY_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/unwind.h>

#include "ruby/ruby_image.h"

/* Reads the memory of a process: all bytes (0), or a negative errno. */
typedef int (*ruby_read_memory)(void *context, uint64_t address, void *buffer, size_t size);

/*
 * Fills in loop, slots and ruby of the process. bias: of the image in this process.
 * -EAGAIN: the interpreter is not ready, or its memory not readable; -EPROTO: its memory is not
 * what the layout says.
 */
int ruby_process_find(ruby_read_memory read, void *context, const struct ruby_image *image,
		      uint64_t bias, struct pkbpf_python_process *process);

#endif
