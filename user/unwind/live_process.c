// SPDX-License-Identifier: BSD-2-Clause
/* Unwinds a live process without BPF: builds its tables in plain memory and stops its threads by
 * ptrace. */
#include "unwind/live_process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "elf/elf_program.h"
#include "unwind/table/rule_set.h"
#include "unwind/table/unwind_table.h"

/* A thread that can be stopped stops within microseconds, or when it gets a CPU. */
#define STOP_WAIT_NS NS_PER_SECOND
#define STOP_STEP_NS 50000

struct live_code {
	struct live_mapping mapping;
	struct unwind_table *table; /* NULL unless READY */
	uint64_t bias;
};

struct live_process {
	uint32_t pid;
	/* the thread being unwound; the first thread of the process may have exited and then has no
	 * readable memory */
	pid_t stopped;
	struct rule_set *rules;
	ARRAY_OF(struct live_code) code;
};

const char *live_table_text(enum live_table state)
{
	static const char *const texts[LIVE_TABLE_COUNT] = {
		[LIVE_TABLE_READY] = "table",
		[LIVE_TABLE_ANONYMOUS] = "generated code: frame pointers",
		[LIVE_TABLE_NO_FILE] = "file cannot be opened: frame pointers",
		[LIVE_TABLE_NOT_ELF] = "not an ELF file of this machine: frame pointers",
		[LIVE_TABLE_NO_INFO] = "no unwind information: frame pointers",
	};

	return state < LIVE_TABLE_COUNT ? texts[state] : "";
}

/* The caller closes the image. *ret_memory is its bytes if they had to be copied. */
static enum live_table open_image(struct mapped_file_table *files, struct mapped_file *file,
				  void **ret_memory, struct elf_file **ret_image)
{
	size_t size;
	int fd;

	if (file->type == MAPPED_FILE_VDSO) {
		if (mapped_file_read_vdso(files, file, ret_memory, &size))
			return LIVE_TABLE_NO_FILE;
		return elf_program_open_memory(*ret_memory, size, ret_image) ? LIVE_TABLE_NOT_ELF
									     : LIVE_TABLE_READY;
	}
	fd = mapped_file_open(files, file);
	if (fd < 0)
		return LIVE_TABLE_NO_FILE;
	return elf_program_open(fd, ret_image) ? LIVE_TABLE_NOT_ELF : LIVE_TABLE_READY;
}

static enum live_table build(struct live_process *process, struct mapped_file_table *files,
			     struct mapped_file *file, const struct mapping *mapping,
			     struct live_code *code)
{
	struct elf_file *image = NULL;
	_cleanup_free_ void *memory = NULL;
	enum live_table state;

	if (!file)
		return LIVE_TABLE_ANONYMOUS;
	state = open_image(files, file, &memory, &image);
	if (state == LIVE_TABLE_READY &&
	    (!elf_segments_bias(&image->segments, mapping->start, mapping->end,
				mapping->file_offset, &code->bias) ||
	     unwind_table_build(image, false, process->rules, &code->table, NULL)))
		state = LIVE_TABLE_NO_INFO;
	elf_program_free(image);
	return state;
}

static int add_mapping(struct live_process *process, struct mapped_file_table *files,
		       const struct mapping *mapping)
{
	struct mapped_file *file =
		mapping_has_file(mapping) ? mapped_file_table_get(files, mapping->file) : NULL;
	struct live_code *code = array_add(&process->code);

	if (!code)
		return -ENOMEM;
	code->mapping.start = mapping->start;
	code->mapping.end = mapping->end;
	code->mapping.path = file ? file->path : "";
	code->mapping.state = build(process, files, file, mapping, code);
	if (code->table) {
		code->mapping.rows = code->table->row_count;
		code->mapping.bytes = unwind_table_size_bytes(code->table);
		code->mapping.followed_bytes = code->table->stats.gaps.followed;
		code->mapping.left_out_bytes = code->table->stats.gaps.left_out;
	}
	return 0;
}

