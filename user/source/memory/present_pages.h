/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads which anonymous pages of a process are in memory. */
#ifndef PKBPF_SOURCE_MEMORY_PRESENT_PAGES_H
#define PKBPF_SOURCE_MEMORY_PRESENT_PAGES_H

#include <stdint.h>

#include <pkbpf/memory.h>

#include "base/array.h"

struct present_pages {
	ARRAY_OF(struct pkbpf_present_run) runs; /* in ascending order */
};

/* Only regions chosen under the mask: the others may be missing or not. The pages change while they
 * are read. -ESRCH, -EACCES, -ENOMEM. The array is the caller's, also after an error. */
int present_pages_read(uint32_t pid, uint32_t mask, struct present_pages *pages);

#endif
