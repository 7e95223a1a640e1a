// SPDX-License-Identifier: BSD-2-Clause
/* Adds up block requests. */
#include "rows/part/row_blockio.h"

#include <pkbpf/blockio.h>

#include "base/array.h"
#include "profile/account/distribution.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

static const struct figure figures[] = {
	FIGURE_ROW("blockio", "requests", COUNT, blockio.requests, ROW_HAS_BLOCKIO,
		   "block requests", .is_activity = true),
	FIGURE_ROW("blockio", "reads", COUNT, blockio.reads, ROW_HAS_BLOCKIO, "read requests"),
	FIGURE_ROW("blockio", "writes", COUNT, blockio.writes, ROW_HAS_BLOCKIO, "write requests"),
	FIGURE_ROW("blockio", "read", BYTES, blockio.read_bytes, ROW_HAS_BLOCKIO,
		   "bytes read from block devices"),
	FIGURE_ROW("blockio", "written", BYTES, blockio.written_bytes, ROW_HAS_BLOCKIO,
		   "bytes written to block devices"),
	FIGURE_ROW("blockio", "total", NS, blockio.device_ns, ROW_HAS_BLOCKIO,
		   "sum of service times"),
	FIGURE_LENGTHS("blockio", "", blockio.device, ROW_HAS_BLOCKIO, "service time"),
	FIGURE_LENGTHS("blockio", "queue_", blockio.queue, ROW_HAS_BLOCKIO, "queue time"),
};

static bool is_device_time(const struct distribution_key *key)
{
	return key->kind == PKBPF_PROFILE_BLOCKIO && key->measure == PKBPF_BLOCKIO_DEVICE_TIME;
}

static bool is_queue_time(const struct distribution_key *key)
{
	return key->kind == PKBPF_PROFILE_BLOCKIO && key->measure == PKBPF_BLOCKIO_QUEUE_TIME;
}

static const struct row_length lengths[] = {
	{is_device_time, offsetof(struct resource_row, blockio.device)},
	{is_queue_time, offsetof(struct resource_row, blockio.queue)},
};

static void add_requests(struct row_blockio *blockio, const struct distribution *distribution)
{
	unsigned int operation = distribution->key.state & PKBPF_BLOCKIO_OPERATION_MASK;

	blockio->requests += distribution->count;
	blockio->device_ns += distribution->total;
	if (operation == PKBPF_BLOCKIO_READ) {
		blockio->reads += distribution->count;
		blockio->read_bytes += distribution->bytes;
	} else if (operation == PKBPF_BLOCKIO_WRITE) {
		blockio->writes += distribution->count;
		blockio->written_bytes += distribution->bytes;
	}
}

static void add_distribution(struct resource_row *row, const struct distribution *distribution)
{
	if (is_device_time(&distribution->key))
		add_requests(&row->blockio, distribution);
	else if (is_queue_time(&distribution->key))
		row->blockio.queue_ns += distribution->total;
}

const struct row_part row_blockio_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.lengths = lengths,
	.length_count = ARRAY_SIZE(lengths),
	.add_distribution = add_distribution,
};
