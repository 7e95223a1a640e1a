// SPDX-License-Identifier: BSD-2-Clause
#include "source/context/context_sets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pkbpf/span.h>

/* Of requests without the first label. */
#define UNNAMED "[request]"

static uint32_t count_buckets(const volatile struct pkbpf_context_set *set,
			      const struct pkbpf_context_set *sent)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++)
		count += set->buckets[i] != sent->buckets[i];
	return count;
}

static uint64_t take(const volatile __u64 *now, __u64 *sent)
{
	uint64_t value = *now, more = value - *sent;

	*sent = value;
	return more;
}

static void fill_buckets(struct pkbpf_event_region *record,
			 const volatile struct pkbpf_context_set *set,
			 struct pkbpf_context_set *sent, uint32_t most)
{
	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS && record->n_buckets < most; i++) {
		uint32_t now = set->buckets[i];

		if (now == sent->buckets[i])
			continue;
		record->buckets[record->n_buckets++] =
			(struct pkbpf_histogram_bucket){i, now - sent->buckets[i]};
		sent->buckets[i] = now;
	}
}

static int send(const volatile struct pkbpf_context_set *set, struct pkbpf_context_set *sent,
		uint64_t now_ns, struct event_buffer *buffer)
{
	uint32_t buckets = count_buckets(set, sent);
	size_t size = sizeof(struct pkbpf_event_region) +
		      buckets * sizeof(struct pkbpf_histogram_bucket) + PKBPF_SPAN_NAME;
	struct pkbpf_event_region *record =
		event_buffer_add(buffer, size, PKBPF_EVENT_REGION, PKBPF_REGION_REQUEST, now_ns);

	if (!record)
		return -ENOMEM;
	record->pid = set->pid;
	record->depth = 1;
	/* The count first: a request that ends now is in the sums, and in the next count. */
	record->count = take(&set->count, &sent->count);
	record->total_ns = record->self_ns = take(&set->total_ns, &sent->total_ns);
	record->max_ns = sent->max_ns = set->max_ns;
	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		record->part_ns[i] = take(&set->part_ns[i], &sent->part_ns[i]);
	fill_buckets(record, set, sent, buckets);
	snprintf((char *)&record->buckets[record->n_buckets], PKBPF_SPAN_NAME, "%.*s",
		 PKBPF_SPAN_NAME - 1, set->labels[0][0] ? (const char *)set->labels[0] : UNNAMED);
	return 0;
}

int context_sets_drain(struct context_sets *sets, uint64_t now_ns, struct event_buffer *buffer)
{
	int err = 0;

	for (uint32_t i = 0; i < sets->count && !err; i++)
		if (sets->sets[i].pid && sets->sets[i].count != sets->sent[i].count)
			err = send(&sets->sets[i], &sets->sent[i], now_ns, buffer);
	return err;
}

void context_sets_begin_slice(struct context_sets *sets)
{
	for (uint32_t i = 0; i < sets->count; i++) {
		__u64 *max_ns = (__u64 *)&sets->sets[i].max_ns, sent_ns = sets->sent[i].max_ns;

		sets->sent[i].max_ns = 0;
		/* A larger one that came since is the new slice's. */
		__atomic_compare_exchange_n(max_ns, &sent_ns, 0, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	}
}
