/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the cost of off-CPU stacks below a limit, by taking them of one wait in so many. */
#ifndef PKBPF_SOURCE_OFFCPU_GOVERNOR_H
#define PKBPF_SOURCE_OFFCPU_GOVERNOR_H

#include <stdint.h>

/* Beyond one in 1024 nothing is saved: what is left is the cost of the clock. */
#define OFFCPU_GOVERNOR_MAX_MASK 1023U

/* How long to look before judging again. */
#define OFFCPU_GOVERNOR_INTERVAL_NS 200000000ULL

/* One wait in mask + 1 gets a stack. The mask for the next interval, when the programs ran for ran_ns of the last
 * passed_ns and may run for max_permille of it. Goes up by as much as is needed, comes down one step at a time and only
 * when twice the present cost would be well below the limit, so that it does not swing. */
uint32_t offcpu_governor_mask(uint32_t mask, uint64_t ran_ns, uint64_t passed_ns, uint32_t max_permille);

#endif
