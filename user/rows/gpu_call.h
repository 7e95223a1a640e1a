/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of CUDA and HIP by their names, and by their files where other code may have the name. */
#ifndef PKBPF_ROWS_GPU_CALL_H
#define PKBPF_ROWS_GPU_CALL_H

#include "profile/function_table.h"

/* Returns when a GPU has done its work: a thread asleep below it waits for the GPU. */
bool gpu_call_waits(const struct function *function);
/* Does nothing but wait: CPU time below it is spinning. Copies wait, too, but move the bytes on a
 * CPU. */
bool gpu_call_spins(const struct function *function);
/* Launches a kernel or a graph. */
bool gpu_call_launches(const struct function *function);

#endif
