// SPDX-License-Identifier: BSD-2-Clause
/* Makes streams up. */
#include "slice_stream_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/blockio.h>
#include <pkbpf/faults.h>
#include <pkbpf/histogram.h>
#include <pkbpf/offcpu.h>
#include <pkbpf/trace.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "event/decoder.h"
#include "event/resource_event.h"
#include "profile/kind_table.h"
#include "profile/slice/slice.h"

#define SECOND	1000000000ULL
#define PIDS	30
#define MAX_IPS 6
#define DEVICE	(254U << 20)

uint64_t slice_stream_random(uint64_t *state, uint64_t below)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return hash_u64(*state) % below;
}

struct arrival {
	uint64_t at_ns;
	size_t offset, size;
};

struct making {
	struct slice_stream *stream;
	struct event_buffer buffer; /* records in order of their times */
	ARRAY_OF(struct arrival) arrivals;
	ARRAY_OF(struct slice_actor) actors;
	uint64_t state, now_ns;
};

static uint64_t pick(struct making *making, uint64_t below)
{
	return slice_stream_random(&making->state, below);
}

/* All that was encoded since `from` arrives so much later. */
static void arrive(struct making *making, size_t from, uint64_t delay_ns)
{
	struct arrival *arrival = array_add(&making->arrivals);

	require(arrival);
	*arrival = (struct arrival){making->now_ns + delay_ns, from, making->buffer.size - from};
}

struct resource_view slice_resource_of(const struct slice_actor *actor, uint64_t time_ns,
				       enum pkbpf_resource_moment moment)
{
	uint64_t life_ns = time_ns - actor->born_ns;
	struct resource_view view = {
		.time_ns = time_ns,
		.moment = moment,
		.pid = actor->pid,
		.tid = actor->tid,
		.parent_pid = 1,
		.process_start_ns = actor->process_born_ns,
		.thread_start_ns = actor->born_ns,
		.cgroup_id = 40 + actor->pid % 3,
		.counters = {.run_ns = life_ns / 3,
			     .user_ns = life_ns / 16,
			     .system_ns = life_ns / 32,
			     .run_delay_ns = life_ns / 8,
			     .voluntary_switches = life_ns >> 20,
			     .minor_faults = life_ns >> 22,
			     .written_bytes = life_ns >> 10},
		.rss_bytes = moment == PKBPF_RESOURCE_EXIT ? 0 : life_ns >> 8,
		.peak_rss_bytes = life_ns >> 8,
	};

	memcpy(view.comm, actor->comm, sizeof(actor->comm));
	return view;
}

struct pkbpf_event_machine slice_machine_at(uint64_t time_ns, enum pkbpf_resource_moment moment)
{
	return (struct pkbpf_event_machine){
		.header = {.flags = (uint16_t)moment, .time_ns = time_ns},
		.user_ns = time_ns / 2,
		.idle_ns = time_ns / 4,
		.memory_bytes = 8ULL << 30,
		.memory_available_bytes = time_ns,
		.threads_ns = time_ns / 3,
	};
}

static void make_task(struct making *making, const struct slice_actor *actor,
		      enum pkbpf_event_kind kind, bool exec)
{
	struct task_view task = {.time_ns = making->now_ns,
				 .kind = kind,
				 .pid = actor->pid,
				 .tid = actor->tid,
				 .parent_pid = actor->tid == actor->pid ? 1 : actor->pid,
				 .parent_tid = 1,
				 .exec = exec,
				 .from_snapshot =
					 actor->is_old && !exec && kind != PKBPF_EVENT_EXIT};

	memcpy(task.comm, actor->comm, sizeof(actor->comm));
	require(event_encode_task(&making->buffer, &task) == 0);
}

static void make_mapping(struct making *making, const struct slice_actor *actor)
{
	struct mapping_view mapping = {.time_ns = making->now_ns,
				       .pid = actor->pid,
				       .tid = actor->tid,
				       .start = 0x1000,
				       .end = 0x2000,
				       .file_offset = 0x1000,
				       .inode = 7,
				       .device_major = 8,
				       .protection = PKBPF_PROT_EXEC,
				       .from_snapshot = actor->is_old,
				       .path = PROGRAM};

	require(event_encode_mapping(&making->buffer, &mapping) == 0);
}

static size_t make_ips(struct making *making, uint64_t base, uint64_t *ips)
{
	size_t count = pick(making, MAX_IPS);

	for (size_t i = 0; i < count; i++)
		ips[i] = base + 0x10 * pick(making, 0x110);
	return count;
}

static struct slice_actor *living(struct making *making)
{
	size_t first = pick(making, making->actors.count);

