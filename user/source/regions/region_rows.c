// SPDX-License-Identifier: BSD-2-Clause
/* Makes records of the rows of regions. */
#include "source/regions/region_rows.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The names from the outermost region to this one; 0: the chain is broken. */
static uint32_t path_of(const struct region_rows *rows, uint32_t row,
			uint32_t ret_path[PKBPF_SPAN_DEPTH])
{
	uint32_t depth = 0, reversed[PKBPF_SPAN_DEPTH];

	for (; row != PKBPF_NO_ROW; row = rows->rows[row].parent) {
		if (depth == PKBPF_SPAN_DEPTH || row >= rows->count || !rows->rows[row].pid)
			return 0;
		reversed[depth++] = row;
	}
	for (uint32_t i = 0; i < depth; i++)
		ret_path[i] = reversed[depth - 1 - i];
	return depth;
}

static bool has_news(const struct region_rows *rows, uint32_t number)
{
	const volatile struct pkbpf_span_row *row = &rows->rows[number];
	const struct pkbpf_span_row *sent = &rows->sent[number];

	return row->count != sent->count || row->lost_end != sent->lost_end ||
	       row->recursive != sent->recursive || row->unmeasured != sent->unmeasured ||
	       (rows->unfinished && rows->unfinished[number]);
}

/* Takes what was added to a number that the kernel side only adds to. */
static uint64_t take(const volatile uint64_t *now, uint64_t *sent)
{
	uint64_t value = *now, added = value - *sent;

	*sent = value;
	return added;
}

static uint64_t page_kib(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static uint32_t count_buckets(const volatile struct pkbpf_span_row *row,
			      const struct pkbpf_span_row *sent)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++)
		count += row->buckets[i] != sent->buckets[i];
	return count;
}

static void fill(struct pkbpf_event_region *record, const volatile struct pkbpf_span_row *row,
		 struct pkbpf_span_row *sent, uint32_t bucket_count)
{
	uint32_t filled = 0;

	record->pid = row->pid;
	/* The count first: a region that ends now is in the sums, and in the next count. */
	record->count = take((const volatile uint64_t *)&row->count, (uint64_t *)&sent->count);
	record->lost_end =
		take((const volatile uint64_t *)&row->lost_end, (uint64_t *)&sent->lost_end);
	record->interleaved =
		take((const volatile uint64_t *)&row->interleaved, (uint64_t *)&sent->interleaved);
	record->recursive =
		take((const volatile uint64_t *)&row->recursive, (uint64_t *)&sent->recursive);
	record->unmeasured =
		take((const volatile uint64_t *)&row->unmeasured, (uint64_t *)&sent->unmeasured);
	record->self_ns =
		take((const volatile uint64_t *)&row->self_ns, (uint64_t *)&sent->self_ns);
	record->total_ns =
		take((const volatile uint64_t *)&row->total_ns, (uint64_t *)&sent->total_ns);
	record->max_ns = sent->max_ns = row->max_ns;
	record->items = take((const volatile uint64_t *)&row->items, (uint64_t *)&sent->items);
	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		record->part_ns[i] = take((const volatile uint64_t *)&row->part_ns[i],
					  (uint64_t *)&sent->part_ns[i]);
	record->minor_faults = take((const volatile uint64_t *)&row->minor_faults,
				    (uint64_t *)&sent->minor_faults);
	record->major_faults = take((const volatile uint64_t *)&row->major_faults,
				    (uint64_t *)&sent->major_faults);
	record->read_bytes =
		take((const volatile uint64_t *)&row->read_bytes, (uint64_t *)&sent->read_bytes);
	record->written_bytes = take((const volatile uint64_t *)&row->written_bytes,
				     (uint64_t *)&sent->written_bytes);
	record->rss_readings = take((const volatile uint64_t *)&row->rss_readings,
				    (uint64_t *)&sent->rss_readings);
	record->rss_sum_kib = page_kib() * take((const volatile uint64_t *)&row->rss_sum_pages,
						(uint64_t *)&sent->rss_sum_pages);
	record->rss_growth_kib = (int64_t)page_kib() *
				 (int64_t)take((const volatile uint64_t *)&row->rss_growth_pages,
					       (uint64_t *)&sent->rss_growth_pages);
	sent->rss_max_pages = row->rss_max_pages;
	record->rss_max_kib = page_kib() * sent->rss_max_pages;
	record->limit_ns = row->limit_ns;
	record->over = take((const volatile uint64_t *)&row->over, (uint64_t *)&sent->over);
	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS && filled < bucket_count; i++) {
		uint32_t now = row->buckets[i];

		if (now == sent->buckets[i])
			continue;
		record->buckets[filled++] =
			(struct pkbpf_histogram_bucket){i, now - sent->buckets[i]};
		sent->buckets[i] = now;
	}
	record->n_buckets = filled;
}

