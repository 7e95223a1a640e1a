// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2
/*
 * A server that is told what comes: lines "COUNT MICROSECONDS" on stdin are so many requests of
 * this length, each a region of the name in its argument; 0 microseconds: as fast as it can. Tells
 * after each line how many there were, and how many took longer than 100 ms, by clocks inside of
 * the region and around it.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <pkbpf/pkbpf.h>

#define LIMIT_NS 100000000ULL

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "predict";
	unsigned long count, length_us;

	while (scanf("%lu %lu", &count, &length_us) == 2) {
		unsigned long inside = 0, around = 0;
		uint64_t longest_ns = 0;

		for (unsigned long i = 0; i < count; i++) {
			uint64_t outer_ns = now_ns(), inner_ns, took_ns;

			pkbpf_enter(name, 0);
			inner_ns = now_ns();
			if (length_us)
				usleep((useconds_t)length_us);
			inside += now_ns() - inner_ns > LIMIT_NS;
			pkbpf_leave();
			took_ns = now_ns() - outer_ns;
			around += took_ns > LIMIT_NS;
			longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
		}
		printf("%lu %lu %lu %llu\n", count, inside, around, (unsigned long long)longest_ns);
		fflush(stdout);
	}
	return 0;
}
