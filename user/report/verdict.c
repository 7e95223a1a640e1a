// SPDX-License-Identifier: BSD-2-Clause
/* The rules by which findings are made. */
#include "report/verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "report/human.h"

/*
 * Thresholds. Times are told from a fifth of somebody's time on: below, halving them would change
 * little. What wants a rate needs a good number of events, so that one slow request is no finding.
 */
#define CPU_BUSY_PERCENT 90 /* of all CPUs: less leaves room for everybody */
#define CPU_QUEUE_PERCENT                                                                          \
	10 /* run-queue wait in the time that wanted a CPU, whole machine or one row */
#define CPU_ROW_PERCENT		50		 /* of one CPU, for one row */
#define DISK_ROW_PERCENT	20		 /* of the row's lifetime */
#define LOCK_ROW_PERCENT	20		 /* uninterruptible, of the row's lifetime */
#define DEVICE_P99_NS		(20 * NS_PER_MS) /* a disk that seeks needs less for nearly every request */
#define DEVICE_REQUESTS		50
#define GROWTH_BYTES		(10 << 20) /* in all, */
#define GROWTH_BYTES_PER_SECOND (1 << 20)  /* per second, */
#define GROWTH_PERCENT		10	   /* and of what is resident at the end */
#define MAJOR_FAULTS_PER_SECOND 20
#define MEMORY_LEFT_PERCENT	5
#define SHORT_LIVED_PER_SECOND	50
#define SHORT_LIVED_CPU_PERCENT 10
#define STEAL_PERCENT		5
#define LOST_PERCENT		1

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static double seconds(const struct resource_rows *rows)
{
	return rows->interval_ns ? (double)rows->interval_ns / (double)NS_PER_SECOND : 0;
}

static __attribute__((format(printf, 2, 3))) void say(struct finding *finding, const char *format,
						      ...)
{
	size_t length = strlen(finding->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(finding->text + length, sizeof(finding->text) - length, format, arguments);
	va_end(arguments);
}

/* "postgres 812", "docker:0123456789ab" */
static void say_who(struct finding *finding, const struct resource_row *row)
{
	say(finding, "%s",
	    row->name[0]	? row->name
	    : row->container[0] ? row->container
				: "[unknown]");
	if (row->tid)
		say(finding, " %" PRIu32 "/%" PRIu32, row->pid, row->tid);
	else if (row->pid)
		say(finding, " %" PRIu32, row->pid);
	finding->pid = row->pid;
}

/* ", 58 % of it below `XLogFlush`"; nothing when no function explains half of it. */
static void say_function(struct finding *finding, const struct resource_rows *rows,
			 const struct resource_row *row, enum pkbpf_profile_kind kind,
			 const char *what)
{
	uint64_t weight;
	const struct function *function = resource_rows_explain(rows, row, kind, &weight);

	if (function)
		say(finding, ", %.0f %% of %s below `%s`",
		    percent((double)weight, (double)row->kind_weight[kind]), what, function->name);
}

/* ---- of the whole run ---- */

static double queue_percent(const struct resource_row *total)
{
	return percent((double)total->runqueue_ns,
		       (double)total->runqueue_ns + (double)total->cpu_ns);
}

static bool is_cpu_starved(const struct resource_rows *rows)
{
	return rows->busy_percent >= CPU_BUSY_PERCENT &&
	       queue_percent(&rows->total) >= CPU_QUEUE_PERCENT;
}

static bool cpu_starved(const struct resource_rows *rows, const struct resource_row *row,
			struct finding *finding)
{
	const struct resource_row *total = &rows->total, *most = NULL;
	double queue = queue_percent(total);
	char buffer[HUMAN_SIZE];

	if (!is_cpu_starved(rows))
		return false;
	for (size_t i = 0; i < rows->count; i++)
		if (!most || rows->items[i].runqueue_ns > most->runqueue_ns)
			most = &rows->items[i];
	say(finding, "CPUs %.0f %% busy, run-queue wait ", rows->busy_percent);
	if (total->runqueue.p99_ns)
		say(finding, "p99 %s, ", human_time(buffer, total->runqueue.p99_ns));
	say(finding, "%s in all (%.0f %% of the time that wanted a CPU)",
	    human_time(buffer, total->runqueue_ns), queue);
	if (most) {
		say(finding, ", longest for ");
		say_who(finding, most);
		say(finding, " (%s)", human_time(buffer, most->runqueue_ns));
		finding->pid = 0;
	}
	say(finding, ": CPU-starved");
	/* Everybody suffers: as bad as the CPUs are busy once a fifth of the time that wanted one
	 * went by in waiting. */
	finding->severity = rows->busy_percent * (queue < 20 ? queue / 20 : 1);
	return true;
}

static bool slow_device(const struct resource_rows *rows, const struct resource_row *row,
			struct finding *finding)
{
	const struct resource_row *total = &rows->total, *most = NULL;
	char buffer[HUMAN_SIZE];

	if (!(total->known & ROW_HAS_BLOCKIO) || total->device.p99_ns < DEVICE_P99_NS ||
	    total->requests < DEVICE_REQUESTS)
		return false;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->items[i].requests &&
		    (!most || rows->items[i].device_ns > most->device_ns))
			most = &rows->items[i];
	say(finding, "block devices are slow: p99 %s", human_time(buffer, total->device.p99_ns));
	say(finding, ", p50 %s over %s requests", human_time(buffer, total->device.p50_ns),
	    human_count((char[HUMAN_SIZE]){0}, total->requests));
	if (most) {
		say(finding, ", %.0f %% of the time for ",
		    percent((double)most->device_ns, (double)total->device_ns));
		say_who(finding, most);
	}
	finding->severity = percent((double)total->device_ns, (double)rows->interval_ns);
	return true;
}

