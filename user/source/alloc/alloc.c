// SPDX-License-Identifier: BSD-2-Clause
/* The alloc source: allocations that the sampler in a process has chosen, and their end. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pkbpf/alloc.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/unused.h"
#include "event/alloc_event.h"
#include "event/encoder.h"
#include "source/alloc/alloc_windows.h"
#include "source/alloc/producers.h"
#include "source/alloc/sampler_library.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

#define DRAIN_INTERVAL_NS (NS_PER_SECOND / 4)

struct source {
	struct session *session;
	char library[PATH_MAX];
	struct producers producers;
	struct alloc_windows *windows; /* NULL: not needed */
	bool is_attached;
	struct event_buffer buffer;
	uint64_t last_drain_ns;
};

static void alloc_detach(struct source *source);

static void alloc_free(struct source *source)
{
	alloc_detach(source);
	producers_done(&source->producers);
	alloc_windows_free(source->windows);
	event_buffer_done(&source->buffer);
	free(source);
}

static void alloc_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	bpf_program__set_autoload(skeleton->progs.alloc_sampled, wanted);
	bpf_program__set_autoload(skeleton->progs.alloc_freed, wanted);
	bpf_program__set_autoload(skeleton->progs.alloc_call, false);
	bpf_program__set_autoload(skeleton->progs.alloc_call_first, false);
	bpf_program__set_autoload(skeleton->progs.alloc_call_second, false);
	bpf_program__set_autoload(skeleton->progs.alloc_call_third, false);
	bpf_program__set_autoload(skeleton->progs.alloc_call_product, false);
	bpf_program__set_autoload(skeleton->progs.alloc_call_again, false);
	bpf_map__set_autocreate(skeleton->maps.alloc_countdowns, false);
	bpf_map__set_autocreate(skeleton->maps.alloc_late_frees, wanted);
	bpf_map__set_autocreate(skeleton->maps.alloc_users, wanted);
	/* Stacks have numbers, but none is recognized before it is unwound (stack_maps.c). */
	if (wanted)
		bpf_map__set_autocreate(skeleton->maps.stacks_sent, true);
}

/* Processes that run already: what tells of its allocations is read, the others are watched in
 * windows. */
static int choose_processes(struct source *source, const struct source_options *options,
			    struct error *error)
{
	const struct session_options *session = session_options(source->session);
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	int err = 0, found;

	for (size_t i = 0; i < session->pid_count && !err; i++) {
		uint32_t pid = session->pids[i];

		found = producers_add_process(&source->producers, pid, session->log, error);
		if (found)
			err = found < 0 ? found : 0;
		if (found)
			continue;
		if (!source->windows &&
		    alloc_windows_new(skeleton, session_kernel_types(source->session),
				      options->alloc.interval_bytes, &source->windows))
			return error_set(error, ENOMEM, "cannot watch allocations: out of memory");
		err = alloc_windows_add(source->windows, pid, session->log, error);
		if (!err)
			return error_set(error, ENOTSUP,
					 "cannot watch allocations of pid %u: its files name no "
					 "allocator (statically linked and stripped?)",
					 pid);
		if (err > 0)
			log_warning(
				session->log,
				"allocations of pid %u are watched in windows of 20 ms per second: "
				"they tell who allocates, not what lives; for that start it with "
				"pkbpf --alloc -- COMMAND",
				pid);
		err = err > 0 ? 0 : err;
	}
	return err;
}

static int alloc_configure(struct session *session, const struct source_options *options,
			   struct source **ret_source, struct error *error)
{
	const struct session_options *chosen = session_options(session);
	struct source *source = calloc(1, sizeof(*source));
	int err;

	if (!source)
		return error_set(error, ENOMEM,
				 "cannot prepare allocation profiling: out of memory");
	source->session = session;
	if (chosen->target_mode == PKBPF_TARGET_PROCESS && !chosen->waiting_pid) {
		err = choose_processes(source, options, error);
	} else {
		err = sampler_library_find(source->library, sizeof(source->library), error);
		err = err ? err : producers_add_file(&source->producers, source->library, error);
	}
	if (err) {
		alloc_free(source);
		return err;
	}
	*ret_source = source;
	return 0;
}

static int alloc_attach(struct source *source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	int err = producers_attach(&source->producers, skeleton->progs.alloc_sampled,
				   skeleton->progs.alloc_freed, error);

	source->is_attached = true;
	return err || !source->windows
		       ? err
		       : alloc_windows_start(source->windows, session_options(source->session)->log,
					     error);
}

static void alloc_begin(struct source *source, uint64_t start_ns)
{
	source->last_drain_ns = start_ns;
	__atomic_store_n(&session_skeleton(source->session)->bss->alloc_control.start_ns, start_ns,
			 __ATOMIC_RELEASE);
}

static void alloc_end(struct source *source, uint64_t end_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->alloc_control.end_ns, end_ns,
			 __ATOMIC_RELEASE);
}

/* Sends the frees whose records found no room in the ring. */
static int drain_late_frees(struct source *source)
{
	int fd = bpf_map__fd(session_skeleton(source->session)->maps.alloc_late_frees), err = 0;
	struct pkbpf_alloc_late_free key, next;
	bool more = bpf_map_get_next_key(fd, NULL, &next) == 0;

	for (uint32_t i = 0; more && !err && i < PKBPF_ALLOC_LATE_FREES; i++) {
		struct free_view view = {0};

		key = next;
		more = bpf_map_get_next_key(fd, &key, &next) == 0;
		if (bpf_map_lookup_elem(fd, &key, &view.time_ns))
			continue;
		view.pid = key.pid;
		view.address = key.address;
		err = free_event_encode(&source->buffer, &view);
		if (!err)
			bpf_map_delete_elem(fd, &key);
	}
	session_add_records(source->session, &source->buffer);
	return err;
}

static int alloc_poll(struct source *source)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - source->last_drain_ns < DRAIN_INTERVAL_NS)
		return 0;
	source->last_drain_ns = now_ns;
	return drain_late_frees(source);
}

static int alloc_cut(struct source *source, _unused_ uint64_t until_ns)
{
	return drain_late_frees(source);
}

static void alloc_detach(struct source *source)
{
	struct lost_view windows = {.time_ns = clock_now_ns(),
				    .cause = PKBPF_COUNTER_ALLOC_WINDOWS};

	producers_detach(&source->producers);
	windows.count = alloc_windows_stop(source->windows);
	if (windows.count)
		event_encode_lost(&source->buffer, &windows);
	if (source->is_attached)
		drain_late_frees(source);
	source->is_attached = false;
}

const struct source_ops source_alloc = {
	.kind = PKBPF_PROFILE_ALLOC,
	.name = "alloc",
	.summary = "allocated bytes by stack",
	.by_request = true,
	.options = alloc_option_rows,
	.choose = alloc_choose,
	.configure = alloc_configure,
	.attach = alloc_attach,
	.begin = alloc_begin,
	.end = alloc_end,
	.poll = alloc_poll,
	.cut = alloc_cut,
	.detach = alloc_detach,
	.free = alloc_free,
};
