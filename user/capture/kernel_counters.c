// SPDX-License-Identifier: BSD-2-Clause
/* Reads the per-CPU counters of the BPF programs, and how long the programs have run. */
#include "capture/kernel_counters.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

int kernel_counters_read(const struct bpf_map *map, uint64_t ret_counters[PKBPF_COUNTER_COUNT])
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ uint64_t *values = NULL;

	if (cpus < 0)
		return cpus;
	values = calloc((size_t)cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (uint32_t counter = 0; counter < PKBPF_COUNTER_COUNT; counter++) {
		if (bpf_map_lookup_elem(bpf_map__fd(map), &counter, values))
			return -errno;
		for (int cpu = 0; cpu < cpus; cpu++)
			ret_counters[counter] += values[cpu];
	}
	return 0;
}

int kernel_program_time_ns(const struct bpf_object *object, uint64_t *ret_ns)
{
	struct bpf_program *program;
	uint64_t total = 0;

	bpf_object__for_each_program(program, object) {
		struct bpf_prog_info info = {0};
		__u32 size = sizeof(info);
		int fd = bpf_program__fd(program);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size))
			return -errno;
		total += info.run_time_ns;
	}
	*ret_ns = total;
	return 0;
}
