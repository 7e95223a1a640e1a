// SPDX-License-Identifier: BSD-2-Clause
/* Starts a reader for each lane that has a question, and the next one when it ends. It stays a
 * process of the program's user, so that nobody else can stop or end it. */
#include "reader/reader_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/thread_priority.h"
#include "reader/reader_jail.h"
#include "reader/reader_loop.h"

/* A process that cannot be had now may be in a while. */
#define RETRY_MS 200

struct keeping {
	struct reader_keeper keeper;
	pid_t pids[READER_LANES];	/* 0: none */
	uint64_t ordered[READER_LANES]; /* question for which it was ended; 0: by itself */
	int child_fd;			/* signalfd of SIGCHLD */
};

static void __attribute__((noreturn)) end(void)
{
#ifdef PKBPF_COVERAGE
	extern void __gcov_dump(void);

	__gcov_dump();
#endif
	syscall(SYS_exit_group, 0);
	__builtin_unreachable();
}

static void close_range_of(unsigned int first, unsigned int last)
{
	if (first > last || !syscall(SYS_close_range, first, last, 0))
		return;
	/* A sandbox that does not know it. */
	for (unsigned int fd = first; fd <= last && fd < (unsigned int)sysconf(_SC_OPEN_MAX); fd++)
		close((int)fd);
}

/* Closes all but these, of which there are few. The standard ones lead nowhere. */
static int keep_open(const int *fds, size_t count)
{
	unsigned int next = 0;
	int null_fd;

	for (;;) {
		unsigned int lowest = ~0U;

		for (size_t i = 0; i < count; i++)
			if ((unsigned int)fds[i] >= next && (unsigned int)fds[i] < lowest)
				lowest = (unsigned int)fds[i];
		if (lowest == ~0U)
			break;
		if (lowest > next)
			close_range_of(next, lowest - 1);
		next = lowest + 1;
	}
	close_range_of(next, ~0U);
	do {
		null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		/* A root without devices; nothing is written there. */
		if (null_fd < 0)
			null_fd = memfd_create("null", MFD_CLOEXEC);
	} while (null_fd >= 0 && null_fd < STDERR_FILENO);
	if (null_fd > STDERR_FILENO)
		close(null_fd);
	return null_fd < 0 ? -errno : 0;
}

/* The program ends us; what a terminal or a service manager sends is meant for it. */
static int hold_signals(void)
{
	sigset_t all, child;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void follow_into_death(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		end();
}

/* When memory runs out, the kernel shall take a reader first: it can be started again. */
static void offer_to_die_first(void)
{
	static const char text[] = "500";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, text, sizeof(text) - 1);
	close(fd);
}

static void __attribute__((noreturn))
become_reader(struct keeping *keeping, enum reader_lane lane, pid_t keeper)
{
	int fd = keeping->keeper.lane_fds[lane];

	prctl(PR_SET_NAME, "pkbpf-reader");
	offer_to_die_first();
	if (lane == READER_NAMES)
		thread_priority_restore();
	if (keep_open(&fd, 1) < 0 || reader_jail_drop() < 0)
		end();
	/* A change of user would undo it. */
	follow_into_death(keeper);
	if (reader_jail_close() < 0)
		end();
	reader_loop_run(&keeping->keeper, lane);
	end();
}

static void start_reader(struct keeping *keeping, enum reader_lane lane)
{
	pid_t keeper = getpid(), pid = fork();

	if (pid == 0)
		become_reader(keeping, lane, keeper);
	keeping->pids[lane] = pid > 0 ? pid : 0;
	__atomic_store_n(&keeping->keeper.board->lanes[lane].pid, keeping->pids[lane],
			 __ATOMIC_RELEASE);
}

static uint64_t cpu_ns_of(const struct rusage *usage)
{
	return ((uint64_t)usage->ru_utime.tv_sec + (uint64_t)usage->ru_stime.tv_sec) *
		       NS_PER_SECOND +
	       ((uint64_t)usage->ru_utime.tv_usec + (uint64_t)usage->ru_stime.tv_usec) * 1000;
}

/* The question that it was at has no answer any more, whoever is next: nor has a later one that it
 * had begun before the order to end it for the first one came. */
static void note_end(struct keeping *keeping, enum reader_lane lane, const struct rusage *usage)
{
	struct reader_board *board = keeping->keeper.board;
	uint64_t begun = __atomic_exchange_n(&board->lanes[lane].begun, 0, __ATOMIC_ACQ_REL);
	const uint64_t unanswered[] = {keeping->ordered[lane], begun};

	keeping->ordered[lane] = 0;
	__atomic_store_n(&board->lanes[lane].pid, 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(&board->ended_cpu_ns, cpu_ns_of(usage), __ATOMIC_ACQ_REL);
	keeping->pids[lane] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(unanswered); i++) {
		struct reader_tell tell = {
			.sequence = unanswered[i], .kind = READER_ENDED, .result = -EPIPE};

		if (tell.sequence && (i == 0 || tell.sequence != unanswered[0]))
			reader_send(keeping->keeper.lane_fds[lane], &tell, sizeof(tell), NULL, 0,
				    -1);
	}
}

