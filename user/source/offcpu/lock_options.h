/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of locks. */
#ifndef PKBPF_SOURCE_OFFCPU_LOCK_OPTIONS_H
#define PKBPF_SOURCE_OFFCPU_LOCK_OPTIONS_H

#include <stdbool.h>

struct lock_options {
	bool kernel; /* also those of the kernel */
};

#endif
