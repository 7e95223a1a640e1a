// SPDX-License-Identifier: BSD-2-Clause
#include "base/roomy_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

#define ENOUGH_BYTES (1UL << 20)

struct call {
	int (*run)(int argc, char **argv);
	int argc;
	char **argv;
	sigset_t mask;
	int ret;
};

static bool has_room(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= ENOUGH_BYTES;
}

static void *call_it(void *context)
{
	struct call *call = context;

	pthread_sigmask(SIG_SETMASK, &call->mask, NULL);
	call->ret = call->run(call->argc, call->argv);
	return NULL;
}

int roomy_stack_run(int (*run)(int argc, char **argv), int argc, char **argv)
{
	struct call call = {.run = run, .argc = argc, .argv = argv};
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;

	if (has_room() || pthread_attr_init(&attributes) ||
	    pthread_attr_setstacksize(&attributes, ENOUGH_BYTES) ||
	    pthread_setattr_default_np(&attributes))
		return run(argc, argv);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &call.mask);
	if (pthread_create(&thread, &attributes, call_it, &call)) {
		pthread_sigmask(SIG_SETMASK, &call.mask, NULL);
		return run(argc, argv);
	}
	pthread_join(thread, NULL);
	return call.ret;
}
