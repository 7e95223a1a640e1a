// SPDX-License-Identifier: BSD-2-Clause
/* Waits in a thread of its own for the signals that end a run. */
#include "cli/stop_signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"

/* timeout signals its child, and then the group that it is in. Nobody asks twice as quickly as
 * that. */
#define SAME_REQUEST_NS (100 * NS_PER_MS)

struct stop_signals {
	void (*abandon)(void *context);
	void *context;
	int signal_fd; /* the signals themselves */
	int stop_fd;   /* eventfd: the first one has come */
	int quit_fd;   /* eventfd: the thread shall return */
	pthread_t thread;
	bool thread_runs;
	_Atomic(void (*)(void *context)) hangup; /* NULL: a SIGHUP stops */
	atomic_bool is_private;			 /* written before received */
	atomic_int received;
	/* Of the first; only the thread's. */
	uint64_t first_ns;
	uint32_t first_sender; /* 0: the kernel */
};

static bool is_ignored(int signal_number)
{
	struct sigaction action;

	return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void stop_set(sigset_t *ret_set)
{
	sigemptyset(ret_set);
	sigaddset(ret_set, SIGINT);
	sigaddset(ret_set, SIGTERM);
	/* Ignored, as by nohup, it may still ask for another configuration. */
	sigaddset(ret_set, SIGHUP);
	if (!is_ignored(SIGQUIT))
		sigaddset(ret_set, SIGQUIT);
}

void stop_signals_block(sigset_t *ret_before)
{
	sigset_t set;

	stop_set(&set);
	/* What they would say a write says as well, and that one is told of, with the file's name.
	 * Not ignored: a command has to find them as we did. */
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, ret_before);
}

/* Ends the program the way the signal would have: its status tells the caller's shell. */
static void die_of(int signal_number)
{
	sigset_t set;

	signal(signal_number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(signal_number);
	_exit(128 + signal_number);
}

static void handle_signal(struct stop_signals *signals, const struct signalfd_siginfo *info)
{
	void (*hangup)(void *context) = atomic_load(&signals->hangup);
	uint64_t now_ns = clock_now_ns();
	uint32_t sender = info->ssi_code == SI_KERNEL ? 0 : info->ssi_pid;

	if (info->ssi_signo == SIGHUP && info->ssi_code != SI_KERNEL && hangup) {
		hangup(signals->context);
		return;
	}
	if (info->ssi_signo == SIGHUP && is_ignored(SIGHUP))
		return;
	if (info->ssi_signo == SIGQUIT || atomic_load(&signals->received)) {
		if (info->ssi_signo != SIGQUIT && sender && sender == signals->first_sender &&
		    now_ns - signals->first_ns < SAME_REQUEST_NS)
			return;
		signals->abandon(signals->context);
		die_of((int)info->ssi_signo);
	}
	signals->first_ns = now_ns;
	signals->first_sender = sender;
	/* The terminal's signals come from the kernel and reach the whole foreground group. */
	atomic_store(&signals->is_private, info->ssi_code != SI_KERNEL);
	atomic_store(&signals->received, (int)info->ssi_signo);
	eventfd_write(signals->stop_fd, 1);
}

static void *wait_for_signals(void *context)
{
	struct stop_signals *signals = context;
	struct pollfd fds[] = {
		{.fd = signals->signal_fd, .events = POLLIN},
		{.fd = signals->quit_fd, .events = POLLIN},
	};

	for (;;) {
		struct signalfd_siginfo info;

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[1].revents)
			return NULL;
		if (read(signals->signal_fd, &info, sizeof(info)) == sizeof(info))
			handle_signal(signals, &info);
	}
}

struct stop_signals *stop_signals_new(void (*abandon)(void *context), void *context,
				      struct error *error)
{
	struct stop_signals *signals = calloc(1, sizeof(*signals));
	sigset_t set;
	int err;

	if (!signals) {
		error_set(error, ENOMEM, "cannot wait for signals: out of memory");
		return NULL;
	}
	stop_set(&set);
	signals->abandon = abandon;
	signals->context = context;
	signals->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	signals->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	signals->quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (signals->signal_fd < 0 || signals->stop_fd < 0 || signals->quit_fd < 0) {
		err = errno;
	} else {
		err = pthread_create(&signals->thread, NULL, wait_for_signals, signals);
		signals->thread_runs = err == 0;
	}
	if (err) {
		error_set(error, err, "cannot wait for signals: %s", strerror(err));
		stop_signals_free(signals);
		return NULL;
	}
	return signals;
}

int stop_signals_fd(const struct stop_signals *signals)
{
	return signals->stop_fd;
}

int stop_signals_received(const struct stop_signals *signals, bool *ret_private)
{
	int received = atomic_load(&signals->received);

	if (received)
		*ret_private = atomic_load(&signals->is_private);
	return received;
}

void stop_signals_on_hangup(struct stop_signals *signals, void (*hangup)(void *context))
{
	atomic_store(&signals->hangup, hangup);
}

bool stop_signals_withdraw(struct stop_signals *signals)
{
	eventfd_t value;

	eventfd_read(signals->stop_fd, &value);
	if (!atomic_load(&signals->received))
		return true;
	eventfd_write(signals->stop_fd, 1);
	return false;
}

void stop_signals_request(struct stop_signals *signals)
{
	eventfd_write(signals->stop_fd, 1);
}

void stop_signals_free(struct stop_signals *signals)
{
	if (!signals)
		return;
	if (signals->thread_runs) {
		eventfd_write(signals->quit_fd, 1);
		pthread_join(signals->thread, NULL);
	}
	if (signals->signal_fd >= 0)
		close(signals->signal_fd);
	if (signals->stop_fd >= 0)
		close(signals->stop_fd);
	if (signals->quit_fd >= 0)
		close(signals->quit_fd);
	free(signals);
}
