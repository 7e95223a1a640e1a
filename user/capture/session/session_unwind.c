// SPDX-License-Identifier: BSD-2-Clause
/* Connects a session with the unwinder. */
#include "capture/session/session_unwind.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/session/ring_reader.h"
#include "capture/session/table_scout.h"
#include "event/decoder.h"
#include "event/encoder.h"

#include "pkbpf.skel.h"

struct session_unwind {
	struct pkbpf_bpf *skeleton;
	const struct log *log;
	struct process_table *processes;
	struct readers *readers;
	bool only_relatives, on_demand, no_guess, want_python;
	struct unwind_loader *loader;
	struct table_scout *scout; /* while the object is loaded */
	struct raw_unwinder *raw;
	struct ring_reader *raw_ring;
	int (*on_record)(void *context, void *data, size_t size);
	void *record_context;
	struct event_buffer found;
	uint64_t hold_since_ns; /* 0: not holding */
};

/* Sets of code objects that the kernel side remembers to have named: bpf/python.bpf.h. */
#define PYTHON_CODE_SETS (1U << 14)

/* Records wait at most this long for unwind tables that raw stacks need, and only while at most
 * this much memory waits. */
#define HOLD_MAX_NS    (3 * NS_PER_SECOND)
#define HOLD_MAX_BYTES (32U << 20)

bool session_unwinds(const struct session_options *options)
{
	return options->want_user_stack && options->unwind_mode != PKBPF_UNWIND_FP;
}

static int size_maps(struct session_unwind *unwind, uint64_t table_bytes, struct error *error)
{
	struct unwind_loader_sizes sizes =
		unwind_loader_choose_sizes(!unwind->only_relatives, table_bytes);
	struct pkbpf_bpf *skeleton = unwind->skeleton;
	int cpus = libbpf_num_possible_cpus();
	int err;

	err = bpf_map__set_max_entries(skeleton->maps.unwind_rows, sizes.rows);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.unwind_pages, sizes.pages);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.unwind_rules, sizes.rules);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.unwind_files, sizes.files);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.unwind_mappings, sizes.mappings);
	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.unwind_processes, sizes.processes);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.raw_ring, sizes.raw_ring_bytes);
	if (unwind->want_python)
		err = err ? err
			  : bpf_map__set_max_entries(skeleton->maps.python_codes, PYTHON_CODE_SETS);
	else
		err = err ? err : bpf_map__set_max_entries(skeleton->maps.python_scratch, 1);
	err = err	 ? err
	      : cpus < 0 ? cpus
			 : bpf_map__set_max_entries(skeleton->maps.raw_scratch, (uint32_t)cpus);
	if (err)
		return error_set(error, -err, "cannot size the maps of the stack unwinder: %s",
				 strerror(-err));
	return 0;
}

int session_unwind_configure(struct pkbpf_bpf *skeleton, const struct session_options *options,
			     struct session_unwind **ret_unwind, struct error *error)
{
	struct session_unwind *unwind;
	int err;

	*ret_unwind = NULL;
	if (!session_unwinds(options))
		return 0;
	unwind = calloc(1, sizeof(*unwind));
	if (!unwind)
		return error_set(error, ENOMEM, "cannot prepare stack unwinding: out of memory");
	unwind->skeleton = skeleton;
	unwind->log = options->log;
	unwind->processes = options->processes;
	unwind->readers = options->readers;
	unwind->want_python = options->want_python;
	unwind->no_guess = options->unwind_mode == PKBPF_UNWIND_DWARF;
	unwind->only_relatives = options->target_mode == PKBPF_TARGET_PROCESS ||
				 options->target_mode == PKBPF_TARGET_THREAD;
	/* Most files of a host never appear in a sample, and a CPU sample can be unwound later.
	 * Other events are too frequent for that, or their stack is lost. */
	unwind->on_demand = !unwind->only_relatives && options->can_wait;
	err = size_maps(unwind, options->unwind_table_bytes, error);
	if (err) {
		free(unwind);
		return err;
	}
	*ret_unwind = unwind;
	return 0;
}

/* The symbolizer needs this mapping as well. Without memory its addresses stay unresolved. */
static void on_found(void *context, const struct mapping_view *mapping)
{
	struct session_unwind *unwind = context;

	event_buffer_clear(&unwind->found);
	if (event_encode_mapping(&unwind->found, mapping) == 0)
		unwind->on_record(unwind->record_context, unwind->found.data, unwind->found.size);
}

