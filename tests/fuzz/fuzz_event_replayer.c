// SPDX-License-Identifier: BSD-2-Clause
/* Replays bytes as a recording through the queue: every record is delivered in order or the file is
 * refused. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_queue.h"
#include "recorder.h"
#include "replayer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct counts {
	uint64_t records;
	uint64_t last_ns;
	bool ordered;
};

static void note(struct counts *counts, uint64_t time_ns)
{
	counts->records++;
	if (time_ns < counts->last_ns)
		counts->ordered = false;
	counts->last_ns = time_ns;
}

static void note_sample(void *context, const struct sample_view *sample)
{
	note(context, sample->time_ns);
}

static void note_task(void *context, const struct task_view *task)
{
	note(context, task->time_ns);
}

static void note_mapping(void *context, const struct mapping_view *mapping)
{
	note(context, mapping->time_ns);
}

static void note_lost(void *context, const struct lost_view *lost)
{
	note(context, lost->time_ns);
}

static const struct event_sink_ops noting_ops = {
	.on_sample = note_sample,
	.on_task = note_task,
	.on_mapping = note_mapping,
	.on_lost = note_lost,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct counts replayed = {.ordered = true}, queued = {.ordered = true};
	struct event_sink replay_sink = {&noting_ops, &replayed},
			  queue_sink = {&noting_ops, &queued};
	struct event_queue *queue = event_queue_new();
	struct error error = {""};
	size_t offset = sizeof(struct event_file_header);
	FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "rb") : fopen("/dev/null", "rb");
	int err;

	require(in && queue);
	err = replay_stream(in, &replay_sink, &error);
	require(err == 0 || err == -EBADMSG || err == -ENOTSUP);
	require((err == 0) == (error.text[0] == '\0'));
	fclose(in);
	/* The same records pushed into the queue come out in order of time, none lost and none
	 * invented. */
	while (err == 0 && offset < size) {
		uint32_t record_size;

		memcpy(&record_size, data + offset, sizeof(record_size));
		require(event_queue_push(queue, data + offset, size - offset) == 0);
		offset += record_size;
	}
	event_queue_flush(queue, UINT64_MAX, &queue_sink);
	if (err == 0) {
		require(queued.ordered);
		require(queued.records == replayed.records);
		require(event_queue_stats(queue).malformed == 0);
	}
	event_queue_free(queue);
	return 0;
}
