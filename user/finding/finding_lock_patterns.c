// SPDX-License-Identifier: BSD-2-Clause
/* Why a lock that was followed makes threads wait, where holders and waits say it. */
#include <string.h>

#include "base/array.h"
#include "finding/finding_rules.h"
#include "rows/human.h"

/* Of the time for which others waited. */
#define IO_PERCENT	 50
#define INVERTED_PERCENT 20
#define READERS_PERCENT	 50
/* Of the waits for a rwlock. */
#define WRITERS_PERCENT 80
/* In less, readers leave soon. */
#define STARVED_NS (10 * NS_PER_MS)
/* Threads that wait at any time, for a lock that is held so shortly. */
#define CONVOY_WAITERS 3
#define CONVOY_HOLD_NS 100000
#define CONVOY_WAITS   1000

/* "pread" of "__libc_pread64" */
static bool is_call(const char *name, const char *call)
{
	static const char *const prefixes[] = {"__libc_", "__GI_", "__"};
	size_t length = strlen(call);

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			name += strlen(prefixes[i]);
	return strncmp(name, call, length) == 0 &&
	       (!name[length] || strcmp(name + length, "64") == 0);
}

static bool is_io(const struct lock_share *share, const struct function_table *functions)
{
	static const char *const calls[] = {
		"fsync", "fdatasync", "syncfs",	  "msync",   "read",	"pread",    "readv",
		"write", "pwrite",    "writev",	  "send",    "sendto",	"sendmsg",  "recv",
		"open",	 "openat",    "recvfrom", "recvmsg", "connect", "sendfile",
	};
	uint32_t leaf = share->leaf != LOCK_NO_FUNCTION ? share->leaf : share->function;
	const char *name;

	if (share->state == PKBPF_WAIT_DISK)
		return true;
	if ((share->state != PKBPF_WAIT_SLEEP && share->state != PKBPF_WAIT_UNINTERRUPTIBLE) ||
	    leaf == LOCK_NO_FUNCTION)
		return false;
	name = function_table_get(functions, leaf)->name;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (is_call(name, calls[i]))
			return true;
	return false;
}

static double percent_of_state(const struct lock_view *view, uint32_t state)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < view->holder_count; i++)
		ns += view->holders[i].state == state ? view->holders[i].ns : 0;
	return finding_percent((double)ns, (double)view->held_ns);
}

static const char *say_inversion(struct finding *finding, const struct lock_view *view)
{
	double percent = percent_of_state(view, PKBPF_LOCK_INVERTED);

	if (percent < INVERTED_PERCENT)
		return NULL;
	finding_say(finding->by,
		    "; priority inversion: for %.0f %% of it the holder waits for a CPU, and a "
		    "thread of higher priority for the lock",
		    percent);
	return "let the holder inherit the priority of those that wait (PTHREAD_PRIO_INHERIT)";
}

static const char *say_io(struct finding *finding, const struct lock_view *view,
			  const struct function_table *functions)
{
	uint64_t ns = 0;
	double percent;

	for (size_t i = 0; i < view->holder_count; i++)
		ns += is_io(&view->holders[i], functions) ? view->holders[i].ns : 0;
	percent = finding_percent((double)ns, (double)view->held_ns);
	if (percent < IO_PERCENT)
		return NULL;
	finding_say(finding->by, "; held across I/O, %.0f %% of it", percent);
	return "do the I/O before the lock is taken, or after it is given back";
}

static const char *say_starved(struct finding *finding, const struct lock_view *view)
{
	const struct lock *lock = view->lock;
	uint64_t mean_ns = lock->waits ? lock->wait_ns / lock->waits : 0;
	char time[HUMAN_SIZE];

	if (lock->class != PKBPF_LOCK_RWLOCK || mean_ns < STARVED_NS ||
	    finding_percent((double)view->write_ns, (double)lock->wait_ns) < WRITERS_PERCENT ||
	    percent_of_state(view, PKBPF_LOCK_UNKNOWN) < READERS_PERCENT)
		return NULL;
	finding_say(finding->by,
		    "; writers starve behind readers, or holders that are not known: %s a wait",
		    human_time(time, mean_ns));
	return "prefer writers (PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP), or read for a "
	       "shorter time under it";
}

/* Threads that wait for a mutex take it, one after the other: on average a hold is no longer than
 * the interval divided by the waits, unless these time out. Of other words in memory one release
 * may end many waits. */
static const char *say_convoy(struct finding *finding, const struct lock_view *view,
			      uint64_t interval_ns)
{
	const struct lock *lock = view->lock;
	double waiters = interval_ns ? (double)lock->wait_ns / (double)interval_ns : 0;
	char count[HUMAN_SIZE];

	if (lock->class == PKBPF_LOCK_RWLOCK || lock->class == PKBPF_LOCK_WORD ||
	    waiters < CONVOY_WAITERS || lock->waits < CONVOY_WAITS ||
	    interval_ns / lock->waits > CONVOY_HOLD_NS)
		return NULL;
	finding_say(finding->by, "; a convoy: %.1f threads wait for it on average, %s times in all",
		    waiters, human_count(count, lock->waits));
	return "take it less often, once for several pieces of work, or divide what it protects";
}

const char *finding_say_lock_pattern(struct finding *finding, const struct analysis *analysis,
				     const struct lock_view *view)
{
	const char *next = say_inversion(finding, view);

	next = next ? next : say_io(finding, view, analysis->rows->functions);
	next = next ? next : say_starved(finding, view);
	return next ? next : say_convoy(finding, view, analysis->rows->interval_ns);
}
