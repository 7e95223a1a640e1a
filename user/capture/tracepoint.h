/* SPDX-License-Identifier: BSD-2-Clause */
/* What this kernel's BTF says about a tracepoint, since arguments came and went between kernels. */
#ifndef PKBPF_CAPTURE_TRACEPOINT_H
#define PKBPF_CAPTURE_TRACEPOINT_H

/* Number of arguments of the tracepoint's function, its private data (always first) included; 0: no such tracepoint.
 * Versions cannot answer that: such changes are carried back into old kernels. */
int tracepoint_argument_count(const char *name);

#endif
