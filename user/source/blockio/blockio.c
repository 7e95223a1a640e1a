// SPDX-License-Identifier: BSD-2-Clause
/* The blockio source: originators of block requests and their latency, summed in the kernel and
 * drained periodically. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/unused.h"
#include "capture/kernel/kernel_types.h"
#include "capture/tracing_program.h"
#include "source/blockio/blockio_tables.h"
#include "source/blockio/requestless.h"
#include "source/blockio/slow_io_reader.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

/* Bounds the delay of progress lines only; the final result is complete. */
#define DRAIN_INTERVAL_NS (1 * NS_PER_SECOND)
/* Programs still running when their links close have finished after this time: they run with
 * preemption disabled. */
#define SETTLE_US 2000
/* Arguments of block_rq_issue: data, [queue,] request. Of block_getrq: data, [queue,] bio[,
 * direction]. */
#define ARGUMENTS_WITH_QUEUE 3

#define PROGRAMS 9
/* Capacity of the stack cache. */
#define CACHED_STACKS 4096U

struct source {
	struct session *session;
	struct blockio_tables *tables;
	struct slow_io_reader *slow;
	struct bpf_link *links[PROGRAMS];
	struct bpf_link *edge; /* iterator over all requests; NULL: could not be attached */
	bool is_unchecked;     /* the final check of in-flight requests failed */
	struct event_buffer buffer;
	uint64_t last_drain_ns;
	uint64_t requestless_before;
};

/* Programs in the order of attachment. Completions come first, so that every request with an
 * issue event also has a completion event. */
static void list_programs(struct pkbpf_bpf *skeleton, struct bpf_program *ret_programs[PROGRAMS])
{
	struct bpf_program *programs[PROGRAMS] = {
		skeleton->progs.blockio_complete,      skeleton->progs.blockio_flush_wanted,
		skeleton->progs.blockio_merge_request, skeleton->progs.blockio_requeue,
		skeleton->progs.blockio_merge_back,    skeleton->progs.blockio_merge_front,
		skeleton->progs.blockio_split,	       skeleton->progs.blockio_insert,
		skeleton->progs.blockio_issue,
	};

	memcpy(ret_programs, programs, sizeof(programs));
}

static void blockio_detach(struct source *source);

static void blockio_free(struct source *source)
{
	blockio_detach(source);
	blockio_tables_free(source->tables);
	slow_io_reader_free(source->slow);
	event_buffer_done(&source->buffer);
	free(source);
}

static uint32_t blockio_cached_stacks(void)
{
	return CACHED_STACKS;
}

static void blockio_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	struct bpf_map *const maps[] = {
		skeleton->maps.blockio_requests,
		skeleton->maps.blockio_rows,
		skeleton->maps.blockio_row_index,
		skeleton->maps.blockio_free_rows,
		skeleton->maps.blockio_histograms,
		skeleton->maps.blockio_histogram_index,
		skeleton->maps.blockio_free_histograms,
		skeleton->maps.blockio_flush_data,
		skeleton->maps.blockio_flushers,
		skeleton->maps.blockio_scratch,
		skeleton->maps.slow_io_ring,
	};
	struct bpf_program *programs[PROGRAMS];

	list_programs(skeleton, programs);
	for (size_t i = 0; i < PROGRAMS; i++)
		bpf_program__set_autoload(programs[i], wanted);
	bpf_program__set_autoload(skeleton->progs.blockio_edge, wanted);
	bpf_program__set_autoload(skeleton->progs.blockio_edge_one, wanted);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		bpf_map__set_autocreate(maps[i], wanted);
}

