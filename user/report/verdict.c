// SPDX-License-Identifier: BSD-2-Clause
/* The rules by which findings are made. */
#include "report/verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "report/human.h"
#include "report/row_groups.h"

/*
 * Thresholds. Times are told from a fifth of somebody's time on: below, halving them would change
 * little. What wants a rate needs a good number of events, so that one slow request is no finding.
 */
#define CPU_BUSY_PERCENT 90 /* of all CPUs: less leaves room for everybody */
#define CPU_QUEUE_PERCENT                                                                          \
	10 /* run-queue wait in the time that wanted a CPU, whole machine or one row */
#define CPU_ROW_PERCENT		50 /* of one CPU, for one row */
#define DISK_ROW_PERCENT	20 /* of the row's lifetime */
#define DEVICE_PART_PERCENT	20 /* of a disk wait: less with the device is worth telling */
#define LOCK_ROW_PERCENT	20 /* uninterruptible, of the row's lifetime */
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
#define PEERS_SLEEP_PERCENT                                                                        \
	50 /* of a row's lifetime asleep until somebody else has something for it, */
#define PEERS_CPU_PERCENT      2  /* though it does something, */
#define PEERS_WAKES_PER_SECOND 50 /* as often as this, */
#define PEERS_OTHER_PERCENT    20 /* and is held up less than this by CPUs, disks and locks together \
				   */
#define PEERS_SEVERITY 19	  /* at most: behind everything that limits somebody */
#define LEAST_SEVERITY		1   /* percent: less hurts nobody */
#define LISTED	       4	  /* programs named in one finding */

/* Functions of the kernel in which threads sleep until a peer sends or reads something. */
static const char *const peer_functions[] = {
	"do_epoll_wait",
	"ep_poll",
	"do_sys_poll",
	"do_poll",
	"do_select",
	"core_sys_select",
	"tcp_recvmsg",
	"tcp_sendmsg",
	"inet_csk_accept",
	"inet_accept",
	"unix_accept",
	"pipe_read",
	"pipe_write",
	"anon_pipe_read",
	"anon_pipe_write",
	"unix_stream_read_generic",
	"sk_wait_data",
	"sk_stream_wait_memory",
	"__skb_wait_for_more_packets",
	"sock_alloc_send_pskb",
	NULL,
};
/* And those in which they sleep until requests they have submitted are done. */
static const char *const request_functions[] = {"read_events", "io_cqring_wait", NULL};

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

static const char *name_of(const struct resource_row *row)
{
	return row->name[0] ? row->name : row->container[0] ? row->container : "[unknown]";
}

/* "postgres 812", "postgres (4 processes)", "docker:0123456789ab" */
static void say_who(struct finding *finding, const struct row_group *group)
{
	const struct resource_row *row = group->worst;

	say(finding, "%s", name_of(row));
	if (group->count > 1)
		say(finding, " (%zu %s)", group->count, row->tid ? "threads" : "processes");
	else if (row->tid)
		say(finding, " %" PRIu32 "/%" PRIu32, row->pid, row->tid);
	else if (row->pid)
		say(finding, " %" PRIu32, row->pid);
	finding->pid = row->pid;
}

