// SPDX-License-Identifier: BSD-2-Clause
/* Chooses functions of the kernel, and lets go of those that cost too much. */
#include "source/regions/kernel_set.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/kernel/capability.h"
#include "capture/kernel/kernel_types.h"
#include "source/regions/kernel_functions.h"
#include "source/regions/kernel_probes.h"
#include "source/regions/region_rows.h"

#include "pkbpf.skel.h"

/* Kprobes come off one by one, each after tens of milliseconds. */
#define MOST_KPROBES 64U
/* Both halves of a call: where they cannot be measured, and what the program takes beside. */
#define USUAL_NS   1500
#define PROGRAM_NS 400
/* Reading the stack of a call, and adding to its entry. */
#define STACK_NS 2500
/* New ones are looked at soon: one too many slows a machine down several times. */
#define NEW_NS	    (NS_PER_SECOND / 2)
#define NEW_REST_MS 20
#define REST_MS	    100
#define CALLS	    8
#define ROUNDS	    200

/* The system call that does least. */
#if defined(__x86_64__)
#define PRICED "__x64_sys_getppid"
#else
#define PRICED "__arm64_sys_getppid"
#endif

struct kernel_set {
	struct kernel_set_options options;
	struct kernel_functions functions; /* site i is that of function i */
	struct kernel_probes entries, returns;
	struct pkbpf_span_site *sites;
	uint64_t *cost_ns; /* of each, since the last poll */
	uint32_t first;
	uint32_t price_ns; /* of both probes of a call */
	uint64_t begun_ns, polled_ns;
	bool entries_change;
};

void kernel_set_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	bpf_program__set_autoload(skeleton->progs.span_kernel, wanted);
	bpf_program__set_autoload(skeleton->progs.span_kernel_left, wanted);
}

int kernel_set_new(const struct kernel_set_options *options, struct pkbpf_bpf *skeleton,
		   const struct kernel_types *types, struct kernel_set **ret_set,
		   struct error *error)
{
	bool uses_multi = kernel_types_find(types, BTF_KIND_STRUCT, KERNEL_TYPE_KPROBE_MULTI);
	struct kernel_set *set;

	if (!capability_get(CAPABILITY_KERNEL_PROBES)->probe(error))
		return -ENOTSUP;
	set = calloc(1, sizeof(*set));
	if (!set)
		return error_set(error, ENOMEM, "cannot prepare functions: out of memory");
	set->options = *options;
	if (!uses_multi && set->options.most > MOST_KPROBES)
		set->options.most = MOST_KPROBES;
	kernel_probes_init(&set->entries, skeleton->progs.span_kernel, false, uses_multi);
	kernel_probes_init(&set->returns, skeleton->progs.span_kernel_left, true, uses_multi);
	*ret_set = set;
	return 0;
}

void kernel_set_free(struct kernel_set *set)
{
	if (!set)
		return;
	kernel_set_detach(set);
	kernel_functions_done(&set->functions);
	free(set->cost_ns);
	free(set);
}

/* ---- which ---- */

static int check_count(const struct kernel_set *set, struct error *error)
{
	const struct kernel_functions *functions = &set->functions;
	const char *glob = set->options.globs[0];

	if (functions->refused)
		log_warning(set->options.log,
			    "%u functions of the kernel that are meant cannot be probed (notrace, "
			    "or on its blacklist), such as %s",
			    functions->refused, functions->first_refused);
	if (functions->ours)
		log_warning(set->options.log,
			    "%u functions of the kernel that are meant are left out, since probes "
			    "themselves call them, such as %s",
			    functions->ours, functions->first_ours);
	if (functions->items.count > set->options.most)
		return error_set(error, E2BIG,
				 "--function kernel:%s%s means %zu functions, more than %u%s: use "
				 "a narrower pattern",
				 glob, set->options.glob_count > 1 ? ", ..." : "",
				 functions->items.count, set->options.most,
				 set->entries.uses_multi ? " (--max-probes)"
							 : ", the most on this kernel");
	if (!functions->items.count)
		return error_set(error, ENOENT,
				 "--function kernel:%s%s: the kernel has no function of that name "
				 "that can be probed; /proc/kallsyms lists all (inlined ones are "
				 "not there)",
				 glob, set->options.glob_count > 1 ? ", ..." : "");
	return 0;
}

