/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PKBPF_EXPORT_MARKDOWN_GPU_CALLS_H
#define PKBPF_EXPORT_MARKDOWN_GPU_CALLS_H

#include <stdio.h>

#include "profile/profile.h"

/* A table; nothing where no call was recorded. -ENOMEM. */
int markdown_gpu_calls(const struct profile *profile, FILE *out);

#endif
