// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf doctor --pid PID`: how well the stacks of a living process can be unwound. */
#include "cli/doctor_unwind.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file_io.h"
#include "cli/doctor_runtime.h"
#include "event/decoder.h"
#include "event/encoder.h"
#include "process/process_table.h"
#include "process/snapshot.h"
#include "profile/stack_builder.h"
#include "profile/stack_end.h"
#include "symbol/symbolizer.h"
#include "unwind/live_process.h"

#define NAME_SIZE 256
/* A program that has just begun maps its libraries while it is looked at, and may be another one by
 * then. */
#define MAX_READS 10

struct examination {
	uint32_t pid;
	struct event_buffer snapshot; /* of the process as it was read */
	struct mapped_file_table *files;
	struct process_table *processes;
	const struct process *process;
	struct symbolizer *symbolizer;
	struct live_process *live;
	uint64_t ips[PKBPF_MAX_USER_FRAMES];
	size_t threads, complete;
	size_t guessed; /* complete, but with unverified frames */
};

/* The process table learns of the process as it does in a run: from snapshot records. */
static int read_process(struct examination *exam, struct error *error)
{
	struct event_sink sink = process_table_sink(exam->processes);
	struct event_buffer *buffer = &exam->snapshot;
	struct snapshot_stats stats = {0};
	int err = snapshot_processes("/proc", &exam->pid, 1, 0, buffer, &stats);

	for (size_t offset = 0; !err && offset < buffer->size;) {
		int size = event_decode(buffer->data + offset, buffer->size - offset, &sink);

		if (size < 0)
			err = size;
		else
			offset += (size_t)size;
	}
	if (err)
		return error_set(error, -err, "cannot examine pid %u: %s", exam->pid,
				 strerror(-err));
	if (!stats.processes)
		return error_set(error, ESRCH, "cannot examine pid %u: no such process", exam->pid);
	if (stats.unreadable)
		return error_set(error, EACCES,
				 "cannot examine pid %u: cannot read /proc/%u/maps: %s; run as "
				 "root with CAP_SYS_PTRACE, where no security policy (AppArmor, "
				 "SELinux, Yama, a container) forbids access to the process",
				 exam->pid, exam->pid, strerror(EACCES));
	exam->process = process_table_get(exam->processes, exam->pid, "");
	if (!exam->process || !process_table_mappings(exam->processes, exam->process))
		return error_set(error, ENOENT,
				 "cannot examine pid %u: no code in user space (a kernel thread?)",
				 exam->pid);
	return live_process_new(exam->pid, exam->files,
				process_table_mappings(exam->processes, exam->process), &exam->live,
				error);
}

static uint64_t to_kib(uint64_t bytes)
{
	return (bytes + 1023) / 1024;
}

static void print_mapping(const struct live_mapping *mapping)
{
	bool is_ready = mapping->state == LIVE_TABLE_READY;
	char path[NAME_SIZE];

	printf("%016" PRIx64 "-%016" PRIx64 " ", mapping->start, mapping->end);
	if (is_ready)
		printf("%9u %9" PRIu64 "  ", mapping->rows, to_kib(mapping->bytes));
	else
		printf("%9s %9s  ", "-", "-");
	fputs(*mapping->path ? escape_terminal(path, sizeof(path), mapping->path) : "[anonymous]",
	      stdout);
	if (!is_ready)
		printf(" (%s)", live_table_text(mapping->state));
	if (mapping->followed_bytes)
		printf(" (%" PRIu64 " KiB by analysis of its instructions)",
		       to_kib(mapping->followed_bytes));
	if (mapping->left_out_bytes)
		printf(" (%" PRIu64
		       " KiB without unwind info and too large to analyze: frame pointers)",
		       to_kib(mapping->left_out_bytes));
	putchar('\n');
}

static void print_mappings(const struct examination *exam)
{
	const struct live_mapping *mapping;

	printf("%-33s %9s %9s  %s\n", "executable mapping", "rows", "KiB", "file");
	for (size_t i = 0; (mapping = live_process_mapping(exam->live, i)); i++)
		print_mapping(mapping);
}

static struct frame_location locate(const struct examination *exam, uint64_t ip,
				    bool is_return_address)
{
	const struct mapping *mapping = address_space_find(
		process_table_mappings(exam->processes, exam->process), ip - is_return_address);
	struct frame_location location = {
		.space = mapping ? FRAME_ANONYMOUS : FRAME_UNMAPPED,
		.object = exam->process->id,
		.address = ip,
		.is_return_address = is_return_address,
	};

	if (mapping && mapping_has_file(mapping)) {
		location.space = FRAME_FILE;
		location.object = mapping->file;
		location.address = ip - mapping->start + mapping->file_offset;
	}
	return location;
}

