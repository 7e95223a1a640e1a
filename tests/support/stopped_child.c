// SPDX-License-Identifier: BSD-2-Clause
/* Runs a child under ptrace up to the point where it stops itself. */
#include "stopped_child.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <elf.h>
#include <unistd.h>

void stopped_child_stop(void)
{
	raise(SIGSTOP);
}

static bool read_regs(struct stopped_child *child)
{
#if defined(__x86_64__)
	struct user_regs_struct user;
	struct iovec vector = {&user, sizeof(user)};

	if (ptrace(PTRACE_GETREGSET, child->pid, NT_PRSTATUS, &vector))
		return false;
	const uint64_t words[] = {
		user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi,
		user.rbp, user.rsp, user.r8,  user.r9,	user.r10, user.r11,
		user.r12, user.r13, user.r14, user.r15, user.rip,
	};

	memcpy(child->regs, words, sizeof(words));
#else
	struct user_regs_struct user;
	struct iovec vector = {&user, sizeof(user)};

	if (ptrace(PTRACE_GETREGSET, child->pid, NT_PRSTATUS, &vector))
		return false;
	memcpy(child->regs, user.regs, 31 * sizeof(uint64_t));
	child->regs[31] = user.sp;
	child->regs[32] = user.pc;
#endif
	return true;
}

bool stopped_child_start(struct stopped_child *child, void (*run)(int argument), int argument)
{
	char path[64];
	int status;

	*child = (struct stopped_child){.memory_fd = -1};
	fflush(NULL);
	child->pid = fork();
	if (child->pid < 0)
		return false;
	if (child->pid == 0) {
		/* A failed assertion leaves the test without stopped_child_end(): nobody else would
		 * end a stopped child. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(60);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			run(argument);
		_exit(1);
	}
	for (;;) {
		if (waitpid(child->pid, &status, 0) != child->pid || !WIFSTOPPED(status)) {
			child->pid = 0;
			return false;
		}
		if (WSTOPSIG(status) == SIGSTOP)
			break;
		/* Signals that the child sends itself on the way are its own business. */
		ptrace(PTRACE_CONT, child->pid, NULL, (void *)(long)WSTOPSIG(status));
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", child->pid);
	child->memory_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (child->memory_fd < 0 || !read_regs(child)) {
		stopped_child_end(child);
		return false;
	}
	return true;
}

int stopped_child_read(const struct stopped_child *child, uint64_t address, void *buffer,
		       size_t size)
{
	ssize_t got = pread(child->memory_fd, buffer, size, (off_t)address);

	return got == (ssize_t)size ? 0 : -EFAULT;
}

struct frame_list {
	uint64_t *ips;
	size_t count, limit;
	bool was_activation;
};

static int on_frame(Dwfl_Frame *frame, void *argument)
{
	struct frame_list *list = argument;
	bool is_activation;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &is_activation) || list->count == list->limit)
		return DWARF_CB_ABORT;
	/* libdwfl calls so the leaf, the trampoline of a signal and what that has interrupted. */
	if (list->count > 1 && is_activation && list->was_activation)
		pc |= PKBPF_INTERRUPTED;
	list->was_activation = is_activation;
	list->ips[list->count++] = pc;
	return DWARF_CB_OK;
}

size_t stopped_child_dwfl_frames(const struct stopped_child *child, uint64_t *ips, size_t limit)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	struct frame_list list = {.ips = ips, .limit = limit};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl)
		return 0;
	if (dwfl_linux_proc_report(dwfl, child->pid) == 0 &&
	    dwfl_report_end(dwfl, NULL, NULL) == 0 &&
	    dwfl_linux_proc_attach(dwfl, child->pid, true) == 0)
		dwfl_getthread_frames(dwfl, child->pid, on_frame, &list);
	dwfl_end(dwfl);
	return list.count;
}

void stopped_child_end(struct stopped_child *child)
{
	if (child->memory_fd >= 0)
		close(child->memory_fd);
	if (child->pid > 0) {
		kill(child->pid, SIGKILL);
		waitpid(child->pid, NULL, 0);
	}
	*child = (struct stopped_child){.memory_fd = -1};
}
