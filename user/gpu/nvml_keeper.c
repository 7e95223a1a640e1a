// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/nvml_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "gpu/nvml_jail.h"
#include "gpu/nvml_library.h"

#define SOCKET_FD	3
#define LOOK_NS		NS_PER_SECOND
#define LIMIT_NS	(10 * NS_PER_SECOND)
#define PAUSE_NS	NS_PER_SECOND
#define PAUSE_LONGEST	(300 * NS_PER_SECOND)
#define KEEPER_TURN_MS	250
#define PACKETS_AT_ONCE 65536
#define END_TRIES	200
#define END_TRY_NS	(10 * NS_PER_MS)
/* A worker's word that it has said itself why it ends. */
#define TOLD_STATUS 3

struct nvml_keeper {
	int fd;
	pid_t pid;
	struct nvml_told told;	/* of the look under way */
	struct gpu_look newest; /* complete */
	bool has_newest;
	char reason[GPU_REASON_SIZE];
	uint64_t dropped;
};

/* ---- in the processes that are forked ---- */

struct keeping {
	struct nvml_keeper_options options;
	uint64_t *beats; /* shared with the worker, which counts up while it gets on */
	pid_t worker;	 /* 0: none */
	bool is_killed;
	uint64_t seen_beats, seen_ns, start_ns, pause_ns;
};

static void __attribute__((noreturn)) end(int status)
{
	syscall(SYS_exit_group, status);
	__builtin_unreachable();
}

