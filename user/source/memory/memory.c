// SPDX-License-Identifier: BSD-2-Clause
/* The memory source: who wrote first to the pages of processes, which of them are there, and the
 * counters of their memory over time. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pkbpf/memory.h>

#include "base/clock.h"
#include "base/hash_map.h"
#include "base/unused.h"
#include "capture/kernel/kernel_types.h"
#include "capture/perf_event.h"
#include "capture/tracing_program.h"
#include "event/memory_event.h"
#include "source/memory/memory_options.h"
#include "source/memory/present_pages.h"
#include "source/memory/zero_page.h"
#include "source/per_cpu_events.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

/* Looks at all tasks take at most one part in this many of the time of one CPU. */
#define LOOK_PARTS 500
/* The same of looks at pages: at first with the others, and the longer it goes the less often, down
 * to once a second. */
#define PAGES_PARTS	  100
#define PAGES_INTERVAL_NS NS_PER_SECOND
#define PAGES_FIRST_NS	  (100 * NS_PER_MS)

enum { PROGRAM_USER, PROGRAM_KERNEL, PROGRAM_MAPPED, PROGRAMS };

struct source {
	struct session *session;
	bool by_event; /* the kernel has no tracepoints of page faults */
	struct bpf_link *links[PROGRAMS], *iterator;
	struct per_cpu_events events;
	struct perf_event_attr attr;
	struct event_buffer buffer;
	struct present_pages pages;
	uint64_t every_ns, start_ns, next_look_ns, next_pages_ns;
	bool attached;
};

static void memory_detach(struct source *source);

static void memory_free(struct source *source)
{
	memory_detach(source);
	bpf_link__destroy(source->iterator);
	event_buffer_done(&source->buffer);
	array_free(&source->pages.runs);
	free(source);
}

static void memory_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	bpf_program__set_autoload(skeleton->progs.memory_fault_user, wanted);
	bpf_program__set_autoload(skeleton->progs.memory_fault_kernel, wanted);
	bpf_program__set_autoload(skeleton->progs.memory_fault_event, wanted);
	bpf_program__set_autoload(skeleton->progs.memory_mapped, wanted);
	bpf_program__set_autoload(skeleton->progs.memory_look, wanted);
	bpf_map__set_autocreate(skeleton->maps.memory_processes, wanted);
	/* Stacks have numbers, but none is recognized before it is unwound (stack_maps.c). */
	if (wanted)
		bpf_map__set_autocreate(skeleton->maps.stacks_sent, true);
}

static int memory_configure(struct session *session, const struct source_options *options,
			    struct source **ret_source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	const struct kernel_types *types = session_kernel_types(session);
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return error_set(error, ENOMEM, "cannot prepare memory profiling: out of memory");
	source->session = session;
	source->every_ns = options->memory.every_ns;
	source->attr = (struct perf_event_attr){
		.size = sizeof(source->attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
	};
	source->by_event = !kernel_types_tracepoint_arguments(types, "page_fault_user") ||
			   !kernel_types_tracepoint_arguments(types, "page_fault_kernel");
	bpf_program__set_autoload(skeleton->progs.memory_fault_user, !source->by_event);
	bpf_program__set_autoload(skeleton->progs.memory_fault_kernel, !source->by_event);
	bpf_program__set_autoload(skeleton->progs.memory_fault_event, source->by_event);
	bpf_program__set_autoload(skeleton->progs.memory_mapped,
				  kernel_types_tracepoint_arguments(types, "vm_unmapped_area"));
	skeleton->bss->memory_control.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	skeleton->bss->memory_control.takes_reads = reading_takes_pages();
	*ret_source = source;
	return 0;
}

static int update_events(struct source *source, struct error *error)
{
	if (!source->by_event)
		return 0;
	return per_cpu_events_update(&source->events, session_cpus(source->session), &source->attr,
				     session_skeleton(source->session)->progs.memory_fault_event,
				     error);
}

static int memory_attach(struct source *source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	const struct bpf_program *programs[PROGRAMS] = {
		[PROGRAM_USER] = skeleton->progs.memory_fault_user,
		[PROGRAM_KERNEL] = skeleton->progs.memory_fault_kernel,
		[PROGRAM_MAPPED] = skeleton->progs.memory_mapped,
	};
	int err = tracing_program_attach(skeleton->progs.memory_look, &source->iterator, error);

	for (size_t i = 0; i < PROGRAMS && !err; i++)
		if (bpf_program__autoload(programs[i]))
			err = tracing_program_attach(programs[i], &source->links[i], error);
	source->attached = true;
	return err ? err : update_events(source, error);
}

static void memory_begin(struct source *source, uint64_t start_ns)
{
	source->start_ns = start_ns;
	source->next_look_ns = start_ns + source->every_ns;
	source->next_pages_ns = start_ns + PAGES_FIRST_NS;
	__atomic_store_n(&session_skeleton(source->session)->bss->memory_control.start_ns, start_ns,
			 __ATOMIC_RELEASE);
}

static void memory_end(struct source *source, uint64_t end_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->memory_control.end_ns, end_ns,
			 __ATOMIC_RELEASE);
}

