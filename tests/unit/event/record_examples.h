/* SPDX-License-Identifier: BSD-2-Clause */
/* One record of each kind, and the decoder called for exactly the bytes given, counting what it
 * delivers. */
#ifndef PKBPF_TEST_RECORD_EXAMPLES_H
#define PKBPF_TEST_RECORD_EXAMPLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <pkbpf/histogram.h>

#include "base/array.h"
#include "event/decoder.h"
#include "event/encoder.h"

static const int kinds[] = {
	PKBPF_EVENT_SAMPLE,  PKBPF_EVENT_FORK,	  PKBPF_EVENT_COMM,	 PKBPF_EVENT_EXIT,
	PKBPF_EVENT_MAPPING, PKBPF_EVENT_LOST,	  PKBPF_EVENT_RAW_STACK, PKBPF_EVENT_STACK,
	PKBPF_EVENT_TOTALS,  PKBPF_EVENT_SLOW_IO, PKBPF_EVENT_CUT,
};

static int delivered;

static inline void got_sample(void *context, const struct sample_view *sample)
{
	delivered++;
}

static inline void got_task(void *context, const struct task_view *task)
{
	delivered++;
}

static inline void got_mapping(void *context, const struct mapping_view *mapping)
{
	delivered++;
}

static inline void got_lost(void *context, const struct lost_view *lost)
{
	delivered++;
}

static inline void got_raw_stack(void *context, const struct raw_stack_view *raw)
{
	delivered++;
}

static inline void got_stack(void *context, const struct stack_view *stack)
{
	delivered++;
}

static inline void got_totals(void *context, const struct totals_view *totals)
{
	delivered++;
}

static inline void got_slow_io(void *context, const struct slow_io_view *slow_io)
{
	delivered++;
}

static inline void got_cut(void *context, const struct cut_view *cut)
{
	delivered++;
}

static inline void got_other(void *context, const struct pkbpf_event_header *record)
{
	delivered++;
}

static const struct event_sink_ops counting_ops = {
	.on_sample = got_sample,
	.on_task = got_task,
	.on_mapping = got_mapping,
	.on_lost = got_lost,
	.on_raw_stack = got_raw_stack,
	.on_stack = got_stack,
	.on_totals = got_totals,
	.on_slow_io = got_slow_io,
	.on_cut = got_cut,
	.on_other = got_other,
};

/* Decodes an exact heap copy, so that AddressSanitizer sees a read past the end. */
static inline int decode_copy(const void *data, size_t size)
{
	struct event_sink sink = {&counting_ops, NULL};
	void *copy = malloc(size ? size : 1);
	int result;

	assert_non_null(copy);
	memcpy(copy, data, size);
	delivered = 0;
	result = event_decode(copy, size, &sink);
	free(copy);
	return result;
}

static uint64_t ips[] = {1, 2, 3, 4, 5};
static uint64_t registers[PKBPF_REGS];
static uint8_t stack_bytes[64];
static const struct pkbpf_histogram_bucket buckets[] = {
	{3, 1}, {7, 2}, {PKBPF_HISTOGRAM_BUCKETS - 1, 9}};

static inline void encode_kind(struct event_buffer *buffer, int kind)
{
	struct sample_view sample = {.kernel_ips = ips,
				     .kernel_count = 2,
				     .user_ips = ips,
				     .user_count = 3,
				     .comm = "x"};
	struct raw_stack_view raw = {.sample = sample,
				     .regs = registers,
				     .stack_start = 4096,
				     .stack = stack_bytes,
				     .stack_size = sizeof(stack_bytes)};
	struct task_view task = {.kind = (enum pkbpf_event_kind)kind, .pid = 1, .tid = 1};
	struct mapping_view mapping = {.start = 1, .end = 2, .path = "/bin/x"};
	struct lost_view lost = {.cause = 0, .count = 1};
	struct stack_view stack = {
		.kernel_ips = ips, .kernel_count = 2, .user_ips = ips, .user_count = 3};
	struct totals_view totals = {
		.count = 3, .buckets = buckets, .bucket_count = ARRAY_SIZE(buckets)};
	struct slow_io_view slow_io = {.time_ns = 30, .insert_ns = 10, .issue_ns = 20, .comm = "x"};
	int err = -1;

	raw.sample.user_count = 0;
	event_buffer_clear(buffer);
	switch (kind) {
	case PKBPF_EVENT_SAMPLE:
		err = event_encode_sample(buffer, &sample);
		break;
	case PKBPF_EVENT_FORK:
	case PKBPF_EVENT_COMM:
	case PKBPF_EVENT_EXIT:
		err = event_encode_task(buffer, &task);
		break;
	case PKBPF_EVENT_MAPPING:
		err = event_encode_mapping(buffer, &mapping);
		break;
	case PKBPF_EVENT_LOST:
		err = event_encode_lost(buffer, &lost);
		break;
	case PKBPF_EVENT_RAW_STACK:
		err = event_encode_raw_stack(buffer, &raw);
		break;
	case PKBPF_EVENT_TOTALS:
		err = event_encode_totals(buffer, &totals);
		break;
	case PKBPF_EVENT_STACK:
		err = event_encode_stack(buffer, 1, &stack);
		break;
	case PKBPF_EVENT_SLOW_IO:
		err = event_encode_slow_io(buffer, &slow_io);
		break;
	case PKBPF_EVENT_CUT:
		err = event_encode_cut(buffer, &(struct cut_view){.time_ns = 1});
		break;
	}
	assert_int_equal(err, 0);
}

#endif
