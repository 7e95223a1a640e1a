// SPDX-License-Identifier: BSD-2-Clause
#include "source/context/context_sets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pkbpf/span.h>

#include "base/clock.h"

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
	record->unfinished = take(&set->open, &sent->open);
	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		record->part_ns[i] = take(&set->part_ns[i], &sent->part_ns[i]);
	fill_buckets(record, set, sent, buckets);
	snprintf((char *)&record->buckets[record->n_buckets], PKBPF_SPAN_NAME, "%.*s",
		 PKBPF_SPAN_NAME - 1, set->labels[0][0] ? (const char *)set->labels[0] : UNNAMED);
	return 0;
}

/* The kernel side has sent it, if its ring had room. */
static int send_name(const struct context_sets *sets, uint32_t number, uint64_t now_ns,
		     struct event_buffer *buffer)
{
	struct pkbpf_event_region_name *name;

	if (!sets->by_label)
		return 0;
	name = event_buffer_add(buffer, sizeof(*name), PKBPF_EVENT_REGION_NAME, 0, now_ns);
	if (!name)
		return -ENOMEM;
	name->number = number;
	name->parent = PKBPF_NO_ROW;
	memcpy(name->name, (const char *)sets->sets[number].labels[0], sizeof(name->name));
	return 0;
}

static bool has_news(const volatile struct pkbpf_context_set *set,
		     const struct pkbpf_context_set *sent)
{
	return set->count != sent->count || set->open != sent->open;
}

int context_sets_drain(struct context_sets *sets, uint64_t now_ns, struct event_buffer *buffer)
{
	int err = 0;

	for (uint32_t i = 0; i < sets->count && !err; i++) {
		if (!sets->sets[i].pid)
			continue;
		if (sets->sent[i].pid != sets->sets[i].pid)
			err = send_name(sets, i, now_ns, buffer);
		if (!err && has_news(&sets->sets[i], &sets->sent[i]))
			err = send(&sets->sets[i], &sets->sent[i], now_ns, buffer);
		if (!err)
			sets->sent[i].pid = sets->sets[i].pid;
	}
	return err;
}

uint32_t context_sets_release(struct context_sets *sets, uint32_t pid, uint32_t first,
			      struct pkbpf_context_set_key *ret_key, struct event_buffer *buffer)
{
	for (uint32_t i = first; i < sets->count; i++) {
		if (sets->sets[i].pid != pid)
			continue;
		*ret_key = (struct pkbpf_context_set_key){.hash = sets->sets[i].hash, .pid = pid};
		sets->sets[i].pid = 0;
		memset((void *)&sets->sets[i], 0, offsetof(struct pkbpf_context_set, claims));
		memset(&sets->sent[i], 0, sizeof(sets->sent[i]));
		/* Without memory, what comes before the next name has this one. */
		send_name(sets, i, clock_now_ns(), buffer);
		return i;
	}
	return sets->count;
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