/* ", 58 % of it below `XLogFlush > fdatasync`"; nothing when no function explains half of it. */
static void say_functions(struct finding *finding, const struct resource_rows *rows,
			  const struct row_group *group, enum pkbpf_profile_kind kind,
			  unsigned int states, const char *what)
{
	struct row_explanation explanation =
		resource_rows_explain(rows, group->members, group->count, kind, states);

	if (!explanation.count)
		return;
	say(finding, ", %.0f %% of %s below `",
	    percent((double)explanation.weight, (double)explanation.whole), what);
	for (size_t i = 0; i < explanation.count; i++)
		say(finding, "%s%s", i ? " > " : "", explanation.functions[i]->name);
	say(finding, "`");
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

static double waited_for_cpu(const struct resource_rows *rows, const struct resource_row *row)
{
	return queue_percent(row) < CPU_QUEUE_PERCENT ? -1 : (double)row->runqueue_ns;
}

static int by_runqueue(const void *left, const void *right)
{
	const struct row_group *a = left, *b = right;

	if (a->sum.runqueue_ns != b->sum.runqueue_ns)
		return a->sum.runqueue_ns > b->sum.runqueue_ns ? -1 : 1;
	return (a->worst > b->worst) - (a->worst < b->worst);
}

static bool cpu_starved(const struct resource_rows *rows, struct finding *finding)
{
	_cleanup_(row_groups_done) struct row_groups groups = {0};
	const struct resource_row *total = &rows->total;
	double queue = queue_percent(total);
	char buffer[HUMAN_SIZE];

	if (!is_cpu_starved(rows))
		return false;
	row_groups_find(&groups, rows, waited_for_cpu);
	if (groups.count)
		qsort(groups.items, groups.count, sizeof(*groups.items), by_runqueue);
	say(finding, "CPUs %.0f %% busy, run-queue wait ", rows->busy_percent);
	if (total->runqueue.p99_ns)
		say(finding, "p99 %s, ", human_time(buffer, total->runqueue.p99_ns));
	say(finding, "%s in all (%.0f %% of the time that wanted a CPU): CPU-starved",
	    human_time(buffer, total->runqueue_ns), queue);
	for (size_t i = 0; i < groups.count && i < LISTED; i++) {
		const struct row_group *group = &groups.items[i];

		say(finding, "%s", i ? ", " : "; longest for ");
		say_who(finding, group);
		say(finding, " %s (%.0f %%)", human_time(buffer, group->sum.runqueue_ns),
		    queue_percent(&group->sum));
	}
	finding->pid = 0;
	/* Everybody suffers: as bad as the CPUs are busy once a fifth of the time that wanted one
	 * went by in waiting. */
	finding->severity = rows->busy_percent * (queue < 20 ? queue / 20 : 1);
	return true;
}

static bool slow_device(const struct resource_rows *rows, struct finding *finding)
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
		say(finding, "%s", name_of(most));
		if (most->pid)
			say(finding, " %" PRIu32, most->pid);
	}
	finding->severity = percent((double)total->device_ns, (double)rows->interval_ns);
	return true;
}

static bool memory_low(const struct resource_rows *rows, struct finding *finding)
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
		say(finding, "%s", name_of(most));
		if (most->pid)
			say(finding, " %" PRIu32, most->pid);
		say(finding, " with %s", human_bytes(buffer, most->rss_bytes));
	}
	finding->severity = 100 - left;
	return true;
}

static bool short_lived(const struct resource_rows *rows, struct finding *finding)
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

static bool stolen(const struct resource_rows *rows, struct finding *finding)
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

static bool samples_lost(const struct resource_rows *rows, struct finding *finding)
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

/* Held up by nothing of this machine, it waits for what others send. */
static double waits_for_peers(const struct resource_rows *rows, const struct resource_row *row)
{
	double life = (double)row->lifetime_ns;

	if (!(row->known & ROW_HAS_WAITS) || !row->pid || row->cpu_share < PEERS_CPU_PERCENT ||
	    row->cpu_share >= CPU_ROW_PERCENT ||
	    (double)row->voluntary < PEERS_WAKES_PER_SECOND * seconds(rows) ||
	    percent((double)row->runqueue_ns + (double)row->disk_ns +
			    (double)row->uninterruptible_ns,
		    life) >= PEERS_OTHER_PERCENT ||
	    percent((double)resource_rows_waits_in(rows, row, PKBPF_WAIT_SLEEP, peer_functions),
		    life) < PEERS_SLEEP_PERCENT)
		return -1;
	return row->cpu_share;
}

