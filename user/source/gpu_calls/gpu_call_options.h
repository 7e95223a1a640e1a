/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the source of calls of GPU libraries. */
#ifndef PKBPF_SOURCE_GPU_CALLS_GPU_CALL_OPTIONS_H
#define PKBPF_SOURCE_GPU_CALLS_GPU_CALL_OPTIONS_H

#include <stdbool.h>

#include "base/option_row.h"

struct gpu_call_options {
	bool wanted;
};

extern const struct option_row gpu_call_option_rows[];

#endif
