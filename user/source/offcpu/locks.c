// SPDX-License-Identifier: BSD-2-Clause
/* The source of locks: what the off-CPU source adds up when this kind is wanted, and locks of the
 * kernel. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/unused.h"
#include "source/offcpu/kernel_locks.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

/* As the off-CPU source does. */
#define DRAIN_INTERVAL_NS (1 * NS_PER_SECOND)

struct source {
	struct session *session;
	struct kernel_locks *kernel; /* NULL: not wanted */
	struct event_buffer buffer;
	uint64_t drained_ns;
};

static const struct option_row lock_option_rows[] = {
	{0, "kernel-locks", NULL, "locks: also those of the kernel, such as mmap_lock (Linux 5.19)",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, locks.kernel), .needs = "locks",
	 .text = "Mutexes, semaphores and spinlocks for which a thread has to wait or spin, by "
		 "symbol, or by the functions that take them. Their holders are not known. Each "
		 "wait "
		 "costs about 2 to 4 us."},
	{.name = NULL},
};

static void locks_choose(struct pkbpf_bpf *skeleton, _unused_ bool wanted)
{
	kernel_locks_choose(skeleton, false);
}

static int locks_configure(struct session *session, const struct source_options *options,
			   struct source **ret_source, struct error *error)
{
	struct source *source = calloc(1, sizeof(*source));
	int err = 0;

	if (!source)
		return error_set(error, ENOMEM, "cannot prepare locks: out of memory");
	source->session = session;
	if (options->locks.kernel)
		err = kernel_locks_configure(session, &source->kernel, error);
	if (err) {
		free(source);
		return err;
	}
	*ret_source = source;
	return 0;
}

static int locks_attach(struct source *source, struct error *error)
{
	return source->kernel ? kernel_locks_attach(source->kernel, error) : 0;
}

static int drain(struct source *source)
{
	int err = kernel_locks_drain(source->kernel, &source->buffer);

	session_add_records(source->session, &source->buffer);
	return err;
}

static int locks_poll(struct source *source)
{
	uint64_t now_ns = clock_now_ns();

	if (!source->kernel || now_ns - source->drained_ns < DRAIN_INTERVAL_NS)
		return 0;
	source->drained_ns = now_ns;
	return drain(source);
}

static int locks_cut(struct source *source, _unused_ uint64_t until_ns)
{
	int err = drain(source);

	kernel_locks_cut(source->kernel);
	return err;
}

static void locks_each_stack(const struct source *source, source_stack_fn *take, void *context)
{
	kernel_locks_each_stack(source->kernel, take, context);
}

static void locks_detach(struct source *source)
{
	if (!source->kernel)
		return;
	kernel_locks_detach(source->kernel);
	/* The stream counts records that are missing for lack of memory. */
	drain(source);
}

static void locks_free(struct source *source)
{
	kernel_locks_free(source->kernel);
	event_buffer_done(&source->buffer);
	free(source);
}

const struct source_ops source_locks = {
	.kind = PKBPF_PROFILE_LOCKS,
	.name = "locks",
	.summary = "waits for locks of programs, by lock and holder; includes offcpu",
	.by_request = true,
	.options = lock_option_rows,
	.included_kinds = 1U << PKBPF_PROFILE_OFFCPU,
	.choose = locks_choose,
	.configure = locks_configure,
	.attach = locks_attach,
	.poll = locks_poll,
	.cut = locks_cut,
	.each_stack = locks_each_stack,
	.detach = locks_detach,
	.free = locks_free,
};
