/* SPDX-License-Identifier: BSD-2-Clause */
/* The online CPUs, as the kernel lists them. */
#ifndef PKBPF_CAPTURE_CPU_LIST_H
#define PKBPF_CAPTURE_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bound on malformed lists, far above the kernel's own limit of 8192. */
#define CPU_LIST_MAX 65536

struct listed_cpu {
	uint32_t number;
	uint32_t arrival; /* changes each time the CPU comes online, see capture/cpu_watch.h */
	bool is_early;	  /* found in the list before its uevent, which is yet to come */
};

struct cpu_list { /* zero-initialized: empty; ascending, no repeats */
	struct listed_cpu *items;
	size_t count;
	size_t capacity;
	uint32_t version; /* of a watched list: changes with the list */
};

/* Parses "3" or "0-7" and moves *text behind it. -EINVAL: malformed, descending or beyond
 * CPU_LIST_MAX; *text and the outputs stay. */
int cpu_list_parse_range(const char **text, uint32_t *ret_first, uint32_t *ret_last);
/* Parses "0-3,5,7-8\n" and replaces the list; arrivals are 0. -EINVAL: malformed, descending or
 * beyond CPU_LIST_MAX; -ENOMEM. */
int cpu_list_parse(const char *text, struct cpu_list *list);
/* Reads /sys/devices/system/cpu/online. */
int cpu_list_read_online(struct cpu_list *list);
/* Opens that file. Each pread() at offset 0 returns the current list. -1: cannot be opened. */
int cpu_list_open_online(void);
/* One more than the highest possible CPU number (/sys/devices/system/cpu/possible); 0: unknown. */
uint32_t cpu_list_possible_bound(void);
/* NULL: not in the list. */
const struct listed_cpu *cpu_list_find(const struct cpu_list *list, uint32_t number);
/* True when the CPU is in the list and has been online since. */
bool cpu_list_still_has(const struct cpu_list *list, struct listed_cpu cpu);
void cpu_list_done(struct cpu_list *list);

#endif