static int send_row(struct region_rows *rows, uint32_t number, uint64_t now_ns,
		    struct event_buffer *buffer)
{
	const volatile struct pkbpf_span_row *row = &rows->rows[number];
	struct pkbpf_span_row *sent = &rows->sent[number];
	uint32_t path[PKBPF_SPAN_DEPTH], depth = path_of(rows, number, path),
					 bucket_count = count_buckets(row, sent);
	size_t size = sizeof(struct pkbpf_event_region) +
		      bucket_count * sizeof(struct pkbpf_histogram_bucket) +
		      (size_t)depth * PKBPF_SPAN_NAME;
	struct pkbpf_event_region *record;
	char *names;

	if (!depth)
		return 0;
	record = event_buffer_add(buffer, size, PKBPF_EVENT_REGION, (uint16_t)row->flags, now_ns);
	if (!record)
		return -ENOMEM;
	fill(record, row, sent, bucket_count);
	record->unfinished = rows->unfinished ? rows->unfinished[number] : 0;
	record->depth = depth;
	names = (char *)&record->buckets[record->n_buckets];
	for (uint32_t i = 0; i < depth; i++)
		memcpy(names + (size_t)i * PKBPF_SPAN_NAME, (const char *)rows->rows[path[i]].name,
		       PKBPF_SPAN_NAME);
	return 0;
}

int region_rows_drain(struct region_rows *rows, uint64_t now_ns, struct event_buffer *buffer)
{
	int err = 0;

	for (uint32_t i = 0; i < rows->count && !err; i++) {
		if (rows->rows[i].pid && has_news(rows, i))
			err = send_row(rows, i, now_ns, buffer);
	}
	return err;
}

/* A larger one that came since is the new slice's. */
static void begin_maximum(const volatile __u64 *maximum, __u64 *sent)
{
	__u64 expected = *sent;

	*sent = 0;
	__atomic_compare_exchange_n((__u64 *)maximum, &expected, 0, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

void region_rows_begin_slice(struct region_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		begin_maximum(&rows->rows[i].max_ns, &rows->sent[i].max_ns);
		begin_maximum(&rows->rows[i].rss_max_pages, &rows->sent[i].rss_max_pages);
	}
}

/* Regions that their process will never end. */
static void free_ids(int ids_fd, region_ended_fn *has_ended, const void *context)
{
	struct pkbpf_span_id_key key, next;
	bool has_key = false;

	/* One that is deleted would begin the walk anew: its successor is asked for first. */
	while (bpf_map_get_next_key(ids_fd, has_key ? &key : NULL, &next) == 0) {
		if (has_key && has_ended(context, key.pid))
			bpf_map_delete_elem(ids_fd, &key);
		key = next;
		has_key = true;
	}
	if (has_key && has_ended(context, key.pid))
		bpf_map_delete_elem(ids_fd, &key);
}

static void free_row(struct region_rows *rows, uint32_t number, int index_fd, int free_fd)
{
	struct pkbpf_span_row *row = (struct pkbpf_span_row *)&rows->rows[number];
	struct pkbpf_span_row_key key = {
		.name_hash = pkbpf_span_name_hash((const __u64 *)row->name),
		.pid = row->pid,
		.parent = row->parent,
		.flags = row->flags & (PKBPF_REGION_BY_ID | PKBPF_REGION_FUNCTION),
	};

	if (bpf_map_delete_elem(index_fd, &key))
		return;
	/* The claim stays: the row comes back by the queue. */
	memset(row, 0, offsetof(struct pkbpf_span_row, claims));
	memset(&rows->sent[number], 0, sizeof(rows->sent[number]));
	bpf_map_update_elem(free_fd, NULL, &number, 0);
}

uint32_t region_rows_used(const struct region_rows *rows)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		used += rows->rows[i].pid != 0;
	return used;
}

void region_rows_free_ended(struct region_rows *rows, int index_fd, int free_fd, int ids_fd,
			    region_ended_fn *has_ended, const void *context)
{
	_cleanup_free_ uint32_t *children = calloc(rows->count + 1, sizeof(*children));
	uint32_t freed = 1;

	if (!children)
		return;
	free_ids(ids_fd, has_ended, context);
	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->rows[i].pid && rows->rows[i].parent < rows->count)
			children[rows->rows[i].parent]++;
	/* Parents after their children. */
	for (int depth = 0; depth < PKBPF_SPAN_DEPTH && freed; depth++) {
		freed = 0;
		for (uint32_t i = 0; i < rows->count; i++) {
			uint32_t parent = rows->rows[i].parent;

			if (!rows->rows[i].pid || children[i] || has_news(rows, i) ||
			    !has_ended(context, rows->rows[i].pid))
				continue;
			free_row(rows, i, index_fd, free_fd);
			if (parent < rows->count)
				children[parent]--;
			freed++;
		}
	}
}

void region_rows_let_go(struct pkbpf_span_row *rows, uint32_t count, const char *name,
			bool is_function)
{
	for (uint32_t i = 0; i < count; i++)
		if (!(rows[i].flags & PKBPF_REGION_FUNCTION) == !is_function && rows[i].pid &&
		    strcmp(rows[i].name, name) == 0)
			rows[i].flags |= PKBPF_REGION_LET_GO;
}
