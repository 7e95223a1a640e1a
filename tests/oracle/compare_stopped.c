// SPDX-License-Identifier: BSD-2-Clause
/* Stops all threads of live processes again and again and compares their stacks, PC by PC, with
 * libdwfl's. */
#include <dirent.h>
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "live_tables.h"

#define MAX_THREADS 256

struct tally {
	unsigned int equal; /* both reached the root over the same frames */
	unsigned int
		dwfl_ended; /* libdwfl gave up on the way; the frames up to there are the same */
	unsigned int different;
	size_t deepest;
	size_t frames;
};

struct frames {
	uint64_t ips[PKBPF_MAX_USER_FRAMES];
	size_t count;
};

#if defined(__x86_64__)
static bool read_regs(pid_t tid, uint64_t regs[PKBPF_REGS], bool *ret_in_system_call)
{
	struct user_regs_struct user;
	struct iovec vector = {&user, sizeof(user)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &vector))
		return false;
	/* The order of DWARF numbers. */
	const uint64_t words[] = {
		user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi,
		user.rbp, user.rsp, user.r8,  user.r9,	user.r10, user.r11,
		user.r12, user.r13, user.r14, user.r15, user.rip,
	};

	memcpy(regs, words, sizeof(words));
	*ret_in_system_call = user.orig_rax != UINT64_MAX;
	return true;
}
#else
static bool read_regs(pid_t tid, uint64_t regs[PKBPF_REGS], bool *ret_in_system_call)
{
	struct user_regs_struct user;
	struct iovec vector = {&user, sizeof(user)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &vector))
		return false;
	memcpy(regs, user.regs, 31 * sizeof(uint64_t));
	regs[31] = user.sp;
	regs[32] = user.pc;
	*ret_in_system_call = false;
	return true;
}
#endif

static int on_frame(Dwfl_Frame *frame, void *argument)
{
	struct frames *frames = argument;
	Dwarf_Addr pc;

	if (frames->count == PKBPF_MAX_USER_FRAMES || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	frames->ips[frames->count++] = pc;
	return DWARF_CB_OK;
}

static void print_frames(const char *title, const struct frames *frames)
{
	printf("    %s:", title);
	for (size_t i = 0; i < frames->count && i < 40; i++)
		printf(" %" PRIx64, frames->ips[i]);
	printf("\n");
}

static void compare_thread(struct live_tables *live, Dwfl *dwfl, pid_t tid, struct tally *tally)
{
	struct unwind_walk_options options = {.exact = true};
	struct unwind_walk_result walked;
	uint64_t regs[PKBPF_REGS];
	static struct frames ours, theirs;
	bool in_system_call, reached_root;
	size_t same = 0;
	int status;

	if (!read_regs(tid, regs, &in_system_call))
		return;
	options.exact = !in_system_call;
	walked = unwind_walk(&live_tables_ops, live, regs, &options, ours.ips,
			     PKBPF_MAX_USER_FRAMES);
	ours.count = walked.depth;
	for (size_t i = 0; i < ours.count; i++)
		ours.ips[i] = pkbpf_address(ours.ips[i]);
	theirs.count = 0;
	status = dwfl_getthread_frames(dwfl, tid, on_frame, &theirs);

	while (same < ours.count && same < theirs.count && ours.ips[same] == theirs.ips[same])
		same++;
	reached_root = walked.end == PKBPF_END_ROOT || walked.end == PKBPF_END_ZERO_RA ||
		       walked.end == PKBPF_END_FP_ROOT;
	tally->frames += same;
	if (same > tally->deepest)
		tally->deepest = same;
	if (status == 0 && reached_root && same == ours.count && same == theirs.count) {
		tally->equal++;
	} else if (status != 0 && same == theirs.count && same > 0) {
		/* Code without call frame information: libdwfl ends, we go on by frame pointers. */
		tally->dwfl_ended++;
	} else {
		tally->different++;
		printf("    thread %d: %zu of %zu frames equal libdwfl's %zu, ended %d, libdwfl "
		       "%s\n",
		       tid, same, ours.count, theirs.count, (int)walked.end,
		       status == 0 ? "reached the root" : dwfl_errmsg(-1));
		print_frames("ours  ", &ours);
		print_frames("theirs", &theirs);
	}
}

static size_t stop_threads(pid_t pid, pid_t *tids)
{
	char path[64];
	struct dirent *entry;
	size_t count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	if (!folder)
		return 0;
	while ((entry = readdir(folder)) && count < MAX_THREADS) {
		pid_t tid = atoi(entry->d_name);
		int status;

		if (tid <= 0 || ptrace(PTRACE_SEIZE, tid, NULL, NULL))
			continue;
		if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 &&
		    waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
			tids[count++] = tid;
	}
	closedir(folder);
	return count;
}

static void compare_once(pid_t pid, struct tally *tally)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	struct stopped_child process = {.pid = pid};
	struct live_tables live;
	pid_t tids[MAX_THREADS];
	size_t count = stop_threads(pid, tids);
	Dwfl *dwfl = dwfl_begin(&callbacks);
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	process.memory_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (count > 0 && dwfl && process.memory_fd >= 0 && dwfl_linux_proc_report(dwfl, pid) == 0 &&
	    dwfl_report_end(dwfl, NULL, NULL) == 0 &&
	    dwfl_linux_proc_attach(dwfl, pid, true) == 0) {
		live_tables_open(&live, &process);
		for (size_t i = 0; i < count; i++)
			compare_thread(&live, dwfl, tids[i], tally);
		live_tables_close(&live);
	}
	for (size_t i = 0; i < count; i++)
		ptrace(PTRACE_DETACH, tids[i], NULL, NULL);
	if (process.memory_fd >= 0)
		close(process.memory_fd);
	if (dwfl)
		dwfl_end(dwfl);
}

int main(int argc, char **argv)
{
	/* No multiple of a timer's period, so that stops do not fall into step with the program. */
	const struct timespec pause = {.tv_nsec = 13700000};
	struct tally tally = {0};
	int times = argc > 3 ? atoi(argv[2]) : 0;

	if (times <= 0) {
		fprintf(stderr, "usage: compare_stopped NAME TIMES PID...\n");
		return 2;
	}
	for (int i = 0; i < times; i++) {
		for (int p = 3; p < argc; p++)
			compare_once(atoi(argv[p]), &tally);
		nanosleep(&pause, NULL);
	}
	printf("  %s: %u stacks equal to the root, %u equal as far as libdwfl goes, %u different; "
	       "deepest %zu, %zu frames\n",
	       argv[1], tally.equal, tally.dwfl_ended, tally.different, tally.deepest,
	       tally.frames);
	return tally.different > 0 || tally.equal + tally.dwfl_ended == 0;
}
