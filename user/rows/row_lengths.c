// SPDX-License-Identifier: BSD-2-Clause
/* Adds up times of threads, and lengths of waits and requests, per row. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "rows/resource_rows_work.h"

static void add_numbers(struct resource_row *row, const struct distribution *distribution)
{
	const struct row_part *part;

	for (size_t i = 0; (part = row_part_at(i)); i++)
		if (part->add_distribution)
			part->add_distribution(row, distribution);
}

/* How much of the lengths of waits, of requests and messages were in a region is not kept. */
static bool is_of_row(const struct rows_work *work, const struct distribution *distribution)
{
	return !rows_are_of_regions(work->rows->by) ||
	       (distribution->key.kind == PKBPF_PROFILE_OFFCPU &&
		distribution->key.measure == PKBPF_OFFCPU_TIME);
}

static int collect(struct rows_work *work)
{
	const struct distribution *distribution;

	for (size_t i = 0; (distribution = profile_distribution_at(work->profile, i)); i++) {
		struct row_share *share;
		uint32_t row =
			rows_work_row(work, distribution->key.process, distribution->key.tid);

		if (row == NO_ROW || !array_reserve(&work->shares, work->shares.count + 1))
			return -ENOMEM;
		share = array_add(&work->shares);
		*share = (struct row_share){row, distribution};
		if (is_of_row(work, distribution))
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

/* The lengths of all parts, one part behind the other. */
static size_t lengths_count(void)
{
	const struct row_part *part;
	size_t count = 0;

	for (size_t i = 0; (part = row_part_at(i)); i++)
		count += part->length_count;
	return count;
}

static void merge_lengths(struct histogram *histograms, const struct distribution *distribution)
{
	const struct row_part *part;

	for (size_t i = 0; (part = row_part_at(i)); i++) {
		for (size_t j = 0; j < part->length_count; j++)
			if (part->lengths[j].has(&distribution->key))
				distribution_merge(distribution, &histograms[j]);
		histograms += part->length_count;
	}
}

static void store_lengths(struct resource_row *row, const struct histogram *histograms)
{
	const struct histogram *of_part = histograms;
	const struct row_part *part;

	for (size_t i = 0; (part = row_part_at(i)); i++) {
		for (size_t j = 0; j < part->length_count; j++) {
			struct row_lengths lengths = lengths_of(&of_part[j]);

			if (part->lengths[j].offset)
				memcpy((char *)row + part->lengths[j].offset, &lengths,
				       sizeof(lengths));
		}
		of_part += part->length_count;
	}
	for (size_t i = 0; (part = row_part_at(i)); i++) {
		if (part->after_lengths)
			part->after_lengths(row, histograms);
		histograms += part->length_count;
	}
}

/* Most of them are empty for most rows, and each is kilobytes. */
static void clear_used(struct histogram *histograms, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (histograms[i].count || histograms[i].sum || histograms[i].max)
			memset(&histograms[i], 0, sizeof(histograms[i]));
}

static int fill_lengths(struct rows_work *work)
{
	size_t count = lengths_count();
	_cleanup_free_ struct histogram *one = calloc(count, sizeof(*one)),
					*all = calloc(count, sizeof(*all));

	if (!one || !all)
		return -ENOMEM;
	if (work->shares.count)
		qsort(work->shares.items, work->shares.count, sizeof(*work->shares.items),
		      compare_shares);
	for (size_t i = 0; i < work->shares.count;) {
		uint32_t row = work->shares.items[i].row;

		clear_used(one, count);
		for (; i < work->shares.count && work->shares.items[i].row == row; i++) {
			merge_lengths(one, work->shares.items[i].distribution);
			merge_lengths(all, work->shares.items[i].distribution);
		}
		if (!rows_are_of_regions(work->rows->by))
			store_lengths(&work->items.items[row], one);
	}
	store_lengths(&work->rows->total, all);
	work->rows->shares = work->shares.items;
	work->rows->share_count = work->shares.count;
	memset(&work->shares, 0, sizeof(work->shares));
	return 0;
}

/* The first share of a row, or of one behind it. */
static size_t first_share(const struct resource_rows *rows, uint32_t number)
{
	size_t first = 0, past = rows->share_count;

	while (first < past) {
		size_t middle = first + (past - first) / 2;

		if (rows->shares[middle].row < number)
			first = middle + 1;
		else
			past = middle;
	}
	return first;
}

int resource_rows_merge_lengths(const struct resource_rows *rows,
				const struct resource_row *const *members, size_t count,
				struct resource_row *sum)
{
	_cleanup_free_ struct histogram *all = NULL;

	if (!rows->share_count)
		return 0;
	all = calloc(lengths_count(), sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		for (size_t j = first_share(rows, members[i]->number);
		     j < rows->share_count && rows->shares[j].row == members[i]->number; j++)
			merge_lengths(all, rows->shares[j].distribution);
	store_lengths(sum, all);
	return 0;
}

int rows_work_add_distributions(struct rows_work *work)
{
	int err = collect(work);

	return err ? err : fill_lengths(work);
}
