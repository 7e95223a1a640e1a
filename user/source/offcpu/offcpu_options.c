// SPDX-License-Identifier: BSD-2-Clause
/* The options of the off-CPU source. */
#include "source/offcpu/offcpu_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/parse_value.h"
#include "source/source_options.h"

/* Overhead limit of the BPF programs, above which fewer waits get a stack. Busy servers switch
 * 20,000 times a second and CPU. A stack for each switch, 1 to 2 us, would cost 4 %. */
#define MAX_OVERHEAD_PERMILLE_PER_CPU 10

static int parse_max_overhead(void *options, const char *value, struct error *error)
{
	struct offcpu_options *offcpu = &((struct source_options *)options)->offcpu;
	char number[16];
	size_t length = strlen(value);
	uint64_t percent;
	int err;

	if (strcmp(value, "none") == 0) {
		offcpu->max_overhead_permille = 0;
		return 0;
	}
	if (length && value[length - 1] == '%')
		length--;
	snprintf(number, sizeof(number), "%.*s", (int)length, value);
	err = length < sizeof(number) ? parse_u64(number, "--max-overhead", 1, 100, &percent, NULL)
				      : -EINVAL;
	if (err < 0)
		return error_set(error, -err,
				 "invalid value '%s' for --max-overhead: expected 1 to 100 "
				 "(percent of one CPU) or none",
				 value);
	offcpu->max_overhead_permille = (uint32_t)percent * 10;
	offcpu->max_overhead_given = true;
	return 0;
}

const struct option_row offcpu_option_rows[] = {
	{0, "min-block", "TIME", "off-CPU: shortest wait to record; default 1us",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_DURATION,
	 OPTION_AT(struct source_options, offcpu.min_block_ns), .needs = "offcpu",
	 .text = "Shorter waits count in the times of threads, without a stack."},
	{0, "wakers", NULL, "off-CPU: waker stacks", .group = OPTION_GROUP_EVENTS,
	 .form = OPTION_FLAG, OPTION_AT(struct source_options, offcpu.wakers), .needs = "offcpu",
	 .text = "A waker is the thread, or the interrupt, that ended a wait."},
	{0, "kernel-threads", NULL, "off-CPU: include kernel threads", .group = OPTION_GROUP_EVENTS,
	 .form = OPTION_FLAG, OPTION_AT(struct source_options, offcpu.kernel_threads),
	 .needs = "offcpu", .text = "Threads of the kernel wait most of the time."},
	{0, "max-overhead", "PERCENT",
	 "leave out detail while pkbpf and its BPF programs use more than PERCENT of one CPU; "
	 "none: never; default: only stacks of waits, above 1 for each CPU of the machine",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_PARSED, .parse = parse_max_overhead,
	 .text = "In this order: stacks of waits, of which those of 200 ms and longer stay; waker "
		 "stacks; stacks of page faults (one in 8); of block requests (one in 8); both "
		 "(one "
		 "in 64); CPU samples (half, a quarter, an eighth). Each step is in the log, and "
		 "what it left out in the notes of the report and the counters of JSON. Five "
		 "seconds below a third of PERCENT take one back. Times and counts of threads and "
		 "devices stay exact; times by stack become estimates. Without the option, the CPU "
		 "time of pkbpf itself does not count."},
	{.name = NULL},
};

void offcpu_options_init(struct source_options *options)
{
	options->offcpu = (struct offcpu_options){
		.max_overhead_permille =
			MAX_OVERHEAD_PERMILLE_PER_CPU * (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
	};
}
