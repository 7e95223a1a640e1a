/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU times and memory of the machine, from /proc/stat and /proc/meminfo. */
#ifndef PKBPF_PROCESS_MACHINE_STAT_H
#define PKBPF_PROCESS_MACHINE_STAT_H

#include <stddef.h>

#include <pkbpf/resource.h>

/* Parses the lines of CPUs of /proc/stat, and /proc/meminfo (both NUL-terminated). Fills everything
 * but the header. -EBADMSG. */
int machine_stat_parse(const char *stat, const char *meminfo, long ticks_per_second,
		       struct pkbpf_event_machine *ret_machine);
/* Reads PROC_PATH/stat and PROC_PATH/meminfo and sets the time; the caller sets the moment. */
int machine_stat_read(const char *proc_path, struct pkbpf_event_machine *ret_machine);

#endif