static bool memory_low(const struct resource_rows *rows, const struct resource_row *row,
		       struct finding *finding)
{
	double left = percent((double)rows->machine.memory_available_bytes,
			      (double)rows->machine.memory_bytes);
	const struct resource_row *most = NULL;
	char buffer[HUMAN_SIZE];

	if (!rows->machine.known || !rows->machine.memory_bytes || left >= MEMORY_LEFT_PERCENT)
		return false;
	for (size_t i = 0; i < rows->count; i++)
		if (!most || rows->items[i].rss_bytes > most->rss_bytes)
			most = &rows->items[i];
	say(finding, "only %s of memory available (%.1f %%)",
	    human_bytes(buffer, rows->machine.memory_available_bytes), left);
	if (most && most->rss_bytes) {
		say(finding, ", most resident: ");
		say_who(finding, most);
		say(finding, " with %s", human_bytes(buffer, most->rss_bytes));
	}
	finding->severity = 100 - left;
	return true;
}

static bool short_lived(const struct resource_rows *rows, const struct resource_row *row,
			struct finding *finding)
{
	uint64_t processes = 0, cpu_ns = 0, most_ns = 0;
	const char *most = "";
	double rate, share;

	if (rows->by != REPORT_BY_PROCESS || !seconds(rows))
		return false;
	for (size_t i = 0; i < rows->count; i++) {
		const struct resource_row *item = &rows->items[i];

		if (!item->started_inside || !item->ended_inside ||
		    item->lifetime_ns > NS_PER_SECOND)
			continue;
		processes += item->processes;
		cpu_ns += item->cpu_ns;
		if (item->cpu_ns > most_ns) {
			most_ns = item->cpu_ns;
			most = item->name;
		}
	}
	rate = (double)processes / seconds(rows);
	share = percent((double)cpu_ns, (double)rows->total.cpu_ns);
	if (rate < SHORT_LIVED_PER_SECOND || share < SHORT_LIVED_CPU_PERCENT)
		return false;
	say(finding,
	    "%s short-lived processes (%.0f/s, less than a second each) used %.0f %% of the CPU "
	    "time, the largest: %s",
	    human_count((char[HUMAN_SIZE]){0}, processes), rate, share, most);
	finding->severity = share;
	return true;
}

static bool stolen(const struct resource_rows *rows, const struct resource_row *row,
		   struct finding *finding)
{
	double steal = percent((double)rows->machine.steal_ns,
			       (double)rows->machine.steal_ns + (double)rows->machine.busy_ns +
				       (double)rows->machine.idle_ns);

	if (steal < STEAL_PERCENT)
		return false;
	say(finding,
	    "the hypervisor ran others for %.0f %% of the CPUs' time while this machine wanted to "
	    "run",
	    steal);
	finding->severity = steal;
	return true;
}

static bool samples_lost(const struct resource_rows *rows, const struct resource_row *row,
			 struct finding *finding)
{
	struct profile_account account = profile_account(rows->profile);
	double lost = percent((double)account.lost, (double)account.expected);

