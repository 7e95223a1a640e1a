// SPDX-License-Identifier: BSD-2-Clause
/* Turns the sums of block requests in BPF maps into records of their increments. */
#include "source/blockio/blockio_records.h"

#include <string.h>

#include "base/clock.h"

static struct totals_view view_of_row(const volatile struct pkbpf_blockio_row *row,
				      uint64_t time_ns)
{
	struct totals_view view = {
		.time_ns = time_ns,
		.stack_id = row->key.stack_id,
		.pid = row->key.pid,
		.tid = row->key.tid,
		.cgroup_id = row->cgroup_id,
		.device = row->key.device,
		.kind = PKBPF_PROFILE_BLOCKIO,
		.state = row->key.state,
		.measure = row->key.lower ? PKBPF_BLOCKIO_LOWER_DEVICE_TIME
					  : PKBPF_BLOCKIO_DEVICE_TIME,
	};

	memcpy(view.comm, (const void *)row->comm, PKBPF_COMM_SIZE);
	return view;
}

/* Writes the new values to now[] and what was added since sent[] to ret_increments. Leaves
 * sent[] unchanged. */
static size_t bucket_increments(const volatile uint32_t *buckets, const uint32_t *sent,
				uint32_t *now, struct pkbpf_histogram_bucket *ret_increments)
{
	size_t count = 0;

	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++) {
		now[i] = buckets[i];
		if (now[i] != sent[i])
			ret_increments[count++] = (struct pkbpf_histogram_bucket){
				.index = i, .count = now[i] - sent[i]};
	}
	return count;
}

int blockio_records_of_row(const volatile struct pkbpf_blockio_row *row, struct blockio_sent *sent,
			   const volatile struct pkbpf_blockio_histogram *histogram,
			   struct pkbpf_blockio_histogram *sent_histogram,
			   struct event_buffer *buffer)
{
	struct pkbpf_histogram_bucket device_time[PKBPF_HISTOGRAM_BUCKETS],
		queue_time[PKBPF_HISTOGRAM_BUCKETS];
	struct blockio_sent now = {.count = row->count,
				   .bytes = row->bytes,
				   .total_ns = row->total_ns,
				   .queue_ns = row->queue_ns};
	struct totals_view view;
	struct pkbpf_blockio_histogram histogram_now;
	size_t size_before = buffer->size;
	size_t queue_count = 0;
	int err;

	if (now.count == sent->count)
		return 0;
	/* The time is read after the row: a stack that arrives during the drain must not be
	 * later than the record that refers to it. */
	view = view_of_row(row, clock_now_ns());
	view.count = now.count - sent->count;
	view.bytes = now.bytes - sent->bytes;
	view.total = now.total_ns - sent->total_ns;
	view.max = row->max_ns;
	if (histogram) {
		view.buckets = device_time;
		view.bucket_count =
			bucket_increments(histogram->device_time, sent_histogram->device_time,
					  histogram_now.device_time, device_time);
		queue_count = bucket_increments(histogram->queue_time, sent_histogram->queue_time,
						histogram_now.queue_time, queue_time);
	}
	err = event_encode_totals(buffer, &view);
	if (err)
		return err;
	/* Queue time belongs to the process and the device; the first record already has the
	 * stack. */
	view.stack_id = 0;
	view.measure = row->key.lower ? PKBPF_BLOCKIO_LOWER_QUEUE_TIME : PKBPF_BLOCKIO_QUEUE_TIME;
	view.bytes = 0;
	view.total = now.queue_ns - sent->queue_ns;
	view.max = row->queue_max_ns;
	view.buckets = queue_time;
	view.bucket_count = queue_count;
	err = event_encode_totals(buffer, &view);
	if (err) {
		buffer->size = size_before;
		return err;
	}
	*sent = now;
	if (histogram)
		*sent_histogram = histogram_now;
	return 0;
}

int blockio_record_of_request(const volatile struct pkbpf_blockio_row *row,
			      const struct pkbpf_blockio_request *request, uint64_t time_ns,
			      struct event_buffer *buffer)
{
	struct totals_view view = view_of_row(row, time_ns);

	view.open = true;
	view.count = 1;
	if (request->issue_ns && time_ns > request->issue_ns)
		view.total = time_ns - request->issue_ns;
	view.max = view.total;
	return event_encode_totals(buffer, &view);
}
