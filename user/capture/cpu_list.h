/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPUs that are online now, as the kernel lists them. */
#ifndef PKBPF_CAPTURE_CPU_LIST_H
#define PKBPF_CAPTURE_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A bound against nonsense in the list, far above the kernel's own limit of 8192. */
#define CPU_LIST_MAX 65536

struct cpu_list { /* zero-initialised is empty; ascending, no repeats */
	uint32_t *cpus;
	size_t count;
	size_t capacity;
};

/* Parses "0-3,5,7-8\n". -EINVAL: malformed, descending or beyond CPU_LIST_MAX; -ENOMEM. The list is replaced. */
int cpu_list_parse(const char *text, struct cpu_list *list);
/* Reads /sys/devices/system/cpu/online. */
int cpu_list_read_online(struct cpu_list *list);
bool cpu_list_contains(const struct cpu_list *list, uint32_t cpu);
void cpu_list_done(struct cpu_list *list);

#endif