static int find_functions(struct kernel_set *set, struct error *error)
{
	int err = kernel_functions_find(&kernel_function_paths, set->options.globs,
					set->options.glob_count, &set->functions);

	if (err == -EACCES)
		return error_set(
			error, EACCES,
			"cannot count functions of the kernel: their addresses are hidden; "
			"run with sudo or grant CAP_SYSLOG, with sysctl kernel.kptr_restrict "
			"at 0 or 1");
	if (err)
		return error_set(error, -err, "cannot read /proc/kallsyms: %s", strerror(-err));
	return check_count(set, error);
}

/* ---- the price ---- */

static uint64_t time_calls(void)
{
	uint64_t least_ns = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = clock_now_ns(), time_ns;

		for (int i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		time_ns = (clock_now_ns() - begin_ns) / CALLS;
		if (time_ns < least_ns)
			least_ns = time_ns;
	}
	return least_ns;
}

/* Of both probes of a function that does next to nothing. */
static uint32_t measure_price(const struct kernel_set *set)
{
	struct kernel_probes entries = set->entries, returns = set->returns;
	static const char *const globs[] = {PRICED};
	struct kernel_functions functions = {0};
	uint64_t cookie = set->first + set->options.most, before_ns, after_ns;
	uint32_t price_ns = USUAL_NS;

	set->sites[set->options.most].role = PKBPF_SITE_OFF;
	before_ns = time_calls();
	if (kernel_functions_find(&kernel_function_paths, globs, 1, &functions) == 0 &&
	    functions.items.count == 1 &&
	    kernel_probes_add(&returns, functions.items.items[0].address, cookie) == 0 &&
	    kernel_probes_update(&returns) == 0 &&
	    kernel_probes_add(&entries, functions.items.items[0].address, cookie) == 0 &&
	    kernel_probes_update(&entries) == 0) {
		after_ns = time_calls();
		if (after_ns > before_ns)
			price_ns = (uint32_t)(after_ns - before_ns);
	}
	kernel_probes_remove(&entries);
	kernel_probes_remove(&returns);
	kernel_functions_done(&functions);
	return price_ns + PROGRAM_NS;
}

/* ---- probes ---- */

static int add_function(struct kernel_set *set, size_t number)
{
	const struct kernel_function *function = &set->functions.items.items[number];
	uint64_t cookie = set->first + number;
	struct pkbpf_span_site *site = &set->sites[number];
	int err;

	snprintf(site->name, sizeof(site->name), "kernel:%.*s",
		 (int)(sizeof(site->name) - sizeof("kernel:")), function->name);
	site->role = PKBPF_SITE_CALL;
	/* What ends a call first: nothing may begin that cannot end. */
	err = kernel_probes_add(&set->returns, function->address, cookie);
	if (err)
		return err;
	err = kernel_probes_add(&set->entries, function->address, cookie);
	if (err)
		kernel_probes_drop(&set->returns, cookie);
	return err;
}

int kernel_set_attach(struct kernel_set *set, struct pkbpf_span_site *sites, uint32_t first,
		      struct error *error)
{
	size_t refused = 0, count;
	int err, last = 0;

	set->sites = sites;
	set->first = first;
	err = find_functions(set, error);
	if (err)
		return err;
	count = set->functions.items.count;
	set->cost_ns = calloc(count, sizeof(*set->cost_ns));
	if (!set->cost_ns)
		return error_set(error, ENOMEM, "cannot prepare functions: out of memory");
	set->price_ns = measure_price(set);
	log_info(set->options.log, "probes of the kernel cost %u ns a call", set->price_ns);
	for (size_t i = 0; i < count; i++) {
		err = add_function(set, i);
		refused += err != 0;
		last = err ? err : last;
		if (err)
			log_warning(set->options.log, "%s is not counted: %s", sites[i].name,
				    strerror(-err));
	}
	err = refused == count ? last : kernel_probes_update(&set->returns);
	err = err ? err : kernel_probes_update(&set->entries);
	if (err)
		return error_set(error, -err, "cannot probe functions of the kernel: %s",
				 strerror(-err));
	log_info(set->options.log, "probes on %zu functions of the kernel", count - refused);
	set->begun_ns = clock_now_ns();
	return 0;
}

