// SPDX-License-Identifier: BSD-2-Clause
/* Writes the block devices with the histograms of their latencies. */
#include "base/cleanup.h"
#include "export/json/json_sections.h"
#include "rows/devices.h"

void json_histogram(struct json_writer *writer, const struct histogram *histogram)
{
	json_writer_array_begin(writer, "histogram");
	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++) {
		if (!histogram->buckets[i])
			continue;
		json_writer_object_begin(writer, NULL);
		json_writer_u64(writer, "from_ns", histogram_bucket_low(i));
		json_writer_u64(writer, "to_ns", histogram_bucket_high(i));
		json_writer_u64(writer, "count", histogram->buckets[i]);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static void write_times(struct json_writer *writer, const char *key,
			const struct device_times *times)
{
	json_writer_object_begin(writer, key);
	json_writer_u64(writer, "total_ns", times->total_ns);
	json_writer_u64(writer, "p50_ns", histogram_percentile(&times->histogram, 500));
	json_writer_u64(writer, "p95_ns", histogram_percentile(&times->histogram, 950));
	json_writer_u64(writer, "p99_ns", histogram_percentile(&times->histogram, 990));
	json_writer_u64(writer, "max_ns", times->max_ns);
	json_histogram(writer, &times->histogram);
	json_writer_object_end(writer);
}

static void write_device(struct json_writer *writer, const struct profile *profile,
			 const struct device *device)
{
	char buffer[32];

	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "name", device_name(profile, device->number, buffer));
	json_writer_u64(writer, "major", device->number >> 20);
	json_writer_u64(writer, "minor", device->number & 0xfffff);
	json_writer_u64(writer, "requests", device->count);
	json_writer_u64(writer, "bytes", device->bytes);
	json_writer_u64(writer, "requests_of_other_devices", device->lower_count);
	json_writer_array_begin(writer, "operations");
	for (unsigned int i = 0; i < PKBPF_BLOCKIO_OPERATIONS; i++) {
		const struct device_operation *operation = &device->operations[i];

		if (!operation->device.count)
			continue;
		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "operation", device_operation_name(i));
		json_writer_u64(writer, "requests", operation->device.count);
		json_writer_u64(writer, "bytes", operation->bytes);
		write_times(writer, "device_time", &operation->device);
		write_times(writer, "queue_time", &operation->queue);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
	json_writer_object_end(writer);
}

int json_devices(struct json_writer *writer, const struct profile *profile)
{
	_cleanup_(device_table_done) struct device_table table = {0};
	int err = device_table_init(&table, profile);

	if (err)
		return err;
	json_writer_array_begin(writer, "devices");
	for (size_t i = 0; i < table.count; i++)
		write_device(writer, profile, table.items[i]);
	json_writer_array_end(writer);
	return 0;
}
