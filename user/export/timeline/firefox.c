// SPDX-License-Identifier: BSD-2-Clause
/* Writes the Firefox Profiler's processed format, version 55: a track for each process and kind,
 * with a sample for each stack of each slice, and slow block requests as markers; with a trace, a
 * track for each thread with its CPU samples, and waits as markers. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "export/formats.h"
#include "export/timeline/firefox_track.h"
#include "export/timeline/timeline_slice.h"
#include "export/timeline/track_names.h"
#include "profile/account/wait_state.h"
#include "profile/kind_table.h"
#include "rows/devices.h"

#define OF_THREAD (1U << 31)

struct firefox {
	FILE *out;
	bool lines, begun;
	bool has_single; /* some events are single */
	uint64_t first_ns, last_ns;
	struct profile_info info; /* of the first slice */
	uint64_t slices;
	struct hash_map numbers; /* hash of process, thread or kind -> number of the track */
	ARRAY_OF(struct firefox_track *) tracks;
	struct track_names names; /* of processes and threads */
	struct firefox_memo memo;
};

static void *firefox_begin(FILE *out, const struct format_options *options)
{
	struct firefox *firefox = calloc(1, sizeof(*firefox));

	if (firefox) {
		firefox->out = out;
		firefox->lines = options->lines;
	}
	return firefox;
}

static void firefox_free(void *state)
{
	struct firefox *firefox = state;

	if (!firefox)
		return;
	array_foreach(&firefox->tracks, track)
		firefox_track_free(*track);
	array_free(&firefox->tracks);
	hash_map_done(&firefox->numbers);
	track_names_done(&firefox->names);
	firefox_memo_done(&firefox->memo);
	free(firefox);
}

static double time_ms(const struct firefox *firefox, uint64_t time_ns)
{
	return time_ns > firefox->first_ns ? (double)(time_ns - firefox->first_ns) / 1e6 : 0;
}

/* Whose events a track has: a process, or with a tid one of its threads. */
struct track_owner {
	uint32_t pid, tid;
	uint64_t born_ns; /* a pid that is used again is another process */
	const char *comm; /* of the process */
	const char *thread_comm;
};

static int name_owner(struct firefox *firefox, const struct track_owner *owner)
{
	struct track_name name = {.pid = owner->pid, .born_ns = owner->born_ns};
	int err = 0;

	if (!track_names_get(&firefox->names, owner->pid, 0, owner->born_ns)) {
		snprintf(name.text, sizeof(name.text), "%s", owner->comm);
		err = track_names_put(&firefox->names, &name);
	}
	if (err || !owner->tid)
		return err;
	name.tid = owner->tid;
	snprintf(name.text, sizeof(name.text), "%s", owner->thread_comm);
	return track_names_put(&firefox->names, &name);
}

static struct firefox_track *track_of(struct firefox *firefox, const struct track_owner *owner,
				      enum pkbpf_profile_kind kind)
{
	const uint64_t key[] = {owner->pid, owner->tid ? OF_THREAD | owner->tid : (uint32_t)kind,
				owner->born_ns};
	struct firefox_track *track, **slot;
	bool added;
	const uint64_t *number = hash_map_get(&firefox->numbers, hash_bytes(key, sizeof(key), 0),
					      firefox->tracks.count, &added);

	if (!number || name_owner(firefox, owner))
		return NULL;
	if (!added)
		return firefox->tracks.items[*number];
	track = firefox_track_new(owner->pid, kind);
	slot = track ? array_add(&firefox->tracks) : NULL;
	if (!slot) {
		firefox_track_free(track);
		return NULL;
	}
	track->tid = owner->tid;
	track->born_ns = owner->born_ns;
	return *slot = track;
}

/* One stack of those of a track behind the other, over the slice: their order is not known. */
static int add_stacks(struct firefox *firefox, const struct timeline_slice *slice, size_t first,
		      size_t end)
{
	const struct timeline_stack *stacks = slice->stacks;
	double begin_ms = time_ms(firefox, slice->begin_ns);
	double step_ms = (time_ms(firefox, slice->end_ns) - begin_ms) / (double)(end - first);
	struct firefox_track *track =
		track_of(firefox,
			 &(struct track_owner){.pid = stacks[first].pid,
					       .born_ns = stacks[first].born_ns,
					       .comm = stacks[first].comm},
			 stacks[first].kind);
	int err = track ? 0 : -ENOMEM;

	/* Samples add up in every view: of a level the last slice stays. */
	if (track && kind_ops_of(track->kind)->is_level)
		track->samples.count = 0;
	for (size_t i = first; i < end && !err; i++) {
		if (stacks[i].weight)
			err = firefox_track_add(track, slice, &stacks[i], &firefox->memo,
						begin_ms + step_ms * ((double)(i - first) + 0.5));
	}
	return err;
}

