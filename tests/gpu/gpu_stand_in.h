/* SPDX-License-Identifier: BSD-2-Clause */
/* What the stand-ins of GPU libraries have in common. */
#ifndef PKBPF_TESTS_SUPPORT_GPU_STAND_IN_H
#define PKBPF_TESTS_SUPPORT_GPU_STAND_IN_H

#include <stddef.h>
#include <time.h>

#define GPU_STAND_IN_MEMORY    (8UL << 30)
#define GPU_STAND_IN_SPIN_NS   20000000L
#define GPU_STAND_IN_SLEEP_NS  20000000L
#define GPU_STAND_IN_COPY_RATE 4 /* bytes in a nanosecond */

struct gpu_stand_in_counts {
	unsigned long launches, blocks, allocated, frees, copies, copied, waits;
	long copy_ns, spin_ns, sleep_ns;
};

/* Not constant: calls return as others do, not by a jump. */
static volatile int gpu_stand_in_zero;
extern struct gpu_stand_in_counts gpu_stand_in_counts;

static inline long gpu_stand_in_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static inline void gpu_stand_in_copy(size_t bytes)
{
	long begin_ns = gpu_stand_in_now();

	while (gpu_stand_in_now() - begin_ns < (long)bytes / GPU_STAND_IN_COPY_RATE)
		;
	gpu_stand_in_counts.copies++;
	gpu_stand_in_counts.copied += bytes;
	gpu_stand_in_counts.copy_ns += gpu_stand_in_now() - begin_ns;
}

static inline void gpu_stand_in_spin(void)
{
	long begin_ns = gpu_stand_in_now();

	while (gpu_stand_in_now() - begin_ns < GPU_STAND_IN_SPIN_NS)
		;
	gpu_stand_in_counts.waits++;
	gpu_stand_in_counts.spin_ns += gpu_stand_in_now() - begin_ns;
}

static inline void gpu_stand_in_sleep(void)
{
	struct timespec pause = {.tv_nsec = GPU_STAND_IN_SLEEP_NS};
	long begin_ns = gpu_stand_in_now();

	nanosleep(&pause, NULL);
	gpu_stand_in_counts.waits++;
	gpu_stand_in_counts.sleep_ns += gpu_stand_in_now() - begin_ns;
}

#endif
