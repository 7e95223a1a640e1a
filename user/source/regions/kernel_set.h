/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of the kernel that are seen, as those of programs are: a probe where each begins
 * and one where it returns. Those that cost most are counted only, then let go.
 */
#ifndef PKBPF_SOURCE_REGIONS_KERNEL_SET_H
#define PKBPF_SOURCE_REGIONS_KERNEL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/config.h>
#include <pkbpf/span.h>

#include "base/error.h"
#include "base/log.h"

struct kernel_set;
struct kernel_types;
struct pkbpf_bpf;

struct kernel_set_options {
	const char *const *globs; /* of names; borrowed as long as the set */
	size_t glob_count;
	uint32_t most;		/* functions */
	uint32_t cost_permille; /* of each CPU */
	uint32_t cpu_count;
	bool wants_callers;
	const struct log *log;
};

/* Includes the programs in the load, or excludes them. */
void kernel_set_choose(struct pkbpf_bpf *skeleton, bool wanted);
/* Before the programs are loaded. -ENOTSUP: this kernel has no probes; -ENOMEM. */
int kernel_set_new(const struct kernel_set_options *options, struct pkbpf_bpf *skeleton,
		   const struct kernel_types *types, struct kernel_set **ret_set,
		   struct error *error);
void kernel_set_free(struct kernel_set *set);
/* sites: as many as `most` and one, from the number `first` on. -E2BIG: more functions are meant.
 */
int kernel_set_attach(struct kernel_set *set, struct pkbpf_span_site *sites, uint32_t first,
		      struct error *error);
/* Holds the cost against the budget. rows: those of calls that are let go get a mark. */
void kernel_set_poll(struct kernel_set *set, uint64_t now_ns, struct pkbpf_span_row *rows,
		     uint32_t row_count);
/* How long until the next poll. */
int kernel_set_rest_ms(const struct kernel_set *set);
void kernel_set_detach(struct kernel_set *set);

#endif
