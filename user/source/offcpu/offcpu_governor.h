/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the cost of off-CPU stacks below a limit: threads that wait seldom have all of them taken,
 * others as many as a quota says, and up to as many again where they wait seldom
 * (bpf/offcpu_choice.bpf.h, wait_choose).
 */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_GOVERNOR_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_GOVERNOR_H

#include <stdint.h>

/*
 * Waits per thread and PKBPF_OFFCPU_WINDOW_NS. The first quota is 3,800 waits per second. Threads
 * with less than the least, 120 per second, always have all of their stacks: a CPU would need
 * hundreds of them to be much slowed.
 */
#define OFFCPU_GOVERNOR_FIRST_QUOTA 512U
#define OFFCPU_GOVERNOR_LEAST_QUOTA 16U

/*
 * The quota for the next interval, 0: none, when the programs ran for ran_ns of the last passed_ns
 * and may run for max_permille of it. Goes down by as much as would be needed if all of the cost
 * were stacks, and comes up one step at a time and only when twice the present cost would be well
 * below the limit, so that it does not swing.
 */
uint32_t offcpu_governor_quota(uint32_t quota, uint64_t ran_ns, uint64_t passed_ns,
			       uint32_t max_permille);

#endif
