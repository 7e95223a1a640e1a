// SPDX-License-Identifier: BSD-2-Clause
/* The rules about the whole run. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/unused.h"
#include "rows/human.h"
#include "finding/finding_rules.h"

/* Of all CPUs: less leaves room for everybody. */
#define CPU_BUSY_PERCENT 90
/* A disk that seeks needs less for nearly every request. */
#define DEVICE_P99_NS		(20 * NS_PER_MS)
#define DEVICE_REQUESTS		50
#define MEMORY_LEFT_PERCENT	5
#define SHORT_LIVED_PER_SECOND	50
#define SHORT_LIVED_CPU_PERCENT 10
#define STEAL_PERCENT		5
#define LOST_PERCENT		1

bool finding_is_cpu_starved(const struct resource_rows *rows)
{
	return rows->busy_percent >= CPU_BUSY_PERCENT &&
	       finding_queue_percent(&rows->total) >= CPU_QUEUE_PERCENT &&
	       !finding_targets_are_limited(rows);
}

static double waited_for_cpu(_unused_ const struct resource_rows *rows,
			     const struct resource_row *row)
{
	return finding_queue_percent(row) < CPU_QUEUE_PERCENT ? -1 : (double)row->waits.runqueue_ns;
}

static int by_runqueue(const void *left, const void *right)
{
	const struct row_group *a = left, *b = right;

	if (a->sum.waits.runqueue_ns != b->sum.waits.runqueue_ns)
		return a->sum.waits.runqueue_ns > b->sum.waits.runqueue_ns ? -1 : 1;
	return (a->worst > b->worst) - (a->worst < b->worst);
}

static bool find_cpu_starved(const struct resource_rows *rows, struct finding *finding)
{
	_cleanup_(row_groups_done) struct row_groups groups = {0};
	const struct resource_row *total = &rows->total;
	double queue = finding_queue_percent(total);
	char buffer[HUMAN_SIZE];

	if (!finding_is_cpu_starved(rows))
		return false;
	row_groups_find(&groups, rows, waited_for_cpu);
	if (groups.count)
		qsort(groups.items, groups.count, sizeof(*groups.items), by_runqueue);
	finding_say(finding, "CPUs %.0f %% busy, run-queue wait ", rows->busy_percent);
	if (total->waits.runqueue.p99_ns)
		finding_say(finding, "p99 %s, ", human_time(buffer, total->waits.runqueue.p99_ns));
	finding_say(finding, "%s in total (%.0f %% of runnable time): CPU-starved",
		    human_time(buffer, total->waits.runqueue_ns), queue);
	for (size_t i = 0; i < groups.count && i < LISTED; i++) {
		const struct row_group *group = &groups.items[i];

		finding_say(finding, "%s", i ? ", " : "; longest for ");
		finding_say_who(finding, group);
		finding_say(finding, " %s (%.0f %%)",
			    human_time(buffer, group->sum.waits.runqueue_ns),
			    finding_queue_percent(&group->sum));
	}
	finding->pid = 0;
	/* Everybody suffers: as bad as the CPUs are busy once a fifth of the time that wanted one
	 * went by in waiting; but no worse than that is long. */
	finding->severity = rows->busy_percent * (queue < 20 ? queue / 20 : 1);
	if (finding->severity > finding_severity(rows, total->waits.runqueue_ns))
		finding->severity = finding_severity(rows, total->waits.runqueue_ns);
	return true;
}

const struct finding_rule finding_rule_cpu_starved = {
	.name = "cpu_starved",
	.summary = "more threads are runnable than the CPUs can run: run-queue wait of the whole "
		   "machine",
	.find = find_cpu_starved};

static bool find_slow_device(const struct resource_rows *rows, struct finding *finding)
{
	const struct resource_row *total = &rows->total, *most = NULL;
	char buffer[HUMAN_SIZE];

	if (!(total->known & ROW_HAS_BLOCKIO) || total->blockio.device.p99_ns < DEVICE_P99_NS ||
	    total->blockio.requests < DEVICE_REQUESTS)
		return false;
	for (size_t i = 0; i < rows->all_count; i++)
		if (rows->items[i].blockio.requests &&
		    (!most || rows->items[i].blockio.device_ns > most->blockio.device_ns))
			most = &rows->items[i];
	finding_say(finding, "block devices are slow: service time p99 %s",
		    human_time(buffer, total->blockio.device.p99_ns));
	finding_say(finding, ", p50 %s over %s requests",
		    human_time(buffer, total->blockio.device.p50_ns),
		    human_count((char[HUMAN_SIZE]){0}, total->blockio.requests));
	if (most) {
		finding_say(finding, ", %.0f %% of it for ",
			    finding_percent((double)most->blockio.device_ns,
					    (double)total->blockio.device_ns));
		finding_say(finding, "%s", finding_name(most));
		if (most->pid)
			finding_say(finding, " %" PRIu32, most->pid);
	}
	finding->severity = finding_severity(rows, total->blockio.device_ns);
	return true;
}

const struct finding_rule finding_rule_slow_device = {
	.name = "slow_device",
	.summary = "service time of block devices: p99 of 20 ms or more",
	.find = find_slow_device};

