// SPDX-License-Identifier: BSD-2-Clause
/* The options of the source of regions. */
#include "source/regions/region_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pkbpf/span.h>

#include "base/cleanup.h"
#include "base/parse_value.h"
#include "source/regions/function_match.h"
#include "source/regions/syscall_names.h"
#include "source/source_options.h"

#define USDT	      "usdt:"
#define FUNCTION      "function:"
#define SYSCALL	      "syscall:"
#define KERNEL	      "kernel:"
#define MAX_PROBES    512
#define COST_PERMILLE 20
#define SLOW_COUNT    10

bool region_pair_parse(char *text, struct usdt_pair *ret_pair)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text || equals - text >= PKBPF_SPAN_NAME)
		return false;
	*equals++ = '\0';
	if (strncmp(equals, FUNCTION, strlen(FUNCTION)) == 0)
		return function_pair_parse(equals + strlen(FUNCTION), text, ret_pair);
	return strncmp(equals, USDT, strlen(USDT)) == 0 &&
	       usdt_pair_parse(equals + strlen(USDT), text, ret_pair);
}

static int parse_region(void *options, const char *value, struct error *error)
{
	struct region_options *regions = &((struct source_options *)options)->regions;
	_cleanup_free_ char *copy = strdup(value);
	struct usdt_pair pair;

	if (!copy)
		return error_set(error, ENOMEM, "out of memory");
	if (!region_pair_parse(copy, &pair))
		return error_set(
			error, EINVAL,
			"invalid value '%s' for --region: expected "
			"NAME=usdt:PROVIDER:BEGIN..END or NAME=function:[LIB:]BEGIN..END, or "
			"these with @N, the number of an argument",
			value);
	if (regions->pair_count == REGION_PAIRS_MAX)
		return error_set(error, EINVAL, "more than %d times --region", REGION_PAIRS_MAX);
	regions->pairs[regions->pair_count++] = value;
	regions->wanted = true;
	return 0;
}

static int add_syscalls(struct region_options *regions, const char *glob, struct error *error)
{
	if (!syscall_match_count(glob))
		return error_set(error, EINVAL,
				 "invalid value 'syscall:%s' for --function: no system call has "
				 "this name; syscall:* means all",
				 glob);
	if (regions->syscall_count == REGION_PATTERNS_MAX)
		return error_set(error, EINVAL, "more than %d times --function",
				 REGION_PATTERNS_MAX);
	regions->syscalls[regions->syscall_count++] = glob;
	return 0;
}

static int add_kernel(struct region_options *regions, const char *glob, struct error *error)
{
	if (!*glob)
		return error_set(error, EINVAL,
				 "invalid value 'kernel:' for --function: expected kernel:NAME, "
				 "with *, ? and [...] as wildcards");
	if (regions->kernel_count == REGION_PATTERNS_MAX)
		return error_set(error, EINVAL, "more than %d times --function",
				 REGION_PATTERNS_MAX);
	regions->kernel[regions->kernel_count++] = glob;
	return 0;
}

static int parse_function(void *options, const char *value, struct error *error)
{
	struct region_options *regions = &((struct source_options *)options)->regions;
	_cleanup_free_ char *copy = strdup(value);
	struct function_pattern pattern;

	if (!copy)
		return error_set(error, ENOMEM, "out of memory");
	if (strncmp(value, KERNEL, strlen(KERNEL)) == 0)
		return add_kernel(regions, value + strlen(KERNEL), error);
	if (strncmp(value, SYSCALL, strlen(SYSCALL)) == 0)
		return add_syscalls(regions, value + strlen(SYSCALL), error);
	if (!function_pattern_parse(copy, &pattern))
		return error_set(
			error, EINVAL,
			"invalid value '%s' for --function: expected [LIB:]NAME, with *, ? "
			"and [...] as wildcards, or [LIB:]0xADDRESS",
			value);
	if (regions->function_count == REGION_PATTERNS_MAX)
		return error_set(error, EINVAL, "more than %d times --function",
				 REGION_PATTERNS_MAX);
	regions->functions[regions->function_count++] = value;
	return 0;
}

static int parse_probe_cost(void *options, const char *value, struct error *error)
{
	struct region_options *regions = &((struct source_options *)options)->regions;
	char number[16];
	size_t length = strlen(value);
	uint64_t percent;

	if (strcmp(value, "none") == 0) {
		regions->cost_permille = UINT32_MAX;
		return 0;
	}
	if (length && value[length - 1] == '%')
		length--;
	snprintf(number, sizeof(number), "%.*s", (int)length, value);
	if (length >= sizeof(number) ||
	    parse_u64(number, "--probe-cost", 1, 100, &percent, NULL) < 0)
		return error_set(error, EINVAL,
				 "invalid value '%s' for --probe-cost: expected 1 to 100 (percent "
				 "of each CPU) or none",
				 value);
	regions->cost_permille = (uint32_t)percent * 10;
	return 0;
}

static int parse_slow_region(void *options, const char *value, struct error *error)
{
	struct region_options *regions = &((struct source_options *)options)->regions;

	regions->wanted = true;
	return parse_duration_ns(value, "--slow-region", &regions->slow_region_ns, error);
}

