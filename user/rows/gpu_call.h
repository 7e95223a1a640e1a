/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the CUDA and HIP run-times that return when a GPU has done its work. They spin as a
 * rule: what a CPU does there is waiting. */
#ifndef PKBPF_ROWS_GPU_CALL_H
#define PKBPF_ROWS_GPU_CALL_H

#include "profile/function_table.h"

/* Is it one of them? Told by its name, and where others may have that, too, by its file. */
bool gpu_call_waits(const struct function *function);

#endif