static int open_loader(struct session_unwind *unwind, struct error *error)
{
	static const struct event_sink_ops found = {.on_mapping = on_found};
	struct unwind_loader_options options = {
		.only_relatives = unwind->only_relatives,
		.on_demand = unwind->on_demand,
		.files = process_table_files(unwind->processes),
		.log = unwind->log,
		.readers = unwind->readers,
		.found = {&found, unwind},
	};
	struct unwind_loader_maps maps = {
		.rows = bpf_map__fd(unwind->skeleton->maps.unwind_rows),
		.pages = bpf_map__fd(unwind->skeleton->maps.unwind_pages),
		.rules = bpf_map__fd(unwind->skeleton->maps.unwind_rules),
		.files = bpf_map__fd(unwind->skeleton->maps.unwind_files),
		.mappings = bpf_map__fd(unwind->skeleton->maps.unwind_mappings),
		.processes = bpf_map__fd(unwind->skeleton->maps.unwind_processes),
		.misses = bpf_map__fd(unwind->skeleton->maps.unwind_misses),
		.python_layouts = unwind->want_python
					  ? bpf_map__fd(unwind->skeleton->maps.python_layouts)
					  : -1,
		.generation = &unwind->skeleton->bss->process_generation,
	};

	return unwind_loader_new(&maps, &options, &unwind->loader, error);
}

void session_unwind_scout(struct session_unwind *unwind)
{
	struct error ignored;

	/* Tables of a few processes are built quickly; tables on demand delay nothing. */
	if (!unwind || unwind->only_relatives || unwind->on_demand)
		return;
	/* A failure here is retried and reported when the loader is needed. */
	if (!open_loader(unwind, &ignored))
		unwind->scout = table_scout_start(unwind_loader_tables(unwind->loader));
}

void session_unwind_end_scout(struct session_unwind *unwind)
{
	if (!unwind)
		return;
	table_scout_stop(unwind->scout);
	unwind->scout = NULL;
}

int session_unwind_start(struct session_unwind *unwind, const struct event_sink *sink,
			 int (*on_record)(void *context, void *data, size_t size), void *context,
			 struct error *error)
{
	struct raw_unwinder_options raw;
	int err;

	if (!unwind)
		return 0;
	unwind->on_record = on_record;
	unwind->record_context = context;
	err = unwind->loader ? 0 : open_loader(unwind, error);
	if (err)
		return err;
	raw = (struct raw_unwinder_options){
		.tables = unwind_loader_tables(unwind->loader),
		.processes = unwind->processes,
		.live = unwind_loader_processes(unwind->loader),
		.generated = unwind_loader_generated(unwind->loader),
		.hotspot = unwind_loader_hotspot(unwind->loader),
		.no_guess = unwind->no_guess,
	};
	unwind->raw = raw_unwinder_new(&raw, sink);
	if (!unwind->raw)
		return error_set(error, ENOMEM, "cannot prepare stack unwinding: out of memory");
	return ring_reader_new(bpf_map__fd(unwind->skeleton->maps.raw_ring), "raw stacks",
			       on_record, context, &unwind->raw_ring, error);
}

struct event_sink session_unwind_sink(struct session_unwind *unwind, const struct event_sink *sink)
{
	return unwind && unwind->raw ? raw_unwinder_sink(unwind->raw) : *sink;
}

void session_unwind_feed(struct session_unwind *unwind, const void *record, size_t size)
{
	const struct pkbpf_event_header *header = record;
	struct event_sink sink;

	if (!unwind || !unwind->loader || size < sizeof(*header))
		return;
	if (header->kind != PKBPF_EVENT_FORK && header->kind != PKBPF_EVENT_COMM &&
	    header->kind != PKBPF_EVENT_EXIT && header->kind != PKBPF_EVENT_MAPPING)
		return;
	sink = unwind_loader_sink(unwind->loader);
	event_decode(record, size, &sink); /* the queue counts malformed records */
}

void session_unwind_poll(struct session_unwind *unwind)
{
	if (unwind && unwind->loader)
		unwind_loader_poll(unwind->loader);
}

bool session_unwind_postpones(const struct session_unwind *unwind)
{
	return unwind && unwind->loader && unwind_loader_postpones(unwind->loader);
}

bool session_unwind_follows(const struct session_unwind *unwind, uint32_t pid)
{
	return !unwind || !unwind->loader || !unwind->only_relatives ||
	       process_tracker_find(unwind_loader_processes(unwind->loader), pid);
}

int session_unwind_drain(struct session_unwind *unwind)
{
	return unwind ? ring_reader_drain(unwind->raw_ring) : 0;
}

void session_unwind_wait(struct session_unwind *unwind, uint64_t timeout_ns)
{
	if (unwind && unwind->loader && !unwind_loader_wait_ready(unwind->loader, timeout_ns))
		log_debug(unwind->log, "some unwind tables are still being built");
}

