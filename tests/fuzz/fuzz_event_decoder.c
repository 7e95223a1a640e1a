// SPDX-License-Identifier: BSD-2-Clause
/* Decodes records one after the other, reads all that the views promise, and follows them in a
 * process table. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/histogram.h>

#include "event/decoder.h"
#include "event/encoder.h"
#include "event/resource_event.h"
#include "process/process_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct reader {
	struct event_sink processes;
	struct process_table *table;
	struct event_buffer
		again; /* what was delivered, encoded anew: the encoder must accept it */
	volatile uint64_t sum;
};

static void read_words(struct reader *reader, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		reader->sum += words[i];
}

static void read_sample(void *context, const struct sample_view *sample)
{
	struct reader *reader = context;
	struct process *process = process_table_get(reader->table, sample->pid, sample->comm);

	read_words(reader, sample->kernel_ips, sample->kernel_count);
	read_words(reader, sample->user_ips, sample->user_count);
	require(strlen(sample->comm) <= PKBPF_COMM_SIZE);
	require(event_encode_sample(&reader->again, sample) == 0);
	require(process && process_table_by_id(reader->table, process->id) == process);
	if (process_table_mappings(reader->table, process) && sample->user_count)
		address_space_find(process_table_mappings(reader->table, process),
				   sample->user_ips[0]);
}

static void read_task(void *context, const struct task_view *task)
{
	struct reader *reader = context;

	require(strlen(task->comm) <= PKBPF_COMM_SIZE);
	require(event_encode_task(&reader->again, task) == 0);
	reader->processes.ops->on_task(reader->processes.context, task);
}

static void read_mapping(void *context, const struct mapping_view *mapping)
{
	struct reader *reader = context;

	require(mapping->start < mapping->end);
	require(event_encode_mapping(&reader->again, mapping) == 0);
	reader->processes.ops->on_mapping(reader->processes.context, mapping);
}

static void read_lost(void *context, const struct lost_view *lost)
{
	struct reader *reader = context;

	require(event_encode_lost(&reader->again, lost) == 0);
}

static void read_raw_stack(void *context, const struct raw_stack_view *raw)
{
	struct reader *reader = context;

	/* Only a check brings along what it is compared with. */
	require((raw->check || raw->sample.user_count == 0) && raw->stack_size % 8 == 0);
	read_words(reader, raw->sample.kernel_ips, raw->sample.kernel_count);
	read_words(reader, raw->sample.user_ips, raw->sample.user_count);
	read_words(reader, raw->regs, PKBPF_REGS);
	for (size_t i = 0; i < raw->stack_size; i++)
		reader->sum += raw->stack[i];
	reader->sum += raw->stack_id;
	require(event_encode_raw_stack(&reader->again, raw) == 0);
}

static void read_stack(void *context, const struct stack_view *stack)
{
	struct reader *reader = context;

	read_words(reader, stack->kernel_ips, stack->kernel_count);
	read_words(reader, stack->user_ips, stack->user_count);
	require(event_encode_stack(&reader->again, 0, stack) == 0);
}

static void read_totals(void *context, const struct totals_view *totals)
{
	struct reader *reader = context;

	for (size_t i = 0; i < totals->bucket_count; i++)
		require(totals->buckets[i].index < PKBPF_HISTOGRAM_BUCKETS);
	require(event_encode_totals(&reader->again, totals) == 0);
}

static void read_slow_io(void *context, const struct slow_io_view *slow_io)
{
	struct reader *reader = context;

	require(strlen(slow_io->comm) <= PKBPF_COMM_SIZE);
	require(slow_io->insert_ns <= slow_io->time_ns && slow_io->issue_ns <= slow_io->time_ns);
	require(slow_io->issue_ns >= slow_io->insert_ns || slow_io->open);
	require(event_encode_slow_io(&reader->again, slow_io) == 0);
}

static void read_other(void *context, const struct pkbpf_event_header *record)
{
	struct reader *reader = context;
	char path[64]; /* small enough for some not to fit */
	uint64_t id;

	read_words(reader, (const uint64_t *)(const void *)record, record->size / 8);
	if (cgroup_names_event_decode(record, &id, path, sizeof(path)) == 0)
		require(path[0] == '/' && path[1] &&
			cgroup_event_encode(&reader->again, 0, id, path) == 0);
}

static const struct event_sink_ops reading_ops = {
	.on_sample = read_sample,
	.on_task = read_task,
	.on_mapping = read_mapping,
	.on_lost = read_lost,
	.on_raw_stack = read_raw_stack,
	.on_stack = read_stack,
	.on_totals = read_totals,
	.on_slow_io = read_slow_io,
	.on_other = read_other,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mapped_file_table *files = mapped_file_table_new("/nonexistent");
	struct reader reader = {.table = process_table_new(files)};
	struct event_sink sink = {&reading_ops, &reader};
	size_t offset = 0;

	reader.processes = process_table_sink(reader.table);
	while (offset < size) {
		/* Each record as an exact heap copy: aligned, and a read past its end is seen. */
		size_t left = size - offset;
		uint32_t claimed = 0;
		void *record;
		int used;

		if (left >= sizeof(claimed))
			memcpy(&claimed, data + offset, sizeof(claimed));
		if (claimed && claimed < left)
			left = claimed;
		record = malloc(left);
		require(record);
		memcpy(record, data + offset, left);
		used = event_decode(record, left, &sink);
		free(record);
		if (used < 0)
			break;
		require((size_t)used == left);
		offset += (size_t)used;
	}
	for (size_t id = 0; id < process_table_count(reader.table); id++) {
		struct process *process = process_table_by_id(reader.table, (uint32_t)id);

		require(!process || process->id == id);
	}
	event_buffer_done(&reader.again);
	process_table_free(reader.table);
	mapped_file_table_free(files);
	return 0;
}
