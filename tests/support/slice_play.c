// SPDX-License-Identifier: BSD-2-Clause
/* Plays streams with cuts, and merges their slices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/decoder.h"
#include "event/resource_event.h"
#include "profile/kind_table.h"
#include "profile/slice/slice.h"
#include "slice_stream_private.h"

#define NAME(first, text) FAKE_FUNCTION(PROGRAM, (first), (first) + 0x100, text)

static const struct fake_symbol symbols[] = {
	NAME(0x1000, "main"),
	NAME(0x1100, "parse"),
	NAME(0x1200, "list_append"),
	NAME(0x1300, "spin<int>"),
	{.space = FRAME_KERNEL,
	 .start = KERNEL,
	 .end = KERNEL + 0x800,
	 .flags = SYMBOL_IS_KERNEL,
	 .lines = {{.function = "io_schedule"}}},
};

struct playing {
	const struct slice_stream *stream;
	struct slice_plan *plan;
	struct fake_profile fake;
	struct symbolizer *symbolizer;
	struct profile *merged, *pair;
	size_t in_pair;
};

static void describe(const struct playing *playing, struct profile *slice)
{
	struct profile_info *info = profile_info(slice);

	snprintf(info->host, sizeof(info->host), "paper");
	snprintf(info->targets, sizeof(info->targets), "whole host");
	snprintf(info->cpu_event, sizeof(info->cpu_event), "cycles");
	info->frequency_hz = 99;
	info->kinds_mask = ALL_KINDS;
	info->cpu_count = 2;
	if (!info->sequence) {
		info->start_ns = SLICE_STREAM_START_NS;
		info->start_unix_ns = 1700000000000000000LL;
	}
	if (!info->end_ns)
		info->end_ns = playing->stream->end_ns;
}

static void merge(struct playing *playing, const struct profile *slice)
{
	if (!playing->plan->in_pairs) {
		require(slice_merge(playing->merged, slice) == 0);
		return;
	}
	if (!playing->pair)
		playing->pair = slice_new();
	require(playing->pair && slice_merge(playing->pair, slice) == 0);
	if (++playing->in_pair % 2)
		return;
	require(slice_merge(playing->merged, playing->pair) == 0);
	profile_free(playing->pair);
	playing->pair = NULL;
}

static void take_closed(struct playing *playing, uint64_t now_ns)
{
	struct profile *slice;
	bool taken = false;

	while ((slice = aggregator_take_closed(playing->fake.aggregator, now_ns))) {
		struct resource_usage *usage = profile_resources(slice);

		describe(playing, slice);
		profile_symbolize(slice, playing->symbolizer);
		playing->plan->slice_count++;
		playing->plan->late_records +=
			profile_info(slice)->counters[PKBPF_COUNTER_LATE_RECORDS];
		profile_info(slice)->counters[PKBPF_COUNTER_LATE_RECORDS] = 0;
		for (size_t i = 0; i < resource_usage_process_count(usage); i++)
			playing->plan->run_ns += resource_usage_process(usage, i).used.run_ns;
		if (playing->plan->take)
			playing->plan->take(playing->plan->context, slice);
		merge(playing, slice);
		profile_free(slice);
		taken = true;
	}
	if (taken)
		aggregator_release_processes(playing->fake.aggregator);
}

static void play_buffer(struct playing *playing, struct event_buffer *buffer)
{
	struct event_sink sink = aggregator_sink(playing->fake.aggregator);

	for (size_t at = 0; at < buffer->size;) {
		int size = event_decode(buffer->data + at, buffer->size - at, &sink);

		require(size > 0);
		at += (size_t)size;
	}
	event_buffer_done(buffer);
}

static void play_cut(struct playing *playing, uint64_t time_ns, uint64_t sequence)
{
	struct pkbpf_event_machine machine = slice_machine_at(time_ns, PKBPF_RESOURCE_CUT);
	const struct slice_stream *stream = playing->stream;
	struct event_buffer buffer = {0};
	struct cut_view cut = {.time_ns = time_ns,
			       .sequence = sequence,
			       .unix_ns = 1700000000000000000LL +
					  (int64_t)(time_ns - SLICE_STREAM_START_NS)};

	/* Any of them may be named later. */
	for (uint64_t id = 1; id <= STACKS; id++)
		aggregator_keep_stack(playing->fake.aggregator, id);
	require(event_encode_cut(&buffer, &cut) == 0);
	if (playing->plan->reads_at_cuts) {
		require(machine_event_encode(&buffer, &machine) == 0);
		for (size_t i = 0; i < stream->actor_count; i++) {
			const struct slice_actor *actor = &stream->actors[i];
			struct resource_view view;

			if (actor->born_ns > time_ns ||
			    (actor->exit_ns && actor->exit_ns <= time_ns))
				continue;
			view = slice_resource_of(actor, time_ns, PKBPF_RESOURCE_CUT);
			require(resource_event_encode(&buffer, &view) == 0);
		}
	}
	play_buffer(playing, &buffer);
}

