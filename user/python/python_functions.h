/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Python functions by number, and which of them is at an address of a process now. Frames refer to
 * functions by number: a number is used again once nobody does. One owner thread.
 */
#ifndef PKBPF_PYTHON_PYTHON_FUNCTIONS_H
#define PKBPF_PYTHON_PYTHON_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/python.h>

#include "python/python_code.h"

#define PYTHON_FUNCTION_NONE UINT32_MAX
/* In place of the line of such a function. */
#define PYTHON_UNKNOWN_IS_RUBY 1
/* A program may make functions without end. */
#define PYTHON_MAX_FUNCTIONS 262144

struct python_functions;

struct python_functions *python_functions_new(void);
void python_functions_free(struct python_functions *functions);
/* From now on the record's function is at its address in the process (number of an incarnation).
 * -EBADMSG: not a record; -ENOMEM; -ENOSPC: there are too many functions, or their names and lines
 * take too much memory, so that nothing is at the address. */
int python_functions_note(struct python_functions *functions, uint32_t process,
			  const struct pkbpf_event_python_code *record, size_t size);
/* The same with a code object that was decoded: takes over its memory, whatever is returned. */
int python_functions_put(struct python_functions *functions, uint32_t process, uint64_t address,
			 struct python_code *code);
/* Whether any function of the process is known. */
bool python_functions_knows(const struct python_functions *functions, uint32_t process);
/* Number of the function whose code object is at the address; PYTHON_FUNCTION_NONE: unknown. */
uint32_t python_functions_at(const struct python_functions *functions, uint32_t process,
			     uint64_t code);
/* NULL: no such number. Valid until the next note. */
const struct python_code *python_functions_get(const struct python_functions *functions,
					       uint32_t number);
/* How many were noted beyond the limits, and have no name. */
uint64_t python_functions_refused(const struct python_functions *functions);
/* All numbers are below this; some may be unused. */
size_t python_functions_count(const struct python_functions *functions);
/* Its addresses mean nothing any more; its number is not used again. */
void python_functions_forget_process(struct python_functions *functions, uint32_t process);
/* Gives back the functions that are neither marked (is_used, of python_functions_count()) nor at an
 * address of a process; is_used is changed. */
void python_functions_forget(struct python_functions *functions, bool *is_used);

#endif
