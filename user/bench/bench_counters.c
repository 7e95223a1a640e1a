// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_counters.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/perf_event.h"
#include "machine/energy.h"
#include "machine/frequency.h"
#include "machine/temperature.h"

static const struct {
	enum bench_figure figure;
	uint32_t type;
	uint64_t config;
} events[] = {
	{BENCH_INSTRUCTIONS, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{BENCH_CYCLES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{BENCH_CACHE_REFERENCES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{BENCH_CACHE_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{BENCH_BRANCHES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{BENCH_BRANCH_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{BENCH_MIGRATIONS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

/* As read() gives it, by the format asked for. */
struct count {
	uint64_t value, enabled_ns, running_ns;
};

struct bench_counters {
	struct {
		int fd; /* -1: not here */
		struct count before;
	} events[ARRAY_SIZE(events)];
	bool has_energy;
	struct energy_meter energy;
};

static int open_event(size_t number, pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = events[number].type,
		.config = events[number].config,
		.inherit = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = perf_event_open_process(&attr, pid);

	/* Other users may count their own code alone. */
	attr.exclude_kernel = attr.exclude_hv = 1;
	return fd >= 0 || attr.type == PERF_TYPE_SOFTWARE ? fd
							  : perf_event_open_process(&attr, pid);
}

struct bench_counters *bench_counters_open(pid_t pid)
{
	struct bench_counters *counters = calloc(1, sizeof(*counters));
	struct error error;

	if (!counters)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		counters->events[i].fd = open_event(i, pid);
	counters->has_energy = energy_meter_open(&counters->energy, "", clock_now_ns(), &error);
	return counters;
}

/* Children that have exited are in their parent's event. */
static bool read_event(int fd, struct count *ret_count)
{
	return fd >= 0 && read(fd, ret_count, sizeof(*ret_count)) == (ssize_t)sizeof(*ret_count);
}

void bench_counters_begin(struct bench_counters *counters)
{
	double joules;

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (!read_event(counters->events[i].fd, &counters->events[i].before))
			counters->events[i].before = (struct count){0};
	counters->has_energy = counters->has_energy &&
			       energy_meter_read(&counters->energy, "", clock_now_ns(), &joules);
}

/* More events than the CPU has counters take turns: scaled up by the time each had one. */
static bool difference(const struct count *before, const struct count *after, double *ret_value)
{
	double value = (double)(after->value - before->value);
	double enabled = (double)(after->enabled_ns - before->enabled_ns);
	double running = (double)(after->running_ns - before->running_ns);

	if (running <= 0)
		return false;
	*ret_value = value * enabled / running;
	return true;
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
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct count after;
		double value;

		if (read_event(counters->events[i].fd, &after) &&
		    difference(&counters->events[i].before, &after, &value))
			bench_run_set(run, events[i].figure, value);
	}
	set_machine(counters, run);
}

void bench_counters_free(struct bench_counters *counters)
{
	if (!counters)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (counters->events[i].fd >= 0)
			close(counters->events[i].fd);
	free(counters);
}
