/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the kernel has the code of loaded BPF programs. */
#ifndef PKBPF_CAPTURE_PROGRAM_CODE_H
#define PKBPF_CAPTURE_PROGRAM_CODE_H

#include <stdint.h>

struct bpf_object;

/* Calls back for each function of each program of a loaded object. Where the kernel does not say
 * (no JIT, addresses are hidden) there is none. Negative errno of take ends it. */
int program_code_each(const struct bpf_object *object,
		      int (*take)(void *context, uint64_t start, uint64_t length), void *context);

#endif
