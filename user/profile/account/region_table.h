/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of a profile: each below the one that it was entered in, as a tree per process, with its
 * sums and the histogram of its wall times. A region counts in the interval in which it is left.
 * One owner thread.
 */
#ifndef PKBPF_PROFILE_ACCOUNT_REGION_TABLE_H
#define PKBPF_PROFILE_ACCOUNT_REGION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/span.h>

#include "base/histogram.h"

#define REGION_ROOT	     UINT32_MAX
#define REGION_LIMITS_DIFFER UINT64_MAX
/* More are not kept: -ENOSPC. */
#define REGION_TABLE_MAX 65536U

/* Times in ns. wall = sum of parts + what could not be divided. */
struct region_sums {
	uint64_t count;
	uint64_t lost_end;    /* ended without being left: exit, longjmp */
	uint64_t interleaved; /* of count: with others of their thread, so without parts */
	uint64_t unfinished;  /* open at the end */
	/* Of functions: calls inside of calls of the same one, and calls that were only counted;
	 * both beside count, and in neither total_ns nor the parts. */
	uint64_t recursive, unmeasured;
	uint64_t total_ns, max_ns;
	uint64_t self_ns; /* outside of all regions inside of it */
	uint64_t items;
	uint64_t part_ns[PKBPF_WAIT_STATES];
	uint64_t minor_faults, major_faults;
	uint64_t read_bytes, written_bytes;
	/* Resident memory of the process at the ends of so many, those of calls and by number left
	 * out; the most at a begin or an end; growth from begin to end, of all together. */
	uint64_t rss_readings, rss_sum_kib, rss_max_kib;
	int64_t rss_growth_kib;
	/* Of count, those that took longer than the limit, counted one by one. Without a limit, 0;
	 * REGION_LIMITS_DIFFER: the limit was not the same all the time, and over is not known. */
	uint64_t limit_ns, over;
};

struct region_bucket {
	uint32_t index;
	uint64_t count;
};

struct region {
	uint32_t process; /* incarnation id in the process table */
	uint32_t parent;  /* index of a region of the same process, before this one; REGION_ROOT */
	uint32_t name;	  /* string of the profile */
	uint32_t flags;	  /* PKBPF_REGION_* */
	struct region_sums sums;
	struct region_bucket *buckets; /* ascending; owned by the table */
	size_t bucket_count;
};

struct region_table;

struct region_table *region_table_new(void);
void region_table_free(struct region_table *table);
/* Index of the region with this key, which is added if it is new. Of the flags only
 * PKBPF_REGION_BY_ID and PKBPF_REGION_REQUEST belong to the key; the others are added. -ENOMEM,
 * -ENOSPC. */
int64_t region_table_get(struct region_table *table, uint32_t process, uint32_t parent,
			 uint32_t name, uint32_t flags);
/* Adds to a region; buckets ascending, indexes below PKBPF_HISTOGRAM_BUCKETS. -ENOMEM: the sums are
 * added, the histogram is not. */
int region_table_add(struct region_table *table, uint32_t region, const struct region_sums *sums,
		     const struct region_bucket *buckets, size_t bucket_count);
/* In the order of their first change: a parent before its children. NULL at the end; valid until
 * the next get. */
const struct region *region_table_at(const struct region_table *table, size_t index);
size_t region_table_count(const struct region_table *table);
/* Is the number of those that took longer than this known? */
static inline bool region_sums_count_over(const struct region_sums *sums, uint64_t limit_ns)
{
	return !sums->count || sums->limit_ns == limit_ns;
}

static inline bool region_sums_has_limit(const struct region_sums *sums)
{
	return sums->limit_ns && sums->limit_ns != REGION_LIMITS_DIFFER;
}

/* The wall time that could not be divided. */
uint64_t region_sums_undivided_ns(const struct region_sums *sums);
/* Adds the wall times of a region to a histogram. */
void region_histogram(const struct region *region, struct histogram *into);
/* As histogram_percentile() of that histogram. */
uint64_t region_percentile_ns(const struct region *region, unsigned int permille);

#endif