	if (lost < LOST_PERCENT)
		return false;
	say(finding, "%.1f %% of the samples were lost (%s): shares may be off by as much", lost,
	    human_count((char[HUMAN_SIZE]){0}, account.lost));
	finding->severity = lost > 100 ? 100 : lost;
	return true;
}

/* ---- of one row ---- */

/* A process that lived for a moment is no worse off than that moment is long. */
static double severity(const struct resource_rows *rows, uint64_t time_ns)
{
	double share = percent((double)time_ns, (double)rows->interval_ns);

	return share > 100 ? 100 : share;
}

static bool cpu_bound(const struct resource_rows *rows, const struct resource_row *row,
		      struct finding *finding)
{
	char buffer[HUMAN_SIZE];

	if (!(row->known & ROW_HAS_INTERVAL) || row->cpu_share < CPU_ROW_PERCENT)
		return false;
	say_who(finding, row);
	say(finding, ": %.0f %% of one CPU (%s)", row->cpu_share, human_time(buffer, row->cpu_ns));
	say_function(finding, rows, row, PKBPF_PROFILE_CPU, "it");
	/* Against the machine: one of many CPUs is no bottleneck of the host, but all of a
	 * program's only thread. */
	finding->severity = row->threads_seen > 1
				    ? percent((double)row->cpu_ns, (double)rows->total.cpu_ns)
				    : row->cpu_share;
	return true;
}

static bool disk_bound(const struct resource_rows *rows, const struct resource_row *row,
		       struct finding *finding)
{
	double share = percent((double)row->disk_ns, (double)row->lifetime_ns);
	char buffer[HUMAN_SIZE];

	if (!(row->known & ROW_HAS_WAITS) || share < DISK_ROW_PERCENT)
		return false;
	say_who(finding, row);
	say(finding, ": %.0f %% of wall time in disk wait", share > 100 ? row->disk_share : share);
	if (row->threads_seen > 1)
		say(finding, " of %" PRIu64 " threads", row->threads_seen);
	say(finding, " (%s)", human_time(buffer, row->disk_ns));
	say_function(finding, rows, row, PKBPF_PROFILE_OFFCPU, "its waits");
	if (row->known & ROW_HAS_BLOCKIO && row->requests)
		say(finding, "; its %s block requests: p99 %s",
		    human_count((char[HUMAN_SIZE]){0}, row->requests),
		    human_time(buffer, row->device.p99_ns));
	else if (row->disk.p99_ns)
		say(finding, "; p99 of the waits %s", human_time(buffer, row->disk.p99_ns));
	finding->severity = severity(rows, row->disk_ns);
	return true;
}

static bool queue_bound(const struct resource_rows *rows, const struct resource_row *row,
			struct finding *finding)
{
	double share =
		percent((double)row->runqueue_ns, (double)row->runqueue_ns + (double)row->cpu_ns);
	double of_life = percent((double)row->runqueue_ns, (double)row->lifetime_ns);
	char buffer[HUMAN_SIZE];

	/* When everybody waits for CPUs, that is the finding, and not each who does. */
	if (is_cpu_starved(rows) || share < CPU_QUEUE_PERCENT || of_life < CPU_QUEUE_PERCENT)
		return false;
	say_who(finding, row);
	say(finding, " waited %s for a CPU (%.0f %% of the time it wanted one)",
	    human_time(buffer, row->runqueue_ns), share);
	if (row->runqueue.p99_ns)
		say(finding, ", p99 %s", human_time(buffer, row->runqueue.p99_ns));
	finding->severity = severity(rows, row->runqueue_ns);
	return true;
}

static bool lock_bound(const struct resource_rows *rows, const struct resource_row *row,
		       struct finding *finding)
{
	double share = percent((double)row->uninterruptible_ns, (double)row->lifetime_ns);
	char buffer[HUMAN_SIZE];

	if (!(row->known & ROW_HAS_WAITS) || share < LOCK_ROW_PERCENT)
		return false;
	say_who(finding, row);
	say(finding, ": %s in uninterruptible waits that are no I/O (%.0f %% of its lifetime)",
	    human_time(buffer, row->uninterruptible_ns), share);
	say_function(finding, rows, row, PKBPF_PROFILE_OFFCPU, "its waits");
	finding->severity = severity(rows, row->uninterruptible_ns);
	return true;
}

