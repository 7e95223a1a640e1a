// SPDX-License-Identifier: BSD-2-Clause
#include "capture/session/target_entry.h"

#include "process/procfs_status.h"

struct pkbpf_target target_entry_of(const char *procfs, uint32_t tid,
				    enum pkbpf_target_reason reason)
{
	return (struct pkbpf_target){
		.start_ns = procfs_start_ticks(procfs, tid) * PKBPF_TICK_NS,
		.reason = reason,
	};
}

bool target_entry_is_stale(const char *procfs, uint32_t tid, const struct pkbpf_target *entry)
{
	uint64_t start_ns;

	/* Those of programs have nanoseconds, which /proc may count from another beginning (time
	 * namespaces). */
	if (!entry->start_ns || entry->start_ns % PKBPF_TICK_NS)
		return false;
	start_ns = procfs_start_ticks(procfs, tid) * PKBPF_TICK_NS;
	return start_ns && start_ns != entry->start_ns;
}
