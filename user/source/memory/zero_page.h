/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether reading takes memory. */
#ifndef PKBPF_SOURCE_MEMORY_ZERO_PAGE_H
#define PKBPF_SOURCE_MEMORY_ZERO_PAGE_H

#include <stdbool.h>

/* Most kernels map one page of zeros to all memory that is only read; some give each page its own,
 * and so whoever reads first takes it. Tries it; false also when it cannot be told. */
bool reading_takes_pages(void);

#endif
