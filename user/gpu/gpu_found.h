/* SPDX-License-Identifier: BSD-2-Clause */
/* Which GPUs there are, and why they have no figures. */
#ifndef PKBPF_GPU_GPU_FOUND_H
#define PKBPF_GPU_GPU_FOUND_H

#include <stdbool.h>

#include "base/error.h"

/* true: some GPU has figures. false: the error names each device with the reason, or says that
 * there is none. Where NVIDIA's driver is loaded, its library is asked, which may take up to ten
 * seconds; for programs with one thread. root: "" on the machine itself. */
bool gpu_found(const char *root, struct error *error);

#endif
