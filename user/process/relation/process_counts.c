// SPDX-License-Identifier: BSD-2-Clause
/* Reads /proc/PID/io, /proc/PID/net/snmp and the kernel's log twice. */
#include "process/relation/process_counts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "process/relation/device_bytes.h"
#include "process/relation/oom_log.h"

/* Maximum number of processes whose connections are checked. */
#define NETWORKS_MAX 16
#define OTHERS_MAX   4
#define OTHER_BYTES  (1 << 20)

struct io_counts {
	uint32_t pid;
	bool is_target;
	uint64_t read_calls, write_calls, read_chars, written_chars, storage_bytes;
};

struct process_counts {
	struct io_counts *items; /* ascending by pid */
	size_t count;
	uint32_t networks[NETWORKS_MAX];
	uint64_t failures[NETWORKS_MAX];
	size_t network_count;
	struct device_bytes devices[DEVICES_MAX];
	size_t device_count;
	int log; /* positioned at the end of the kernel's log; -1: none */
};

static bool read_io(uint32_t pid, struct io_counts *io)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[64], line[128];
	uint64_t value;

	*io = (struct io_counts){.pid = pid};
	snprintf(path, sizeof(path), "/proc/%u/io", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "rchar: %" SCNu64, &value) == 1)
			io->read_chars = value;
		else if (sscanf(line, "wchar: %" SCNu64, &value) == 1)
			io->written_chars = value;
		else if (sscanf(line, "syscr: %" SCNu64, &value) == 1)
			io->read_calls = value;
		else if (sscanf(line, "syscw: %" SCNu64, &value) == 1)
			io->write_calls = value;
		else if (sscanf(line, "read_bytes: %" SCNu64, &value) == 1 ||
			 sscanf(line, "write_bytes: %" SCNu64, &value) == 1)
			io->storage_bytes += value;
	}
	return file != NULL;
}

/* "AttemptFails" in the process's network namespace; 0: unknown. */
static uint64_t read_failures(uint32_t pid)
{
	char path[64], names[512], values[512], *name, *value, *name_rest = names,
							       *value_rest = values;
	_cleanup_fclose_ FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%u/net/snmp", pid);
	file = fopen(path, "re");
	while (file && fgets(names, sizeof(names), file)) {
		if (strncmp(names, "Tcp:", 4) != 0)
			continue;
		if (!fgets(values, sizeof(values), file))
			return 0;
		while ((name = strsep(&name_rest, " ")) && (value = strsep(&value_rest, " ")))
			if (!strcmp(name, "AttemptFails"))
				return strtoull(value, NULL, 10);
		return 0;
	}
	return 0;
}

static int open_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && lseek(fd, 0, SEEK_END) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

struct process_counts *process_counts_new(const uint32_t *pids, size_t count, bool all)
{
	struct process_counts *counts = calloc(1, sizeof(*counts));
	struct relation_writer targets = {.pids = pids, .pid_count = count};
	_cleanup_free_ uint32_t *everybody = NULL;
	size_t all_count;

	if (!counts)
		return NULL;
	counts->log = open_log();
	counts->device_count = device_bytes_read("/proc/diskstats", counts->devices);
	/* Each process takes about 10 us. */
	all_count = relation_list_pids("/proc", &everybody);
	counts->items = calloc(all_count + 1, sizeof(*counts->items));
	for (size_t i = 0; counts->items && i < all_count; i++) {
		struct io_counts *io = &counts->items[counts->count];

		if (!read_io(everybody[i], io))
			continue;
		io->is_target = all || relation_writer_wants(&targets, everybody[i]);
		counts->count++;
	}
	for (size_t i = 0; !all && i < count && i < NETWORKS_MAX; i++) {
		counts->networks[i] = pids[i];
		counts->failures[i] = read_failures(pids[i]);
		counts->network_count++;
	}
	return counts;
}

static void write_calls(const struct io_counts *before, const struct io_counts *now,
			const struct relation_writer *writer)
{
	struct relation_view view = {.relation = PKBPF_RELATION_CALLS, .pid = now->pid};

	view.text = "read";
	view.count = now->read_calls - before->read_calls;
	view.value = now->read_chars - before->read_chars;
	if (now->read_calls > before->read_calls)
		relation_write(writer, &view);
	view.text = "write";
	view.count = now->write_calls - before->write_calls;
	view.value = now->written_chars - before->written_chars;
	if (now->write_calls > before->write_calls)
		relation_write(writer, &view);
}

struct other {
	char comm[PKBPF_COMM_SIZE + 1];
	uint32_t pid;
	uint64_t bytes;
};

/* Adds up processes of one name; those with most bytes come first. */
static void add_other(struct other others[OTHERS_MAX], uint32_t pid, uint64_t bytes)
{
	struct other other = {.pid = pid, .bytes = bytes};
	size_t i = 0;

	relation_read_comm(pid, other.comm);
	while (i < OTHERS_MAX && others[i].bytes && strcmp(others[i].comm, other.comm) != 0)
		i++;
	if (i == OTHERS_MAX) {
		if (others[--i].bytes >= bytes)
			return;
		others[i] = (struct other){.bytes = 0};
	}
	other.bytes += others[i].bytes;
	for (; i > 0 && others[i - 1].bytes < other.bytes; i--)
		others[i] = others[i - 1];
	others[i] = other;
}

static void write_io(const struct process_counts *counts, const struct relation_writer *writer)
{
	struct other others[OTHERS_MAX] = {0};

	for (size_t i = 0; i < counts->count; i++) {
		const struct io_counts *before = &counts->items[i];
		struct io_counts now;

		if (!read_io(before->pid, &now))
			continue;
		if (relation_writer_wants(writer, now.pid))
			write_calls(before, &now, writer);
		else if (!before->is_target && now.pid != (uint32_t)getpid() &&
			 now.storage_bytes > before->storage_bytes + OTHER_BYTES)
			add_other(others, now.pid, now.storage_bytes - before->storage_bytes);
	}
	for (size_t i = 0; i < OTHERS_MAX && others[i].bytes; i++) {
		struct relation_view view = {.relation = PKBPF_RELATION_STORAGE,
					     .other_pid = others[i].pid,
					     .value = others[i].bytes,
					     .text = ""};

		memcpy(view.other_comm, others[i].comm, sizeof(view.other_comm));
		relation_write(writer, &view);
	}
}

void process_counts_write(const struct process_counts *counts, const struct relation_writer *writer)
{
	write_io(counts, writer);
	device_bytes_write(counts->devices, counts->device_count, writer);
	for (size_t i = 0; i < counts->network_count; i++) {
		uint64_t failures = read_failures(counts->networks[i]);

		if (failures > counts->failures[i])
			relation_write(writer, &(struct relation_view){
						       .relation = PKBPF_RELATION_REFUSED,
						       .pid = counts->networks[i],
						       .count = failures - counts->failures[i],
						       .text = ""});
	}
	if (counts->log >= 0)
		oom_log_write(counts->log, writer);
}

void process_counts_free(struct process_counts *counts)
{
	if (!counts)
		return;
	if (counts->log >= 0)
		close(counts->log);
	free(counts->items);
	free(counts);
}
