/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests, bytes and latency of each block device in the interval, over all processes. */
#ifndef PKBPF_ROWS_DEVICES_H
#define PKBPF_ROWS_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/blockio.h>

#include "base/histogram.h"
#include "profile/profile.h"

struct device_times {
	uint64_t count, total_ns, max_ns;
	/* may hold fewer values than count: what is still in flight has no length */
	struct histogram histogram;
};

struct device_operation {
	uint64_t bytes;
	uint64_t open; /* 1 if some requests were cut at the end of the interval */
	struct device_times device, queue;
};

struct device {
	uint32_t number; /* major << 20 | minor */
	uint64_t count, bytes;
	/* Carries out requests of another device (loop) too, which were counted there. */
	uint64_t lower_count;
	struct device_operation operations[PKBPF_BLOCKIO_OPERATIONS];
};

struct device_table {
	struct device **items; /* most requests first */
	size_t count;
};

/* Zero-initialised is empty. -ENOMEM. */
int device_table_init(struct device_table *table, const struct profile *profile);
void device_table_done(struct device_table *table);

/* "read", "write", "flush", "discard", "other" */
const char *device_operation_name(unsigned int operation);
/* "vda", or "254:0" when its name is not known. */
const char *device_name(const struct profile *profile, uint32_t number, char buffer[32]);

#endif
