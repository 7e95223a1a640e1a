/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the libraries of CUDA and HIP lie as a rule. */
#ifndef PKBPF_GPU_GPU_LIBRARIES_H
#define PKBPF_GPU_GPU_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

/* NULL: beyond the last one. */
const char *gpu_library_name_at(size_t index);
const char *gpu_library_folder_at(size_t index);
/* Is the file the run-time of CUDA or HIP as a library of its own, by its name? */
bool gpu_library_is_runtime(const char *path);
/* "libcudart.so.12 (/usr/local/cuda/lib64)" for each that is in one of the folders below root; how
 * many. root: "" on the machine itself. */
size_t gpu_libraries_find(const char *root, char *ret_text, size_t size);

#endif
