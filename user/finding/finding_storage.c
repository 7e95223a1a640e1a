// SPDX-License-Identifier: BSD-2-Clause
/* The rules about block I/O: limits, disks that others use, and disks that are slow. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/faults.h>

#include "base/cleanup.h"
#include "base/histogram.h"
#include "rows/devices.h"
#include "rows/human.h"
#include "finding/disk_neighbour.h"
#include "finding/finding_rules.h"

/* A disk that seeks needs less for nearly every request. */
#define DEVICE_P99_NS	(20 * NS_PER_MS)
#define DEVICE_REQUESTS 50
/* Looked at: a machine with more has many that are alike. */
#define DEVICES 64
/* Of a disk wait, in service at the device: less, and something else holds it up. */
#define DEVICE_PART_PERCENT 50
/* Of the bytes of the machine's block I/O, of others. */
#define OTHERS_PERCENT 90
/* Less than this is no load for a disk. */
#define OTHERS_BYTES_PER_SECOND (10 << 20)
#define MAJOR_FAULTS_PER_SECOND 20
/* As many cost CPU time where no disk is read: swap in compressed memory. */
#define MANY_MAJOR_FAULTS_PER_SECOND 200
/* Of the interval, in waits for a disk. */
#define MAJOR_FAULTS_PERCENT 2
/* Requests in flight, on average: as many as one thread has. */
#define DEPTH_OF_ONE 1.5

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool takes_ring(void *context, const struct row_weight *weight)
{
	static const char *const names[] = {"read_events", "io_cqring_wait"};
	const struct analysis *analysis = context;
	const uint32_t *functions;
	size_t count;

	functions = resource_rows_stack(analysis->rows, weight->stack.stack, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < 2; j++)
			if (!strcmp(function_table_get(analysis->rows->functions, functions[i])
					    ->name,
				    names[j]))
				return true;
	return false;
}

/* Asleep until requests are done that others need not wait for: all in all no longer than those
 * took that nobody waited for uninterruptibly, and each time no longer than a request takes. The
 * rest is for timers, for messages, or for whatever else a ring brings. */
static uint64_t asynchronous_ns(const struct analysis *analysis, const struct resource_row *row)
{
	struct wait_choice waits = {.takes = takes_ring, .context = (void *)analysis};
	uint64_t requests_ns = row->blockio.device_ns + row->blockio.queue_ns, slept_ns;

	waits.cut_ns = resource_row_request_ns(row);
	if (!row->blockio.requests || !waits.cut_ns)
		return 0;
	slept_ns = resource_rows_waits_in(analysis->rows, row, PKBPF_WAIT_SLEEP, &waits).time_ns;
	if (row->known & ROW_HAS_WAIT_LENGTHS)
		slept_ns = least(slept_ns, row->waits.request_sleep_ns);
	return least(slept_ns,
		     requests_ns > row->waits.disk_ns ? requests_ns - row->waits.disk_ns : 0);
}

static void say_requests(struct finding *finding, const struct analysis *analysis,
			 const struct activity *activity, uint64_t wait_ns)
{
	const struct resource_row *sum = &activity->group->sum;
	char buffer[HUMAN_SIZE];
	double depth = finding_percent((double)sum->blockio.device_ns,
				       (double)analysis->rows->interval_ns) /
		       100;

	finding_say_wall(finding->evidence, activity, wait_ns);
	finding_say(finding->evidence, " (%s)", human_time(buffer, wait_ns));
	if (!(sum->known & ROW_HAS_BLOCKIO) || !sum->blockio.requests)
		return;
	finding_say(finding->evidence, "; %s requests, service time p50 %s",
		    human_count((char[HUMAN_SIZE]){0}, sum->blockio.requests),
		    human_time(buffer, sum->blockio.device.p50_ns));
	finding_say(finding->evidence, ", p99 %s", human_time(buffer, sum->blockio.device.p99_ns));
	if (depth <= DEPTH_OF_ONE &&
	    finding_percent((double)sum->blockio.device_ns, (double)wait_ns) >= DEVICE_PART_PERCENT)
		finding_say(finding->evidence, "%s (depth %.1f)",
			    sum->threads_seen > 1 ? ", few requests at a time"
						  : ", one request at a time",
			    depth);
}

