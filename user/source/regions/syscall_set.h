/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls that are seen, as functions are. No probes are needed, but every call has its
 * price: those that cost most are counted only, then let go.
 */
#ifndef PKBPF_SOURCE_REGIONS_SYSCALL_SET_H
#define PKBPF_SOURCE_REGIONS_SYSCALL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/span.h>

#include "base/error.h"
#include "base/log.h"

struct pkbpf_bpf;
struct syscall_set;

struct syscall_set_options {
	const char *const *globs; /* of names; borrowed until new returns */
	size_t glob_count;
	uint32_t cost_permille; /* of each CPU */
	uint32_t cpu_count;
	const struct log *log;
};

/* -ENOMEM. */
int syscall_set_new(const struct syscall_set_options *options, struct syscall_set **ret_set);
void syscall_set_free(struct syscall_set *set);
/* Includes the programs in the load, or excludes them. */
void syscall_set_choose(struct pkbpf_bpf *skeleton, bool wanted);
/* sites: PKBPF_SYSCALLS of them, by number. After the programs are loaded. */
int syscall_set_attach(struct syscall_set *set, struct pkbpf_bpf *skeleton,
		       struct pkbpf_span_site *sites, struct error *error);
/* Holds the cost against the budget. rows: those of calls that are let go get a mark. */
void syscall_set_poll(struct syscall_set *set, uint64_t now_ns, struct pkbpf_span_row *rows,
		      uint32_t row_count);
/* How long until the next poll. */
int syscall_set_rest_ms(const struct syscall_set *set);
void syscall_set_detach(struct syscall_set *set);

#endif
