// SPDX-License-Identifier: BSD-2-Clause
/* Adds up times of threads, and lengths of waits and requests, per row. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "rows/resource_rows_work.h"

static void add_time(struct resource_row *row, const struct distribution *distribution)
{
	uint64_t total = distribution->total;

	switch (distribution->key.state) {
	case PKBPF_WAIT_NONE:
		row->on_cpu_ns += total;
		break;
	case PKBPF_WAIT_RUNQUEUE:
		/* Counts at every switch, and waits that are not over as well: better than the
		 * kernel's account. */
		row->runqueue_ns += total;
		break;
	case PKBPF_WAIT_SLEEP:
		row->sleep_ns += total;
		break;
	case PKBPF_WAIT_DISK:
		row->disk_ns += total;
		break;
	case PKBPF_WAIT_UNINTERRUPTIBLE:
		row->uninterruptible_ns += total;
		break;
	case PKBPF_WAIT_STOPPED:
		row->stopped_ns += total;
		break;
	}
	row->wall_ns += total;
	if (distribution->key.state != PKBPF_WAIT_NONE)
		row->offcpu_ns += total;
}

static void add_requests(struct resource_row *row, const struct distribution *distribution)
{
	unsigned int operation = distribution->key.state & PKBPF_BLOCKIO_OPERATION_MASK;

	row->requests += distribution->count;
	row->device_ns += distribution->total;
	if (operation == PKBPF_BLOCKIO_READ) {
		row->reads += distribution->count;
		row->read_bytes += distribution->bytes;
	} else if (operation == PKBPF_BLOCKIO_WRITE) {
		row->writes += distribution->count;
		row->written_bytes += distribution->bytes;
	}
}

static void add_numbers(struct resource_row *row, const struct distribution *distribution)
{
	const struct distribution_key *key = &distribution->key;

	if (key->kind == PKBPF_PROFILE_OFFCPU && key->measure == PKBPF_OFFCPU_TIME)
		add_time(row, distribution);
	else if (key->kind == PKBPF_PROFILE_OFFCPU && key->measure == PKBPF_OFFCPU_WAITS)
		/* Not those of the lengths: there a wait and its end on the run queue are two. */
		row->waits += distribution->count;
	else if (key->kind == PKBPF_PROFILE_BLOCKIO && key->measure == PKBPF_BLOCKIO_DEVICE_TIME)
		add_requests(row, distribution);
	else if (key->kind == PKBPF_PROFILE_BLOCKIO && key->measure == PKBPF_BLOCKIO_QUEUE_TIME)
		row->queue_ns += distribution->total;
}

/* The run queue is measured twice when off-CPU is recorded; the recorded one counts. */
static void forget_account_runqueue(struct rows_work *work)
{
	if (!(profile_info_read(work->profile)->kinds_mask & 1U << PKBPF_PROFILE_OFFCPU))
		return;
	array_foreach(&work->items, row)
		row->runqueue_ns = 0;
	work->rows->total.runqueue_ns = 0;
}

static int collect(struct rows_work *work)
{
	const struct distribution *distribution;

	forget_account_runqueue(work);
	for (size_t i = 0; (distribution = profile_distribution_at(work->profile, i)); i++) {
		struct row_share *share;
		uint32_t row =
			rows_work_row(work, distribution->key.process, distribution->key.tid);

		if (row == NO_ROW || !array_reserve(&work->shares, work->shares.count + 1))
			return -ENOMEM;
		share = array_add(&work->shares);
		*share = (struct row_share){row, distribution};
		add_numbers(&work->items.items[row], distribution);
		add_numbers(&work->rows->total, distribution);
	}
	return 0;
}

static int compare_shares(const void *left, const void *right)
{
	const struct row_share *a = left, *b = right;

	return a->row < b->row ? -1 : a->row > b->row;
}

static struct row_lengths lengths_of(const struct histogram *histogram)
{
	return (struct row_lengths){
		.p50_ns = histogram_percentile(histogram, 500),
		.p95_ns = histogram_percentile(histogram, 950),
		.p99_ns = histogram_percentile(histogram, 990),
		.max_ns = histogram->max,
	};
}

struct lengths_work {
	struct histogram wait, runqueue, disk, sleep, device, queue;
};

static void merge_lengths(struct lengths_work *lengths, const struct distribution *distribution)
{
	const struct distribution_key *key = &distribution->key;

	if (key->kind == PKBPF_PROFILE_OFFCPU && key->measure == PKBPF_OFFCPU_LENGTHS) {
		distribution_merge(distribution, &lengths->wait);
		if (key->state == PKBPF_WAIT_RUNQUEUE)
			distribution_merge(distribution, &lengths->runqueue);
		else if (key->state == PKBPF_WAIT_DISK)
			distribution_merge(distribution, &lengths->disk);
		else if (key->state == PKBPF_WAIT_SLEEP)
			distribution_merge(distribution, &lengths->sleep);
	} else if (key->kind == PKBPF_PROFILE_BLOCKIO &&
		   key->measure == PKBPF_BLOCKIO_DEVICE_TIME) {
		distribution_merge(distribution, &lengths->device);
	} else if (key->kind == PKBPF_PROFILE_BLOCKIO && key->measure == PKBPF_BLOCKIO_QUEUE_TIME) {
		distribution_merge(distribution, &lengths->queue);
	}
}

/* The sum of the values, those that are longer cut. */
static uint64_t sum_cut(const struct histogram *histogram, uint64_t longest)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_bucket_low(i), high = histogram_bucket_high(i);
		uint64_t middle = low + (high - low) / 2;

		if (histogram->buckets[i])
			sum += histogram->buckets[i] * (middle < longest ? middle : longest);
	}
	return sum;
}

static void store_lengths(struct resource_row *row, const struct lengths_work *lengths)
{
	row->wait = lengths_of(&lengths->wait);
	row->runqueue = lengths_of(&lengths->runqueue);
	row->disk = lengths_of(&lengths->disk);
	row->device = lengths_of(&lengths->device);
	row->queue = lengths_of(&lengths->queue);
	row->request_sleep_ns = sum_cut(&lengths->sleep, resource_row_request_ns(row));
}

static int fill_lengths(struct rows_work *work)
{
	_cleanup_free_ struct lengths_work *one = calloc(1, sizeof(*one)),
					   *all = calloc(1, sizeof(*all));

	if (!one || !all)
		return -ENOMEM;
	if (work->shares.count)
		qsort(work->shares.items, work->shares.count, sizeof(*work->shares.items),
		      compare_shares);
	for (size_t i = 0; i < work->shares.count;) {
		uint32_t row = work->shares.items[i].row;

		memset(one, 0, sizeof(*one));
		for (; i < work->shares.count && work->shares.items[i].row == row; i++) {
			merge_lengths(one, work->shares.items[i].distribution);
			merge_lengths(all, work->shares.items[i].distribution);
		}
		store_lengths(&work->items.items[row], one);
	}
	store_lengths(&work->rows->total, all);
	return 0;
}

int rows_work_add_distributions(struct rows_work *work)
{
	int err = collect(work);

	return err ? err : fill_lengths(work);
}
