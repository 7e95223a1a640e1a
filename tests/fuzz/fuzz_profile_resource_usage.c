// SPDX-License-Identifier: BSD-2-Clause
/* Feeds any records to the account of resources and tells processes in groups meanwhile: nothing is
 * read beyond them, and what comes out adds up. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event/decoder.h"
#include "profile/account/resource_usage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void read_back(const struct resource_usage *usage)
{
	struct resource_thread thread;

	for (size_t i = 0; i < resource_usage_process_count(usage); i++) {
		struct resource_process process = resource_usage_process(usage, i);

		require(process.used.user_ns + process.used.system_ns == process.used.run_ns);
		require(strlen(process.comm) <= PKBPF_COMM_SIZE);
		require(process.threads <= process.threads_seen);
		resource_usage_cgroup(usage, process.cgroup_id);
	}
	for (size_t i = 0; i < resource_usage_thread_count(usage); i++)
		if (resource_usage_thread(usage, i, &thread))
			require(thread.process < resource_usage_process_count(usage));
}

/* Sums over all processes, which telling them in groups does not change. */
struct sums {
	uint64_t run_ns, threads_seen, processes;
};

static struct sums sums_of(const struct resource_usage *usage)
{
	struct sums sums = {0};

	for (size_t i = 0; i < resource_usage_process_count(usage); i++) {
		struct resource_process process = resource_usage_process(usage, i);

		sums.run_ns += process.used.run_ns;
		sums.threads_seen += process.threads_seen;
		sums.processes += process.processes;
	}
	return sums;
}

/* Every other one, so that some stay. */
static void merge(struct resource_usage *usage)
{
	size_t count = resource_usage_process_count(usage);
	struct sums before = sums_of(usage), after;
	bool *chosen = calloc(count + 1, sizeof(*chosen));
	uint32_t *numbers = NULL;

	require(chosen);
	for (size_t i = 0; i < count; i += 2)
		chosen[i] = true;
	require(resource_usage_merge(usage, chosen, UINT64_MAX / 2, &numbers) == 0);
	for (size_t i = 0; i < count; i++)
		require(numbers[i] < resource_usage_process_count(usage));
	after = sums_of(usage);
	require(after.run_ns == before.run_ns && after.threads_seen == before.threads_seen &&
		after.processes == before.processes);
	free(numbers);
	free(chosen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct resource_usage *usage = resource_usage_new();
	struct pkbpf_event_header header;
	size_t records = 0;

	require(usage);
	while (event_check_header(data, size, &header) == 0) {
		/* Memory of exactly its size: a sanitizer sees what reads beyond. */
		void *record = malloc(header.size);

		require(record);
		memcpy(record, data, header.size);
		resource_usage_feed(usage, record);
		free(record);
		if (++records % 8 == 0)
			merge(usage);
		data += header.size;
		size -= header.size;
	}
	read_back(usage);
	merge(usage);
	read_back(usage);
	resource_usage_free(usage);
	return 0;
}