static int blockio_configure(struct session *session, const struct source_options *options,
			     struct source **ret_source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	const struct kernel_types *types = session_kernel_types(session);
	uint32_t arguments = kernel_types_tracepoint_arguments(types, "block_rq_issue");
	int err;
	struct source *source;
	bool iterates;

	if (!arguments)
		return error_set(error, ENOTSUP,
				 "cannot profile block I/O: this kernel has no block tracepoints; "
				 "omit blockio from -e, "
				 "or use a kernel built with CONFIG_BLOCK");
	source = calloc(1, sizeof(*source));
	if (!source)
		return error_set(error, ENOMEM,
				 "cannot prepare block I/O profiling: out of memory");
	source->session = session;
	err = blockio_tables_configure(skeleton, &source->tables, error);
	err = err ? err : slow_io_reader_new(session, &options->blockio, &source->slow, error);
	if (err) {
		blockio_free(source);
		return err;
	}
	skeleton->rodata->blockio_config.queue_argument = arguments >= ARGUMENTS_WITH_QUEUE;
	skeleton->rodata->blockio_config.getrq_queue_argument =
		kernel_types_tracepoint_arguments(types, "block_getrq") >= ARGUMENTS_WITH_QUEUE;
	skeleton->rodata->blockio_config.per_thread = session_options(session)->per_thread;
	/* The newest of these tracepoints (5.11). */
	skeleton->rodata->blockio_config.sees_merges =
		kernel_types_tracepoint_arguments(types, "block_rq_merge") > 0;
	if (!skeleton->rodata->blockio_config.sees_merges)
		bpf_program__set_autoload(skeleton->progs.blockio_merge_request, false);
	iterates = tracing_programs_iterate_maps(types);
	bpf_program__set_autoload(skeleton->progs.blockio_edge, iterates);
	bpf_program__set_autoload(skeleton->progs.blockio_edge_one, !iterates);
	*ret_source = source;
	return 0;
}

static int blockio_attach(struct source *source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	struct bpf_program *programs[PROGRAMS];
	struct error ignored;
	int err = blockio_tables_open(source->tables, error);

	err = err ? err : slow_io_reader_open(source->slow, error);
	if (err)
		return err;
	list_programs(skeleton, programs);
	for (size_t i = 0; i < PROGRAMS; i++) {
		if (bpf_program__fd(programs[i]) < 0)
			continue;
		err = tracing_program_attach(programs[i], &source->links[i], error);
		if (err)
			return err;
	}
	if (bpf_program__fd(skeleton->progs.blockio_edge) < 0 ||
	    tracing_program_attach_map(skeleton->progs.blockio_edge,
				       skeleton->maps.blockio_requests, &source->edge, &ignored))
		source->edge = NULL;
	return 0;
}

static void blockio_begin(struct source *source, uint64_t start_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->blockio_control.start_ns,
			 start_ns, __ATOMIC_RELEASE);
	source->last_drain_ns = start_ns;
}

static int blockio_look(struct source *source, enum source_edge edge, _unused_ struct error *error)
{
	if (edge == SOURCE_EDGE_BEGUN)
		source->requestless_before = requestless_count("/sys");
	return 0;
}

/* Where programs may not run over maps. Negative errno. */
static int look_at_each(const struct pkbpf_bpf *skeleton)
{
	int map = bpf_map__fd(skeleton->maps.blockio_requests);
	int program = bpf_program__fd(skeleton->progs.blockio_edge_one);
	/* A key that is gone begins the walk anew. */
	uint64_t left = 2 * (uint64_t)bpf_map__max_entries(skeleton->maps.blockio_requests);
	uint64_t key = 0, *from = NULL;

	while (left-- && bpf_map_get_next_key(map, from, &key) == 0) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &key, .ctx_size_in = sizeof(key));
		int err = bpf_prog_test_run_opts(program, &options);

		if (err)
			return err;
		from = &key;
	}
	return 0;
}

/* While completions are still traced: later, a request that just completed would look like one
 * without a completion event. */
static int look_at_requests(const struct source *source)
{
	const struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	if (bpf_program__fd(skeleton->progs.blockio_edge_one) >= 0)
		return look_at_each(skeleton);
	return source->edge ? tracing_iterator_run(source->edge) : -ENOTSUP;
}

static void blockio_end(struct source *source, uint64_t end_ns)
{
	/* It only corrects counts. Without it, the result says so. */
	source->is_unchecked = look_at_requests(source) < 0;
	__atomic_store_n(&session_skeleton(source->session)->bss->blockio_control.end_ns, end_ns,
			 __ATOMIC_RELEASE);
}

