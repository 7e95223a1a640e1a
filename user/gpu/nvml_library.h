/* SPDX-License-Identifier: BSD-2-Clause */
/* NVIDIA's library, in a process of its own. Signatures and values: NVML API reference. */
#ifndef PKBPF_GPU_NVML_LIBRARY_H
#define PKBPF_GPU_NVML_LIBRARY_H

#include "gpu/nvml_message.h"

struct nvml_library;

/* Loads the library and lets it find its devices, which may take seconds, or not return. NULL:
 * reason says why. name: of a file, as dlopen() takes it; NULL: the library of the driver. */
struct nvml_library *nvml_library_open(const char *name, char reason[GPU_REASON_SIZE]);
/* Hands each message of a look on; stops when `send` returns false. */
bool nvml_library_look(struct nvml_library *library,
		       bool (*send)(void *context, const struct nvml_message *message),
		       void *context);

#endif