static int parse_slow_function(void *options, const char *value, struct error *error)
{
	struct region_options *regions = &((struct source_options *)options)->regions;

	return parse_duration_ns(value, "--slow-function", &regions->slow_function_ns, error);
}

int region_limits_add(struct region_limits *limits, const char *name, uint64_t ns)
{
	struct region_limit *limit;

	for (size_t i = 0; i < limits->count; i++)
		if (strncmp(limits->items[i].name, name, PKBPF_SPAN_NAME) == 0)
			return limits->items[i].ns == ns ? 0 : -EEXIST;
	if (limits->count == PKBPF_SPAN_LIMITS)
		return -ENOSPC;
	limit = &limits->items[limits->count++];
	*limit = (struct region_limit){.ns = ns};
	snprintf(limit->name, sizeof(limit->name), "%s", name);
	return 0;
}

void region_options_init(struct source_options *options)
{
	options->regions = (struct region_options){.max_probes = MAX_PROBES,
						   .cost_permille = COST_PERMILLE,
						   .slow_region_ns = UINT64_MAX,
						   .slow_function_ns = UINT64_MAX,
						   .slow_count = SLOW_COUNT};
}

const struct option_row region_option_rows[] = {
	{0, "regions", NULL,
	 "times of the regions that programs mark with pkbpf.h or pkbpf.py, and of PostgreSQL, "
	 "JVMs and other programs with known USDT probes",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, regions.wanted),
	 .text = "Each region gets its count, wall time, percentiles and, with the events of "
		 "offcpu, its time on the CPU, in the run queue, asleep and in disk waits. With "
		 "--alloc also what it allocates, and what of that lives at the end; then stacks "
		 "begin with the regions they are in, as for --region-frames."},
	{0, "region-frames", NULL, "as --regions; stacks begin with the regions they are in",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, regions.frames),
	 .text = "Call trees, flame graphs and pprof then show what is hot, and what waits, inside "
		 "of each region."},
	{0, "region", "NAME=PAIR",
	 "as --regions; also a region between two USDT probes, usdt:PROVIDER:BEGIN..END, or from "
	 "the call of a function to that of another, function:[LIB:]BEGIN..END; repeatable",
	 .group = OPTION_GROUP_EVENTS, .repeatable = true, .form = OPTION_PARSED,
	 .parse = parse_region,
	 .text = "The same thread has to hit BEGIN and END. With @N after END, different threads "
		 "may: argument N of both, counted from 0, tells which hits belong together, such "
		 "as the address of a request. `readelf -n FILE` lists the probes of a file. "
		 "Functions are named as for --function, on x86-64; a pair of them whose probes "
		 "cost "
		 "more than --probe-cost is let go, and that is said."},
	{0, "function", "[LIB:]NAME",
	 "count and measure each call of the functions with this name; LIB: of this library, "
	 "default: of the program itself; *, ? and [...] match; syscall:NAME: system calls; "
	 "kernel:NAME: functions of the kernel; repeatable",
	 .group = OPTION_GROUP_EVENTS, .repeatable = true, .form = OPTION_PARSED,
	 .parse = parse_function,
	 .text = "NAME is a mangled or a demangled name without parameters, 0xADDRESS one of a "
		 "stripped file. Calls are seen by probes on the first instructions and on all "
		 "exits of a function; nothing on its stack changes, so exceptions, longjmp, "
		 "coroutines and Go go on as before. Calls of inlined copies are not seen; where "
		 "the "
		 "program has debug information it is said how many copies there are, and in what. "
		 "x86-64 only, "
		 "since Linux 5.15. System calls are seen on all architectures, those of 64-bit "
		 "programs. Functions of the kernel need one that was built with CONFIG_KPROBES, "
		 "since Linux 5.15, as `pkbpf doctor` tells; those that it lets nobody probe, and "
		 "those that probes themselves call, are left out, with a warning, and so are "
		 "calls by interrupts, which are no work of the thread they come upon."},
	{0, "callers", NULL,
	 "with --function: calls and their time by calling stack, too; the same as adding calls to "
	 "--events",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, regions.callers),
	 .text = "Reads the stack of each call, which costs some microseconds. Folded stacks, "
		 "flame graphs, pprof and the page have the wall time of calls, with the function "
		 "as leaf; recursive calls are counted, their time is in the outermost one."},
	{0, "slow-function", "TIME",
	 "with --function: list the slowest calls one by one, if they take at least TIME",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_PARSED, .parse = parse_slow_function,
	 .text = "Each with its thread, its time on the CPU, in the run queue, asleep and in disk "
		 "waits, and the stack with which it returned; --top limits their number."},
	{0, "slow-region", "TIME",
	 "as --regions; list the slowest regions one by one, if they take at least TIME",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_PARSED, .parse = parse_slow_region,
	 .text = "As --slow-function does with calls."},
	{0, "max-probes", "N", "with --function: most functions; default 512",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_NUMBER,
	 OPTION_AT(struct source_options, regions.max_probes), .least = 1, .most = 4096},
	{0, "probe-cost", "PERCENT",
	 "with --function: what probes may cost, in percent of each CPU; none: anything; default 2",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_PARSED, .parse = parse_probe_cost,
	 .text = "Of the functions that cost most the calls are counted only, and the program that "
		 "calls one still too often gets rid of its probe; the report says which."},
	{.name = NULL},
};