int live_process_new(uint32_t pid, struct mapped_file_table *files,
		     const struct address_space *space, struct live_process **ret_process,
		     struct error *error)
{
	struct live_process *process = calloc(1, sizeof(*process));
	const struct mapping_list *mappings = address_space_mappings(space);
	int err = 0;

	if (process)
		process->rules = rule_set_new();
	if (!process || !process->rules) {
		live_process_free(process);
		return error_set(error, ENOMEM,
				 "cannot build the unwind tables of pid %u: out of memory", pid);
	}
	process->pid = pid;
	for (size_t i = 0; i < mappings->count && !err; i++)
		err = add_mapping(process, files, &mappings->items[i]);
	if (err) {
		live_process_free(process);
		return error_set(error, -err, "cannot build the unwind tables of pid %u: %s", pid,
				 strerror(-err));
	}
	*ret_process = process;
	return 0;
}

void live_process_free(struct live_process *process)
{
	if (!process)
		return;
	array_foreach(&process->code, code)
		unwind_table_free(code->table);
	array_free(&process->code);
	rule_set_free(process->rules);
	free(process);
}

const struct live_mapping *live_process_mapping(const struct live_process *process, size_t index)
{
	return index < process->code.count ? &process->code.items[index].mapping : NULL;
}

static uint32_t flags_of(const struct live_code *code)
{
	switch (code->mapping.state) {
	case LIVE_TABLE_ANONYMOUS:
		return PKBPF_MAPPING_ANONYMOUS;
	case LIVE_TABLE_NO_FILE:
		return PKBPF_MAPPING_NO_TABLE | PKBPF_MAPPING_NO_FILE;
	default:
		return code->table ? 0 : PKBPF_MAPPING_NO_TABLE;
	}
}

static uint32_t find_code(void *context, uint64_t address, struct unwind_code *ret_code)
{
	const struct live_process *process = context;

	array_foreach(&process->code, code) {
		if (address < code->mapping.start || address >= code->mapping.end)
			continue;
		*ret_code = (struct unwind_code){
			.start = code->mapping.start,
			.end = code->mapping.end,
			.bias = code->bias,
			.flags = flags_of(code),
			.table = code->table,
		};
		return 0;
	}
	return PKBPF_END_NO_MAPPING;
}

static bool find_rule(void *context, const struct unwind_code *code, uint64_t elf_address,
		      struct pkbpf_unwind_rule *ret_rule)
{
	const struct live_process *process = context;

	if (!code->table)
		return false;
	*ret_rule = *unwind_table_lookup(code->table, process->rules, elf_address);
	return true;
}

static int read_memory(void *context, uint64_t address, void *buffer, size_t size)
{
	const struct live_process *process = context;
	struct iovec local = {buffer, size}, remote = {(void *)(uintptr_t)address, size};
	ssize_t count = process_vm_readv(process->stopped, &local, 1, &remote, 1, 0);

	return count == (ssize_t)size ? 0 : count < 0 ? -errno : -EFAULT;
}

static int read_registers(pid_t tid, uint64_t regs[PKBPF_REGS], bool *ret_in_system_call)
{
	struct user_regs_struct user;
	struct iovec vector = {&user, sizeof(user)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &vector))
		return -errno;
	/* A 32-bit task fills fewer bytes; its stack is not supported. */
	if (vector.iov_len != sizeof(user))
		return -ENOTSUP;
#if defined(__x86_64__)
	/* In DWARF register order. */
	const uint64_t words[] = {
		user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi,
		user.rbp, user.rsp, user.r8,  user.r9,	user.r10, user.r11,
		user.r12, user.r13, user.r14, user.r15, user.rip,
	};

	memcpy(regs, words, sizeof(words));
	*ret_in_system_call = user.orig_rax != UINT64_MAX;
#else
	memcpy(regs, user.regs, sizeof(user.regs));
	regs[31] = user.sp;
	regs[32] = user.pc;
	*ret_in_system_call = false;
#endif
	return 0;
}

