// SPDX-License-Identifier: BSD-2-Clause
/* The rule about threads that wait for others of their program, in futexes. */
#include <inttypes.h>

#include "rows/human.h"
#include "finding/finding_rules.h"

/* Of the row's lifetime, in futex waits of its threads. */
#define FUTEX_ROW_PERCENT 20
/* Waits outside of locks count when they are short: longer ones are of threads without work. */
#define FUTEX_MEAN_MS 100

/* In these the kernel lets threads sleep in the system call, which differ by version and kind of
 * lock. */
static const char *const kernel_functions[] = {
	"do_futex",	     "__futex_wait",	    "futex_do_wait",
	"futex_lock_pi",     "futex_wait",	    "futex_wait_multiple",
	"futex_wait_queue",  "futex_wait_queue_me", "futex_wait_requeue_pi",
	"__arm64_sys_futex", "__x64_sys_futex",	    NULL,
};
/*
 * Functions that take a lock. Who sleeps below them is held up; who sleeps in a futex for another
 * reason (a condition, a semaphore, the end of a thread) may as well have nothing to do, and that
 * is told only of those who have work again soon.
 */
static const char *const lock_functions[] = {
	"__GI___pthread_mutex_lock",
	"___pthread_mutex_lock",
	"___pthread_rwlock_rdlock",
	"___pthread_rwlock_wrlock",
	"__lll_lock_wait",
	"__lll_lock_wait_private",
	"__pthread_mutex_lock",
	"__pthread_mutex_lock_full",
	"__pthread_rwlock_rdlock",
	"__pthread_rwlock_wrlock",
	"lll_mutex_lock_optimized",
	"pthread_mutex_lock",
	"pthread_mutex_timedlock",
	"pthread_rwlock_rdlock",
	"pthread_rwlock_wrlock",
	"runtime.lock2",
	"std::sys::sync::mutex::futex::Mutex::lock_contended",
	"parking_lot::raw_mutex::RawMutex::lock_slow",
	NULL,
};

static const struct wait_choice lock_waits = {.kernel = kernel_functions,
					      .programs = lock_functions},
				short_waits = {.kernel = kernel_functions,
					       .mean_ns_max = FUTEX_MEAN_MS * NS_PER_MS};

/* Waits for locks when they are the larger part, else all short ones: which they are. */
static const struct wait_choice *row_waits(const struct resource_rows *rows,
					   const struct resource_row *row, struct wait_sum *ret_sum)
{
	struct wait_sum locks = resource_rows_waits_in(rows, row, PKBPF_WAIT_SLEEP, &lock_waits),
			any = resource_rows_waits_in(rows, row, PKBPF_WAIT_SLEEP, &short_waits);
	bool is_lock = 2 * locks.time_ns >= any.time_ns;

	*ret_sum = is_lock ? locks : any;
	return is_lock ? &lock_waits : &short_waits;
}

static double judge_futex(const struct resource_rows *rows, const struct resource_row *row)
{
	struct wait_sum sum;
	double severity;
	bool is_lock;

	if (!(row->known & ROW_HAS_WAITS))
		return -1;
	is_lock = row_waits(rows, row, &sum) == &lock_waits;
	if (finding_percent((double)sum.time_ns, (double)row->lifetime_ns) < FUTEX_ROW_PERCENT ||
	    (!is_lock &&
	     (row->cpu.share < PEERS_CPU_PERCENT ||
	      (double)row->cpu.voluntary < PEERS_WAKES_PER_SECOND * finding_seconds(rows))))
		return -1;
	severity = finding_severity(rows, sum.time_ns);
	return is_lock || severity < PEERS_SEVERITY ? severity : PEERS_SEVERITY;
}

static void tell_futex(const struct resource_rows *rows, const struct row_group *group,
		       struct finding *finding)
{
	const struct resource_row *sum = &group->sum;
	const struct wait_choice *choice;
	struct wait_sum waits, all = {0};
	char buffer[HUMAN_SIZE];
	double share;

	choice = row_waits(rows, group->worst, &waits);
	for (size_t i = 0; i < group->count; i++) {
		waits = resource_rows_waits_in(rows, group->members[i], PKBPF_WAIT_SLEEP, choice);
		all.time_ns += waits.time_ns;
		all.count += waits.count;
	}
	share = finding_percent((double)all.time_ns, (double)sum->lifetime_ns);
	finding_say_who(finding, group);
	finding_say(finding, ": %.0f %% of wall time",
		    share > 100 ? finding_percent((double)all.time_ns, (double)sum->waits.wall_ns)
				: share);
	if (sum->threads_seen > group->count)
		finding_say(finding, " of %" PRIu64 " threads", sum->threads_seen);
	finding_say(finding, " waiting for %s (futex; %s",
		    choice == &lock_waits ? "locks" : "other threads",
		    human_time(buffer, all.time_ns));
	if (all.count)
		finding_say(finding, " in %s wait%s", human_count(buffer, all.count),
			    all.count == 1 ? "" : "s");
	finding_say(finding, ")");
	finding_say_functions(finding, rows, group,
			      &(struct finding_evidence){.kind = PKBPF_PROFILE_OFFCPU,
							 .states = 1U << PKBPF_WAIT_SLEEP,
							 .choice = choice,
							 .what = "it"});
}

const struct finding_rule finding_rule_futex_bound = {
	.name = "futex_bound",
	.summary = "threads wait for locks or for each other in futexes",
	.judge = judge_futex,
	.tell = tell_futex,
};