static void print_frame(const struct examination *exam, size_t index, uint64_t ip,
			bool is_return_address)
{
	struct frame_location location = locate(exam, ip, is_return_address);
	struct symbol symbol = {0};
	char module[NAME_SIZE], name[NAME_SIZE];

	symbolizer_resolve(exam->symbolizer, &location, &symbol);
	printf("  %4zu  %016" PRIx64 "  ", index, ip);
	escape_terminal(module, sizeof(module), symbol.module ? symbol.module : "");
	if (symbol.line_count)
		printf("%s (%s)\n",
		       escape_terminal(name, sizeof(name),
				       symbol.lines[symbol.line_count - 1].function),
		       module);
	else
		printf("%s+0x%" PRIx64 " (%s)\n", module, symbol.module_address,
		       symbol_result_text(symbol.result));
}

static void print_thread(struct examination *exam, uint32_t tid)
{
	struct unwind_walk_result result = {0};
	_cleanup_free_ char *comm = NULL;
	char path[64], name[NAME_SIZE];
	bool in_system_call = false;
	size_t size;
	int err = live_process_walk(exam->live, tid, exam->ips, PKBPF_MAX_USER_FRAMES, &result,
				    &in_system_call);

	if (err == -ESRCH)
		return; /* it exited since the folder was read */
	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", exam->pid, tid);
	if (file_read_all(AT_FDCWD, path, 64, &comm, &size) == 0)
		comm[strcspn(comm, "\n")] = '\0';
	printf("\nthread %u %s: ", tid, escape_terminal(name, sizeof(name), comm ? comm : ""));
	if (!err && result.end == PKBPF_END_NONE) {
		puts("no user stack (a kernel worker of the process)");
		return;
	}
	exam->threads++;
	if (err) {
		if (err == -ETIMEDOUT)
			puts("not stopped within 1 s: in uninterruptible sleep, or without a CPU");
		else
			printf("cannot stop it: %s%s\n", strerror(-err),
			       err == -EPERM ? " (traced by a debugger?)" : "");
		return;
	}
	if (stack_end_is_complete(result.end) && !stack_end_is_proven(result.end, result.guessed))
		exam->guessed++;
	else
		exam->complete += stack_end_is_complete(result.end);
	printf("%s, %zu frames",
	       stack_end_is_complete(result.end) ? "complete" : stack_end_text(result.end),
	       result.depth);
	if (result.guessed)
		printf(", %zu by unverified frame pointers", result.guessed);
	printf("%s\n", in_system_call ? ", in a system call" : "");
	for (size_t i = 0; i < result.depth; i++)
		print_frame(exam, i, pkbpf_address(exam->ips[i]),
			    stack_builder_is_return_address(exam->ips, result.depth, i,
							    in_system_call));
}

static int print_threads(struct examination *exam, struct error *error)
{
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", exam->pid);
	tasks = opendir(path);
	if (!tasks)
		return error_set(error, errno, "cannot list the threads of pid %u: %s", exam->pid,
				 strerror(errno));
	while ((entry = readdir(tasks))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			print_thread(exam, (uint32_t)strtoul(entry->d_name, NULL, 10));
	}
	closedir(tasks);
	printf("\n%zu of %zu stacks complete", exam->complete, exam->threads);
	if (exam->guessed)
		printf(", %zu complete with unverified frames", exam->guessed);
	puts("");
	return 0;
}

/* Whether it has mapped or executed something since. */
static bool has_changed(const struct examination *exam)
{
	struct event_buffer now = {0};
	struct snapshot_stats stats;
	bool changed = snapshot_processes("/proc", &exam->pid, 1, 0, &now, &stats) == 0 &&
		       now.size &&
		       (now.size != exam->snapshot.size ||
			memcmp(now.data, exam->snapshot.data, now.size) != 0);

	event_buffer_done(&now);
	return changed;
}

static void forget_process(struct examination *exam)
{
	live_process_free(exam->live);
	symbolizer_free(exam->symbolizer);
	process_table_free(exam->processes);
	mapped_file_table_free(exam->files);
	event_buffer_done(&exam->snapshot);
	*exam = (struct examination){.pid = exam->pid};
}

static int learn_process(struct examination *exam, struct error *error)
{
	const struct symbolizer_options options = {
		.kallsyms_path = "/proc/kallsyms",
		.root = "",
		.debug_dir = "/usr/lib/debug",
	};

	exam->files = mapped_file_table_new("");
	exam->processes = exam->files ? process_table_new(exam->files) : NULL;
	exam->symbolizer = exam->processes ? symbolizer_chain_new(&options, exam->processes) : NULL;
	if (!exam->symbolizer)
		return error_set(error, ENOMEM, "cannot examine pid %u: out of memory", exam->pid);
	return read_process(exam, error);
}

static int examine(struct examination *exam, struct error *error)
{
	int err = learn_process(exam, error);

	for (int reads = 1; !err && reads < MAX_READS && has_changed(exam); reads++) {
		forget_process(exam);
		err = learn_process(exam, error);
	}
	if (err)
		return err;
	printf("process %u\n\n", exam->pid);
	print_mappings(exam);
	err = print_threads(exam, error);
	doctor_runtime(exam->pid);
	return err;
}

int doctor_unwind(uint32_t pid, struct error *error)
{
	struct examination exam = {.pid = pid};
	int err = examine(&exam, error);

	forget_process(&exam);
	return err;
}