/* How disk waits of an activity are to be understood. */
struct disk_wait {
	const struct relation *limit; /* that holds it back; NULL: none */
	struct disk_neighbour other;
	uint64_t wait_ns; /* with that at rings */
	uint64_t ring_ns; /* of it, for asynchronous requests */
	double device;	  /* percent that the device explains */
};

static enum finding_rule_number disk_rule(const struct analysis *analysis,
					  const struct disk_wait *wait)
{
	double others = (double)wait->other.all_bytes;

	if (wait->limit)
		return FINDING_RULE_io_limit;
	if (wait->other.name[0] &&
	    finding_percent(others, others + (double)wait->other.own_bytes) >= OTHERS_PERCENT &&
	    others >= OTHERS_BYTES_PER_SECOND * finding_seconds(analysis->rows))
		return FINDING_RULE_disk_shared;
	return FINDING_RULE_disk_bound;
}

static void say_disk_bound(struct finding *finding, const struct resource_row *sum,
			   const struct disk_wait *wait)
{
	finding_say(finding->cause, "waits for block I/O");
	if (sum->known & ROW_HAS_BLOCKIO && sum->blockio.requests &&
	    wait->device < DEVICE_PART_PERCENT)
		finding_say(finding->evidence,
			    ", the device explains %.0f %%: queued or throttled before it, or "
			    "requests of others",
			    wait->device);
	finding_say(finding->next, "%s",
		    wait->ring_ns * 2 > wait->wait_ns
			    ? "see whether the device is at its limit (iostat -x)"
			    : "read ahead or keep several requests in flight, or cache more");
}

static void say_disk_cause(struct finding *finding, enum finding_rule_number rule,
			   const struct resource_row *sum, const struct disk_wait *wait)
{
	char buffer[HUMAN_SIZE];

	if (rule == FINDING_RULE_io_limit) {
		finding_say_io_limit(finding, wait->limit);
	} else if (rule == FINDING_RULE_disk_shared) {
		finding_say(finding->cause, "waits for block I/O behind that of %s",
			    wait->other.is_there ? wait->other.name : "other processes");
		if (wait->other.is_there)
			finding_say(finding->by, "%s moved %s meanwhile", wait->other.name,
				    human_bytes(buffer, wait->other.bytes));
		else
			finding_say(finding->by, "%s moved most, %s, on any device",
				    wait->other.name, human_bytes(buffer, wait->other.bytes));
		finding_say(finding->next, "limit %s (io.max, ionice), or use another disk",
			    wait->other.is_there ? wait->other.name : "the other");
	} else {
		say_disk_bound(finding, sum, wait);
	}
}

static void find_disk(const struct analysis *analysis, const struct activity *activity,
		      struct findings *findings)
{
	const struct resource_row *sum = &activity->group->sum;
	struct disk_wait wait = {.wait_ns = activity->waits[WAIT_CLASS_DISK].time_ns};
	struct class_choice choice;
	struct finding_stacks stacks = class_stacks(&choice, analysis, WAIT_CLASS_BIT(DISK));
	const struct wait_choice rings = {.takes = takes_ring, .context = (void *)analysis};
	struct activity whole = *activity;
	enum finding_rule_number rule;
	struct finding finding;

	for (size_t i = 0; i < activity->group->count; i++)
		wait.ring_ns += asynchronous_ns(analysis, activity->group->members[i]);
	if (wait.ring_ns > wait.wait_ns)
		stacks = (struct finding_stacks){.kind = PKBPF_PROFILE_OFFCPU,
						 .states = 1U << PKBPF_WAIT_SLEEP,
						 .choice = &rings};
	wait.wait_ns += wait.ring_ns;
	whole.active_ns += wait.ring_ns;
	if (activity_severity(analysis, &whole, wait.wait_ns) < ACTIVE_PERCENT)
		return;
	wait.limit = finding_io_limit(analysis, activity, wait.wait_ns);
	wait.other = disk_neighbour_of(analysis, activity);
	wait.device = finding_percent((double)sum->blockio.device_ns, (double)wait.wait_ns);
	rule = disk_rule(analysis, &wait);
	finding = finding_new(rule);
	finding.severity = activity_severity(analysis, &whole, wait.wait_ns);
	finding.cost = finding_cost(analysis->rows, wait.wait_ns);
	finding_say_who(&finding, analysis, activity);
	finding_set_place(&finding, "of it", analysis, activity, &stacks);
	say_requests(&finding, analysis, activity, wait.wait_ns);
	say_disk_cause(&finding, rule, sum, &wait);
	findings_offer(findings, &finding);
}

