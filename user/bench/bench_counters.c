// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_counters.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/event_counts.h"
#include "machine/energy.h"
#include "machine/frequency.h"
#include "machine/temperature.h"

static const struct counted_event events[] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};
static const enum bench_figure figures[ARRAY_SIZE(events)] = {
	BENCH_INSTRUCTIONS, BENCH_CYCLES,	 BENCH_CACHE_REFERENCES, BENCH_CACHE_MISSES,
	BENCH_BRANCHES,	    BENCH_BRANCH_MISSES, BENCH_MIGRATIONS,
};

struct bench_counters {
	struct event_counts *counts; /* NULL: none here */
	bool has_energy;
	struct energy_meter energy;
};

struct bench_counters *bench_counters_open(pid_t pid)
{
	struct bench_counters *counters = calloc(1, sizeof(*counters));
	struct error error;

	if (!counters)
		return NULL;
	counters->counts =
		event_counts_open_process(events, ARRAY_SIZE(events), (uint32_t)pid, &error);
	counters->has_energy = energy_meter_open(&counters->energy, "", clock_now_ns(), &error);
	return counters;
}

void bench_counters_begin(struct bench_counters *counters)
{
	struct event_count ignored[EVENT_COUNTS_MAX];
	double joules;

	if (counters->counts)
		event_counts_read(counters->counts, ignored);
	counters->has_energy = counters->has_energy &&
			       energy_meter_read(&counters->energy, "", clock_now_ns(), &joules);
}

static void set_machine(struct bench_counters *counters, struct bench_run *run)
{
	struct temperature temperature;
	struct frequency frequency;
	struct error error;
	double joules;

	if (counters->has_energy &&
	    energy_meter_read(&counters->energy, "", clock_now_ns(), &joules))
		bench_run_set(run, BENCH_ENERGY, joules);
	if (temperature_read("", &temperature, &error) && temperature.celsius >= 0)
		bench_run_set(run, BENCH_TEMPERATURE, temperature.celsius);
	if (frequency_read("", &frequency, &error))
		bench_run_set(run, BENCH_FREQUENCY, frequency.mean_hz);
}

void bench_counters_end(struct bench_counters *counters, struct bench_run *run)
{
	struct event_count counted[EVENT_COUNTS_MAX] = {{0}};

	if (counters->counts)
		event_counts_read(counters->counts, counted);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (counted[i].known)
			bench_run_set(run, figures[i], counted[i].value);
	set_machine(counters, run);
}

void bench_counters_free(struct bench_counters *counters)
{
	if (!counters)
		return;
	event_counts_free(counters->counts);
	free(counters);
}
