/* SPDX-License-Identifier: BSD-2-Clause */
/* What the rules about GPUs share. */
#ifndef PKBPF_FINDING_FINDING_GPU_H
#define PKBPF_FINDING_FINDING_GPU_H

#include "finding/finding_rules.h"

/* CPU samples outside of calls that spin for a GPU. */
struct wait_choice finding_computes(const struct analysis *analysis);
/* Is a function on the stack for which this holds? */
bool finding_stack_has(const struct resource_rows *rows, const struct row_weight *weight,
		       bool (*is_it)(const struct function *function));
/* Part of find_gpu(): what calls of GPU libraries show. */
void find_gpu_calls(const struct analysis *analysis, struct findings *findings);
/* The stack that allocated most of what lives on a GPU, where calls were recorded; pid 0: of all.
 */
void finding_gpu_say_live(struct finding *finding, const struct analysis *analysis, uint32_t pid);

#endif
