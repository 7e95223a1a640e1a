// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -fno-omit-frame-pointer
/*
 * map_updates CPU_SECONDS [BYTES]: writes large values (64 KiB) into a BPF map all the time, during
 * which the kernel calls no BPF programs of perf events on that CPU; prints the CPU seconds it used
 * in the end.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define VALUE_BYTES 65536
#define MAX_BYTES   4194304 /* older kernels have no larger ones */

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double until = argc > 1 ? strtod(argv[1], NULL) : 1;
	unsigned long bytes = argc > 2 ? strtoul(argv[2], NULL, 0) : VALUE_BYTES;
	static char value[MAX_BYTES];
	uint32_t key = 0;
	union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY,
			      .key_size = sizeof(key),
			      .value_size = (uint32_t)bytes,
			      .max_entries = 1};
	int fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof(map));
	union bpf_attr update = {
		.map_fd = (uint32_t)fd, .key = (uintptr_t)&key, .value = (uintptr_t)value};

	if (bytes > MAX_BYTES || fd < 0) {
		perror("map_updates: cannot make a BPF map");
		return 1;
	}
	while (cpu_seconds() < until)
		for (int i = 0; i < 100; i++)
			if (syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &update, sizeof(update)))
				return 1;
	fprintf(stderr, "%.4f\n", cpu_seconds());
	return 0;
}
