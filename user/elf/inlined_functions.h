/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that compilers have copied into their callers, where no probe can tell a call. */
#ifndef PKBPF_ELF_INLINED_FUNCTIONS_H
#define PKBPF_ELF_INLINED_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

#define INLINED_NAME_BYTES 128
/* Callers that are kept by name. */
#define INLINED_CALLERS 3

struct inlined_function {
	char name[INLINED_NAME_BYTES]; /* as the judge has written it */
	uint32_t copies;
	char callers[INLINED_CALLERS][INLINED_NAME_BYTES]; /* demangled; "": no more */
	bool has_more_callers;
};

struct inlined_functions { /* zero-initialised: empty */
	ARRAY_OF(struct inlined_function) items;
};

/* Is a function with this name, as debug information has it, meant? Writes it as it is told, in
 * INLINED_NAME_BYTES. */
typedef bool inlined_judge(void *context, const char *name, char *ret_name);

#endif
