// SPDX-License-Identifier: BSD-2-Clause
/* Reads the CPU times and the memory of the machine. */
#include "process/machine_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "base/named_line.h"

/* Lines are long on machines with thousands of CPUs and interrupts; the file is read whole. */
#define STAT_MAX_BYTES	  (4 << 20)
#define MEMINFO_MAX_BYTES (64 << 10)
#define BYTES_PER_KIB	  1024

/* The CPUs that are online have a line each, behind the first. */
static uint64_t count_cpus(const char *stat)
{
	uint64_t count = 0;

	while ((stat = strstr(stat, "\ncpu"))) {
		stat += 4;
		count += *stat >= '0' && *stat <= '9';
	}
	return count;
}

int machine_stat_parse(const char *stat, const char *meminfo, long ticks_per_second,
		       struct pkbpf_event_machine *ret_machine)
{
	struct pkbpf_event_machine machine = {0};
	__u64 *const fields[] = {
		&machine.user_ns,   &machine.nice_ns, &machine.system_ns,  &machine.idle_ns,
		&machine.iowait_ns, &machine.irq_ns,  &machine.softirq_ns, &machine.steal_ns,
	};
	uint64_t tick_ns;

	if (strncmp(stat, "cpu ", 4) != 0 || ticks_per_second <= 0)
		return -EBADMSG;
	tick_ns = NS_PER_SECOND / (uint64_t)ticks_per_second;
	stat += 4;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		char *end;

		stat += strspn(stat, " ");
		if (*stat < '0' || *stat > '9')
			return -EBADMSG;
		*fields[i] = strtoull(stat, &end, 10) * tick_ns;
		stat = end;
	}
	machine.cpu_count = count_cpus(stat);
	machine.memory_bytes = named_number(meminfo, "MemTotal:") * BYTES_PER_KIB;
	machine.memory_available_bytes = named_number(meminfo, "MemAvailable:") * BYTES_PER_KIB;
	*ret_machine = machine;
	return 0;
}

int machine_stat_read(const char *proc_path, struct pkbpf_event_machine *ret_machine)
{
	_cleanup_close_ int fd = open(proc_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *stat = NULL, *meminfo = NULL;
	uint64_t time_ns = clock_now_ns();
	size_t size;
	int err;

	if (fd < 0)
		return -errno;
	err = file_read_all(fd, "stat", STAT_MAX_BYTES, &stat, &size);
	err = err ? err : file_read_all(fd, "meminfo", MEMINFO_MAX_BYTES, &meminfo, &size);
	err = err ? err : machine_stat_parse(stat, meminfo, sysconf(_SC_CLK_TCK), ret_machine);
	if (!err)
		ret_machine->header.time_ns = time_ns;
	return err;
}