	for (size_t i = 0; i < making->actors.count; i++) {
		struct slice_actor *actor =
			&making->actors.items[(first + i) % making->actors.count];

		if (!actor->exit_ns)
			return actor;
	}
	return NULL;
}

static bool has_living(const struct making *making)
{
	array_foreach(&making->actors, actor) {
		if (!actor->exit_ns)
			return true;
	}
	return false;
}

static struct slice_actor *add_actor(struct making *making, uint32_t pid, uint32_t tid)
{
	struct slice_actor *actor = array_add(&making->actors);

	require(actor);
	*actor = (struct slice_actor){.pid = pid, .tid = tid};
	snprintf(actor->comm, sizeof(actor->comm), "name%u", pid % 5);
	actor->born_ns = actor->process_born_ns = making->now_ns;
	return actor;
}

static bool is_free(const struct making *making, uint32_t pid)
{
	array_foreach(&making->actors, actor) {
		/* Its account is looked for by pid and time: not at once again. */
		if (actor->pid == pid &&
		    (!actor->exit_ns || actor->exit_ns + 10 * SECOND > making->now_ns))
			return false;
	}
	return true;
}

static void make_birth(struct making *making)
{
	uint32_t pid = 100 + (uint32_t)pick(making, PIDS);
	size_t from = making->buffer.size;
	struct slice_actor *actor = pick(making, 3) ? NULL : living(making);

	if (actor && actor->tid == actor->pid) {
		uint64_t born_ns = actor->process_born_ns;

		actor = add_actor(making, actor->pid, 1000 + (uint32_t)making->actors.count);
		actor->process_born_ns = born_ns;
		make_task(making, actor, PKBPF_EVENT_FORK, false);
	} else if (is_free(making, pid)) {
		actor = add_actor(making, pid, pid);
		make_task(making, actor, PKBPF_EVENT_FORK, false);
		make_mapping(making, actor);
	}
	arrive(making, from, 0);
}

static void make_exit_of(struct making *making, struct slice_actor *actor)
{
	size_t from = making->buffer.size;
	struct resource_view view;

	actor->exit_ns = making->now_ns;
	make_task(making, actor, PKBPF_EVENT_EXIT, false);
	arrive(making, from, 0);
	from = making->buffer.size;
	view = slice_resource_of(actor, making->now_ns, PKBPF_RESOURCE_EXIT);
	require(resource_event_encode(&making->buffer, &view) == 0);
	/* Freed at once, a while later, or much later. */
	arrive(making, from, pick(making, 3) * pick(making, 4 * SECOND));
}

static void make_exit(struct making *making)
{
	const struct slice_actor *chosen = living(making);
	uint32_t pid = chosen ? chosen->pid : 0;

	if (!chosen || chosen->is_old)
		return;
	for (size_t i = making->actors.count; i-- > 0;) {
		struct slice_actor *actor = &making->actors.items[i];

		if (actor->pid == pid && !actor->exit_ns)
			make_exit_of(making, actor);
	}
}

static void make_exec(struct making *making)
{
	struct slice_actor *actor = living(making);
	size_t from = making->buffer.size;

	if (!actor || actor->tid != actor->pid)
		return;
	snprintf(actor->comm, sizeof(actor->comm), "exec%u", actor->pid % 4);
	make_task(making, actor, PKBPF_EVENT_COMM, true);
	make_mapping(making, actor);
	arrive(making, from, 0);
}

static void make_sample(struct making *making)
{
	const struct slice_actor *actor = living(making);
	uint64_t user[MAX_IPS], kernel[MAX_IPS], events = 1 + pick(making, 1000003); /* no ties */
	size_t from = making->buffer.size;
	bool is_fault = !pick(making, 4);
	struct sample_view sample = {
		.time_ns = making->now_ns,
		.pid = actor->pid,
		.tid = actor->tid,
		.kind = is_fault ? PKBPF_PROFILE_FAULTS : PKBPF_PROFILE_CPU,
		.state = is_fault ? PKBPF_FAULT_MINOR : 0,
		.user_end = pick(making, 3) ? PKBPF_END_ROOT : PKBPF_END_NO_RULE,
		.cgroup_id = 40 + actor->pid % 3,
		.count = events,
		.weight = events,
		.user_ips = user,
		.kernel_ips = kernel,
		.user_count = make_ips(making, 0x1000, user),
		.kernel_count = make_ips(making, KERNEL, kernel),
	};

	memcpy(sample.comm, actor->comm, sizeof(actor->comm));
	require(event_encode_sample(&making->buffer, &sample) == 0);
	arrive(making, from, pick(making, 20) ? 0 : pick(making, 8 * SECOND));
}

