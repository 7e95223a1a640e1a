// SPDX-License-Identifier: BSD-2-Clause
/* Reads the per-CPU counters of the BPF programs. */
#include "capture/kernel/kernel_counters.h"

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

int kernel_counters_add(const struct bpf_map *map, enum pkbpf_counter counter, uint64_t amount)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ uint64_t *values = NULL;
	uint32_t key = counter;

	if (cpus <= 0)
		return cpus;
	values = calloc((size_t)cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(map), &key, values))
		return -errno;
	values[0] += amount;
	return bpf_map_update_elem(bpf_map__fd(map), &key, values, BPF_ANY) ? -errno : 0;
}
