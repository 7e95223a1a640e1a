// SPDX-License-Identifier: BSD-2-Clause
/* Adds block I/O up by device. */
#include "rows/devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash_map.h"

static void add_times(struct device_times *times, const struct distribution *distribution)
{
	times->count += distribution->count;
	times->total_ns += distribution->total;
	if (distribution->max > times->max_ns)
		times->max_ns = distribution->max;
	distribution_merge(distribution, &times->histogram);
}

static void add_distribution(struct device *device, const struct distribution *distribution)
{
	unsigned int operation = distribution->key.state & PKBPF_BLOCKIO_OPERATION_MASK;
	struct device_operation *into =
		&device->operations[operation < PKBPF_BLOCKIO_OPERATIONS ? operation
									 : PKBPF_BLOCKIO_OTHER];

	switch (distribution->key.measure) {
	case PKBPF_BLOCKIO_LOWER_DEVICE_TIME:
		device->lower_count += distribution->count;
		/* fall through */
	case PKBPF_BLOCKIO_DEVICE_TIME:
		device->count += distribution->count;
		device->bytes += distribution->bytes;
		into->bytes += distribution->bytes;
		into->open |= distribution->open;
		add_times(&into->device, distribution);
		break;
	case PKBPF_BLOCKIO_QUEUE_TIME:
	case PKBPF_BLOCKIO_LOWER_QUEUE_TIME:
		add_times(&into->queue, distribution);
		break;
	}
}

static int by_count(const void *a, const void *b)
{
	const struct device *one = *(struct device *const *)a, *other = *(struct device *const *)b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return one->number < other->number ? -1 : one->number > other->number;
}

static struct device *device_get(struct device_table *table, struct hash_map *numbers,
				 uint32_t number)
{
	struct device **items, *device;
	uint64_t *index;
	bool added;

	index = hash_map_get(numbers, number, table->count, &added);
	if (!index)
		return NULL;
	if (!added)
		return table->items[*index];
	items = realloc(table->items, (table->count + 1) * sizeof(struct device *));
	if (!items)
		return NULL;
	table->items = items;
	device = calloc(1, sizeof(*device));
	if (!device)
		return NULL;
	device->number = number;
	items[table->count++] = device;
	return device;
}

int device_table_init(struct device_table *table, const struct profile *profile)
{
	const struct distribution *distribution;
	struct hash_map numbers = {0};
	int err = 0;

	for (size_t i = 0; !err && (distribution = profile_distribution_at(profile, i)); i++) {
		struct device *device;

		if (distribution->key.kind != PKBPF_PROFILE_BLOCKIO)
			continue;
		device = device_get(table, &numbers, distribution->key.device);
		if (device)
			add_distribution(device, distribution);
		else
			err = -ENOMEM;
	}
	hash_map_done(&numbers);
	if (err)
		device_table_done(table);
	else if (table->count)
		qsort(table->items, table->count, sizeof(struct device *), by_count);
	return err;
}

void device_table_done(struct device_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->items[i]);
	free(table->items);
	table->items = NULL;
	table->count = 0;
}

const char *device_operation_name(unsigned int operation)
{
	static const char *const names[PKBPF_BLOCKIO_OPERATIONS] = {
		[PKBPF_BLOCKIO_READ] = "read",	 [PKBPF_BLOCKIO_WRITE] = "write",
		[PKBPF_BLOCKIO_FLUSH] = "flush", [PKBPF_BLOCKIO_DISCARD] = "discard",
		[PKBPF_BLOCKIO_OTHER] = "other",
	};

	return operation < PKBPF_BLOCKIO_OPERATIONS && names[operation] ? names[operation]
									: "other";
}

const char *device_name(const struct profile *profile, uint32_t number, char buffer[32])
{
	const char *name = profile_device_name(profile, number);

	if (name)
		return name;
	snprintf(buffer, 32, "%u:%u", number >> 20, number & 0xfffff);
	return buffer;
}
