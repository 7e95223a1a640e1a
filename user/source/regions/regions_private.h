/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of regions, shared by its files. */
#ifndef PKBPF_SOURCE_REGIONS_REGIONS_PRIVATE_H
#define PKBPF_SOURCE_REGIONS_REGIONS_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "source/mapped_table.h"
#include "source/regions/function_set.h"
#include "source/regions/kernel_set.h"
#include "source/regions/pair_budget.h"
#include "source/regions/region_budget.h"
#include "source/regions/region_files.h"
#include "source/regions/region_options.h"
#include "source/regions/region_probes.h"
#include "source/regions/region_rows.h"
#include "source/regions/syscall_set.h"
#include "source/source.h"
#include "source/source_options.h"

/* Places of probes that are not ours. */
#define REGION_SITES 4096U

struct source {
	struct session *session;
	struct region_probes *probes;
	struct mapped_table row_table, stack_table, site_table;
	uint32_t site_count;
	uint32_t first_syscall;		/* site of system call 0, behind the others */
	uint32_t first_kernel;		/* sites of the kernel's functions, behind these */
	struct function_set *functions; /* NULL: none are wanted */
	struct syscall_set *syscalls;	/* likewise */
	struct kernel_set *kernel;	/* likewise */
	bool wants_callers;		/* calls by stack */
	bool wants_marks;		/* regions that programs mark, and pairs of probes */
	struct region_limits limits;
	struct region_pairs pairs;
	struct pair_budget *pair_budget;    /* NULL: there are none of functions */
	struct region_budget *budget;	    /* NULL: probes may cost anything */
	char *pair_texts[REGION_PAIRS_MAX]; /* that `pairs` points into */
	struct region_rows rows;
	struct bpf_link *on_exit, *on_exec;
	struct region_files files;
	struct event_buffer buffer;
	uint64_t last_drain_ns, last_freed_ns;
	uint64_t last_ended_ns; /* time of the last record at the last look at ended targets */
	bool is_attached;
};

/* Looks at files that targets have mapped since the last time, and puts probes where they mark
 * regions or have functions that are wanted. */
void region_watch_files(struct source *source);
/* After detaching: says which files with regions targets have mapped and were not watched. */
void region_watch_missed(struct source *source);
/* The same of the files that the command will map, before it does. */
void region_watch_command(struct source *source);

#endif
