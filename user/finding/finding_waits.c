// SPDX-License-Identifier: BSD-2-Clause
/* The rules about who waits: for disks, CPUs, locks, peers. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/unused.h"
#include "rows/human.h"
#include "finding/finding_rules.h"

/* Of the row's lifetime. */
#define DISK_ROW_PERCENT 20
#define LOCK_ROW_PERCENT 20
/* Of a disk wait, in service at the device: less is worth telling. */
#define DEVICE_PART_PERCENT 20
/* A row waits for its peers when it sleeps for them this part of its lifetime, and CPUs, disks and
 * locks together hold it up for less than that one. */
#define PEERS_SLEEP_PERCENT 50
#define PEERS_OTHER_PERCENT 20

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
/* And those in which they sleep until requests of disks that they have submitted are done; rings
 * carry others as well. */
static const char *const asynchronous_functions[] = {"read_events", "io_cqring_wait", NULL};
/* And those in which they wait until a file system has written its journal, which somebody else
 * does. */
static const char *const journal_functions[] = {
	"jbd2_log_wait_commit",
	"xfs_log_force",
	"xfs_log_force_seq",
	"xfs_log_force_lsn",
	"xlog_wait",
	"xlog_wait_on_iclog",
	"btrfs_sync_log",
	"btrfs_commit_transaction",
	"f2fs_issue_flush",
	NULL,
};

static const struct wait_choice peer_waits = {.kernel = peer_functions},
				journal_waits = {.kernel = journal_functions},
				other_waits = {.without = journal_functions},
				asynchronous_waits = {.kernel = asynchronous_functions};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Asleep until requests are done that others need not wait for: all in all no longer than those
 * took that nobody waited for uninterruptibly, and each time no longer than a request takes. The
 * rest is for timers, for messages, or for whatever else a ring brings. */
static uint64_t asynchronous_ns(const struct resource_rows *rows, const struct resource_row *row)
{
	struct wait_choice waits = asynchronous_waits;
	uint64_t requests_ns = row->blockio.device_ns + row->blockio.queue_ns, slept_ns;

	waits.cut_ns = resource_row_request_ns(row);
	if (!row->blockio.requests || !waits.cut_ns)
		return 0;
	slept_ns = resource_rows_waits_in(rows, row, PKBPF_WAIT_SLEEP, &waits).time_ns;
	if (row->known & ROW_HAS_WAIT_LENGTHS)
		slept_ns = least(slept_ns, row->waits.request_sleep_ns);
	return least(slept_ns,
		     requests_ns > row->waits.disk_ns ? requests_ns - row->waits.disk_ns : 0);
}

static double judge_disk(const struct resource_rows *rows, const struct resource_row *row)
{
	uint64_t wait_ns = row->waits.disk_ns + asynchronous_ns(rows, row);

	if (!(row->known & ROW_HAS_WAITS) ||
	    finding_percent((double)wait_ns, (double)row->lifetime_ns) < DISK_ROW_PERCENT)
		return -1;
	return finding_severity(rows, wait_ns);
}

static void tell_disk(const struct resource_rows *rows, const struct row_group *group,
		      struct finding *finding)
{
	const struct resource_row *sum = &group->sum;
	uint64_t asynchronous = 0, slept_ns = 0, wait_ns;
	char buffer[HUMAN_SIZE];
	double share;