static bool memory_grows(const struct resource_rows *rows, const struct resource_row *row,
			 struct finding *finding)
{
	double rate = seconds(rows) ? (double)row->rss_growth_bytes / seconds(rows) : 0;
	double share = percent((double)row->rss_growth_bytes, (double)row->rss_bytes);
	char buffer[HUMAN_SIZE];

	/* Who began inside has grown by all it has: no leak. */
	if (!(row->known & ROW_HAS_RSS) || row->started_inside ||
	    row->rss_growth_bytes < GROWTH_BYTES || rate < GROWTH_BYTES_PER_SECOND ||
	    share < GROWTH_PERCENT)
		return false;
	say(finding, "rss of ");
	say_who(finding, row);
	say(finding, " grew %s/s", human_bytes(buffer, human_whole(rate)));
	say(finding, " to %s", human_bytes(buffer, row->rss_bytes));
	say_function(finding, rows, row, PKBPF_PROFILE_FAULTS, "its page faults");
	finding->severity = share > 100 ? 100 : share;
	return true;
}

static bool major_faults(const struct resource_rows *rows, const struct resource_row *row,
			 struct finding *finding)
{
	double rate = seconds(rows) ? (double)row->major_faults / seconds(rows) : 0;

	if (rate < MAJOR_FAULTS_PER_SECOND)
		return false;
	say_who(finding, row);
	say(finding, ": %.0f page faults/s had to read from a disk (%s in all)", rate,
	    human_count((char[HUMAN_SIZE]){0}, row->major_faults));
	say_function(finding, rows, row, PKBPF_PROFILE_FAULTS, "its page faults");
	/* A read takes a millisecond or less of somebody's second. */
	finding->severity = rate / 10 > 100 ? 100 : rate / 10;
	return true;
}

struct rule {
	const char *name;
	bool of_run; /* else tried on every row */
	bool (*find)(const struct resource_rows *rows, const struct resource_row *row,
		     struct finding *finding);
};

static const struct rule rules[] = {
	{"cpu_starved", true, cpu_starved},
	{"slow_device", true, slow_device},
	{"memory_low", true, memory_low},
	{"short_lived", true, short_lived},
	{"stolen", true, stolen},
	{"samples_lost", true, samples_lost},
	{"cpu_bound", false, cpu_bound},
	{"disk_bound", false, disk_bound},
	{"queue_bound", false, queue_bound},
	{"lock_bound", false, lock_bound},
	{"memory_grows", false, memory_grows},
	{"major_faults", false, major_faults},
};

static void offer(struct verdict *verdict, const struct finding *finding)
{
	size_t at = verdict->count, worst_same = VERDICT_MAX, same = 0;

	for (size_t i = 0; i < verdict->count; i++) {
		if (verdict->findings[i].rule == finding->rule) {
			worst_same = i;
			same++;
		}
	}
	if (same >= VERDICT_MAX_PER_RULE) {
		/* Worst first: the last of the same rule is the mildest. */
		if (verdict->findings[worst_same].severity >= finding->severity)
			return;
		memmove(&verdict->findings[worst_same], &verdict->findings[worst_same + 1],
			(verdict->count - worst_same - 1) * sizeof(*finding));
		verdict->count--;
		at = verdict->count;
	}
	while (at > 0 && verdict->findings[at - 1].severity < finding->severity)
		at--;
	if (at >= VERDICT_MAX)
		return;
	if (verdict->count == VERDICT_MAX)
		verdict->count--;
	memmove(&verdict->findings[at + 1], &verdict->findings[at],
		(verdict->count - at) * sizeof(*finding));
	verdict->findings[at] = *finding;
	verdict->count++;
}

void verdict_find(const struct resource_rows *rows, struct verdict *ret_verdict)
{
	uint32_t own_pid = profile_info_read(rows->profile)->own_pid;

	*ret_verdict = (struct verdict){0};
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		for (size_t row = 0; row < (rules[i].of_run ? 1 : rows->count); row++) {
			struct finding finding = {.rule = rules[i].name};

			/* What the profiler costs, the header tells. */
			if (!rules[i].of_run && own_pid && rows->items[row].pid == own_pid)
				continue;
			if (rules[i].find(rows, rules[i].of_run ? NULL : &rows->items[row],
					  &finding))
				offer(ret_verdict, &finding);
		}
	}
}