static void make_stack(struct making *making)
{
	const struct slice_actor *actor = living(making);
	uint64_t user[MAX_IPS], kernel[MAX_IPS];
	size_t from = making->buffer.size;
	struct stack_view stack = {.stack_id = 1 + pick(making, STACKS),
				   .pid = actor->pid,
				   .user_end = PKBPF_END_ROOT,
				   .user_ips = user,
				   .kernel_ips = kernel,
				   .user_count = make_ips(making, 0x1000, user),
				   .kernel_count = make_ips(making, KERNEL, kernel),
				   .guessed_count = 0};

	require(event_encode_stack(&making->buffer, making->now_ns, &stack) == 0);
	arrive(making, from, 0);
}

static void make_totals(struct making *making)
{
	static const uint8_t offcpu[] = {PKBPF_OFFCPU_WAITS, PKBPF_OFFCPU_TIME,
					 PKBPF_OFFCPU_LENGTHS, PKBPF_OFFCPU_SWITCHES};
	const struct slice_actor *actor = living(making);
	uint64_t length = 1 + pick(making, SECOND), count = 1 + pick(making, 9);
	struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(length), (uint32_t)count};
	bool is_io = !pick(making, 3);
	uint8_t measure = is_io ? (uint8_t)pick(making, 2) : offcpu[pick(making, 4)];
	size_t from = making->buffer.size;
	struct totals_view totals = {
		.time_ns = making->now_ns,
		.stack_id = measure ? 0 : pick(making, STACKS + 2),
		.waker_id = measure || is_io ? 0 : pick(making, STACKS),
		.pid = actor->pid,
		.tid = !is_io && measure != PKBPF_OFFCPU_LENGTHS ? actor->tid : 0,
		.device = is_io ? DEVICE + (uint32_t)pick(making, 2) : 0,
		.kind = is_io ? PKBPF_PROFILE_BLOCKIO : PKBPF_PROFILE_OFFCPU,
		.state = (uint8_t)(1 + pick(making, 2)),
		.measure = measure,
		.open = !pick(making, 9),
		.count = count,
		.total = length * count,
		.max = length,
		.bytes = is_io ? 4096 * count : 0,
		.buckets = &bucket,
		.bucket_count = is_io || measure == PKBPF_OFFCPU_LENGTHS,
	};

	memcpy(totals.comm, actor->comm, sizeof(actor->comm));
	require(event_encode_totals(&making->buffer, &totals) == 0);
	arrive(making, from, pick(making, 30) ? 0 : pick(making, 8 * SECOND));
}

static void make_exact_faults(struct making *making)
{
	const struct slice_actor *actor = living(making);
	size_t from = making->buffer.size;
	struct totals_view totals = {.time_ns = making->now_ns,
				     .pid = actor->pid,
				     .kind = PKBPF_PROFILE_FAULTS,
				     .state = PKBPF_FAULT_MINOR,
				     .measure = PKBPF_FAULT_EXACT,
				     .count = pick(making, 20000003)};

	memcpy(totals.comm, actor->comm, sizeof(actor->comm));
	require(event_encode_totals(&making->buffer, &totals) == 0);
	arrive(making, from, 0);
}

static void make_slow_io(struct making *making)
{
	const struct slice_actor *actor = living(making);
	size_t from = making->buffer.size;
	struct slow_io_view slow_io = {.time_ns = making->now_ns,
				       .insert_ns = making->now_ns - 1 - pick(making, SECOND),
				       .stack_id = pick(making, STACKS),
				       .cgroup_id = 40 + actor->pid % 3,
				       .sector = making->now_ns,
				       .pid = actor->pid,
				       .tid = actor->tid,
				       .device = DEVICE,
				       .bytes = 4096,
				       .state = PKBPF_BLOCKIO_READ};

	slow_io.issue_ns = making->now_ns - (making->now_ns - slow_io.insert_ns) / 2;
	memcpy(slow_io.comm, actor->comm, sizeof(actor->comm));
	require(event_encode_slow_io(&making->buffer, &slow_io) == 0);
	arrive(making, from, 0);
}

static void make_wait(struct making *making)
{
	const struct slice_actor *actor = living(making);
	size_t from = making->buffer.size;
	struct pkbpf_event_wait *wait = event_buffer_add(&making->buffer, sizeof(*wait),
							 PKBPF_EVENT_WAIT, 0, making->now_ns);

	require(wait);
	wait->stack_id = pick(making, STACKS);
	wait->wait_ns = 1 + pick(making, SECOND);
	wait->begin_ns = making->now_ns - wait->wait_ns;
	wait->pid = actor->pid;
	wait->tid = actor->tid;
	wait->state = (uint8_t)pick(making, PKBPF_WAIT_STATES);
	memcpy(wait->comm, actor->comm, sizeof(actor->comm));
	arrive(making, from, pick(making, 20) ? 0 : pick(making, 8 * SECOND));
}