static bool idle_for_peers(const struct resource_rows *rows, struct finding *finding)
{
	_cleanup_(row_groups_done) struct row_groups groups = {0};

	row_groups_find(&groups, rows, waits_for_peers);
	if (!groups.count)
		return false;
	say(finding, "waiting for their peers (network, sockets, pipes), not for this machine's "
		     "CPUs or disks: ");
	for (size_t i = 0; i < groups.count && i < LISTED; i++) {
		const struct row_group *group = &groups.items[i];

		say(finding, "%s", i ? "; " : "");
		say_who(finding, group);
		say(finding, " %.0f %% of wall time asleep",
		    percent((double)group->sum.sleep_ns, (double)group->sum.wall_ns));
		say_functions(finding, rows, group, PKBPF_PROFILE_OFFCPU, 1U << PKBPF_WAIT_SLEEP,
			      "it");
	}
	finding->pid =
		groups.count == 1 && groups.items[0].count == 1 ? groups.items[0].worst->pid : 0;
	finding->severity = groups.items[0].severity < PEERS_SEVERITY ? groups.items[0].severity
								      : PEERS_SEVERITY;
	return true;
}

/* ---- of rows of one name ---- */

/* A process that lived for a moment is no worse off than that moment is long. */
static double severity(const struct resource_rows *rows, uint64_t time_ns)
{
	double share = percent((double)time_ns, (double)rows->interval_ns);

	return share > 100 ? 100 : share;
}

static double judge_cpu(const struct resource_rows *rows, const struct resource_row *row)
{
	if (!(row->known & ROW_HAS_INTERVAL) || row->cpu_share < CPU_ROW_PERCENT)
		return -1;
	/* Against the machine: one of many CPUs is no bottleneck of the host, but all of a
	 * program's only thread. */
	return row->threads_seen > 1 ? percent((double)row->cpu_ns, (double)rows->total.cpu_ns)
				     : row->cpu_share;
}

static void tell_cpu(const struct resource_rows *rows, const struct row_group *group,
		     struct finding *finding)
{
	char buffer[HUMAN_SIZE];

	say_who(finding, group);
	if (group->count > 1)
		say(finding, ": %.1f CPUs", group->sum.cpu_share / 100);
	else
		say(finding, ": %.0f %% of one CPU", group->sum.cpu_share);
	say(finding, " (%s)", human_time(buffer, group->sum.cpu_ns));
	say_functions(finding, rows, group, PKBPF_PROFILE_CPU, 0, "it");
}

/* Uninterruptible, and asleep until requests are done that others need not wait for. */
static uint64_t asynchronous_ns(const struct resource_rows *rows, const struct resource_row *row)
{
	/* Rings carry more than requests of disks. */
	return row->requests
		       ? resource_rows_waits_in(rows, row, PKBPF_WAIT_SLEEP, request_functions)
		       : 0;
}

static double judge_disk(const struct resource_rows *rows, const struct resource_row *row)
{
	uint64_t wait_ns = row->disk_ns + asynchronous_ns(rows, row);

	if (!(row->known & ROW_HAS_WAITS) ||
	    percent((double)wait_ns, (double)row->lifetime_ns) < DISK_ROW_PERCENT)
		return -1;
	return severity(rows, wait_ns);
}

static void tell_disk(const struct resource_rows *rows, const struct row_group *group,
		      struct finding *finding)
{
	const struct resource_row *sum = &group->sum;
	uint64_t asynchronous = 0, wait_ns;
	unsigned int states;
	char buffer[HUMAN_SIZE];
	double share;

