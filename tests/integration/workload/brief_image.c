// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -fomit-frame-pointer -fno-pie
// ldflags: -no-pie
/*
 * brief_image MILLISECONDS PROGRAM ARGUMENT…: uses a CPU that long and then executes the program.
 * Where next_image has its code, this one has a function whose frame is larger than the stack that
 * is in use.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Nobody calls it. */
__attribute__((noinline, used)) int wide(void)
{
	volatile char frame[1 << 20];

	frame[0] = 0;
	__asm__ volatile(".skip 65536, 0x90");
	return frame[0];
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	for (double until = cpu_ms() + atof(argv[1]); cpu_ms() < until;)
		;
	execv(argv[2], argv + 2);
	return 1;
}
