// SPDX-License-Identifier: BSD-2-Clause
/* Prints what each block device did: requests, bytes, how long they took and waited. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "rows/devices.h"
#include "rows/human.h"
#include "report/text_sections.h"
#include "report/text_table.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

/* Widest bar of a histogram. */
#define BAR_COLUMNS 50

static void add_rate(struct text_table *table, uint64_t count, uint64_t interval_ns)
{
	double seconds = (double)interval_ns / NS_PER_SECOND, rate;

	if (!interval_ns) {
		text_table_cell(table, "-");
		return;
	}
	rate = (double)count / seconds;
	text_table_cellf(table, rate < 99.95 ? "%.1f" : "%.0f", rate);
}

static void add_times(struct text_table *table, const struct device_times *times)
{
	static const unsigned int permilles[] = {500, 950, 990};
	char buffer[HUMAN_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(permilles); i++) {
		if (times->histogram.count)
			text_table_cell(table,
					human_time(buffer, histogram_percentile(&times->histogram,
										permilles[i])));
		else
			text_table_cell(table, "-");
	}
	text_table_cell(table, human_time(buffer, times->max_ns));
}

static void add_operation(struct text_table *table, const struct text_report *report,
			  const char *name, unsigned int operation,
			  const struct device_operation *values)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, name);
	text_table_cell(table, device_operation_name(operation));
	text_table_cell(table, human_count(buffer, values->device.count));
	add_rate(table, values->device.count, text_interval_ns(report));
	text_table_cell(table, human_bytes(buffer, values->bytes));
	text_table_cell(table, "service");
	add_times(table, &values->device);
	for (int i = 0; i < 5; i++)
		text_table_cell(table, "");
	text_table_cell(table, "queue");
	add_times(table, &values->queue);
}

static int write_table(const struct text_report *report, const struct device_table *devices,
		       size_t shown)
{
	static const struct text_column columns[] = {
		{.title = "device", .left = true, .max_columns = 16, .flexible = true},
		{.title = "op", .left = true},
		{.title = "requests"},
		{.title = "IOPS"},
		{.title = "bytes"},
		{.title = "time", .left = true},
		{.title = "p50"},
		{.title = "p95"},
		{.title = "p99"},
		{.title = "max"},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	char buffer[32];

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++) {
		const struct device *device = devices->items[i];

		for (unsigned int operation = 0; operation < PKBPF_BLOCKIO_OPERATIONS;
		     operation++) {
			if (device->operations[operation].device.count)
				add_operation(table, report,
					      device_name(report->profile, device->number, buffer),
					      operation, &device->operations[operation]);
		}
	}
	return text_table_write(table, report->width, report->out);
}

/* Values per power of two. */
static void octaves_of(const struct device *device, uint64_t octaves[PKBPF_HISTOGRAM_MAX_BITS + 1])
{
	for (unsigned int operation = 0; operation < PKBPF_BLOCKIO_OPERATIONS; operation++) {
		const struct histogram *histogram = &device->operations[operation].device.histogram;

		for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++) {
			if (histogram->buckets[i])
				octaves[pkbpf_log2(histogram_bucket_low(i))] +=
					histogram->buckets[i];
		}
	}
}

static int write_histogram(const struct text_report *report, const struct device *device)
{
	static const struct text_column columns[] = {
		{.title = "from"},
		{.title = "to"},
		{.title = "requests"},
		{.title = "", .left = true},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	uint64_t octaves[PKBPF_HISTOGRAM_MAX_BITS + 1] = {0}, most = 0;
	unsigned int first = PKBPF_HISTOGRAM_MAX_BITS, last = 0;
	char buffer[HUMAN_SIZE], name[32], bar[BAR_COLUMNS + 1];

	if (!table)
		return -ENOMEM;
	octaves_of(device, octaves);
	for (unsigned int i = 0; i <= PKBPF_HISTOGRAM_MAX_BITS; i++) {
		if (!octaves[i])
			continue;
		first = i < first ? i : first;
		last = i;
		most = octaves[i] > most ? octaves[i] : most;
	}
	if (!most)
		return 0;
	for (unsigned int i = first; i <= last; i++) {
		size_t width = (size_t)((double)octaves[i] / (double)most * BAR_COLUMNS);

		memset(bar, '#', width);
		bar[width] = '\0';
		text_table_cell(table, human_time(buffer, i ? 1ULL << i : 0));
		text_table_cell(table, human_time(buffer, 2ULL << i));
		text_table_cell(table, human_count(buffer, octaves[i]));
		text_table_cell(table, octaves[i] && !width ? "." : bar);
	}
	text_heading(report, "Block device %s: service-time distribution",
		     device_name(report->profile, device->number, name));
	return text_table_write(table, report->width, report->out);
}

/* Requests that count although it is not known how long they took. */
static uint64_t unmeasured_requests(const struct device *device)
{
	uint64_t unmeasured = 0;

	for (unsigned int operation = 0; operation < PKBPF_BLOCKIO_OPERATIONS; operation++) {
		const struct device_times *times = &device->operations[operation].device;

		if (times->count > times->histogram.count)
			unmeasured += times->count - times->histogram.count;
	}
	return unmeasured;
}

int text_devices(const struct text_report *report)
{
	struct device_table devices = {0};
	uint64_t lower = 0, requests = 0, unmeasured = 0;
	size_t shown;
	char count[HUMAN_SIZE], line[256];
	int err;

	err = device_table_init(&devices, report->profile);
	if (err || !devices.count)
		return err;
	shown = devices.count < report->options->top ? devices.count : report->options->top;
	for (size_t i = 0; i < devices.count; i++) {
		requests += devices.items[i]->count;
		lower += devices.items[i]->lower_count;
		unmeasured += unmeasured_requests(devices.items[i]);
	}
	text_heading(report, "Block devices: %s", human_counted(count, requests, "requests"));
	err = write_table(report, &devices, shown);
	if (!err) {
		text_more(report, devices.count - shown, "devices");
		if (report->options->details)
			text_wrap(report->out, report->width, "", 1,
				  "(service: from issue to completion; queue: from insertion to "
				  "issue, 0 when issued at once; percentiles are within 3.1%)");
		if (unmeasured) {
			snprintf(line, sizeof(line),
				 "%s of these requests are in no distribution: in flight at the "
				 "end, without a completion event, or table full.",
				 human_count(count, unmeasured));
			text_wrap(report->out, report->width, "", 1, line);
		}
		if (lower) {
			snprintf(line, sizeof(line),
				 "%s of these requests were issued for a stacked device (loop, dm, "
				 "md) and are in this table only.",
				 human_count(count, lower));
			text_wrap(report->out, report->width, "", 1, line);
		}
	}
	for (size_t i = 0; !err && i < shown; i++)
		err = write_histogram(report, devices.items[i]);
	device_table_done(&devices);
	return err;
}