static int add_request(struct firefox *firefox, const struct timeline_slice *slice,
		       const struct slow_io *request)
{
	const struct process *process =
		process_table_by_id(profile_processes(slice->profile), request->process);
	const char *comm = process ? process->comm : profile_string(slice->profile, request->comm);
	const char *device = profile_device_name(slice->profile, request->device);
	struct firefox_track *track =
		track_of(firefox,
			 &(struct track_owner){.pid = process ? process->pid : 0,
					       .born_ns = process ? process->born_ns : 0,
					       .comm = comm},
			 PKBPF_PROFILE_BLOCKIO);
	uint64_t end_ns = request->insert_ns + request->queue_ns + request->device_ns;
	struct firefox_request marker = {
		.begin_ms = time_ms(firefox, request->insert_ns),
		.end_ms = time_ms(firefox, end_ns),
		.operation = device_operation_name(request->state & PKBPF_BLOCKIO_OPERATION_MASK),
		.device = device ? device : "unknown",
		.bytes = request->bytes,
		.queue_ms = (double)request->queue_ns / 1e6,
		.device_ms = (double)request->device_ns / 1e6,
	};

	return track ? firefox_track_add_request(track, &marker) : -ENOMEM;
}

/* A CPU sample or a wait, on the track of its thread. */
static int add_moment(struct firefox *firefox, struct timeline_slice *slice,
		      const struct moment *moment)
{
	struct firefox_track *track;
	struct timeline_stack stack;
	struct firefox_wait wait;
	int err = timeline_moment_stack(slice, moment, &stack);

	if (err)
		return err;
	track = track_of(
		firefox,
		&(struct track_owner){.pid = stack.pid,
				      .tid = moment->tid,
				      .born_ns = stack.born_ns,
				      .comm = stack.comm,
				      .thread_comm = profile_string(slice->profile, moment->comm)},
		PKBPF_PROFILE_CPU);
	if (!track)
		return -ENOMEM;
	firefox->has_single = true;
	if (moment->kind == PKBPF_PROFILE_CPU)
		return firefox_track_add(track, slice, &stack, &firefox->memo,
					 time_ms(firefox, moment->begin_ns));
	wait = (struct firefox_wait){
		.begin_ms = time_ms(firefox, moment->begin_ns),
		.end_ms = time_ms(firefox, moment->begin_ns + moment->length_ns + moment->queue_ns),
		.queue_ms = (double)moment->queue_ns / 1e6,
		.state = wait_state_name(moment->state),
		.stack = firefox_track_stack(track, slice, &stack, &firefox->memo),
	};
	return wait.stack == UINT32_MAX ? -ENOMEM : firefox_track_add_wait(track, &wait);
}

static int add_moments(struct firefox *firefox, struct timeline_slice *slice)
{
	int err = 0;

	for (size_t i = 0; i < slice->moment_count && !err; i++) {
		const struct moment *moment = slice->moments[i];

		if (moment->kind == PKBPF_PROFILE_OFFCPU ||
		    (moment->kind == PKBPF_PROFILE_CPU && slice->has_samples))
			err = add_moment(firefox, slice, moment);
	}
	return err;
}

static int firefox_add(void *state, const struct profile *profile)
{
	struct firefox *firefox = state;
	struct timeline_slice slice;
	int err = timeline_slice_init(&slice, profile, firefox->lines);

	if (err)
		return err;
	if (!firefox->begun) {
		firefox->info = *profile_info_read(profile);
		firefox->first_ns = slice.begin_ns;
		firefox->begun = true;
	}
	firefox->last_ns = slice.end_ns;
	firefox->slices++;
	err = firefox_memo_begin(&firefox->memo, &slice);
	for (size_t i = 0, end; i < slice.stack_count && !err; i = end) {
		for (end = i + 1; end < slice.stack_count; end++)
			if (slice.stacks[end].pid != slice.stacks[i].pid ||
			    slice.stacks[end].born_ns != slice.stacks[i].born_ns ||
			    slice.stacks[end].kind != slice.stacks[i].kind)
				break;
		err = add_stacks(firefox, &slice, i, end);
	}
	err = err ? err : add_moments(firefox, &slice);
	for (size_t i = 0; i < slice.request_count && !err; i++)
		err = add_request(firefox, &slice, &slice.requests[i]);
	track_names_update(&firefox->names, profile_processes(profile));
	timeline_slice_done(&slice);
	return err;
}

/* ---- the file ---- */