	for (size_t i = 0; i < group->count; i++) {
		asynchronous += asynchronous_ns(rows, group->members[i]);
		slept_ns += resource_rows_waits_in(rows, group->members[i], PKBPF_WAIT_SLEEP,
						   &asynchronous_waits)
				    .time_ns;
	}
	wait_ns = sum->waits.disk_ns + asynchronous;
	share = finding_percent((double)wait_ns, (double)sum->lifetime_ns);
	finding_say_who(finding, group);
	finding_say(finding, ": %.0f %% of wall time in disk wait",
		    share > 100 ? finding_percent((double)wait_ns, (double)sum->waits.wall_ns)
				: share);
	if (sum->threads_seen > group->count)
		finding_say(finding, " of %" PRIu64 " threads", sum->threads_seen);
	finding_say(finding, " (%s)", human_time(buffer, wait_ns));
	/* Of the larger part; which waits at a ring were for disks cannot be told when most were
	 * not. */
	if (asynchronous <= sum->waits.disk_ns)
		finding_say_functions(finding, rows, group,
				      &(struct finding_evidence){.kind = PKBPF_PROFILE_OFFCPU,
								 .states = 1U << PKBPF_WAIT_DISK,
								 .what = "it",
								 .whole = wait_ns});
	else if (asynchronous >= slept_ns / 2)
		/* Of these waits only some were for disks, as many of one function as of
		 * another. */
		finding_say_functions(
			finding, rows, group,
			&(struct finding_evidence){
				.kind = PKBPF_PROFILE_OFFCPU,
				.states = 1U << PKBPF_WAIT_SLEEP,
				.choice = &asynchronous_waits,
				.what = "it",
				.whole = (uint64_t)((double)wait_ns * (double)slept_ns /
						    (double)asynchronous)});
	if (!(sum->known & ROW_HAS_BLOCKIO) || !sum->blockio.requests) {
		if (sum->waits.disk.p99_ns)
			finding_say(finding, "; wait time p99 %s",
				    human_time(buffer, sum->waits.disk.p99_ns));
		return;
	}
	finding_say(finding, "; %s %s block requests: p99 %s", group->count > 1 ? "their" : "its",
		    human_count((char[HUMAN_SIZE]){0}, sum->blockio.requests),
		    human_time(buffer, sum->blockio.device.p99_ns));
	share = finding_percent((double)sum->blockio.device_ns, (double)wait_ns);
	if (share < DEVICE_PART_PERCENT)
		finding_say(
			finding,
			", device service time explains %.0f %%: throttled or queued upstream, or "
			"waiting for requests of others",
			share);
}

const struct finding_rule finding_rule_disk_bound = {
	.name = "disk_bound",
	.summary = "a process is in disk wait for a fifth of its time or more",
	.judge = judge_disk,
	.tell = tell_disk,
};

static double judge_queue(const struct resource_rows *rows, const struct resource_row *row)
{
	double of_life = finding_percent((double)row->waits.runqueue_ns, (double)row->lifetime_ns);

	/* When everybody waits for CPUs, that is the finding, and not each who does. */
	if (finding_is_cpu_starved(rows) || finding_queue_percent(row) < CPU_QUEUE_PERCENT ||
	    of_life < CPU_QUEUE_PERCENT)
		return -1;
	return finding_severity(rows, row->waits.runqueue_ns);
}

static void tell_queue(_unused_ const struct resource_rows *rows, const struct row_group *group,
		       struct finding *finding)
{
	char buffer[HUMAN_SIZE];

	finding_say_who(finding, group);
	finding_say(finding, " waited %s for a CPU (%.0f %% of runnable time)",
		    human_time(buffer, group->sum.waits.runqueue_ns),
		    finding_queue_percent(&group->sum));
	if (group->sum.waits.runqueue.p99_ns)
		finding_say(finding, ", p99 %s",
			    human_time(buffer, group->sum.waits.runqueue.p99_ns));
}

const struct finding_rule finding_rule_queue_bound = {
	.name = "queue_bound",
	.summary = "a process waits for a CPU for a tenth of its runnable time or more",
	.judge = judge_queue,
	.tell = tell_queue,
};

static uint64_t journal_ns(const struct resource_rows *rows, const struct resource_row *row)
{
	return resource_rows_waits_in(rows, row, PKBPF_WAIT_UNINTERRUPTIBLE, &journal_waits)
		.time_ns;
}

static double judge_uninterruptible(const struct resource_rows *rows,
				    const struct resource_row *row, uint64_t wait_ns)
{
	if (!(row->known & ROW_HAS_WAITS) ||
	    finding_percent((double)wait_ns, (double)row->lifetime_ns) < LOCK_ROW_PERCENT)
		return -1;
	return finding_severity(rows, wait_ns);
}

/* " (68 % of its lifetime)" */
static void say_share(struct finding *finding, const struct row_group *group, uint64_t wait_ns)
{
	double share = finding_percent((double)wait_ns, (double)group->sum.lifetime_ns);

	if (share > 100)
		finding_say(finding, " (%.0f %% of the wall time of %s threads)",
			    finding_percent((double)wait_ns, (double)group->sum.waits.wall_ns),
			    group->count > 1 ? "their" : "its");
	else
		finding_say(finding, " (%.0f %% of %s lifetime)", share,
			    group->count > 1 ? "their" : "its");
}

static double judge_journal(const struct resource_rows *rows, const struct resource_row *row)
{
	return judge_uninterruptible(rows, row, journal_ns(rows, row));
}

static void tell_journal(const struct resource_rows *rows, const struct row_group *group,
			 struct finding *finding)
{
	uint64_t wait_ns = 0;
	char buffer[HUMAN_SIZE];

