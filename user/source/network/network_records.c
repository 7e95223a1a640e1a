// SPDX-License-Identifier: BSD-2-Clause
/* Turns the sums of network messages in BPF maps into records of their increments. */
#include "source/network/network_records.h"

#include <string.h>

#include "base/array.h"
#include "base/clock.h"

static const size_t lengths_at[NETWORK_LENGTHS] = {
	[NETWORK_CONNECTS] = offsetof(struct pkbpf_network_row, connects),
	[NETWORK_ROUND_TRIPS] = offsetof(struct pkbpf_network_row, round_trips),
	[NETWORK_RESPONSES] = offsetof(struct pkbpf_network_row, responses),
	[NETWORK_WAITS] = offsetof(struct pkbpf_network_row, waits),
};

static const enum pkbpf_network_measure length_measures[NETWORK_LENGTHS] = {
	[NETWORK_CONNECTS] = PKBPF_NETWORK_CONNECTS,
	[NETWORK_ROUND_TRIPS] = PKBPF_NETWORK_ROUND_TRIPS,
	[NETWORK_RESPONSES] = PKBPF_NETWORK_RESPONSES,
	[NETWORK_WAITS] = PKBPF_NETWORK_WAITS,
};

volatile struct pkbpf_network_lengths *network_lengths_of(volatile struct pkbpf_network_row *row,
							  enum network_length which)
{
	return (void *)((volatile char *)row + lengths_at[which]);
}

/* Sums that only grow, and the record that each goes into. */
static const struct counter {
	enum pkbpf_network_measure measure;
	uint8_t state;
	size_t count_at, bytes_at; /* 0: no bytes */
} counters[] = {
	{PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, offsetof(struct pkbpf_network_row, sent),
	 offsetof(struct pkbpf_network_row, sent_bytes)},
	{PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_RECEIVED,
	 offsetof(struct pkbpf_network_row, received),
	 offsetof(struct pkbpf_network_row, received_bytes)},
	{PKBPF_NETWORK_ACCEPTS, 0, offsetof(struct pkbpf_network_row, accepts), 0},
	{PKBPF_NETWORK_RETRANSMITS, 0, offsetof(struct pkbpf_network_row, retransmits), 0},
};

static uint64_t now_at(const volatile struct pkbpf_network_row *row, size_t offset)
{
	return *(const volatile uint64_t *)((const volatile char *)row + offset);
}

static uint64_t *sent_at(struct pkbpf_network_row *sent, size_t offset)
{
	return (void *)((char *)sent + offset);
}

static int send_counter(const volatile struct pkbpf_network_row *row,
			struct pkbpf_network_row *sent, const struct counter *counter,
			struct totals_view *view, struct event_buffer *buffer)
{
	uint64_t count = now_at(row, counter->count_at);
	uint64_t bytes = counter->bytes_at ? now_at(row, counter->bytes_at) : 0;
	int err;

	view->count = count - *sent_at(sent, counter->count_at);
	view->bytes = counter->bytes_at ? bytes - *sent_at(sent, counter->bytes_at) : 0;
	if (!view->count && !view->bytes)
		return 0;
	view->measure = counter->measure;
	view->state = counter->state;
	view->total = view->count;
	err = event_encode_totals(buffer, view);
	if (err)
		return err;
	*sent_at(sent, counter->count_at) = count;
	if (counter->bytes_at)
		*sent_at(sent, counter->bytes_at) = bytes;
	return 0;
}

static size_t bucket_increments(const struct network_buckets *buckets,
				struct pkbpf_network_histogram *ret_now,
				struct pkbpf_histogram_bucket *ret_increments)
{
	size_t count = 0;

	for (uint32_t i = 0; buckets->now && i < PKBPF_HISTOGRAM_BUCKETS; i++) {
		ret_now->buckets[i] = buckets->now->buckets[i];
		if (ret_now->buckets[i] != buckets->sent->buckets[i])
			ret_increments[count++] = (struct pkbpf_histogram_bucket){
				.index = i,
				.count = ret_now->buckets[i] - buckets->sent->buckets[i],
			};
	}
	return count;
}

static int send_lengths(const volatile struct pkbpf_network_lengths *lengths,
			struct pkbpf_network_lengths *sent, const struct network_buckets *buckets,
			struct totals_view *view, struct event_buffer *buffer)
{
	struct pkbpf_histogram_bucket increments[PKBPF_HISTOGRAM_BUCKETS];
	struct pkbpf_network_histogram histogram_now;
	uint64_t count = lengths->count, total_ns = lengths->total_ns;
	int err;

