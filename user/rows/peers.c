// SPDX-License-Identifier: BSD-2-Clause
/* Adds network messages up by process and peer. */
#include "rows/peers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int compare_u32(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int by_process_and_peer(const void *left, const void *right)
{
	const struct distribution_key *a = &(*(const struct distribution *const *)left)->key,
				      *b = &(*(const struct distribution *const *)right)->key;
	int order = compare_u32(a->process, b->process);

	order = order ? order : compare_u32(a->device, b->device);
	order = order ? order : compare_u32(a->measure, b->measure);
	order = order ? order : compare_u32(a->state, b->state);
	return order ? order : compare_u32(a->tid, b->tid);
}

static int by_messages(const void *left, const void *right)
{
	const struct peer_row *a = left, *b = right;
	uint64_t a_count = a->sent + a->received, b_count = b->sent + b->received;
	int order;

	if (a_count != b_count)
		return a_count < b_count ? 1 : -1;
	if (a->failures != b->failures)
		return a->failures < b->failures ? 1 : -1;
	order = compare_u32(a->process, b->process);
	return order ? order : compare_u32(a->number, b->number);
}

static struct peer_lengths *lengths_of(struct peer_row *row, uint8_t measure)
{
	switch (measure) {
	case PKBPF_NETWORK_CONNECTS:
		return &row->connects;
	case PKBPF_NETWORK_ROUND_TRIPS:
		return &row->round_trips;
	case PKBPF_NETWORK_RESPONSES:
		return &row->responses;
	case PKBPF_NETWORK_WAITS:
		return &row->waits;
	}
	return NULL;
}

static void add_messages(struct peer_row *row, const struct distribution *part)
{
	if (part->key.state == PKBPF_NETWORK_SENT) {
		row->sent += part->count;
		row->sent_bytes += part->bytes;
	} else {
		row->received += part->count;
		row->received_bytes += part->bytes;
	}
}

static void add_queue(struct peer_row *row, const struct distribution *part)
{
	uint64_t *most = part->key.state == PKBPF_NETWORK_SENT ? &row->send_queue_max
							       : &row->receive_queue_max;

	*most = part->max > *most ? part->max : *most;
}

static void add_part(struct peer_row *row, const struct distribution *part)
{
	struct peer_lengths *lengths = lengths_of(row, part->key.measure);

	if (lengths) {
		lengths->count += part->count;
		lengths->total_ns += part->total;
		if (part->max > lengths->lengths.max_ns)
			lengths->lengths.max_ns = part->max;
		return;
	}
	switch (part->key.measure) {
	case PKBPF_NETWORK_MESSAGES:
		add_messages(row, part);
		break;
	case PKBPF_NETWORK_ACCEPTS:
		row->accepts += part->count;
		break;
	case PKBPF_NETWORK_FAILURES:
		row->failures += part->count;
		break;
	case PKBPF_NETWORK_RETRANSMITS:
		row->retransmits += part->count;
		break;
	case PKBPF_NETWORK_QUEUES:
		add_queue(row, part);
		break;
	}
}

/* Percentiles of each measure: its parts are beside each other. */
static void finish_lengths(struct peer_row *row)
{
	for (size_t i = 0; i < row->part_count;) {
		uint8_t measure = row->parts[i]->key.measure;
		struct peer_lengths *lengths = lengths_of(row, measure);
		struct histogram histogram = {0};

		for (; i < row->part_count && row->parts[i]->key.measure == measure; i++)
			if (lengths)
				distribution_merge(row->parts[i], &histogram);
		if (!lengths || !histogram.count)
			continue;
		lengths->lengths.p50_ns = histogram_percentile(&histogram, 500);
		lengths->lengths.p95_ns = histogram_percentile(&histogram, 950);
		lengths->lengths.p99_ns = histogram_percentile(&histogram, 990);
	}
}

static size_t collect_parts(struct peer_rows *rows, const struct profile *profile)
{
	const struct distribution *part;
	size_t count = 0;

	for (size_t i = 0; (part = profile_distribution_at(profile, i)); i++)
		if (part->key.kind == PKBPF_PROFILE_NETWORK)
			rows->parts[count++] = part;
	return count;
}

int peer_rows_init(struct peer_rows *rows, const struct profile *profile)
{
	size_t count = 0;

	*rows = (struct peer_rows){0};
	while (profile_distribution_at(profile, count))
		count++;
	rows->parts = calloc(count + 1, sizeof(const struct distribution *));
	rows->items = calloc(count + 1, sizeof(*rows->items));
	if (!rows->parts || !rows->items) {
		peer_rows_done(rows);
		return -ENOMEM;
	}
	count = collect_parts(rows, profile);
	qsort(rows->parts, count, sizeof(rows->parts[0]), by_process_and_peer);
	for (size_t i = 0; i < count; i++) {
		const struct distribution_key *key = &rows->parts[i]->key;
		struct peer_row *row = rows->count ? &rows->items[rows->count - 1] : NULL;

		if (!row || row->process != key->process || row->number != key->device) {
			row = &rows->items[rows->count++];
			row->process = key->process;
			row->number = key->device;
			row->peer = peer_table_at(profile_peers(profile), key->device);
			row->parts = &rows->parts[i];
		}
		row->part_count++;
		add_part(row, rows->parts[i]);
	}
	for (size_t i = 0; i < rows->count; i++)
		finish_lengths(&rows->items[i]);
	qsort(rows->items, rows->count, sizeof(*rows->items), by_messages);
	return 0;
}

void peer_rows_done(struct peer_rows *rows)
{
	free(rows->items);
	free(rows->parts);
	*rows = (struct peer_rows){0};
}