static void write_meta(const struct firefox *firefox)
{
	static const char *const colors[FIREFOX_CATEGORIES][2] = {
		[FIREFOX_OTHER] = {"Other", "grey"},
		[FIREFOX_USER] = {"User", "yellow"},
		[FIREFOX_KERNEL] = {"Kernel", "orange"},
		[FIREFOX_JIT] = {"JIT", "green"},
		[FIREFOX_PYTHON] = {"Interpreted", "lightblue"},
	};
	FILE *out = firefox->out;
	uint32_t frequency_hz = firefox->info.frequency_hz ? firefox->info.frequency_hz : 1;

	fprintf(out,
		"{\"meta\":{\"interval\":%.3f,\"startTime\":%" PRId64 ".%03" PRId64
		",\"processType\":0,\"product\":\"pkbpf\",\"stackwalk\":1,\"version\":30,"
		"\"preprocessedProfileVersion\":55,\"symbolicated\":true,\"oscpu\":",
		1000.0 / frequency_hz, firefox->info.start_unix_ns / 1000000,
		firefox->info.start_unix_ns / 1000 % 1000);
	escape_json(out, firefox->info.kernel);
	fprintf(out, ",\"importedFrom\":\"pkbpf %s, %s\",\"appBuildID\":", PKBPF_VERSION,
		firefox->has_single ? TIMELINE_TRACE_NOTE : TIMELINE_NOTE);
	escape_json(out, firefox->info.host);
	fputs(",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
	      "\"categories\":[",
	      out);
	for (int i = 0; i < FIREFOX_CATEGORIES; i++)
		fprintf(out, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			i ? "," : "", colors[i][0], colors[i][1]);
	fputs("],\"markerSchema\":[{\"name\":\"BlockRequest\",\"display\":[\"marker-chart\","
	      "\"marker-table\",\"timeline-overview\"],\"chartLabel\":\"{marker.data.operation} "
	      "{marker.data.device}\",\"fields\":["
	      "{\"key\":\"operation\",\"label\":\"Operation\",\"format\":\"string\"},"
	      "{\"key\":\"device\",\"label\":\"Device\",\"format\":\"string\"},"
	      "{\"key\":\"bytes\",\"label\":\"Size\",\"format\":\"bytes\"},"
	      "{\"key\":\"queue\",\"label\":\"Queue time\",\"format\":\"milliseconds\"},"
	      "{\"key\":\"service\",\"label\":\"Service time\",\"format\":\"milliseconds\"}]},"
	      "{\"name\":\"Wait\",\"display\":[\"marker-chart\",\"marker-table\","
	      "\"timeline-overview\"],\"chartLabel\":\"{marker.data.state}\",\"fields\":["
	      "{\"key\":\"state\",\"label\":\"State\",\"format\":\"string\"},"
	      "{\"key\":\"queue\",\"label\":\"Run queue afterwards\","
	      "\"format\":\"milliseconds\"}]}]},"
	      "\"libs\":[],\"pages\":[],\"threads\":[",
	      out);
}

static int compare_tracks(const void *left, const void *right)
{
	return firefox_track_compare(*(struct firefox_track *const *)left,
				     *(struct firefox_track *const *)right);
}

static void write_track(const struct firefox *firefox, const struct firefox_track *track,
			bool is_first)
{
	struct firefox_track_names names = {
		.process = track_names_get(&firefox->names, track->pid, 0, track->born_ns),
		.thread = track->tid ? track_names_get(&firefox->names, track->pid, track->tid,
						       track->born_ns)
				     : NULL,
	};

	firefox_track_write(track, &names, is_first, time_ms(firefox, firefox->last_ns),
			    firefox->out);
}

static int firefox_end(void *state)
{
	struct firefox *firefox = state;

	/* Those of a process beside each other; the first one stands for it. */
	if (firefox->tracks.count)
		qsort(firefox->tracks.items, firefox->tracks.count, sizeof(*firefox->tracks.items),
		      compare_tracks);
	write_meta(firefox);
	array_foreach(&firefox->tracks, track)
		firefox_track_sort(*track);
	for (size_t i = 0; i < firefox->tracks.count; i++) {
		const struct firefox_track *track = firefox->tracks.items[i];
		const struct firefox_track *before = i ? firefox->tracks.items[i - 1] : NULL;
		bool is_first =
			!before || before->pid != track->pid || before->born_ns != track->born_ns;

		fputs(i ? ",\n" : "\n", firefox->out);
		write_track(firefox, track, is_first);
	}
	fputs("]}\n", firefox->out);
	return 0;
}

static int firefox_write(struct results *results, const struct format_options *options, FILE *out)
{
	return format_write_slices(&format_firefox, results, options, out);
}

static const struct format_slices slices = {
	.begin = firefox_begin,
	.add = firefox_add,
	.end = firefox_end,
	.free = firefox_free,
};

const struct format_ops format_firefox = {
	.file = {"firefox", ".firefox.json",
		 "for profiler.firefox.com: what each slice held, slow block requests; "
		 "single events with --trace"},
	.write = firefox_write,
	.slices = &slices,
};