/* Waits for the stop requested by PTRACE_INTERRUPT. A pending signal may stop the thread first,
 * which serves as well: *ret_signal is the signal still to be delivered, or 0. -ETIMEDOUT: the
 * thread sleeps uninterruptibly, like the parent of a vfork(). */
static int wait_for_stop(pid_t tid, int *ret_signal)
{
	const struct timespec rest = {.tv_nsec = STOP_STEP_NS};
	uint64_t end_ns = clock_now_ns() + STOP_WAIT_NS;
	int status;
	pid_t got;

	while ((got = waitpid(tid, &status, __WALL | WNOHANG)) == 0) {
		if (clock_now_ns() > end_ns)
			return -ETIMEDOUT;
		nanosleep(&rest, NULL);
	}
	if (got < 0)
		return -errno;
	if (!WIFSTOPPED(status))
		return -ESRCH;
	*ret_signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	return 0;
}

struct walk {
	struct live_process *process;
	pid_t tid;
	uint64_t *ips;
	size_t limit;
	struct unwind_walk_result *result;
	bool *in_system_call;
	int err;
};

/* The first thread of a process stays as a zombie until all its threads have ended. */
static bool has_ended(pid_t tid)
{
	int reason = errno;
	_cleanup_free_ char *text = NULL;
	const char *state;
	char path[32];
	size_t size;
	bool ended;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	state = file_read_all(AT_FDCWD, path, 4096, &text, &size) ? NULL : strrchr(text, ')');
	ended = state && state[1] == ' ' && (state[2] == 'Z' || state[2] == 'X');
	errno = reason;
	return ended;
}

static int thread_pointer(void *context, __u64 *ret_address)
{
#if defined(__x86_64__)
	struct live_process *process = context;

	errno = 0;
	*ret_address = (__u64)ptrace(PTRACE_PEEKUSER, process->stopped,
				     (void *)offsetof(struct user, regs.fs_base), NULL);
	return -errno;
#else
	(void)context;
	(void)ret_address;
	return -EOPNOTSUPP;
#endif
}

static void *walk_stopped(void *context)
{
	static const struct unwind_walk_ops ops = {find_code, find_rule, read_memory,
						   thread_pointer};
	struct walk *walk = context;
	struct unwind_walk_options options = {0};
	uint64_t regs[PKBPF_REGS] = {0};
	int signal = 0;

	if (ptrace(PTRACE_SEIZE, walk->tid, NULL, NULL)) {
		walk->err = has_ended(walk->tid) ? -ESRCH : -errno;
		return NULL;
	}
	walk->process->stopped = walk->tid;
	walk->err = ptrace(PTRACE_INTERRUPT, walk->tid, NULL, NULL)
			    ? -errno
			    : wait_for_stop(walk->tid, &signal);
	if (!walk->err)
		walk->err = read_registers(walk->tid, regs, walk->in_system_call);
	/* Workers of io_uring and vhost never run in user mode. */
	if (!walk->err && !regs[PKBPF_REG_SP] && !regs[PKBPF_REG_IP]) {
		*walk->result = (struct unwind_walk_result){.end = PKBPF_END_NONE};
	} else if (!walk->err) {
		options.exact = !*walk->in_system_call;
		*walk->result =
			unwind_walk(&ops, walk->process, regs, &options, walk->ips, walk->limit);
	}
	ptrace(PTRACE_DETACH, walk->tid, NULL, (void *)(intptr_t)signal);
	return NULL;
}

/* Only a stopped thread can be detached. The exit of the tracing thread releases it in any case,
 * and cancels the requested stop. So each unwind has its own tracing thread. */
int live_process_walk(struct live_process *process, uint32_t tid, uint64_t *ips, size_t limit,
		      struct unwind_walk_result *ret_result, bool *ret_in_system_call)
{
	struct walk walk = {process, (pid_t)tid, ips, limit, ret_result, ret_in_system_call, 0};
	pthread_t thread;
	int err = pthread_create(&thread, NULL, walk_stopped, &walk);

	if (err)
		return -err;
	pthread_join(thread, NULL);
	return walk.err;
}
