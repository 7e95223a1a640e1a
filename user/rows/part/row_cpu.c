// SPDX-License-Identifier: BSD-2-Clause
/* Adds up CPU time, context switches and CPU samples. */
#include "rows/part/row_cpu.h"

#include "base/array.h"
#include "base/unused.h"
#include "rows/figure.h"
#include "rows/human.h"
#include "rows/resource_rows.h"

static const struct figure figures[] = {
	FIGURE_ROW("cpu", "total", NS, cpu.total_ns, 0, "CPU time", .is_activity = true),
	FIGURE_ROW("cpu", "user", NS, cpu.user_ns, ROW_HAS_USAGE, "CPU time in user mode"),
	FIGURE_ROW("cpu", "system", NS, cpu.system_ns, ROW_HAS_USAGE, "CPU time in kernel mode"),
	FIGURE_ROW("cpu", "share", PERCENT, cpu.share, ROW_HAS_INTERVAL, "share of one CPU",
		   .is_rate = true),
	FIGURE_ROW("cpu", "energy_mj", COUNT, cpu.energy_mj, ROW_HAS_ENERGY,
		   "energy of the machine in mJ, by the share of the CPU time of all CPUs"),
	FIGURE_ROW("cpu", "samples", COUNT, cpu.samples, ROW_HAS_SAMPLES, "CPU samples",
		   .is_activity = true),
	FIGURE_ROW("cpu", "voluntary", COUNT, cpu.voluntary, ROW_HAS_USAGE,
		   "voluntary context switches", .is_activity = true),
	FIGURE_ROW("cpu", "involuntary", COUNT, cpu.involuntary, ROW_HAS_USAGE,
		   "involuntary context switches", .is_activity = true),
};

static void add_used(struct resource_row *row, const struct resource_counters *used)
{
	row->cpu.total_ns += used->run_ns;
	row->cpu.user_ns += used->user_ns;
	row->cpu.system_ns += used->system_ns;
	row->cpu.voluntary += used->voluntary_switches;
	row->cpu.involuntary += used->involuntary_switches;
}

static void add_stack(_unused_ const struct resource_rows *rows, struct resource_row *row,
		      const struct profile_row *stack)
{
	if (stack->kind != PKBPF_PROFILE_CPU)
		return;
	row->cpu.samples += stack->count;
	row->cpu.periods += stack->weight;
}

static bool is_sampled(const struct profile_info *info)
{
	return info->kinds_mask & 1U << PKBPF_PROFILE_CPU && info->frequency_hz;
}

void row_cpu_estimate(const struct resource_rows *rows, struct resource_row *row)
{
	const struct profile_info *info = profile_info_read(rows->profile);
	bool is_accounted = resource_usage_known(profile_resources(rows->profile));
	/* With threads, rows of processes hold only what is known of no thread. */
	bool has_all = rows->by != ROWS_BY_THREAD || row->tid;

	if (row->known & ROW_HAS_USAGE)
		return;
	/* Its CPU time is in an earlier interval, where it ended; what its waits tell comes later.
	 */
	if (is_accounted && row->processes && row->ended_inside && !row->lifetime_ns)
		return;
	if (info->kinds_mask & 1U << PKBPF_PROFILE_OFFCPU && row->waits.wall_ns && has_all)
		row->cpu.total_ns = row->waits.on_cpu_ns;
	else if ((!is_accounted || has_all) && is_sampled(info))
		row->cpu.total_ns =
			human_whole((double)row->cpu.periods * 1e9 / info->frequency_hz);
}

/* CPUs that a row can use at a time; 0: not known. */
static uint64_t most_cpus(const struct resource_rows *rows, const struct resource_row *row)
{
	uint64_t cpus = profile_info_read(rows->profile)->cpu_count;
	/* One after the other more than at a time; of the sum of all rows it is not kept. */
	uint64_t threads = row->tid ? 1 : row->threads_seen;

	return threads && threads < cpus ? threads : cpus;
}

/* The kernel's counters are read a moment before the interval begins and after it ends, which shows
 * where it is short: nobody uses more than all of the CPUs. */
static double share_of(const struct resource_rows *rows, const struct resource_row *row)
{
	double share = 100 * row_ratio((double)row->cpu.total_ns, (double)rows->interval_ns);
	double most = 100 * (double)most_cpus(rows, row);

	return most > 0 && share > most ? most : share;
}

/* What no process ran is in no row: idle time costs energy, too, and is shared out with it. */
static void share_energy(const struct resource_rows *rows, struct resource_row *row)
{
	const struct machine_figures *machine = &profile_info_read(rows->profile)->machine;

	if (!machine->energy_ns || !rows->machine.known || !rows->machine.busy_ns)
		return;
	row->known |= ROW_HAS_ENERGY;
	row->cpu.energy_mj =
		human_whole((double)machine->energy_uj / 1000 *
			    row_ratio((double)row->cpu.total_ns, (double)rows->machine.busy_ns));
}

static void finish(const struct resource_rows *rows, struct resource_row *row)
{
	share_energy(rows, row);
	if (!is_sampled(profile_info_read(rows->profile)))
		row->known &= ~ROW_HAS_SAMPLES;
	row->cpu.share = share_of(rows, row);
}

const struct row_part row_cpu_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.add_used = add_used,
	.add_stack = add_stack,
	.finish = finish,
};