	for (size_t i = 0; i < group->count; i++)
		asynchronous += asynchronous_ns(rows, group->members[i]);
	wait_ns = sum->disk_ns + asynchronous;
	states = 1U << PKBPF_WAIT_DISK | (asynchronous > sum->disk_ns ? 1U << PKBPF_WAIT_SLEEP : 0);
	share = percent((double)wait_ns, (double)sum->lifetime_ns);
	say_who(finding, group);
	say(finding, ": %.0f %% of wall time in disk wait",
	    share > 100 ? percent((double)wait_ns, (double)sum->wall_ns) : share);
	if (sum->threads_seen > group->count)
		say(finding, " of %" PRIu64 " threads", sum->threads_seen);
	say(finding, " (%s)", human_time(buffer, wait_ns));
	say_functions(finding, rows, group, PKBPF_PROFILE_OFFCPU, states, "it");
	if (!(sum->known & ROW_HAS_BLOCKIO) || !sum->requests) {
		if (sum->disk.p99_ns)
			say(finding, "; p99 of the waits %s", human_time(buffer, sum->disk.p99_ns));
		return;
	}
	say(finding, "; %s %s block requests: p99 %s", group->count > 1 ? "their" : "its",
	    human_count((char[HUMAN_SIZE]){0}, sum->requests),
	    human_time(buffer, sum->device.p99_ns));
	share = percent((double)sum->device_ns, (double)wait_ns);
	if (share < DEVICE_PART_PERCENT)
		say(finding,
		    ", the device has them for only %.0f %% of that time: they are held back "
		    "before (a limit, a lock), or it waits for requests of others",
		    share);
}

static double judge_queue(const struct resource_rows *rows, const struct resource_row *row)
{
	double of_life = percent((double)row->runqueue_ns, (double)row->lifetime_ns);

	/* When everybody waits for CPUs, that is the finding, and not each who does. */
	if (is_cpu_starved(rows) || queue_percent(row) < CPU_QUEUE_PERCENT ||
	    of_life < CPU_QUEUE_PERCENT)
		return -1;
	return severity(rows, row->runqueue_ns);
}

static void tell_queue(const struct resource_rows *rows, const struct row_group *group,
		       struct finding *finding)
{
	char buffer[HUMAN_SIZE];

	say_who(finding, group);
	say(finding, " waited %s for a CPU (%.0f %% of the time it wanted one)",
	    human_time(buffer, group->sum.runqueue_ns), queue_percent(&group->sum));
	if (group->sum.runqueue.p99_ns)
		say(finding, ", p99 %s", human_time(buffer, group->sum.runqueue.p99_ns));
}

static double judge_locks(const struct resource_rows *rows, const struct resource_row *row)
{
	if (!(row->known & ROW_HAS_WAITS) ||
	    percent((double)row->uninterruptible_ns, (double)row->lifetime_ns) < LOCK_ROW_PERCENT)
		return -1;
	return severity(rows, row->uninterruptible_ns);
}

static void tell_locks(const struct resource_rows *rows, const struct row_group *group,
		       struct finding *finding)
{
	char buffer[HUMAN_SIZE];

	say_who(finding, group);
	say(finding, ": %s in uninterruptible waits that are no I/O (%.0f %% of its lifetime)",
	    human_time(buffer, group->sum.uninterruptible_ns),
	    percent((double)group->sum.uninterruptible_ns, (double)group->sum.lifetime_ns));
	say_functions(finding, rows, group, PKBPF_PROFILE_OFFCPU, 1U << PKBPF_WAIT_UNINTERRUPTIBLE,
		      "it");
}

/* Pages of files and of memory shared with others are no growth of a program's own. */
static double judge_growth(const struct resource_rows *rows, const struct resource_row *row)
{
	int64_t growth = row->own_growth_bytes < row->rss_growth_bytes ? row->own_growth_bytes
								       : row->rss_growth_bytes;
	double rate = seconds(rows) ? (double)growth / seconds(rows) : 0;
	double share = percent((double)growth, (double)row->rss_bytes);

	/* Who began inside has grown by all it has: no leak. */
	if (!(row->known & ROW_HAS_RSS) || row->started_inside || growth < GROWTH_BYTES ||
	    rate < GROWTH_BYTES_PER_SECOND || share < GROWTH_PERCENT)
		return -1;
	return share > 100 ? 100 : share;
}

