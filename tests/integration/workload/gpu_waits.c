// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that links the CUDA run-time statically, as a stand-in: of each round it computes,
 * spins in cudaStreamSynchronize() and sleeps in cudaDeviceSynchronize() for 8 ms. Prints how many
 * seconds each took. usage: gpu_waits ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COMPUTE_NS 4000000L
#define SPIN_NS	   12000000L
#define SLEEP_NS   8000000L

static volatile unsigned long sink;

static long now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void use_cpu(long ns)
{
	long until = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		for (int i = 0; i < 1000; i++)
			sink += (unsigned long)i;
}

int cudaStreamSynchronize(void *stream);
__attribute__((noinline)) int cudaStreamSynchronize(void *stream)
{
	use_cpu(SPIN_NS);
	return stream != NULL;
}

int cudaDeviceSynchronize(void);
__attribute__((noinline)) int cudaDeviceSynchronize(void)
{
	struct timespec pause = {.tv_nsec = SLEEP_NS};

	return nanosleep(&pause, NULL);
}

__attribute__((noinline)) static int compute(void)
{
	use_cpu(COMPUTE_NS);
	return 0;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1, computed_ns = 0, spun_ns = 0, slept_ns = 0;

	while (rounds-- > 0) {
		long at[4] = {now_ns(CLOCK_THREAD_CPUTIME_ID)};

		if (compute())
			return 1;
		at[1] = now_ns(CLOCK_THREAD_CPUTIME_ID);
		if (cudaStreamSynchronize(NULL))
			return 1;
		at[2] = now_ns(CLOCK_THREAD_CPUTIME_ID);
		at[3] = now_ns(CLOCK_MONOTONIC);
		if (cudaDeviceSynchronize())
			return 1;
		slept_ns += now_ns(CLOCK_MONOTONIC) - at[3];
		computed_ns += at[1] - at[0];
		spun_ns += at[2] - at[1];
	}
	printf("%.9f %.9f %.9f\n", (double)computed_ns / 1e9, (double)spun_ns / 1e9,
	       (double)slept_ns / 1e9);
	return 0;
}
