/* SPDX-License-Identifier: BSD-2-Clause */
/* GPUs as text. */
#ifndef PKBPF_ROWS_GPU_WORDS_H
#define PKBPF_ROWS_GPU_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/account/gpu_list.h"

/* "0000:03:00.0 (amdgpu): 45% busy, memory 3.2 GiB of 8.0 GiB at most, 61.0 W, at most 65 C,
 * 1.90 GHz; throttled by power 12% of the time". Not escaped. */
void gpu_words(const struct gpu_device *device, char *text, size_t size);

#endif
