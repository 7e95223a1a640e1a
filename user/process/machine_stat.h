/* SPDX-License-Identifier: BSD-2-Clause */
/* What the whole machine has done, from /proc/stat and /proc/meminfo. */
#ifndef PKBPF_PROCESS_MACHINE_STAT_H
#define PKBPF_PROCESS_MACHINE_STAT_H

#include <stddef.h>

#include <pkbpf/resource.h>

/* Parses the first line of /proc/stat and /proc/meminfo (NUL-terminated); fills all but the header.
 * -EBADMSG. */
int machine_stat_parse(const char *stat, const char *meminfo, long ticks_per_second,
		       struct pkbpf_event_machine *ret_machine);
/* Reads PROC_PATH/stat and PROC_PATH/meminfo and stamps the time; moment is up to the caller. */
int machine_stat_read(const char *proc_path, struct pkbpf_event_machine *ret_machine);

#endif