/* A device that serves slowly. */
struct slow_device {
	uint32_t number;
	bool is_lower; /* carries out requests of another device (loop) */
	uint64_t p50_ns, p99_ns, count;
};

/* Discards and flushes take long on devices that are fast: reads and writes only. */
static bool is_transfer(const struct distribution *distribution)
{
	const struct distribution_key *key = &distribution->key;
	unsigned int operation = key->state & PKBPF_BLOCKIO_OPERATION_MASK;

	return key->kind == PKBPF_PROFILE_BLOCKIO &&
	       (key->measure == PKBPF_BLOCKIO_DEVICE_TIME ||
		key->measure == PKBPF_BLOCKIO_LOWER_DEVICE_TIME) &&
	       (operation == PKBPF_BLOCKIO_READ || operation == PKBPF_BLOCKIO_WRITE);
}

static struct slow_device read_device(const struct profile *profile, uint32_t number,
				      struct histogram *times)
{
	struct slow_device device = {.number = number};
	const struct distribution *distribution;

	*times = (struct histogram){0};
	for (size_t i = 0; (distribution = profile_distribution_at(profile, i)); i++) {
		if (!is_transfer(distribution) || distribution->key.device != number)
			continue;
		device.is_lower |= distribution->key.measure == PKBPF_BLOCKIO_LOWER_DEVICE_TIME;
		distribution_merge(distribution, times);
	}
	device.count = times->count;
	device.p50_ns = histogram_percentile(times, 500);
	device.p99_ns = histogram_percentile(times, 990);
	return device;
}

/* The slowest device: what another one is made of comes first, as that can be no faster. count 0:
 * none is slow. */
static struct slow_device slowest_device(const struct profile *profile, struct histogram *times)
{
	struct slow_device slowest = {0};
	const struct distribution *distribution;
	uint32_t seen[DEVICES];
	size_t count = 0, j;

	for (size_t i = 0; (distribution = profile_distribution_at(profile, i)); i++) {
		struct slow_device device;

		if (!is_transfer(distribution))
			continue;
		for (j = 0; j < count && seen[j] != distribution->key.device; j++)
			;
		if (j < count || count == DEVICES)
			continue;
		seen[count++] = distribution->key.device;
		device = read_device(profile, distribution->key.device, times);
		if (device.p99_ns < DEVICE_P99_NS || device.count < DEVICE_REQUESTS ||
		    device.is_lower < slowest.is_lower ||
		    (device.is_lower == slowest.is_lower && device.p99_ns <= slowest.p99_ns))
			continue;
		slowest = device;
	}
	return slowest;
}

