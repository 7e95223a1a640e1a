/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps of numbered and of recognised stacks, which sources that add events up in the kernel share.
 */
#ifndef PKBPF_SOURCE_STACK_MAPS_H
#define PKBPF_SOURCE_STACK_MAPS_H

#include <stdbool.h>

struct pkbpf_bpf;

/* Part of a source's choose(). */
void stack_maps_choose(struct pkbpf_bpf *skeleton, bool wanted);

#endif
