/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds where the threads of a process keep the address of the interpreter's thread state. */
#ifndef PKBPF_PYTHON_PYTHON_SLOTS_H
#define PKBPF_PYTHON_PYTHON_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/python.h>
#include <pkbpf/unwind.h>

/* Reads the memory of a process: all bytes (0), or a negative errno. */
typedef int (*python_read_memory)(void *context, uint64_t address, void *buffer, size_t size);

/* Whether the runtime has an interpreter: it was initialised. */
bool python_runtime_is_used(python_read_memory read, void *context, uint64_t runtime,
			    const struct pkbpf_python_layout *layout);

/*
 * Fills in offsets from the thread pointer (0: none) at which every thread has the address of its
 * state: the thread-specific data of the C library, and the interpreter's thread-local variables.
 * They are found by value, without symbols or knowledge of the C library. Returns the number of
 * offsets. The result is a guess that is checked at each use.
 */
size_t python_slots_find(python_read_memory read, void *context, uint64_t runtime,
			 const struct pkbpf_python_layout *layout,
			 int32_t ret_slots[PKBPF_PYTHON_SLOTS]);

#endif
