// SPDX-License-Identifier: BSD-2-Clause
#include "live/live_machine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/named_line.h"
#include "capture/cpu_list.h"
#include "machine/frequency.h"
#include "machine/sysfs_value.h"
#include "machine/temperature.h"

/* Temperatures change within seconds; a pause a thousand times as long as a reading bounds its
 * price on machines with hundreds of CPUs. */
#define LOOK_NS	   NS_PER_SECOND
#define LOOK_RATIO 1000
/* More threads than that would take too many open files. */
#define THREADS_MAX   256
#define BYTES_PER_KIB 1024

static const struct counted_event events[MACHINE_COUNT_KINDS] = {
	[MACHINE_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	[MACHINE_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	[MACHINE_CACHE_REFERENCES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	[MACHINE_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	[MACHINE_BRANCHES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	[MACHINE_BRANCH_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
};

static void copy_reason(char reason[MACHINE_REASON_SIZE], const struct error *error)
{
	snprintf(reason, MACHINE_REASON_SIZE, "%.*s", MACHINE_REASON_SIZE - 1, error->text);
}

/* ---- sysfs ---- */

static void read_energy(struct live_machine *machine, uint64_t now_ns)
{
	struct machine_figures *figures = &machine->figures;
	double joules;

	if (!machine->has_energy)
		return;
	machine->has_energy = energy_meter_read(&machine->energy, machine->root, now_ns, &joules);
	if (!machine->has_energy) {
		snprintf(figures->energy_reason, MACHINE_REASON_SIZE, "%s cannot be read any more",
			 machine->energy.name);
		return;
	}
	figures->energy_uj += (uint64_t)(joules * 1e6);
	figures->energy_ns += now_ns - machine->energy_ns;
	machine->energy_ns = now_ns;
	snprintf(figures->energy_source, MACHINE_SOURCE_SIZE, "%s", machine->energy.name);
}

static void read_temperature(struct live_machine *machine)
{
	struct machine_figures *figures = &machine->figures;
	struct temperature temperature;
	struct error error;
	uint64_t throttles, millicelsius;

	if (!temperature_read(machine->root, &temperature, &error)) {
		if (!figures->temperature_source[0])
			copy_reason(figures->temperature_reason, &error);
	} else {
		millicelsius =
			temperature.celsius > 0 ? (uint64_t)(temperature.celsius * 1000 + 0.5) : 0;
		if (!figures->temperature_source[0] || millicelsius > figures->millicelsius) {
			figures->millicelsius = millicelsius;
			snprintf(figures->temperature_source, MACHINE_SOURCE_SIZE, "%s",
				 temperature.sensor);
		}
		figures->temperature_reason[0] = '\0';
	}
	if (throttle_count_read(machine->root, &throttles)) {
		/* A CPU that went offline has taken its count along. */
		if (throttles > machine->throttles)
			figures->throttles += throttles - machine->throttles;
		machine->throttles = throttles;
		figures->throttles_known = true;
	}
}

static void read_frequency(struct live_machine *machine)
{
	struct machine_figures *figures = &machine->figures;
	struct frequency frequency;
	struct error error;

	if (!frequency_read(machine->root, &frequency, &error)) {
		if (!figures->frequency_readings)
			copy_reason(figures->frequency_reason, &error);
		return;
	}
	figures->frequency_reason[0] = '\0';
	if (!figures->frequency_readings || frequency.min_hz < (double)figures->min_hz)
		figures->min_hz = (uint64_t)frequency.min_hz;
	if (frequency.max_hz > (double)figures->max_hz)
		figures->max_hz = (uint64_t)frequency.max_hz;
	figures->base_hz = (uint64_t)frequency.base_hz;
	figures->frequency_sum_hz += (uint64_t)frequency.mean_hz;
	figures->frequency_readings++;
}

static void read_memory(struct live_machine *machine)
{
	struct machine_figures *figures = &machine->figures;
	_cleanup_free_ char *text = sysfs_text(machine->root, "/proc/meminfo");
	uint64_t total = text ? named_number(text, "MemTotal:") : 0,
		 available = text ? named_number(text, "MemAvailable:") : 0;

	if (total > available &&
	    (total - available) * BYTES_PER_KIB > figures->memory_used_peak_bytes)
		figures->memory_used_peak_bytes = (total - available) * BYTES_PER_KIB;
}

static void read_all(struct live_machine *machine, uint64_t now_ns)
{
	read_memory(machine);
	read_energy(machine, now_ns);
	read_temperature(machine);
	read_frequency(machine);
}

/* ---- counters ---- */

/* false: too many. A process that has ended has no threads. */
static bool add_threads(uint32_t pid, uint32_t tids[THREADS_MAX], size_t *count)
{
	char path[64];
	struct dirent *entry;
	DIR *folder;
	bool fits = true;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	folder = opendir(path);
	while (folder && fits && (entry = readdir(folder))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		fits = *count < THREADS_MAX;
		if (fits)
			tids[(*count)++] = (uint32_t)strtoul(entry->d_name, NULL, 10);
	}
	if (folder)
		closedir(folder);
	return fits;
}

static bool add_target(const struct live_counted *counted, uint32_t pid, uint32_t tids[THREADS_MAX],
		       size_t *count)
{
	if (!counted->are_threads)
		return add_threads(pid, tids, count);
	if (*count == THREADS_MAX)
		return false;
	tids[(*count)++] = pid;
	return true;
}

static struct event_counts *open_counts(const struct live_counted *counted, struct error *error)
{
	_cleanup_close_ int cgroup_fd = -1;
	uint32_t tids[THREADS_MAX];
	struct event_scope scope = {.tids = tids, .cpu_count = cpu_list_possible_bound()};

	if (counted->refusal) {
		error_set(error, ENOTSUP, "%s", counted->refusal);
		return NULL;
	}
	for (size_t i = 0; i < counted->pid_count; i++)
		if (!add_target(counted, counted->pids[i], tids, &scope.tid_count)) {
			error_set(error, E2BIG,
				  "those of more than %d threads are not read; choose fewer "
				  "processes",
				  THREADS_MAX);
			return NULL;
		}
	if (counted->pid_count && !scope.tid_count) {
		error_set(error, ESRCH, "the processes to be counted have ended");
		return NULL;
	}
	if (counted->cgroup_path) {
		cgroup_fd = open(counted->cgroup_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (cgroup_fd < 0) {
			error_set(error, errno, "those of cgroup %s cannot be read: %m",
				  counted->cgroup_path);
			return NULL;
		}
	}
	scope.cgroup_fd = cgroup_fd;
	return event_counts_open(events, MACHINE_COUNT_KINDS, &scope, error);
}

static void read_counts(struct live_machine *machine)
{
	struct machine_figures *figures = &machine->figures;
	struct event_count counts[EVENT_COUNTS_MAX];

	if (!machine->counts)
		return;
	event_counts_read(machine->counts, counts);
	for (int i = 0; i < MACHINE_COUNT_KINDS; i++) {
		if (!counts[i].known)
			continue;
		figures->counts_known |= 1U << i;
		figures->counts_scaled |= counts[i].scaled ? 1U << i : 0;
		figures->counts[i] = (uint64_t)counts[i].value;
	}
}

/* ---- the interval ---- */

void live_machine_begin(struct live_machine *machine, const char *root,
			const struct live_counted *counted, uint64_t now_ns)
{
	struct error error;

	*machine = (struct live_machine){.root = root, .figures.known = true};
	machine->has_energy = energy_meter_open(&machine->energy, root, now_ns, &error);
	machine->energy_ns = now_ns;
	if (!machine->has_energy)
		copy_reason(machine->figures.energy_reason, &error);
	if (!throttle_count_read(root, &machine->throttles))
		machine->throttles = 0;
	if (counted && counted->wanted) {
		machine->counts = open_counts(counted, &error);
		if (!machine->counts)
			copy_reason(machine->figures.counts_reason, &error);
	}
	machine->next_ns = 0;
	live_machine_look(machine, now_ns);
}

void live_machine_look(struct live_machine *machine, uint64_t now_ns)
{
	uint64_t took_ns;

	if (!machine->root || now_ns < machine->next_ns)
		return;
	took_ns = clock_now_ns();
	read_all(machine, now_ns);
	took_ns = clock_now_ns() - took_ns;
	machine->next_ns =
		now_ns + (took_ns * LOOK_RATIO > LOOK_NS ? took_ns * LOOK_RATIO : LOOK_NS);
}

struct machine_figures live_machine_cut(struct live_machine *machine, uint64_t now_ns)
{
	struct machine_figures ended;

	if (!machine->root)
		return (struct machine_figures){.known = false};
	read_all(machine, now_ns);
	read_counts(machine);
	ended = machine->figures;
	machine->figures = (struct machine_figures){.known = true};
	snprintf(machine->figures.energy_reason, MACHINE_REASON_SIZE, "%s", ended.energy_reason);
	snprintf(machine->figures.counts_reason, MACHINE_REASON_SIZE, "%s", ended.counts_reason);
	return ended;
}

void live_machine_done(struct live_machine *machine)
{
	event_counts_free(machine->counts);
	machine->counts = NULL;
}
