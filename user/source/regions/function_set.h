/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions whose calls are seen. What their probes cost is measured, and kept within a budget:
 * of the functions that cost most the returns are left alone first, so that calls are still
 * counted; then the function is let go.
 */
#ifndef PKBPF_SOURCE_REGIONS_FUNCTION_SET_H
#define PKBPF_SOURCE_REGIONS_FUNCTION_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "elf/elf_file.h"
#include "source/regions/region_rows.h"
#include "source/regions/region_sites.h"

struct function_set;
struct region_probes;

struct function_set_options {
	const char *const *patterns; /* checked; borrowed until new returns */
	size_t pattern_count;
	uint32_t most; /* functions */
	/* Of a file, at most: functions of a group have their probes together. When one of them
	 * loses its own, the calls of the others are missed for a moment. */
	uint32_t groups;
	uint32_t cost_permille; /* of each CPU: what probes may cost */
	uint32_t cpu_count;
	bool wants_callers; /* the stack of each call is read, too */
	const struct log *log;
	const struct region_probes *probes; /* with the programs; borrowed */
};

/* -ENOMEM. */
int function_set_new(const struct function_set_options *options, struct function_set **ret_set);
/* sites: of the BPF programs; those from `first` on are the set's own. Measures what probes cost
 * here. After the programs are loaded. */
void function_set_begin(struct function_set *set, struct pkbpf_span_site *sites, uint32_t first,
			uint32_t count);
/* May any pattern mean functions of this file? */
bool function_set_wants(const struct function_set *set, const char *path);
/* Does any pattern mean a function of this name in this file? It is then one that was found. Writes
 * the name as function_pattern_means() does. */
bool function_set_means(struct function_set *set, const char *path, const char *name,
			char *ret_name, size_t size);
/* Puts probes on the functions of a file that are meant; fd is borrowed. -ENOMEM, and what the
 * kernel says. */
int function_set_add(struct function_set *set, const struct elf_file *file, int fd,
		     const char *path);
/* That have probes, or had some; set: NULL has none. */
size_t function_set_count(const struct function_set *set);
/* Compares the cost since the last poll with the budget. now_ns: clock_now_ns(). rows: those of
 * functions that are let go, and of others whose calls were missed, get a mark. */
void function_set_poll(struct function_set *set, uint64_t now_ns, struct pkbpf_span_row *rows,
		       uint32_t row_count);
/* How long until the next poll. */
int function_set_rest_ms(const struct function_set *set);
/* Takes all probes off. Says what was found nowhere. */
/* Returns the number of patterns that meant no function. */
uint32_t function_set_remove(struct function_set *set);
void function_set_free(struct function_set *set);

#endif