bool session_unwind_hold(struct session_unwind *unwind, uint64_t now_ns, size_t bytes_waiting)
{
	if (!unwind || !unwind->loader)
		return false;
	if (unwind_loader_idle(unwind->loader)) {
		unwind->hold_since_ns = 0;
		return false;
	}
	if (!unwind->hold_since_ns)
		unwind->hold_since_ns = now_ns;
	return now_ns - unwind->hold_since_ns < HOLD_MAX_NS && bytes_waiting < HOLD_MAX_BYTES;
}

bool session_unwind_on_demand(const struct session_unwind *unwind)
{
	return unwind && unwind->on_demand;
}

int session_unwind_watch(const struct session_unwind *unwind, int epoll_fd, uint64_t tag)
{
	struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = tag};

	if (!unwind || !unwind->loader)
		return 0;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, unwind_loader_fd(unwind->loader), &wanted) ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, bpf_map__fd(unwind->skeleton->maps.raw_ring),
		      &wanted))
		return -errno;
	return 0;
}

void session_unwind_mark_files(struct session_unwind *unwind, bool *is_used, size_t count)
{
	if (!unwind)
		return;
	process_tracker_mark_files(unwind_loader_processes(unwind->loader), is_used, count);
	table_cache_mark_files(unwind_loader_tables(unwind->loader), is_used, count);
}

void session_unwind_forget_files(struct session_unwind *unwind, const bool *is_used, size_t count)
{
	if (unwind)
		table_cache_forget_files(unwind_loader_tables(unwind->loader), is_used, count);
}

/* false: no unwinder. */
static bool session_unwind_stats(struct session_unwind *unwind,
				 struct unwind_loader_stats *ret_loader,
				 struct raw_unwinder_stats *ret_raw)
{
	if (!unwind || !unwind->loader || !unwind->raw)
		return false;
	*ret_loader = unwind_loader_stats(unwind->loader);
	*ret_raw = raw_unwinder_stats(unwind->raw);
	return true;
}

void session_unwind_counters(struct session_unwind *unwind, uint64_t counters[PKBPF_COUNTER_COUNT])
{
	struct unwind_loader_stats loader;
	struct raw_unwinder_stats raw;

	if (!session_unwind_stats(unwind, &loader, &raw))
		return;
	counters[PKBPF_COUNTER_UNWIND_MAPPINGS_FULL] += loader.refused;
	counters[PKBPF_COUNTER_UNWIND_CHECKED] += raw.checked;
	counters[PKBPF_COUNTER_UNWIND_CHECK_WRONG] += raw.check_wrong;
}

void session_unwind_log(struct session_unwind *unwind)
{
	struct unwind_loader_stats loader;
	struct raw_unwinder_stats raw;

	if (!session_unwind_stats(unwind, &loader, &raw))
		return;
	log_debug(unwind->log,
		  "unwinder: %u processes with %" PRIu64
		  " mappings of %u files; %u tables with %" PRIu64 " rows in %u chunks, "
		  "%u rules; %" PRIu64 " built in %.1f ms, %" PRIu64
		  " evicted; %u files not opened, %u without tables, "
		  "%u without room, %u waiting",
		  loader.processes, loader.mappings, loader.tables.files, loader.tables.tables,
		  loader.tables.rows, loader.tables.chunks, loader.tables.rules,
		  loader.tables.built, (double)loader.tables.build_ns / 1e6,
		  loader.tables.evictions, loader.tables.unopened, loader.tables.without,
		  loader.tables.no_room, loader.tables.waiting);
	log_debug(unwind->log,
		  "unwinder: %" PRIu64 " misses, %" PRIu64 " rescans, %" PRIu64
		  " publications, %" PRIu64 " refused; %" PRIu64 " raw stacks unwound, %" PRIu64
		  " complete, after waiting %.1f ms",
		  loader.misses, loader.rescans, loader.publications, loader.refused, raw.walked,
		  raw.complete, (double)raw.waited_ns / 1e6);
	for (size_t i = 0; i < PKBPF_END_COUNT; i++) {
		if (raw.by_end[i])
			log_debug(unwind->log,
				  "unwinder: raw stacks that ended with reason %zu: %" PRIu64, i,
				  raw.by_end[i]);
	}
}

void session_unwind_free(struct session_unwind *unwind)
{
	if (!unwind)
		return;
	session_unwind_end_scout(unwind);
	ring_reader_free(unwind->raw_ring);
	raw_unwinder_free(unwind->raw);
	unwind_loader_free(unwind->loader);
	event_buffer_done(&unwind->found);
	free(unwind);
}
