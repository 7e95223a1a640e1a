/* SPDX-License-Identifier: BSD-2-Clause */
/* A record of a region, as the BPF programs send it. */
#ifndef PKBPF_TEST_REGION_RECORD_H
#define PKBPF_TEST_REGION_RECORD_H

#include <string.h>

#include "event/event_sink.h"
#include "event/region_event.h"

/* A region inside another, or none (NULL), that was left `count` times, each time after wall_ns:
 * a quarter of it on a CPU, the rest asleep, with ten items a time. */
static inline void region_record_send(struct event_sink sink, uint32_t pid, const char *outer,
				      const char *inner, uint64_t count, uint64_t wall_ns)
{
	union {
		struct pkbpf_event_region record;
		uint64_t words[(sizeof(struct pkbpf_event_region) + 8 + 2 * PKBPF_SPAN_NAME) / 8];
	} room = {0};
	char *names = (char *)&room.record.buckets[1];

	room.record.header.kind = PKBPF_EVENT_REGION;
	room.record.header.size = sizeof(room);
	room.record.pid = pid;
	room.record.depth = inner ? 2 : 1;
	room.record.count = count;
	room.record.total_ns = count * wall_ns;
	room.record.max_ns = wall_ns;
	room.record.items = 10 * count;
	room.record.part_ns[PKBPF_WAIT_NONE] = count * wall_ns / 4;
	room.record.part_ns[PKBPF_WAIT_SLEEP] = count * wall_ns - count * wall_ns / 4;
	/* Each ends with 3 MiB, one more than it began with. */
	room.record.rss_readings = count;
	room.record.rss_sum_kib = count * 3072;
	room.record.rss_max_kib = 3072;
	room.record.rss_growth_kib = (int64_t)count * 1024;
	room.record.n_buckets = 1;
	room.record.buckets[0] =
		(struct pkbpf_histogram_bucket){pkbpf_histogram_index(wall_ns), (uint32_t)count};
	strcpy(names, outer);
	if (inner)
		strcpy(names + PKBPF_SPAN_NAME, inner);
	sink.ops->on_other(sink.context, &room.record.header);
}

#endif