/* Sends which pages of a process are there. What ended meanwhile has none. */
static int send_pages(struct source *source, uint32_t pid, uint32_t mask, uint16_t flags)
{
	int err = present_pages_read(pid, mask, &source->pages);

	if (err == -ENOMEM)
		return err;
	if (err)
		return 0;
	return present_event_encode(&source->buffer, clock_now_ns(), pid, flags,
				    source->pages.runs.items, source->pages.runs.count);
}

static bool has_ended(uint32_t pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

/* Sends the pages of all targets, and forgets those that have ended. */
static int look_at_pages(struct source *source, uint16_t flags)
{
	int fd = bpf_map__fd(session_skeleton(source->session)->maps.memory_processes), err = 0;
	struct pkbpf_memory_process process;
	uint32_t key, next;
	bool more = bpf_map_get_next_key(fd, NULL, &next) == 0;

	for (uint32_t i = 0; more && !err && i < PKBPF_MEMORY_PROCESSES; i++) {
		key = next;
		more = bpf_map_get_next_key(fd, &key, &next) == 0;
		if (has_ended(key))
			bpf_map_delete_elem(fd, &key);
		else if (bpf_map_lookup_elem(fd, &key, &process) == 0)
			err = send_pages(source, key, process.mask, flags);
	}
	session_add_records(source->session, &source->buffer);
	return err;
}

static int look_at_tasks(struct source *source, struct error *error)
{
	int err = tracing_iterator_run(source->iterator);

	if (err < 0)
		return error_set(error, -err,
				 "cannot read memory counters through the kernel's task "
				 "iterator: %s",
				 strerror(-err));
	return 0;
}

static int memory_look(struct source *source, enum source_edge edge, struct error *error)
{
	int err;

	if (edge == SOURCE_EDGE_ENDED)
		return 0;
	err = look_at_tasks(source, error);
	if (!err && look_at_pages(source, edge == SOURCE_EDGE_BEGUN ? PKBPF_PRESENT_BEFORE : 0))
		return error_set(error, ENOMEM, "cannot read resident pages: out of memory");
	return err;
}

/* CPU time of this thread: on a busy machine work waits, which costs nothing. */
static uint64_t work_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The next time for work that is to take one part in `parts` of the time. */
static uint64_t after_work(uint64_t work_before_ns, uint64_t least_ns, uint64_t parts)
{
	uint64_t pause_ns = (work_ns() - work_before_ns) * parts;

	return clock_now_ns() + (pause_ns > least_ns ? pause_ns : least_ns);
}

static int memory_poll(struct source *source)
{
	uint64_t now_ns = clock_now_ns(), before_ns = work_ns();
	struct error error;
	int err = 0;

	if (update_events(source, &error))
		log_warning(session_options(source->session)->log, "%s; its memory is missing",
			    error.text);
	if (now_ns >= source->next_look_ns) {
		err = look_at_tasks(source, &error);
		if (err)
			log_warning(session_options(source->session)->log, "%s", error.text);
		source->next_look_ns = after_work(before_ns, source->every_ns, LOOK_PARTS);
	}
	if (now_ns >= source->next_pages_ns) {
		uint64_t age_ns = (now_ns - source->start_ns) / 10;

		before_ns = work_ns();
		err = look_at_pages(source, 0);
		source->next_pages_ns = after_work(
			before_ns, age_ns < PAGES_INTERVAL_NS ? age_ns : PAGES_INTERVAL_NS,
			PAGES_PARTS);
	}
	return err == -ENOMEM ? err : 0;
}

static int memory_rest_ms(const struct source *source)
{
	uint64_t now_ns = clock_now_ns();

	return source->next_look_ns > now_ns
		       ? (int)((source->next_look_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS)
		       : 1;
}

static int memory_cut(struct source *source, _unused_ uint64_t until_ns)
{
	struct error error;

	if (look_at_tasks(source, &error))
		log_warning(session_options(source->session)->log, "%s", error.text);
	return look_at_pages(source, 0);
}

static void memory_detach(struct source *source)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		bpf_link__destroy(source->links[i]);
		source->links[i] = NULL;
	}
	per_cpu_events_done(&source->events);
}

static const char *memory_event_name(const struct source *source)
{
	return source->by_event ? "page-faults" : "exceptions:page_fault_user";
}

const struct source_ops source_memory = {
	.kind = PKBPF_PROFILE_MEMORY,
	.name = "memory",
	.summary = "resident bytes by the stack that wrote first, and memory over time",
	.by_request = true,
	.options = memory_option_rows,
	.options_init = memory_options_init,
	.choose = memory_choose,
	.configure = memory_configure,
	.attach = memory_attach,
	.begin = memory_begin,
	.end = memory_end,
	.look = memory_look,
	.poll = memory_poll,
	.rest_ms = memory_rest_ms,
	.cut = memory_cut,
	.detach = memory_detach,
	.free = memory_free,
	.event_name = memory_event_name,
};
