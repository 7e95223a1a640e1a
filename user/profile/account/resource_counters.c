// SPDX-License-Identifier: BSD-2-Clause
/* Sums and differences of the kernel's running totals. */
#include "profile/account/resource_counters.h"

struct resource_counters resource_counters_less(const struct resource_counters *now,
						const struct resource_counters *before)
{
	return (struct resource_counters){
		.user_ns = resource_less(now->user_ns, before->user_ns),
		.system_ns = resource_less(now->system_ns, before->system_ns),
		.run_ns = resource_less(now->run_ns, before->run_ns),
		.run_delay_ns = resource_less(now->run_delay_ns, before->run_delay_ns),
		.voluntary_switches =
			resource_less(now->voluntary_switches, before->voluntary_switches),
		.involuntary_switches =
			resource_less(now->involuntary_switches, before->involuntary_switches),
		.minor_faults = resource_less(now->minor_faults, before->minor_faults),
		.major_faults = resource_less(now->major_faults, before->major_faults),
		.read_bytes = resource_less(now->read_bytes, before->read_bytes),
		.written_bytes = resource_less(now->written_bytes, before->written_bytes),
	};
}

void resource_counters_add(struct resource_counters *to, const struct resource_counters *more)
{
	to->user_ns += more->user_ns;
	to->system_ns += more->system_ns;
	to->run_ns += more->run_ns;
	to->run_delay_ns += more->run_delay_ns;
	to->voluntary_switches += more->voluntary_switches;
	to->involuntary_switches += more->involuntary_switches;
	to->minor_faults += more->minor_faults;
	to->major_faults += more->major_faults;
	to->read_bytes += more->read_bytes;
	to->written_bytes += more->written_bytes;
}

void resource_counters_divide(struct resource_counters *counters)
{
	unsigned __int128 ticks = (unsigned __int128)counters->user_ns + counters->system_ns;

	counters->system_ns = ticks ? (uint64_t)((unsigned __int128)counters->run_ns *
						 counters->system_ns / ticks)
				    : 0;
	counters->user_ns = counters->run_ns - counters->system_ns;
}