	for (size_t i = 0; i < group->count; i++)
		wait_ns += journal_ns(rows, group->members[i]);
	finding_say_who(finding, group);
	finding_say(finding, ": %s waiting for a file-system journal commit",
		    human_time(buffer, wait_ns));
	say_share(finding, group, wait_ns);
	finding_say_functions(finding, rows, group,
			      &(struct finding_evidence){.kind = PKBPF_PROFILE_OFFCPU,
							 .states = 1U << PKBPF_WAIT_UNINTERRUPTIBLE,
							 .choice = &journal_waits,
							 .what = "it"});
}

const struct finding_rule finding_rule_journal_bound = {
	.name = "journal_bound",
	.summary = "a process waits for journal commits of a file system",
	.judge = judge_journal,
	.tell = tell_journal,
};

/* Uninterruptible for another reason. */
static uint64_t lock_ns(const struct resource_rows *rows, const struct resource_row *row)
{
	uint64_t journal = journal_ns(rows, row);

	return row->waits.uninterruptible_ns > journal ? row->waits.uninterruptible_ns - journal
						       : 0;
}

static double judge_locks(const struct resource_rows *rows, const struct resource_row *row)
{
	return judge_uninterruptible(rows, row, lock_ns(rows, row));
}

static void tell_locks(const struct resource_rows *rows, const struct row_group *group,
		       struct finding *finding)
{
	uint64_t wait_ns = 0;
	char buffer[HUMAN_SIZE];

	for (size_t i = 0; i < group->count; i++)
		wait_ns += lock_ns(rows, group->members[i]);
	finding_say_who(finding, group);
	finding_say(finding, ": %s in D state, not I/O", human_time(buffer, wait_ns));
	say_share(finding, group, wait_ns);
	finding_say_functions(finding, rows, group,
			      &(struct finding_evidence){.kind = PKBPF_PROFILE_OFFCPU,
							 .states = 1U << PKBPF_WAIT_UNINTERRUPTIBLE,
							 .choice = &other_waits,
							 .what = "it"});
}

const struct finding_rule finding_rule_lock_bound = {
	.name = "lock_bound",
	.summary = "a process is in D state without I/O, mostly for a lock in the kernel",
	.judge = judge_locks,
	.tell = tell_locks,
};

/* Held up by nothing of this machine, it waits for what others send. */
static double waits_for_peers(const struct resource_rows *rows, const struct resource_row *row)
{
	double life = (double)row->lifetime_ns;

	if (!(row->known & ROW_HAS_WAITS) || !row->pid || row->cpu.share < PEERS_CPU_PERCENT ||
	    row->cpu.share >= CPU_ROW_PERCENT ||
	    (double)row->cpu.voluntary < PEERS_WAKES_PER_SECOND * finding_seconds(rows) ||
	    finding_percent((double)row->waits.runqueue_ns + (double)row->waits.disk_ns +
				    (double)row->waits.uninterruptible_ns,
			    life) >= PEERS_OTHER_PERCENT ||
	    finding_percent((double)resource_rows_waits_in(rows, row, PKBPF_WAIT_SLEEP, &peer_waits)
				    .time_ns,
			    life) < PEERS_SLEEP_PERCENT)
		return -1;
	return row->cpu.share;
}

static bool find_idle_for_peers(const struct resource_rows *rows, struct finding *finding)
{
	_cleanup_(row_groups_done) struct row_groups groups = {0};

	row_groups_find(&groups, rows, waits_for_peers);
	if (!groups.count)
		return false;
	finding_say(finding, "blocked on network, pipes or timers: ");
	for (size_t i = 0; i < groups.count && i < LISTED; i++) {
		const struct row_group *group = &groups.items[i];

		finding_say(finding, "%s", i ? "; " : "");
		finding_say_who(finding, group);
		finding_say(finding, " %.0f %% of wall time asleep",
			    finding_percent((double)group->sum.waits.sleep_ns,
					    (double)group->sum.waits.wall_ns));
		finding_say_functions(finding, rows, group,
				      &(struct finding_evidence){.kind = PKBPF_PROFILE_OFFCPU,
								 .states = 1U << PKBPF_WAIT_SLEEP,
								 .what = "it"});
	}
	finding->pid =
		groups.count == 1 && groups.items[0].count == 1 ? groups.items[0].worst->pid : 0;
	finding->severity = groups.items[0].severity < PEERS_SEVERITY ? groups.items[0].severity
								      : PEERS_SEVERITY;
	return true;
}

const struct finding_rule finding_rule_idle_for_peers = {
	.name = "idle_for_peers",
	.summary = "a process is blocked on network, pipes or timers, not on this machine",
	.find = find_idle_for_peers};
