/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the overhead of off-CPU stacks below a limit. Threads that wait rarely have all stacks
 * taken. Others have as many as a quota allows, and up to as many again for their rare waits
 * (bpf/offcpu_choice.bpf.h, wait_choose). */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_GOVERNOR_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_GOVERNOR_H

#include <stdint.h>

/* Quotas in waits per thread and PKBPF_OFFCPU_WINDOW_NS. The first quota is 3,800 waits/s. The
 * least quota is 120 waits/s: threads below it always have all stacks taken. A CPU would need
 * hundreds of such threads to slow down noticeably. */
#define OFFCPU_GOVERNOR_FIRST_QUOTA 512U
#define OFFCPU_GOVERNOR_LEAST_QUOTA 16U

/* Returns the quota for the next period, 0: none. The programs ran for ran_ns of the last
 * passed_ns, and may run for max_permille of it. The quota falls as if stacks caused all of the
 * overhead. It rises one step at a time, and only when twice the present overhead is well below
 * the limit; so it does not oscillate. */
uint32_t offcpu_governor_quota(uint32_t quota, uint64_t ran_ns, uint64_t passed_ns,
			       uint32_t max_permille);

#endif