static void take_ends(struct keeping *keeping)
{
	struct signalfd_siginfo ignored;
	struct rusage usage;
	pid_t pid;

	while (read(keeping->child_fd, &ignored, sizeof(ignored)) > 0)
		;
	while ((pid = wait4(-1, NULL, WNOHANG, &usage)) > 0)
		for (int lane = 0; lane < READER_LANES; lane++)
			if (keeping->pids[lane] == pid)
				note_end(keeping, (enum reader_lane)lane, &usage);
}

/* false: the program has ended. */
static bool take_order(struct keeping *keeping)
{
	const struct reader_order *order;
	struct reader_packet packet;
	int fd;
	ssize_t got = reader_receive(keeping->keeper.control_fd, 0, &packet, &fd);

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	order = &packet.head.order;
	if (got < (ssize_t)sizeof(*order) || order->lane >= READER_LANES)
		return true;
	/* None: it has just ended, which is told already. */
	if (keeping->pids[order->lane] <= 0)
		return true;
	keeping->ordered[order->lane] = order->sequence;
	kill(keeping->pids[order->lane], SIGKILL);
	return true;
}

/* false: it cannot be had now. */
static bool start_wanted_readers(struct keeping *keeping, const struct pollfd *lanes)
{
	bool is_complete = true;

	for (int lane = 0; lane < READER_LANES; lane++) {
		if (keeping->pids[lane] > 0 || !(lanes[lane].revents & POLLIN))
			continue;
		start_reader(keeping, (enum reader_lane)lane);
		is_complete &= keeping->pids[lane] > 0;
	}
	return is_complete;
}

/* Most runs need one reader, some none: each costs a fork, and a filter of system calls. */
static void keep(struct keeping *keeping)
{
	struct pollfd waits[READER_LANES + 2] = {
		[READER_LANES] = {.fd = keeping->keeper.control_fd, .events = POLLIN},
		[READER_LANES + 1] = {.fd = keeping->child_fd, .events = POLLIN},
	};
	bool runs = true, is_complete = true;

	while (runs) {
		for (int lane = 0; lane < READER_LANES; lane++)
			waits[lane] = (struct pollfd){
				.fd = keeping->pids[lane] > 0 || !is_complete
					      ? -1
					      : keeping->keeper.lane_fds[lane],
				.events = POLLIN,
			};
		if (poll(waits, READER_LANES + 2, is_complete ? -1 : RETRY_MS) < 0) {
			if (errno != EINTR)
				return;
			continue;
		}
		take_ends(keeping);
		if (waits[READER_LANES].revents)
			runs = take_order(keeping);
		is_complete = !runs || start_wanted_readers(keeping, waits);
	}
}

/* Nobody else may be there to take note of their ends. */
static void end_readers(struct keeping *keeping)
{
	for (int lane = 0; lane < READER_LANES; lane++)
		if (keeping->pids[lane] > 0)
			kill(keeping->pids[lane], SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

/* A first reader tells whether others can be had: it closes itself in, and ends. */
static int try_jail(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		int err = reader_jail_drop();

		if (!err)
			err = reader_jail_close();
		syscall(SYS_exit_group, -err & 0xff);
		__builtin_unreachable();
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPIPE;
}

void reader_keeper_run(const struct reader_keeper *keeper)
{
	struct keeping keeping = {.keeper = *keeper};
	int kept[READER_LANES + 1], err;

	prctl(PR_SET_NAME, "pkbpf-keeper");
	kept[0] = keeper->control_fd;
	memcpy(kept + 1, keeper->lane_fds, sizeof(keeper->lane_fds));
	err = keep_open(kept, READER_LANES + 1);
	if (!err && chdir("/") < 0)
		err = -errno;
	keeping.child_fd = hold_signals();
	if (!err && keeping.child_fd < 0)
		err = -errno;
	/* A table that is not built yet costs complete stacks. */
	thread_priority_raise();
	if (!err)
		err = reader_jail_guard();
	follow_into_death(keeper->parent);
	if (!err)
		err = try_jail();
	reader_send(keeper->control_fd, &err, sizeof(err), NULL, 0, -1);
	if (!err)
		keep(&keeping);
	end_readers(&keeping);
	end();
}