static void make_lost(struct making *making)
{
	size_t from = making->buffer.size;
	struct lost_view lost = {.time_ns = making->now_ns,
				 .cause = PKBPF_COUNTER_LOST_RING_FULL,
				 .count = 1 + pick(making, 3)};

	require(event_encode_lost(&making->buffer, &lost) == 0);
	arrive(making, from, 0);
}

static void make_edge(struct making *making, enum pkbpf_resource_moment moment)
{
	struct pkbpf_event_machine machine = slice_machine_at(making->now_ns, moment);
	size_t from = making->buffer.size;

	require(machine_event_encode(&making->buffer, &machine) == 0);
	array_foreach(&making->actors, actor) {
		struct resource_view view = slice_resource_of(actor, making->now_ns, moment);

		if (!actor->exit_ns)
			require(resource_event_encode(&making->buffer, &view) == 0);
	}
	arrive(making, from, 0);
}

static void make_begin(struct making *making)
{
	for (uint32_t pid = 100; pid < 100 + PIDS / 2; pid += 2) {
		struct slice_actor *actor = add_actor(making, pid, pid);
		size_t from = making->buffer.size;

		actor->is_old = true;
		actor->born_ns = actor->process_born_ns = pid * SECOND / 100;
		make_task(making, actor, PKBPF_EVENT_FORK, false);
		make_task(making, actor, PKBPF_EVENT_COMM, false);
		make_mapping(making, actor);
		arrive(making, from, 0);
	}
	for (uint64_t id = 40; id < 43; id++) {
		size_t from = making->buffer.size;
		char path[32];

		snprintf(path, sizeof(path), "/system.slice/unit%u.service", (unsigned int)id);
		require(cgroup_event_encode(&making->buffer, making->now_ns, id, path) == 0);
		arrive(making, from, 0);
	}
	make_edge(making, PKBPF_RESOURCE_START);
}

static int compare_arrivals(const void *left, const void *right)
{
	const struct arrival *a = left, *b = right;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void put_in_order(struct making *making)
{
	struct event_buffer *to = &making->stream->records;

	qsort(making->arrivals.items, making->arrivals.count, sizeof(*making->arrivals.items),
	      compare_arrivals);
	to->data = malloc(making->buffer.size + 1);
	require(to->data);
	array_foreach(&making->arrivals, arrival) {
		memcpy(to->data + to->size, making->buffer.data + arrival->offset, arrival->size);
		to->size += arrival->size;
	}
	to->capacity = to->size;
}

static void make_stream(struct slice_stream *stream, uint64_t seed, size_t records, bool with_waits)
{
	static void (*const kinds[])(struct making * making) = {
		make_sample, make_sample, make_sample,	     make_totals, make_totals,	make_totals,
		make_stack,  make_birth,  make_exit,	     make_exec,	  make_slow_io, make_lost,
		make_birth,  make_sample, make_exact_faults, make_wait,
	};
	const size_t kind_count = ARRAY_SIZE(kinds) - (with_waits ? 0 : 1);
	struct making making = {.stream = stream, .state = seed, .now_ns = SLICE_STREAM_START_NS};

	memset(stream, 0, sizeof(*stream));
	stream->per_thread = seed & 1;
	make_begin(&making);
	for (size_t i = 0; i < records; i++) {
		making.now_ns += 1000 + pick(&making, 40000000);
		(has_living(&making) ? kinds[pick(&making, kind_count)] : make_birth)(&making);
	}
	/* All that is late has come by the end. */
	making.now_ns += 9 * SECOND;
	make_edge(&making, PKBPF_RESOURCE_END);
	stream->end_ns = making.now_ns;
	put_in_order(&making);
	stream->actors = making.actors.items;
	stream->actor_count = making.actors.count;
	array_free(&making.arrivals);
	event_buffer_done(&making.buffer);
}

void slice_stream_init(struct slice_stream *stream, uint64_t seed, size_t records)
{
	make_stream(stream, seed, records, false);
}

void slice_stream_init_traced(struct slice_stream *stream, uint64_t seed, size_t records)
{
	make_stream(stream, seed, records, true);
}

void slice_stream_done(struct slice_stream *stream)
{
	event_buffer_done(&stream->records);
	free(stream->actors);
}