static void find_slow_device(const struct analysis *analysis, struct findings *findings)
{
	const struct resource_rows *rows = analysis->rows;
	const struct resource_row *total = &rows->total, *most = NULL;
	struct finding finding = finding_new(FINDING_RULE_slow_device);
	_cleanup_free_ struct histogram *times = calloc(1, sizeof(*times));
	char buffer[HUMAN_SIZE], name[32];
	struct slow_device device;

	if (!times || !(total->known & ROW_HAS_BLOCKIO))
		return;
	device = slowest_device(rows->profile, times);
	if (!device.count)
		return;
	for (size_t i = 0; i < rows->all_count; i++)
		if (rows->items[i].blockio.requests &&
		    (!most || rows->items[i].blockio.device_ns > most->blockio.device_ns))
			most = &rows->items[i];
	finding_say(finding.cause, "block device %s is slow: service time p99 %s",
		    device_name(rows->profile, device.number, name),
		    human_time(buffer, device.p99_ns));
	finding_say(finding.evidence, "p50 %s over %s reads and writes",
		    human_time(buffer, device.p50_ns),
		    human_count((char[HUMAN_SIZE]){0}, device.count));
	if (device.is_lower)
		finding_say(finding.evidence, ", also for a device above it (loop)");
	if (most) {
		finding_say(finding.evidence, "; %.0f %% of all service time for %s",
			    finding_percent((double)most->blockio.device_ns,
					    (double)total->blockio.device_ns),
			    finding_name(most));
		if (most->pid)
			finding_say(finding.evidence, " %" PRIu32, most->pid);
	}
	finding.tier = analysis->has_targets ? FINDING_OF_HOST : FINDING_OF_TARGET;
	/* Half of the time at most: who waits for it, and where, says more. */
	finding.severity = finding_severity(rows, total->blockio.device_ns) / 2;
	findings_offer(findings, &finding);
}

/* Waits are known, and hardly any of them is for a disk: a few reads of a program that starts. */
static bool are_cheap(const struct analysis *analysis, const struct activity *activity, double rate)
{
	return activity->group->sum.known & ROW_HAS_KIND(PKBPF_PROFILE_OFFCPU) &&
	       rate < MANY_MAJOR_FAULTS_PER_SECOND &&
	       finding_severity(analysis->rows, activity->waits[WAIT_CLASS_DISK].time_ns +
							activity->waits[WAIT_CLASS_SWAP].time_ns) <
		       MAJOR_FAULTS_PERCENT;
}

static void find_major(const struct analysis *analysis, const struct activity *activity,
		       struct findings *findings)
{
	const struct resource_row *sum = &activity->group->sum;
	struct finding finding = finding_new(FINDING_RULE_major_faults);
	double seconds = finding_seconds(analysis->rows),
	       rate = seconds > 0 ? (double)sum->memory.major_faults / seconds : 0;
	struct finding_stacks stacks = {.kind = PKBPF_PROFILE_FAULTS,
					.states = 1U << PKBPF_FAULT_MAJOR};
	struct class_choice choice;

	if (rate < MAJOR_FAULTS_PER_SECOND || sum->memory.major_faults < MAJOR_FAULTS_PER_SECOND ||
	    are_cheap(analysis, activity, rate))
		return;
	/* Read from a disk, they are most of the disk wait; else a millisecond or less each. */
	finding.severity = rate / 10 > 100 ? 100 : rate / 10;
	if (activity_severity(analysis, activity, activity->waits[WAIT_CLASS_DISK].time_ns) >
	    finding.severity)
		finding.severity = activity_severity(analysis, activity,
						     activity->waits[WAIT_CLASS_DISK].time_ns) +
				   0.1;
	/* At the start of a program, its own file is read so. */
	finding.is_alarm = !activity->group->worst->started_inside;
	/* Of disk waits it says more than that there are any. */
	finding.cost = finding_cost(analysis->rows, activity->waits[WAIT_CLASS_DISK].time_ns) + 0.1;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "major page faults: pages of files or of swap are read when "
				   "they are touched");
	if (!finding_set_place(&finding, "of them", analysis, activity, &stacks)) {
		stacks = class_stacks(&choice, analysis, WAIT_CLASS_BIT(DISK));
		finding_set_place(&finding, "of the disk wait", analysis, activity, &stacks);
	}
	finding_say(finding.evidence, "%.0f major faults/s (%s in total)", rate,
		    human_count((char[HUMAN_SIZE]){0}, sum->memory.major_faults));
	finding_say(finding.next, "more memory, or readahead (MADV_WILLNEED, MADV_POPULATE_READ)");
	findings_offer(findings, &finding);
}

void find_storage(const struct analysis *analysis, struct findings *findings)
{
	find_slow_device(analysis, findings);
	for (size_t i = 0; i < analysis->count; i++) {
		if (analysis->activities[i].has_waits)
			find_disk(analysis, &analysis->activities[i], findings);
		find_major(analysis, &analysis->activities[i], findings);
	}
}