static bool find_memory_low(const struct resource_rows *rows, struct finding *finding)
{
	double left = finding_percent((double)rows->machine.memory_available_bytes,
				      (double)rows->machine.memory_bytes);
	const struct resource_row *most = NULL;
	char buffer[HUMAN_SIZE];

	if (!rows->machine.known || !rows->machine.memory_bytes || left >= MEMORY_LEFT_PERCENT)
		return false;
	/* Who holds it can be told when all were looked at. */
	for (size_t i = 0; i < rows->all_count && !profile_info_read(rows->profile)->has_targets;
	     i++)
		if (!most || rows->items[i].memory.rss_bytes > most->memory.rss_bytes)
			most = &rows->items[i];
	finding_say(finding, "only %s of memory available (%.1f %%)",
		    human_bytes(buffer, rows->machine.memory_available_bytes), left);
	if (most && most->memory.rss_bytes) {
		finding_say(finding, ", largest RSS: ");
		finding_say(finding, "%s", finding_name(most));
		if (most->pid)
			finding_say(finding, " %" PRIu32, most->pid);
		finding_say(finding, " with %s", human_bytes(buffer, most->memory.rss_bytes));
	}
	finding->severity = 100 - left;
	return true;
}

const struct finding_rule finding_rule_memory_low = {.name = "memory_low",
						     .summary =
							     "less than 5 % of memory is available",
						     .find = find_memory_low};

static bool find_short_lived(const struct resource_rows *rows, struct finding *finding)
{
	uint64_t processes = 0, cpu_ns = 0, most_ns = 0;
	const char *most = "";
	double rate, share;

	if (rows->by != ROWS_BY_PROCESS || !finding_seconds(rows))
		return false;
	for (size_t i = 0; i < rows->all_count; i++) {
		const struct resource_row *item = &rows->items[i];

		if (!item->started_inside || !item->ended_inside ||
		    item->lifetime_ns > NS_PER_SECOND)
			continue;
		processes += item->processes;
		cpu_ns += item->cpu.total_ns;
		if (item->cpu.total_ns > most_ns) {
			most_ns = item->cpu.total_ns;
			most = item->name;
		}
	}
	rate = (double)processes / finding_seconds(rows);
	share = finding_percent((double)cpu_ns, (double)rows->total.cpu.total_ns);
	/* One in a few milliseconds is no storm. */
	if (processes < SHORT_LIVED_PER_SECOND || rate < SHORT_LIVED_PER_SECOND ||
	    share < SHORT_LIVED_CPU_PERCENT)
		return false;
	finding_say(finding,
		    "%s short-lived processes (%.0f/s, less than 1 s each) used %.0f %% of the CPU "
		    "time, longest on CPU: %s",
		    human_count((char[HUMAN_SIZE]){0}, processes), rate, share, most);
	finding->severity = share;
	return true;
}

const struct finding_rule finding_rule_short_lived = {
	.name = "short_lived",
	.summary = "CPU time goes to 50 or more short-lived processes per second",
	.find = find_short_lived};

static bool find_stolen(const struct resource_rows *rows, struct finding *finding)
{
	double steal =
		finding_percent((double)rows->machine.steal_ns,
				(double)rows->machine.steal_ns + (double)rows->machine.busy_ns +
					(double)rows->machine.idle_ns);

	if (steal < STEAL_PERCENT)
		return false;
	finding_say(finding,
		    "steal time %.0f %%: the hypervisor ran other guests while this machine had "
		    "runnable threads",
		    steal);
	finding->severity = steal;
	return true;
}

const struct finding_rule finding_rule_stolen = {
	.name = "stolen",
	.summary = "steal time: the hypervisor runs other guests",
	.find = find_stolen};

static bool say_lost(struct finding *finding, const char *what, uint64_t lost, uint64_t all)
{
	double percent = finding_percent((double)lost, (double)all);

	if (percent < LOST_PERCENT)
		return false;
	finding_say(finding, "%.1f %% of the %s were lost (%s): shares may be off by as much",
		    percent, what, human_count((char[HUMAN_SIZE]){0}, lost));
	finding->severity = percent > 100 ? 100 : percent;
	return true;
}

static bool find_samples_lost(const struct resource_rows *rows, struct finding *finding)
{
	struct profile_account account = profile_account(rows->profile);

	return say_lost(finding, "samples", account.lost, account.expected);
}

const struct finding_rule finding_rule_samples_lost = {
	.name = "samples_lost",
	.summary = "1 % or more of the CPU samples were lost",
	.find = find_samples_lost};

static bool find_waits_lost(const struct resource_rows *rows, struct finding *finding)
{
	uint64_t lost = profile_kind_lost(PKBPF_PROFILE_OFFCPU,
					  profile_info_read(rows->profile)->counters),
		 all = lost;
	size_t count;
	const struct profile_row *recorded = profile_rows(rows->profile, &count);

	for (size_t i = 0; i < count; i++)
		all += recorded[i].kind == PKBPF_PROFILE_OFFCPU ? recorded[i].count : 0;
	return say_lost(finding, "waits", lost, all);
}

const struct finding_rule finding_rule_waits_lost = {.name = "waits_lost",
						     .summary =
							     "1 % or more of the waits were lost",
						     .find = find_waits_lost};
