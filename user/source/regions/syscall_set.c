// SPDX-License-Identifier: BSD-2-Clause
/* Chooses system calls, and lets go of those that cost too much. */
#include "source/regions/syscall_set.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include <pkbpf/config.h>
#include <pkbpf/syscall_sites.h>

#include "base/clock.h"
#include "capture/tracing_program.h"
#include "source/regions/region_rows.h"
#include "source/regions/syscall_names.h"

#include "pkbpf.skel.h"

/* What two tracepoints and their programs take of a call, and of one that is only counted: measured
 * with dd, which writes single bytes, in a virtual machine. */
#define MEASURED_NS 1300
#define COUNTED_NS  450
/* New ones are looked at soon: one too many slows a program down several times. */
#define NEW_NS	    (NS_PER_SECOND / 2)
#define NEW_REST_MS 20
#define REST_MS	    100

struct syscall {
	bool wanted;
	uint64_t cost_ns; /* since the last poll */
};

struct syscall_set {
	struct syscall_set_options options;
	struct syscall calls[PKBPF_SYSCALLS];
	struct pkbpf_span_site *sites;
	struct bpf_link *on_enter, *on_exit;
	uint64_t begun_ns, polled_ns;
};

int syscall_set_new(const struct syscall_set_options *options, struct syscall_set **ret_set)
{
	struct syscall_set *set = calloc(1, sizeof(*set));

	if (!set)
		return -ENOMEM;
	set->options = *options;
	set->options.globs = NULL;
	for (uint32_t i = 0; i < PKBPF_SYSCALLS; i++)
		for (size_t j = 0; j < options->glob_count && syscall_name(i); j++)
			if (fnmatch(options->globs[j], syscall_name(i), 0) == 0)
				set->calls[i].wanted = true;
	*ret_set = set;
	return 0;
}

void syscall_set_free(struct syscall_set *set)
{
	if (!set)
		return;
	syscall_set_detach(set);
	free(set);
}

void syscall_set_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	bpf_program__set_autoload(skeleton->progs.span_syscall, wanted);
	bpf_program__set_autoload(skeleton->progs.span_syscall_left, wanted);
}

int syscall_set_attach(struct syscall_set *set, struct pkbpf_bpf *skeleton,
		       struct pkbpf_span_site *sites, struct error *error)
{
	int err;

	set->sites = sites;
	for (uint32_t i = 0; i < PKBPF_SYSCALLS; i++) {
		if (!set->calls[i].wanted)
			continue;
		snprintf(sites[i].name, sizeof(sites[i].name), "syscall:%s", syscall_name(i));
		sites[i].role = PKBPF_SITE_CALL;
	}
	set->begun_ns = clock_now_ns();
	/* What ends a call first: nothing may begin that cannot end. */
	err = tracing_program_attach(skeleton->progs.span_syscall_left, &set->on_exit, error);
	return err ? err
		   : tracing_program_attach(skeleton->progs.span_syscall, &set->on_enter, error);
}

static uint64_t take_hits(struct syscall_set *set, uint32_t number)
{
	volatile struct pkbpf_span_site *site = &set->sites[number];
	struct syscall *call = &set->calls[number];
	uint64_t hits = __atomic_exchange_n((uint64_t *)&site->hits, 0, __ATOMIC_RELAXED);

	/* Programs that saw it before it was let go. */
	if (site->role == PKBPF_SITE_OFF)
		hits = 0;
	call->cost_ns = hits * (site->role == PKBPF_SITE_CALL ? MEASURED_NS : COUNTED_NS);
	return call->cost_ns;
}

static void give_way(struct syscall_set *set, uint32_t number, struct pkbpf_span_row *rows,
		     uint32_t row_count)
{
	struct pkbpf_span_site *site = &set->sites[number];

	if (site->role == PKBPF_SITE_CALL) {
		__atomic_store_n(&site->role, PKBPF_SITE_COUNT, __ATOMIC_RELAXED);
		log_warning(set->options.log,
			    "%s is called too often to be measured within --probe-cost: from now "
			    "on its calls are counted only",
			    site->name);
		return;
	}
	__atomic_store_n(&site->role, PKBPF_SITE_OFF, __ATOMIC_RELAXED);
	region_rows_let_go(rows, row_count, site->name, true);
	log_warning(set->options.log,
		    "%s is called too often to be counted within --probe-cost: it is let go",
		    site->name);
}

void syscall_set_poll(struct syscall_set *set, uint64_t now_ns, struct pkbpf_span_row *rows,
		      uint32_t row_count)
{
	uint64_t time_ns = now_ns - set->polled_ns, cost_ns = 0, most_ns;
	bool is_first = !set->polled_ns;

	if (!set->sites || time_ns < NEW_REST_MS * NS_PER_MS / 2)
		return;
	set->polled_ns = now_ns;
	for (uint32_t i = 0; i < PKBPF_SYSCALLS; i++)
		cost_ns += set->calls[i].wanted ? take_hits(set, i) : 0;
	if (is_first)
		return;
	most_ns = time_ns / 1000 * set->options.cost_permille * set->options.cpu_count;
	while (cost_ns > most_ns) {
		uint32_t dearest = 0;

		for (uint32_t i = 1; i < PKBPF_SYSCALLS; i++)
			if (set->calls[i].cost_ns > set->calls[dearest].cost_ns)
				dearest = i;
		if (!set->calls[dearest].cost_ns)
			break;
		give_way(set, dearest, rows, row_count);
		cost_ns -= set->calls[dearest].cost_ns;
		set->calls[dearest].cost_ns = 0;
	}
}

int syscall_set_rest_ms(const struct syscall_set *set)
{
	return clock_now_ns() - set->begun_ns < NEW_NS ? NEW_REST_MS : REST_MS;
}

void syscall_set_detach(struct syscall_set *set)
{
	bpf_link__destroy(set->on_enter);
	bpf_link__destroy(set->on_exit);
	set->on_enter = set->on_exit = NULL;
}
