/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the per-CPU counters of the BPF programs. */
#ifndef PKBPF_CAPTURE_KERNEL_KERNEL_COUNTERS_H
#define PKBPF_CAPTURE_KERNEL_KERNEL_COUNTERS_H

#include <stdint.h>

#include <pkbpf/counter.h>

struct bpf_map;

/* Adds each counter, summed over CPUs, to ret_counters. */
int kernel_counters_read(const struct bpf_map *map, uint64_t ret_counters[PKBPF_COUNTER_COUNT]);
/* Adds to a counter that no program adds to. -errno. */
int kernel_counters_add(const struct bpf_map *map, enum pkbpf_counter counter, uint64_t amount);

#endif
