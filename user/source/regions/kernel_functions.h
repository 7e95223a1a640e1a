/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the kernel that can have probes, by name. */
#ifndef PKBPF_SOURCE_REGIONS_KERNEL_FUNCTIONS_H
#define PKBPF_SOURCE_REGIONS_KERNEL_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/span.h>

#include "base/array.h"

struct kernel_function {
	uint64_t address;
	char name[PKBPF_SPAN_NAME]; /* may be cut */
};

struct kernel_functions {
	ARRAY_OF(struct kernel_function) items; /* by address, each once */
	/* Meant, too, but without probes: the kernel allows none there, or our own programs call
	 * them. */
	uint32_t refused, ours;
	char first_refused[PKBPF_SPAN_NAME], first_ours[PKBPF_SPAN_NAME];
};

/* Where the kernel tells about its functions; tests have their own. */
struct kernel_function_paths {
	const char *symbols;   /* /proc/kallsyms */
	const char *traceable; /* available_filter_functions; may be missing */
	const char *blacklist; /* of kprobes; may be missing */
};

extern const struct kernel_function_paths kernel_function_paths;

/* Do programs of BPF call functions of this name, so that a probe there could see itself? */
bool kernel_function_is_ours(const char *name);
/* Those that match one of the globs. Without the list of traceable ones all of the blacklist are
 * left out, and what else cannot be probed is found out when probes are made. -ENOMEM; errors of
 * reading symbols; -EACCES: their addresses are hidden. */
int kernel_functions_find(const struct kernel_function_paths *paths, const char *const *globs,
			  size_t glob_count, struct kernel_functions *functions);
void kernel_functions_done(struct kernel_functions *functions);

#endif
