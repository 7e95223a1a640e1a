/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this kernel's BTF says where kernels differ. Versions cannot answer that: changes are carried back into old kernels.
 * Without BTF (NULL) it says nothing.
 */
#ifndef PKBPF_CAPTURE_KERNEL_TYPES_H
#define PKBPF_CAPTURE_KERNEL_TYPES_H

#include <stdint.h>

struct btf;

/* Number of arguments of the tracepoint's function, its private data (always first) included; 0: no such tracepoint. */
int kernel_types_tracepoint_arguments(const struct btf *types, const char *tracepoint);
/* A type that begins with a number of 64 bits, as which bpf_rdonly_cast() lets programs read any word; 0: it does not
 * exist (before 6.2). */
uint32_t kernel_types_word(const struct btf *types);

#endif