static void play_records(struct playing *playing)
{
	const struct event_buffer *records = &playing->stream->records;
	const struct slice_plan *plan = playing->plan;
	struct event_sink sink = aggregator_sink(playing->fake.aggregator);
	size_t next = 0;
	int size;

	for (size_t at = 0; at < records->size; at += (size_t)size) {
		const struct pkbpf_event_header *header = (const void *)(records->data + at);

		while (next < plan->cut_count && plan->cuts[next] <= header->time_ns) {
			play_cut(playing, plan->cuts[next], next + 1);
			next++;
		}
		size = event_decode(records->data + at, records->size - at, &sink);
		require(size > 0);
		take_closed(playing, process_table_now_ns(playing->fake.processes));
	}
}

struct profile *slice_stream_play(const struct slice_stream *stream, struct slice_plan *plan)
{
	const struct aggregator_options options = {.want_user = true,
						   .want_kernel = true,
						   .per_thread = stream->per_thread,
						   .slow_io_limit = 5,
						   .max_names_bytes = plan->max_names_bytes,
						   .trace_ns = plan->trace_ns};
	struct playing playing = {.stream = stream, .plan = plan, .merged = slice_new()};

	plan->slice_count = plan->late_records = plan->run_ns = 0;
	fake_profile_init(&playing.fake, &options);
	playing.symbolizer = fake_symbols_new(symbols, ARRAY_SIZE(symbols), playing.fake.processes);
	require(playing.merged);
	play_records(&playing);
	aggregator_end(playing.fake.aggregator);
	take_closed(&playing, UINT64_MAX);
	if (playing.pair)
		require(slice_merge(playing.merged, playing.pair) == 0);
	profile_free(playing.pair);
	playing.symbolizer->ops->free(playing.symbolizer);
	fake_profile_done(&playing.fake);
	return playing.merged;
}

/* Whose lines can be compared, in whatever order what is equal comes. */
static const char *const formats[] = {"folded", "text", "json", "csv"};

static void write_by(struct profile *profile, enum rows_by by, FILE *out)
{
	struct results results;

	results_init(&results, profile, by);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		const struct format_ops *format = format_by_name(formats[i]);

		for (uint32_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
			const struct format_options options = {.kind = kind,
							       .top = 100,
							       .full = true,
							       .details = true,
							       .per_thread = by == ROWS_BY_THREAD,
							       .pid_frame = true,
							       .wait_states = true};

			if (kind && !format->one_kind)
				continue;
			require(!format->write(&results, &options, out));
		}
	}
	results_done(&results);
}

char *slice_stream_write(struct profile *profile)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	require(out);
	for (int by = ROWS_BY_PROCESS; by <= ROWS_BY_COMM; by++)
		write_by(profile, (enum rows_by)by, out);
	require(!fclose(out));
	return text;
}