	if (count == sent->count)
		return 0;
	view->bytes = 0;
	view->count = count - sent->count;
	view->total = total_ns - sent->total_ns;
	view->max = lengths->max_ns;
	view->bucket_count = bucket_increments(buckets, &histogram_now, increments);
	view->buckets = increments;
	err = event_encode_totals(buffer, view);
	view->max = 0;
	view->bucket_count = 0;
	if (err)
		return err;
	sent->count = count;
	sent->total_ns = total_ns;
	if (buckets->now)
		memcpy(buckets->sent->buckets, histogram_now.buckets,
		       sizeof(histogram_now.buckets));
	return 0;
}

static int send_failures(const volatile struct pkbpf_network_row *row,
			 struct pkbpf_network_row *sent, struct totals_view *view,
			 struct event_buffer *buffer)
{
	view->measure = PKBPF_NETWORK_FAILURES;
	view->bytes = 0;
	for (size_t i = 0; i < PKBPF_NETWORK_FAILURE_KINDS; i++) {
		uint32_t count = row->failures[i].count;
		int err;

		if (count == sent->failures[i].count)
			continue;
		view->state = (uint8_t)(row->failures[i].error - 1);
		view->count = view->total = count - sent->failures[i].count;
		err = event_encode_totals(buffer, view);
		if (err)
			return err;
		sent->failures[i].count = count;
	}
	return 0;
}

static int send_queue(uint32_t most, uint32_t *sent, enum pkbpf_network_direction direction,
		      struct totals_view *view, struct event_buffer *buffer)
{
	int err;

	if (most <= *sent)
		return 0;
	view->measure = PKBPF_NETWORK_QUEUES;
	view->state = (uint8_t)direction;
	view->count = 1;
	view->total = view->max = most;
	view->bytes = 0;
	err = event_encode_totals(buffer, view);
	view->max = 0;
	if (!err)
		*sent = most;
	return err;
}

bool network_row_has_news(const volatile struct pkbpf_network_row *row,
			  const struct pkbpf_network_row *sent)
{
	struct pkbpf_network_row *copy = (struct pkbpf_network_row *)sent;

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		if (now_at(row, counters[i].count_at) != *sent_at(copy, counters[i].count_at))
			return true;
	for (size_t i = 0; i < NETWORK_LENGTHS; i++)
		if (network_lengths_of((volatile struct pkbpf_network_row *)row, i)->count !=
		    network_lengths_of(copy, i)->count)
			return true;
	for (size_t i = 0; i < PKBPF_NETWORK_FAILURE_KINDS; i++)
		if (row->failures[i].count != sent->failures[i].count)
			return true;
	return false;
}

int network_records_of_row(const volatile struct pkbpf_network_row *row,
			   struct pkbpf_network_row *sent, uint32_t peer,
			   const struct network_buckets buckets[NETWORK_LENGTHS],
			   struct event_buffer *buffer)
{
	struct totals_view view = {
		.time_ns = clock_now_ns(),
		.pid = row->key.pid,
		.tid = row->key.tid,
		.cgroup_id = row->cgroup_id,
		.device = peer,
		.kind = PKBPF_PROFILE_NETWORK,
	};
	int err = 0;

	memcpy(view.comm, (const void *)row->comm, PKBPF_COMM_SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(counters) && !err; i++)
		err = send_counter(row, sent, &counters[i], &view, buffer);
	for (size_t i = 0; i < NETWORK_LENGTHS && !err; i++) {
		view.measure = length_measures[i];
		view.state = row->key.peer.role;
		err = send_lengths(network_lengths_of((volatile struct pkbpf_network_row *)row, i),
				   (struct pkbpf_network_lengths *)network_lengths_of(sent, i),
				   &buckets[i], &view, buffer);
	}
	err = err ? err : send_failures(row, sent, &view, buffer);
	err = err ? err
		  : send_queue(row->send_queue_max, &sent->send_queue_max, PKBPF_NETWORK_SENT,
			       &view, buffer);
	return err ? err
		   : send_queue(row->receive_queue_max, &sent->receive_queue_max,
				PKBPF_NETWORK_RECEIVED, &view, buffer);
}