static void tell_growth(const struct resource_rows *rows, const struct row_group *group,
			struct finding *finding)
{
	double rate = (double)group->sum.rss_growth_bytes / seconds(rows);
	char buffer[HUMAN_SIZE];

	say(finding, "rss of ");
	say_who(finding, group);
	say(finding, " grew %s/s", human_bytes(buffer, human_whole(rate)));
	say(finding, " to %s", human_bytes(buffer, group->sum.rss_bytes));
	say_functions(finding, rows, group, PKBPF_PROFILE_FAULTS, 0, "its page faults");
}

static double judge_major(const struct resource_rows *rows, const struct resource_row *row)
{
	double rate = seconds(rows) ? (double)row->major_faults / seconds(rows) : 0;

	if (rate < MAJOR_FAULTS_PER_SECOND)
		return -1;
	/* A read takes a millisecond or less of somebody's second. */
	return rate / 10 > 100 ? 100 : rate / 10;
}

static void tell_major(const struct resource_rows *rows, const struct row_group *group,
		       struct finding *finding)
{
	say_who(finding, group);
	say(finding, ": %.0f page faults/s had to read from a disk (%s in all)",
	    (double)group->sum.major_faults / seconds(rows),
	    human_count((char[HUMAN_SIZE]){0}, group->sum.major_faults));
	say_functions(finding, rows, group, PKBPF_PROFILE_FAULTS, 0, "its page faults");
}

/* A rule is about the run, or about rows: those of one name for which it holds are told as one. */
struct rule {
	const char *name;
	bool (*find)(const struct resource_rows *rows, struct finding *finding);
	row_judge_fn judge; /* < 0: does not hold for this row; else how bad it is, 0 to 100 */
	void (*tell)(const struct resource_rows *rows, const struct row_group *group,
		     struct finding *finding);
};

static const struct rule rules[] = {
	{.name = "cpu_starved", .find = cpu_starved},
	{.name = "slow_device", .find = slow_device},
	{.name = "memory_low", .find = memory_low},
	{.name = "short_lived", .find = short_lived},
	{.name = "stolen", .find = stolen},
	{.name = "samples_lost", .find = samples_lost},
	{.name = "cpu_bound", .judge = judge_cpu, .tell = tell_cpu},
	{.name = "disk_bound", .judge = judge_disk, .tell = tell_disk},
	{.name = "queue_bound", .judge = judge_queue, .tell = tell_queue},
	{.name = "lock_bound", .judge = judge_locks, .tell = tell_locks},
	{.name = "memory_grows", .judge = judge_growth, .tell = tell_growth},
	{.name = "major_faults", .judge = judge_major, .tell = tell_major},
	{.name = "idle_for_peers", .find = idle_for_peers},
};

static void offer(struct verdict *verdict, const struct finding *finding)
{
	size_t at = verdict->count;

	if (finding->severity < LEAST_SEVERITY)
		return;
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

static void find_groups(const struct resource_rows *rows, const struct rule *rule,
			struct verdict *verdict)
{
	_cleanup_(row_groups_done) struct row_groups groups = {0};

	row_groups_find(&groups, rows, rule->judge);
	for (size_t i = 0; i < groups.count && i < VERDICT_MAX_PER_RULE; i++) {
		struct finding finding = {.rule = rule->name, .severity = groups.items[i].severity};

		rule->tell(rows, &groups.items[i], &finding);
		offer(verdict, &finding);
	}
}

void verdict_find(const struct resource_rows *rows, struct verdict *ret_verdict)
{
	*ret_verdict = (struct verdict){0};
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct finding finding = {.rule = rules[i].name};

		if (rules[i].judge)
			find_groups(rows, &rules[i], ret_verdict);
		else if (rules[i].find(rows, &finding))
			offer(ret_verdict, &finding);
	}
}
