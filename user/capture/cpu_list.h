/* SPDX-License-Identifier: BSD-2-Clause */
/* The online CPUs, as the kernel lists them. */
#ifndef PKBPF_CAPTURE_CPU_LIST_H
#define PKBPF_CAPTURE_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A bound against nonsense in the list, far above the kernel's own limit of 8192. */
#define CPU_LIST_MAX 65536

struct listed_cpu {
	uint32_t number;
	uint32_t arrival; /* another one each time it comes online, see capture/cpu_watch.h */
};

struct cpu_list { /* zero-initialised is empty; ascending, no repeats */
	struct listed_cpu *items;
	size_t count;
	size_t capacity;
	uint32_t version; /* of a watched list: another one after each change */
};

/* Parses "0-3,5,7-8\n". -EINVAL: malformed, descending or beyond CPU_LIST_MAX; -ENOMEM. The list is
 * replaced; arrivals are 0. */
int cpu_list_parse(const char *text, struct cpu_list *list);
/* Reads /sys/devices/system/cpu/online. */
int cpu_list_read_online(struct cpu_list *list);
/* A descriptor of that file, which gives the list as it is at each pread() at 0; -1: it cannot be
 * opened. */
int cpu_list_open_online(void);
/* One more than the highest number a CPU may ever have (/sys/devices/system/cpu/possible); 0
 * unknown. */
uint32_t cpu_list_possible_bound(void);
/* NULL: not in the list. */
const struct listed_cpu *cpu_list_find(const struct cpu_list *list, uint32_t number);
/* It is in the list, and has not been away since. */
bool cpu_list_still_has(const struct cpu_list *list, struct listed_cpu cpu);
void cpu_list_done(struct cpu_list *list);

#endif