/* What does not fit is dropped: this look is not complete then. */
static bool send_message(void *context, const struct nvml_message *message)
{
	struct keeping *keeping = context;

	__atomic_fetch_add(keeping->beats, 1, __ATOMIC_RELAXED);
	return send(SOCKET_FD, message, sizeof(*message), MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       (ssize_t)sizeof(*message);
}

static void tell_end(const char *reason)
{
	struct nvml_message message = {NVML_MAGIC, NVML_ENDED, .device = 0};

	snprintf(message.reason, sizeof(message.reason), "%s", reason);
	(void)!send(SOCKET_FD, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void follow_into_death(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		end(0);
}

static void __attribute__((noreturn)) work(struct keeping *keeping, pid_t keeper)
{
	struct nvml_library *library;
	char reason[GPU_REASON_SIZE];
	struct timespec pause = {
		.tv_sec = (time_t)(keeping->options.look_ns / NS_PER_SECOND),
		.tv_nsec = (long)(keeping->options.look_ns % NS_PER_SECOND),
	};

	follow_into_death(keeper);
	prctl(PR_SET_NAME, "pkbpf-nvml");
	library = nvml_library_open(keeping->options.library, reason);
	if (!library) {
		tell_end(reason);
		end(TOLD_STATUS);
	}
	for (;;) {
		__atomic_fetch_add(keeping->beats, 1, __ATOMIC_RELAXED);
		nvml_library_look(library, send_message, keeping);
		nanosleep(&pause, NULL);
	}
}

static void start_worker(struct keeping *keeping, uint64_t now_ns)
{
	pid_t keeper = getpid(), pid = fork();

	if (pid == 0)
		work(keeping, keeper);
	keeping->worker = pid > 0 ? pid : 0;
	keeping->is_killed = false;
	keeping->start_ns = keeping->seen_ns = now_ns;
}

/* One that worked for longer than the pause begins with the shortest again. */
static void note_end(struct keeping *keeping, int status, uint64_t now_ns)
{
	uint64_t worked_ns = now_ns - keeping->start_ns;
	char reason[GPU_REASON_SIZE];

	if (WIFSIGNALED(status) && !keeping->is_killed) {
		snprintf(reason, sizeof(reason),
			 "the process that runs NVML crashed (signal %d); it is started again",
			 WTERMSIG(status));
		tell_end(reason);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) != TOLD_STATUS) {
		tell_end("NVML has ended the process that runs it; it is started again");
	}
	if (worked_ns > keeping->pause_ns + keeping->options.limit_ns)
		keeping->pause_ns = keeping->options.pause_ns;
	keeping->worker = 0;
	keeping->start_ns = now_ns + keeping->pause_ns;
	keeping->pause_ns *= 2;
	if (keeping->pause_ns > PAUSE_LONGEST)
		keeping->pause_ns = PAUSE_LONGEST;
}

static void watch_worker(struct keeping *keeping, uint64_t now_ns)
{
	uint64_t beats = __atomic_load_n(keeping->beats, __ATOMIC_RELAXED);
	int status;

	if (waitpid(keeping->worker, &status, WNOHANG) == keeping->worker) {
		note_end(keeping, status, now_ns);
		return;
	}
	if (beats != keeping->seen_beats) {
		keeping->seen_beats = beats;
		keeping->seen_ns = now_ns;
	}
	/* One that cannot be killed stays the only one. */
	if (now_ns - keeping->seen_ns < keeping->options.limit_ns || keeping->is_killed)
		return;
	keeping->is_killed = true;
	tell_end("NVML does not answer; its process was ended, and is started again");
	kill(keeping->worker, SIGKILL);
}

/* The program is gone. A worker that cannot be killed ends one day. */
static void __attribute__((noreturn)) leave(struct keeping *keeping)
{
	if (keeping->worker)
		kill(keeping->worker, SIGKILL);
	for (int i = 0; keeping->worker && i < KEEPER_TURN_MS; i++) {
		if (waitpid(keeping->worker, NULL, WNOHANG) != 0)
			break;
		poll(NULL, 0, 1);
	}
	end(0);
}

static void __attribute__((noreturn)) keep(struct keeping *keeping)
{
	for (;;) {
		struct pollfd program = {.fd = SOCKET_FD};
		uint64_t now_ns = clock_now_ns();

		if (keeping->worker)
			watch_worker(keeping, now_ns);
		else if (now_ns >= keeping->start_ns)
			start_worker(keeping, now_ns);
		poll(&program, 1, KEEPER_TURN_MS);
		if (program.revents & (POLLHUP | POLLERR))
			leave(keeping);
	}
}

/* The socket gets a number that is known, and all else is closed. */
static bool keep_only(int fd)
{
	int null_fd = open("/dev/null", O_RDWR);

	if (null_fd < 0 || dup2(fd, SOCKET_FD) < 0)
		return false;
	for (int i = 0; i < SOCKET_FD; i++)
		if (dup2(null_fd, i) < 0)
			return false;
	if (syscall(SYS_close_range, SOCKET_FD + 1, ~0U, 0) == 0)
		return true;
	/* A kernel that does not know it. */
	for (int i = SOCKET_FD + 1; i < (int)sysconf(_SC_OPEN_MAX); i++)
		close(i);
	return true;
}

static void __attribute__((noreturn))
become_keeper(const struct nvml_keeper_options *options, int fd, pid_t program)
{
	struct keeping keeping = {.options = *options, .pause_ns = options->pause_ns};
	sigset_t all;

	/* What a terminal sends is meant for the program. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_NAME, "pkbpf-gpus");
	keeping.beats = mmap(NULL, sizeof(*keeping.beats), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (keeping.beats == MAP_FAILED || !keep_only(fd) || nvml_jail_close() < 0)
		end(1);
	/* A change of user would undo it. */
	follow_into_death(program);
	keep(&keeping);
}

/* ---- in the program ---- */

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
	return value ? value : otherwise;
}

int nvml_keeper_start(const struct nvml_keeper_options *wanted, struct nvml_keeper **ret_keeper,
		      struct error *error)
{
	const struct nvml_keeper_options options = {
		.library = wanted->library,
		.look_ns = or_default(wanted->look_ns, LOOK_NS),
		.limit_ns = or_default(wanted->limit_ns, LIMIT_NS),
		.pause_ns = or_default(wanted->pause_ns, PAUSE_NS),
	};
	struct nvml_keeper *keeper = calloc(1, sizeof(*keeper));
	pid_t program = getpid();
	int ends[2];

	if (!keeper || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		free(keeper);
		return error_set(error, ENOMEM, "cannot ask NVML about GPUs: no socket");
	}
	keeper->pid = fork();
	if (keeper->pid == 0)
		become_keeper(&options, ends[1], program);
	close(ends[1]);
	keeper->fd = ends[0];
	if (keeper->pid < 0) {
		int err = errno;

		close(keeper->fd);
		free(keeper);
		return error_set(error, err, "cannot ask NVML about GPUs: no process: %s",
				 strerror(err));
	}
	*ret_keeper = keeper;
	return 0;
}

static void take_newest(struct nvml_keeper *keeper)
{
	gpu_look_clear(&keeper->newest);
	keeper->newest = keeper->told.look;
	keeper->told.look = (struct gpu_look){.device_count = 0};
	keeper->told.is_complete = false;
	keeper->has_newest = true;
	keeper->reason[0] = '\0';
}

static void take_end(struct nvml_keeper *keeper)
{
	memcpy(keeper->reason, keeper->told.reason, sizeof(keeper->reason));
	keeper->told.has_ended = false;
	keeper->has_newest = false;
	gpu_look_clear(&keeper->told.look);
}

bool nvml_keeper_read(struct nvml_keeper *keeper)
{
	bool is_new = false;

	for (int i = 0; i < PACKETS_AT_ONCE; i++) {
		struct nvml_message message;
		/* Its size, also of one that is longer. */
		ssize_t got = recv(keeper->fd, &message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC);

		if (got == 0 && !keeper->reason[0])
			snprintf(keeper->reason, sizeof(keeper->reason),
				 "the process that asks NVML has ended");
		if (got == 0)
			keeper->has_newest = false;
		if (got <= 0)
			break;
		nvml_told_take(&keeper->told, &message, (size_t)got);
		if (keeper->told.is_complete) {
			take_newest(keeper);
			is_new = true;
		}
		if (keeper->told.has_ended)
			take_end(keeper);
	}
	keeper->dropped += keeper->told.rejected + keeper->told.unbelieved;
	keeper->told.rejected = keeper->told.unbelieved = 0;
	return is_new;
}

const struct gpu_look *nvml_keeper_look(const struct nvml_keeper *keeper, const char **ret_reason)
{
	*ret_reason = keeper->reason;
	return keeper->has_newest ? &keeper->newest : NULL;
}

uint64_t nvml_keeper_dropped(const struct nvml_keeper *keeper)
{
	return keeper->dropped;
}

int nvml_keeper_fd(const struct nvml_keeper *keeper)
{
	return keeper->fd;
}

void nvml_keeper_stop(struct nvml_keeper *keeper)
{
	const struct timespec pause = {.tv_nsec = (long)END_TRY_NS};

	if (!keeper)
		return;
	/* It ends when its socket is closed: after giving up rights this process cannot kill it. */
	close(keeper->fd);
	for (int i = 0; i < END_TRIES && waitpid(keeper->pid, NULL, WNOHANG) == 0; i++)
		nanosleep(&pause, NULL);
	nvml_told_clear(&keeper->told);
	gpu_look_clear(&keeper->newest);
	free(keeper);
}
