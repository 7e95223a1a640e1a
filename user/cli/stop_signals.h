/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP: the first one asks the run to stop, the second one (unless it is the
 * same request, sent to the process and to its group, as timeout does) ends the program at once,
 * even while the main thread symbolizes or writes, and so does SIGQUIT. A thread waits for them, so
 * no handler interrupts anything.
 */
#ifndef PKBPF_CLI_STOP_SIGNALS_H
#define PKBPF_CLI_STOP_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

/* Blocks the signals in this thread and those it will start; before any thread or child is made.
 * SIGPIPE becomes an error of write(). A SIGHUP or SIGQUIT that was ignored (nohup) stays so.
 * *ret_before: the mask before, for children. */
void stop_signals_block(sigset_t *ret_before);

struct stop_signals;

/* The signals are blocked already. Before the program ends by a signal it calls abandon(context)
 * from its own thread; abandon may touch only what never changes or is locked. */
struct stop_signals *stop_signals_new(void (*abandon)(void *context), void *context,
				      struct error *error);
/* From now on, a SIGHUP that is no terminal's asks for no stop: it calls hangup(context) from the
 * thread of stop_signals_new(). */
void stop_signals_on_hangup(struct stop_signals *signals, void (*hangup)(void *context));
/* Takes back what stop_signals_request() asked for; false: a signal has come, and the run shall
 * stop all the same. */
bool stop_signals_withdraw(struct stop_signals *signals);
/* Readable once the first signal has arrived. */
int stop_signals_fd(const struct stop_signals *signals);
/* The first signal, 0: none yet. *ret_private: sent to this process alone, not by the terminal to
 * its whole group. */
int stop_signals_received(const struct stop_signals *signals, bool *ret_private);
/* As a signal to this process alone would: asks the run to stop. From any thread. */
void stop_signals_request(struct stop_signals *signals);
void stop_signals_free(struct stop_signals *signals);

#endif
