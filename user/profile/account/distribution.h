/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts, sums and histograms of events aggregated in the kernel: one per process, thread,
 * state, device and measure. Histograms are sparse: a thread that waits rarely fills a few of
 * the hundreds of buckets. */
#ifndef PKBPF_PROFILE_ACCOUNT_DISTRIBUTION_H
#define PKBPF_PROFILE_ACCOUNT_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/event.h>

#include "base/histogram.h"

struct distribution_key {
	enum pkbpf_profile_kind kind;
	uint32_t process; /* incarnation id in the process table */
	uint32_t tid;	  /* 0: all threads of the process together */
	uint32_t device;  /* block I/O; network: number of the peer; else 0 */
	uint8_t state;
	uint8_t measure;
};

/* The increment of a key by one record. */
struct distribution_change {
	uint64_t count, total, max, bytes;
	uint64_t variance; /* of count; 0: exact, or unknown */
	/* ascending, indexes below PKBPF_HISTOGRAM_BUCKETS */
	const struct pkbpf_histogram_bucket *buckets;
	size_t bucket_count;
	bool estimated; /* scaled up from a sample of the events */
	bool open;	/* cut at an edge of the interval */
};

struct distribution_bucket {
	uint32_t index;
	uint64_t count;
};

struct distribution {
	struct distribution_key key;
	bool estimated, open;
	uint64_t count, total, max, bytes, variance;
	struct distribution_bucket *buckets; /* ascending */
	size_t bucket_count;
};

struct distribution_table;

struct distribution_table *distribution_table_new(void);
void distribution_table_free(struct distribution_table *table);
/* -ENOMEM: nothing has changed. */
int distribution_table_add(struct distribution_table *table, const struct distribution_key *key,
			   const struct distribution_change *change);
/* The same with a distribution of another table, under the given key. */
int distribution_table_put(struct distribution_table *table, const struct distribution_key *key,
			   const struct distribution *more);
/* Changes all keys and adds up distributions with equal new keys. -ENOMEM: nothing has changed. */
int distribution_table_rekey(struct distribution_table *table,
			     void (*rekey)(const void *context, struct distribution_key *key),
			     const void *context);
/* NULL: nothing was added for this key. Valid until the next add. */
const struct distribution *distribution_table_find(const struct distribution_table *table,
						   const struct distribution_key *key);
/* By index, in the order of first change; NULL at the end. Valid until the next add. */
const struct distribution *distribution_table_at(const struct distribution_table *table,
						 size_t index);

/* Adds a distribution to a histogram for percentiles. Its count is that of the buckets: events
 * counted without a bucket have no percentiles. */
void distribution_merge(const struct distribution *distribution, struct histogram *into);

#endif