/* ---- the budget ---- */

/* Both probes count hits of a site. */
static uint64_t take_cost(struct kernel_set *set, size_t number)
{
	volatile struct pkbpf_span_site *site = &set->sites[number];
	uint64_t hits = __atomic_exchange_n((uint64_t *)&site->hits, 0, __ATOMIC_RELAXED);
	bool is_measured = site->role == PKBPF_SITE_CALL;

	set->cost_ns[number] = hits * set->price_ns / 2;
	if (set->options.wants_callers)
		set->cost_ns[number] += hits * STACK_NS / (is_measured ? 2 : 1);
	return set->cost_ns[number];
}

static void give_way(struct kernel_set *set, size_t number, struct pkbpf_span_row *rows,
		     uint32_t row_count)
{
	struct pkbpf_span_site *site = &set->sites[number];

	if (site->role == PKBPF_SITE_CALL) {
		__atomic_store_n(&site->role, PKBPF_SITE_COUNT, __ATOMIC_RELAXED);
		kernel_probes_drop(&set->returns, set->first + number);
		log_warning(set->options.log,
			    "%s is called too often to be measured within --probe-cost: from now "
			    "on its calls are counted only",
			    site->name);
		return;
	}
	__atomic_store_n(&site->role, PKBPF_SITE_OFF, __ATOMIC_RELAXED);
	kernel_probes_drop(&set->entries, set->first + number);
	set->entries_change = true;
	region_rows_let_go(rows, row_count, site->name, true);
	log_warning(set->options.log,
		    "%s is called too often to be counted within --probe-cost: it is let go",
		    site->name);
}

static size_t dearest_of(const struct kernel_set *set)
{
	size_t dearest = 0;

	for (size_t i = 1; i < set->functions.items.count; i++)
		if (set->cost_ns[i] > set->cost_ns[dearest])
			dearest = i;
	return dearest;
}

/* Where a link has all of them, it is taken off and put on again, and calls are missed meanwhile.
 */
static void change_probes(struct kernel_set *set, struct pkbpf_span_row *rows, uint32_t row_count)
{
	int err = kernel_probes_update(&set->returns);

	if (!err && set->entries_change) {
		err = kernel_probes_update(&set->entries);
		for (size_t i = 0; set->entries.uses_multi && i < set->functions.items.count; i++)
			region_rows_let_go(rows, row_count, set->sites[i].name, true);
	}
	set->entries_change = false;
	if (err < 0)
		log_warning(set->options.log, "cannot watch the functions of the kernel any more");
}

void kernel_set_poll(struct kernel_set *set, uint64_t now_ns, struct pkbpf_span_row *rows,
		     uint32_t row_count)
{
	uint64_t time_ns = now_ns - set->polled_ns, cost_ns = 0, most_ns;
	bool is_first = !set->polled_ns, has_changed = false;

	if (!set->cost_ns || time_ns < NEW_REST_MS * NS_PER_MS / 2)
		return;
	set->polled_ns = now_ns;
	for (size_t i = 0; i < set->functions.items.count; i++)
		cost_ns += take_cost(set, i);
	if (is_first)
		return;
	most_ns = time_ns / 1000 * set->options.cost_permille * set->options.cpu_count;
	while (cost_ns > most_ns) {
		size_t dearest = dearest_of(set);

		if (!set->cost_ns[dearest])
			break;
		if (set->sites[dearest].role != PKBPF_SITE_OFF) {
			give_way(set, dearest, rows, row_count);
			has_changed = true;
		}
		cost_ns -= set->cost_ns[dearest];
		set->cost_ns[dearest] = 0;
	}
	if (has_changed)
		change_probes(set, rows, row_count);
}

int kernel_set_rest_ms(const struct kernel_set *set)
{
	return clock_now_ns() - set->begun_ns < NEW_NS ? NEW_REST_MS : REST_MS;
}

void kernel_set_detach(struct kernel_set *set)
{
	kernel_probes_remove(&set->entries);
	kernel_probes_remove(&set->returns);
}