static void blockio_each_stack(const struct source *source, source_stack_fn *take, void *context)
{
	blockio_tables_each_stack(source->tables, take, context);
}

static int blockio_poll(struct source *source)
{
	uint64_t now_ns = clock_now_ns();
	int err = slow_io_reader_drain(source->slow, &source->buffer);

	if (!err && now_ns - source->last_drain_ns >= DRAIN_INTERVAL_NS) {
		source->last_drain_ns = now_ns;
		err = blockio_tables_drain(source->tables, &source->buffer);
	}
	session_add_records(source->session, &source->buffer);
	return err;
}

static void tell_requestless(struct source *source, uint64_t time_ns);

static int blockio_cut(struct source *source, uint64_t until_ns)
{
	int err = slow_io_reader_drain(source->slow, &source->buffer);

	source->last_drain_ns = until_ns;
	err = err ? err : blockio_tables_drain(source->tables, &source->buffer);
	blockio_tables_forget_largest(source->tables);
	slow_io_reader_restart(source->slow);
	tell_requestless(source, until_ns);
	session_add_records(source->session, &source->buffer);
	return err;
}

/* The originator of this I/O is unknown. So it is no loss of the chosen processes, though part
 * of it may be theirs. */
static void tell_requestless(struct source *source, uint64_t time_ns)
{
	const struct session_options *options = session_options(source->session);
	uint64_t now = requestless_count("/sys");
	bool is_host = options->target_mode == PKBPF_TARGET_HOST && !options->comm;
	struct lost_view missing = {
		.time_ns = time_ns,
		.cause = is_host ? PKBPF_COUNTER_BLOCKIO_REQUESTLESS
				 : PKBPF_COUNTER_BLOCKIO_REQUESTLESS_HOST,
		.count = now - source->requestless_before,
	};

	/* A smaller number than before: a device was removed. */
	if (now > source->requestless_before)
		event_encode_lost(&source->buffer, &missing);
	source->requestless_before = now;
}

static void tell_unchecked(struct source *source, uint64_t time_ns)
{
	if (source->is_unchecked)
		event_encode_lost(&source->buffer,
				  &(struct lost_view){.time_ns = time_ns,
						      .cause = PKBPF_COUNTER_BLOCKIO_UNCHECKED,
						      .count = 1});
}

static void blockio_detach(struct source *source)
{
	uint64_t end_ns;

	if (!source->links[0])
		return;
	end_ns = session_skeleton(source->session)->bss->blockio_control.end_ns;
	/* Starting failed. */
	if (!end_ns)
		end_ns = clock_now_ns();
	bpf_link__destroy(source->edge);
	source->edge = NULL;
	for (size_t i = PROGRAMS; i-- > 0;) {
		bpf_link__destroy(source->links[i]);
		source->links[i] = NULL;
	}
	usleep(SETTLE_US);
	/* The stream counts records that are missing for lack of memory. */
	if (slow_io_reader_drain(source->slow, &source->buffer) == 0 &&
	    blockio_tables_drain(source->tables, &source->buffer) == 0)
		blockio_tables_drain_open(source->tables, end_ns,
					  slow_io_reader_choice(source->slow), &source->buffer);
	tell_requestless(source, end_ns);
	tell_unchecked(source, end_ns);
	session_add_records(source->session, &source->buffer);
}

static const char *blockio_event_name(_unused_ const struct source *source)
{
	return "block_rq_issue";
}

const struct source_ops source_blockio = {
	.kind = PKBPF_PROFILE_BLOCKIO,
	.name = "blockio",
	.summary = "block I/O requests by stack and device, with latency",
	.options = blockio_option_rows,
	.options_init = blockio_options_init,
	.cached_stacks = blockio_cached_stacks,
	.choose = blockio_choose,
	.configure = blockio_configure,
	.attach = blockio_attach,
	.begin = blockio_begin,
	.end = blockio_end,
	.look = blockio_look,
	.poll = blockio_poll,
	.cut = blockio_cut,
	.each_stack = blockio_each_stack,
	.detach = blockio_detach,
	.free = blockio_free,
	.event_name = blockio_event_name,
};
