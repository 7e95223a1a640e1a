/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the kernel has the code of our own BPF programs: samples in it are no work of the program
 * that was interrupted by them. One owner thread. */
#ifndef PKBPF_PROFILE_OWN_CODE_H
#define PKBPF_PROFILE_OWN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct code_span {
	uint64_t start, end;
};

struct own_code {			  /* zero-initialised is empty */
	ARRAY_OF(struct code_span) spans; /* ascending; they do not overlap */
};

/* -ENOMEM. */
int own_code_add(struct own_code *code, uint64_t start, uint64_t length);
bool own_code_has(const struct own_code *code, uint64_t address);
void own_code_done(struct own_code *code);

#endif
