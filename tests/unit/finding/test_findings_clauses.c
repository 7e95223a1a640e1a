// SPDX-License-Identifier: BSD-2-Clause
/* Tests clauses of findings: each with the figures that prove it, and beside figures that do not.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/blockio.h>
#include <pkbpf/network.h>

#include "account_machine.h"
#include "finding/finding_rules.h"
#include "finding_fixture.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL
#define MIB    (1ULL << 20)
#define WAITS  (1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_CPU)

static void begin(struct fake_profile *fake, uint64_t run_ns)
{
	account_begin(fake, WAITS, SECOND, 19 * SECOND);
	profile_info(fake->profile)->has_targets = true;
	account_process(fake, &(struct account_process){
				      .pid = 5, .comm = "app", .run_ns = run_ns, .voluntary = 10});
	account_on_cpu(fake, 5, "app", run_ns);
}

/* What is not there is "". */
static const char *text_of(const struct findings *findings, const char *rule)
{
	const struct finding *finding = finding_of(findings, rule);

	return finding ? finding->text : "";
}

/* ---- frozen ---- */

static struct findings frozen(bool has_targets, uint64_t run_ns)
{
	struct fake_profile fake;

	account_begin(&fake, WAITS, SECOND, 19 * SECOND);
	profile_info(fake.profile)->has_targets = has_targets;
	account_process(&fake,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = run_ns});
	account_frozen(&fake, 7, "/box");
	account_end(&fake);
	return findings_of(&fake);
}

static void a_frozen_cgroup_is_reported_as_of_the_end(void **state)
{
	struct findings findings = frozen(true, 0);

	assert_non_null(strstr(text_of(&findings, "frozen"),
			       "did nothing at the end of the interval. Next: resume it"));
	assert_true(finding_of(&findings, "frozen")->is_alarm);
	/* It ran until just before the end. */
	findings = frozen(true, 9 * SECOND);
	assert_non_null(strstr(text_of(&findings, "frozen"), "9.00 s of CPU time before it"));
	assert_true(finding_of(&findings, "frozen")->severity <= 10);
}

static void of_a_host_a_frozen_cgroup_is_no_alarm(void **state)
{
	struct findings findings = frozen(false, SECOND);

	assert_false(finding_of(&findings, "frozen")->is_alarm);
	assert_null(strstr(text_of(&findings, "frozen"), "before it"));
}

/* ---- short_lived ---- */

static struct findings short_lived(uint64_t each_ns)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 19 * SECOND, SECOND);
	for (uint32_t i = 0; i < 600; i++)
		account_short(&fake, 20000 + i, "cc1", each_ns);
	account_end(&fake);
	return findings_of(&fake);
}

static void short_processes_that_work_are_not_to_be_one_process(void **state)
{
	struct findings findings = short_lived(2 * MS);

	assert_true(finding_of(&findings, "short_lived")->is_alarm);
	assert_non_null(strstr(text_of(&findings, "short_lived"), "do the work in one process"));
	findings = short_lived(30 * MS);
	assert_false(finding_of(&findings, "short_lived")->is_alarm);
	assert_string_equal(finding_of(&findings, "short_lived")->next, "");
	assert_non_null(strstr(text_of(&findings, "short_lived"), "cc1 30.0 ms each"));
}

/* ---- swap_bound, memory_limit ---- */

static struct findings waiting_in(unsigned int wait, struct fake_ips kernel)
{
	struct fake_profile fake;

	begin(&fake, SECOND / 2);
	account_waits(&fake, 5, "app", wait, 900, 10 * MS, 1, kernel,
		      FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_end(&fake);
	return findings_of(&fake);
}

static void pages_that_the_kernel_moves_are_not_in_swap(void **state)
{
	struct findings findings = waiting_in(PKBPF_WAIT_DISK, FAKE_IPS(ACCOUNT_SWAP));

	assert_non_null(strstr(text_of(&findings, "swap_bound"),
			       "waits for pages to be read from swap in `list_append`; 90 % of "
			       "wall time (9.00 s in 900 waits)"));
	findings =
		waiting_in(PKBPF_WAIT_UNINTERRUPTIBLE, FAKE_IPS(ACCOUNT_MIGRATION, ACCOUNT_SWAP));
	assert_null(finding_of(&findings, "swap_bound"));
	assert_non_null(strstr(text_of(&findings, "kernel_bound"),
			       "waits for pages that the kernel moves"));
}

/* Of the machine as a whole, memory is reclaimed without any limit. */
static void reclaim_is_no_proof_of_a_limit(void **state)
{
	struct findings findings = waiting_in(PKBPF_WAIT_SLEEP, FAKE_IPS(ACCOUNT_RECLAIM));
	const char *text = text_of(&findings, "memory_limit");

	assert_non_null(strstr(text, "waits for memory to be reclaimed"));
	assert_non_null(strstr(text, "(where one is set: memory.high, memory.max)"));
	findings = waiting_in(PKBPF_WAIT_SLEEP, FAKE_IPS(ACCOUNT_EPOLL));
	assert_null(finding_of(&findings, "memory_limit"));
}

/* ---- timeout_bound ---- */

static uint32_t wait_stack(const struct fake_profile *fake)
{
	size_t count;
	const struct profile_row *rows = profile_rows(fake->profile, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].kind == PKBPF_PROFILE_OFFCPU)
			return rows[i].stack;
	fail_msg("no wait");
	return 0;
}

/* Ninety waits of 100 ms for a condition, ended by a timer. */
static struct findings timed_out(bool has_targets, uint64_t run_ns)
{
	struct relation relation = {.kind = PKBPF_RELATION_WAKER,
				    .pid = 5,
				    .count = 20,
				    .value = 9 * SECOND,
				    .other_stack = RELATION_NO_STACK};
	struct fake_profile fake;

	begin(&fake, run_ns);
	profile_info(fake.profile)->has_targets = has_targets;
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 90, 100 * MS, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	relation.stack = wait_stack(&fake);
	assert_int_equal(relation_list_add(profile_relations(fake.profile), &relation), 0);
	return findings_of(&fake);
}

static void time_outs_limit_only_who_has_work_after_them(void **state)
{
	struct findings findings = timed_out(true, SECOND / 2);

	assert_non_null(strstr(text_of(&findings, "timeout_bound"),
			       "100 % of sampled waits ended by a timer; 90 % of wall time"));
	/* A ticker that looks and goes to sleep again. */
	findings = timed_out(true, 20 * MS);
	assert_null(finding_of(&findings, "timeout_bound"));
	findings = timed_out(false, SECOND / 2);
	assert_null(finding_of(&findings, "timeout_bound"));
}

/* ---- peer_bound, retransmits ---- */

static uint32_t peer_of(const struct fake_profile *fake)
{
	struct peer peer = {.address = {.port = 5432,
					.family = PKBPF_NETWORK_IPV4,
					.protocol = PKBPF_NETWORK_TCP,
					.role = PKBPF_NETWORK_CLIENT}};

	assert_int_equal(inet_pton(AF_INET, "10.0.0.7", peer.address.address), 1);
	return peer_table_get(profile_peers(fake->profile), &peer);
}

struct traffic {
	uint8_t measure, state;
	uint32_t count;
	uint64_t each_ns, bytes;
};

static struct findings talking(const struct traffic *traffic, size_t count)
{
	const struct process *process;
	struct fake_profile fake;
	uint32_t peer;

	account_begin(&fake, 1U << PKBPF_PROFILE_NETWORK | 1U << PKBPF_PROFILE_CPU, SECOND,
		      19 * SECOND);
	profile_info(fake.profile)->has_targets = true;
	account_process(&fake,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = SECOND});
	account_samples(&fake, 5, "app", 99, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	process = process_table_find(profile_processes(fake.profile), 5);
	peer = peer_of(&fake);
	for (size_t i = 0; i < count; i++) {
		const struct traffic *each = &traffic[i];
		struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(each->each_ns),
							each->count};
		struct distribution_key key = {.kind = PKBPF_PROFILE_NETWORK,
					       .process = process->id,
					       .device = peer,
					       .state = each->state,
					       .measure = each->measure};
		struct distribution_change change = {
			.count = each->count,
			.total = each->each_ns ? each->count * each->each_ns : each->count,
			.bytes = each->bytes,
			.max = each->each_ns,
			.buckets = &bucket,
			.bucket_count = each->each_ns ? 1 : 0,
		};

		assert_int_equal(profile_add_distribution(fake.profile, &key, &change), 0);
	}
	account_end(&fake);
	return findings_of(&fake);
}

static void a_peer_that_answers_late_by_design_is_left_to_the_reader(void **state)
{
	const struct traffic slow[] = {
		{PKBPF_NETWORK_RESPONSES, PKBPF_NETWORK_CLIENT, 20, 450 * MS, 0},
		{PKBPF_NETWORK_WAITS, PKBPF_NETWORK_CLIENT, 20, 450 * MS, 0},
	};
	const struct traffic pushed[] = {
		{PKBPF_NETWORK_WAITS, PKBPF_NETWORK_CLIENT, 20, 450 * MS, 0},
	};
	struct findings findings = talking(slow, 2);

	assert_non_null(
		strstr(text_of(&findings, "peer_bound"), "unless it answers late by design"));
	/* Nothing was asked. */
	findings = talking(pushed, 1);
	assert_null(finding_of(&findings, "peer_bound"));
}

static struct findings sending(uint32_t messages, uint64_t bytes, uint32_t again)
{
	const struct traffic traffic[] = {
		{PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, messages, 0, bytes},
		{PKBPF_NETWORK_RETRANSMITS, 0, again, 0, 0},
	};

	return talking(traffic, 2);
}

static void segments_are_no_more_than_their_bytes_tell(void **state)
{
	struct findings findings = sending(1000, 1000, 50);

	assert_non_null(
		strstr(text_of(&findings, "retransmits"), "50 segments sent again (at least 5 %)"));
	assert_null(strstr(text_of(&findings, "retransmits"), "its TCP segments are lost"));
	/* 45 of Ethernet's in each. */
	findings = sending(1000, 1000 * 65160, 50);
	assert_null(finding_of(&findings, "retransmits"));
	findings = sending(100, 100, 19);
	assert_null(finding_of(&findings, "retransmits"));
}

/* ---- major_faults ---- */

static struct findings reading(uint64_t wait_ns)
{
	struct fake_profile fake;

	account_begin(&fake, WAITS, SECOND, 19 * SECOND);
	profile_info(fake.profile)->has_targets = true;
	account_process(&fake, &(struct account_process){
				       .pid = 5, .comm = "app", .run_ns = MS, .major = 500});
	account_waits(&fake, 5, "app", PKBPF_WAIT_DISK, 500, wait_ns, 1, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	account_end(&fake);
	return findings_of(&fake);
}

/* A few short reads of a program that starts limit no process. */
static void major_faults_that_take_no_time_are_no_finding(void **state)
{
	struct findings findings = reading(200000);

	assert_null(finding_of(&findings, "major_faults"));
}

static void major_faults_are_of_files_or_of_swap(void **state)
{
	struct findings findings = reading(4 * MS);

	assert_true(finding_of(&findings, "major_faults")->is_alarm);
	assert_non_null(strstr(text_of(&findings, "major_faults"), "pages of files or of swap"));
	assert_non_null(strstr(text_of(&findings, "major_faults"), "50 major faults/s (500"));
}

/* ---- heap_grows ---- */

static struct findings leaking(uint64_t available, bool has_others)
{
	struct fake_profile fake;
	struct resource_rows rows;
	struct findings findings;
	struct heap_place place = {.pid = 5,
				   .comm = "app",
				   .trend = HEAP_TREND_GROWS,
				   .live = {.bytes = 40 * MIB, .error_bytes = MIB},
				   .growth_bytes = 40 * MIB,
				   .growth_per_second = 4 * MIB,
				   .stays_permille = 990};
	size_t count;

	account_begin(&fake, 1U << PKBPF_PROFILE_ALLOC | 1U << PKBPF_PROFILE_CPU, SECOND,
		      19 * SECOND);
	profile_info(fake.profile)->has_targets = true;
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app", .run_ns = MS});
	account_samples(&fake, 5, "app", 1, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_samples(&fake, 5, "app", 1, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_end(&fake);
	place.stack = profile_rows(fake.profile, &count)[0].stack;
	assert_int_equal(heap_list_add(profile_heaps(fake.profile), &place), 0);
	place.stack = profile_rows(fake.profile, &count)[1].stack;
	place.growth_bytes = MIB;
	place.growth_per_second = MIB;
	place.trend = has_others ? HEAP_TREND_GROWS : HEAP_TREND_NONE;
	assert_int_equal(heap_list_add(profile_heaps(fake.profile), &place), 0);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	rows.machine.known = available > 0;
	rows.machine.memory_bytes = 100 * available;
	rows.machine.memory_available_bytes = available;
	findings_find(&rows, &findings);
	resource_rows_done(&rows);
	fake_profile_done(&fake);
	return findings;
}

static void a_leak_says_how_long_memory_lasts_only_where_that_is_known(void **state)
{
	struct findings findings = leaking(400 * MIB, false);

	assert_non_null(
		strstr(text_of(&findings, "heap_grows"), "free memory is used up in 1 min 40 s"));
	assert_null(strstr(text_of(&findings, "heap_grows"), "other places"));
	assert_non_null(strstr(text_of(&findings, "heap_grows"), "a cache that is not full yet"));
	findings = leaking(0, true);
	assert_null(strstr(text_of(&findings, "heap_grows"), "used up"));
	assert_non_null(strstr(text_of(&findings, "heap_grows"), "other places 1.00 MiB/s"));
}

/* ---- system calls ---- */

static struct findings calling(struct fake_ips kernel, uint64_t calls, uint64_t bytes,
			       uint64_t other_samples)
{
	const struct relation relation = {.kind = PKBPF_RELATION_CALLS,
					  .pid = 5,
					  .count = calls,
					  .value = bytes,
					  .text = "read",
					  .stack = RELATION_NO_STACK,
					  .other_stack = RELATION_NO_STACK};
	struct fake_profile fake;

	begin(&fake, 9 * SECOND);
	account_kernel_samples(&fake, 5, "app", 60, kernel, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_samples(&fake, 5, "app", other_samples, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_end(&fake);
	assert_int_equal(relation_list_add(profile_relations(fake.profile), &relation), 0);
	return findings_of(&fake);
}

static struct findings reading_by(uint64_t calls, uint64_t bytes, uint64_t other_samples)
{
	return calling(FAKE_IPS(ACCOUNT_WAKE, ACCOUNT_FUTEX_CALL), calls, bytes, other_samples);
}

/* A larger buffer is of no use where each message is small. */
static void small_messages_are_to_be_batched(void **state)
{
	struct findings findings =
		calling(FAKE_IPS(ACCOUNT_MESSAGE, ACCOUNT_RECEIVE), 1000000, 5000000, 10);

	assert_non_null(
		strstr(text_of(&findings, "syscall_bound"), "several messages in each call"));
	assert_null(strstr(text_of(&findings, "syscall_bound"), "larger blocks"));
}

static void calls_are_small_only_where_their_bytes_are_known(void **state)
{
	struct findings findings = reading_by(1000000, 1000000, 10);

	/* Of a futex there are none. */
	assert_non_null(strstr(text_of(&findings, "syscall_bound"),
			       "spends its CPU time in one system call: futex"));
	assert_null(strstr(text_of(&findings, "syscall_bound"), "larger blocks"));
	/* 55 +- 9 %: it may be less than half. */
	findings = reading_by(1000000, 1000000, 50);
	assert_null(finding_of(&findings, "syscall_bound"));
}

/* ---- lookups ---- */

static void waits_in_a_resolver_are_lookups(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake, SECOND / 2);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 2, 4500 * MS, 1, FAKE_IPS(ACCOUNT_EPOLL),
		      FAKE_IPS(ACCOUNT_RESOLVE, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	findings = findings_of(&fake);
	assert_non_null(strstr(text_of(&findings, "name_lookup"),
			       "waits for lookups of names (DNS) in `exec_query > getaddrinfo`; 90 "
			       "% of wall time (9.00 s in 2 waits)"));
	/* Answers that come soon. */
	begin(&fake, SECOND / 2);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 20, MS, 1, FAKE_IPS(ACCOUNT_EPOLL),
		      FAKE_IPS(ACCOUNT_RESOLVE, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	findings = findings_of(&fake);
	assert_null(finding_of(&findings, "name_lookup"));
}

/* ---- slow_device ---- */

/* A loop device that takes 40 ms for each read, on a disk that takes so long for them. */
static struct findings on_loop(uint64_t disk_ns)
{
	const struct {
		uint32_t device;
		uint8_t measure;
		uint64_t each_ns;
	} parts[] = {{7U << 20, PKBPF_BLOCKIO_DEVICE_TIME, 40 * MS},
		     {ACCOUNT_DEVICE, PKBPF_BLOCKIO_LOWER_DEVICE_TIME, disk_ns}};
	const struct process *process;
	struct fake_profile fake;

	account_begin(&fake, WAITS | 1U << PKBPF_PROFILE_BLOCKIO, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app", .run_ns = MS});
	process = process_table_find(profile_processes(fake.profile), 5);
	for (size_t i = 0; i < 2; i++) {
		struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(parts[i].each_ns),
							100};
		struct distribution_key key = {.kind = PKBPF_PROFILE_BLOCKIO,
					       .process = process->id,
					       .device = parts[i].device,
					       .state = PKBPF_BLOCKIO_READ,
					       .measure = parts[i].measure};
		struct distribution_change change = {.count = 100,
						     .total = 100 * parts[i].each_ns,
						     .max = parts[i].each_ns,
						     .buckets = &bucket,
						     .bucket_count = 1};

		assert_int_equal(profile_add_distribution(fake.profile, &key, &change), 0);
	}
	account_end(&fake);
	return findings_of(&fake);
}

static void the_disk_below_a_loop_device_is_slow_only_when_it_is(void **state)
{
	struct findings findings = on_loop(39 * MS);

	assert_non_null(strstr(text_of(&findings, "slow_device"), "block device 254:0 is slow"));
	assert_non_null(strstr(text_of(&findings, "slow_device"), "a device above it (loop)"));
	findings = on_loop(MS);
	assert_non_null(strstr(text_of(&findings, "slow_device"), "block device 7:0 is slow"));
	assert_null(strstr(text_of(&findings, "slow_device"), "above it"));
}

/* ---- sleep_bound ---- */

static struct findings looking(uint64_t threads)
{
	struct fake_profile fake;
	struct resource_rows rows;
	struct findings findings;

	begin(&fake, SECOND / 2);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 18000, MS / 2, 1,
		      FAKE_IPS(ACCOUNT_NANOSLEEP), FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	rows.items[0].threads_seen = threads;
	findings_find(&rows, &findings);
	resource_rows_done(&rows);
	fake_profile_done(&fake);
	return findings;
}

static void many_threads_that_sleep_do_not_poll(void **state)
{
	struct findings findings = looking(1);

	assert_non_null(strstr(text_of(&findings, "sleep_bound"), "polls: it sleeps for moments"));
	findings = looking(20);
	assert_null(finding_of(&findings, "sleep_bound"));
}

/* ---- who has ended ---- */

static void no_command_asks_a_process_that_has_ended(void **state)
{
	struct finding finding = finding_new(FINDING_RULE_queue_bound);
	struct findings findings = {0};

	finding.severity = 50;
	finding.pid = 5;
	snprintf(finding.next, sizeof(finding.next), "see its affinity (taskset -pc PID), or wait");
	findings_offer(&findings, &finding);
	assert_string_equal(findings.findings[0].next, "see its affinity (taskset -pc 5), or wait");
	snprintf(finding.next, sizeof(finding.next), "see its affinity (taskset -pc PID), or wait");
	finding.has_ended = true;
	finding.cost = 100;
	findings_offer(&findings, &finding);
	assert_string_equal(findings.findings[0].next, "see its affinity, or wait");
}

/* ---- without room ---- */

static void evidence_is_left_out_before_what_to_do_next(void **state)
{
	struct finding finding = {.who = "app 5",
				  .cause = "waits for a mutex",
				  .by = "held by `a, b`, released by c",
				  .evidence = "83 % of wall time; 20 waits, p99 3 ms",
				  .next = "divide it"};

	assert_true(finding_shorten(&finding));
	assert_string_equal(finding.text,
			    "app 5: waits for a mutex, held by `a, b`, released by c; "
			    "83 % of wall time; 20 waits. Next: divide it");
	assert_true(finding_shorten(&finding));
	assert_true(finding_shorten(&finding));
	assert_true(finding_shorten(&finding));
	assert_string_equal(finding.text,
			    "app 5: waits for a mutex, held by `a, b`. Next: divide it");
	assert_true(finding_shorten(&finding));
	assert_false(finding_shorten(&finding));
	assert_string_equal(finding.text, "app 5: waits for a mutex. Next: divide it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frozen_cgroup_is_reported_as_of_the_end),
		cmocka_unit_test(of_a_host_a_frozen_cgroup_is_no_alarm),
		cmocka_unit_test(short_processes_that_work_are_not_to_be_one_process),
		cmocka_unit_test(pages_that_the_kernel_moves_are_not_in_swap),
		cmocka_unit_test(reclaim_is_no_proof_of_a_limit),
		cmocka_unit_test(time_outs_limit_only_who_has_work_after_them),
		cmocka_unit_test(a_peer_that_answers_late_by_design_is_left_to_the_reader),
		cmocka_unit_test(segments_are_no_more_than_their_bytes_tell),
		cmocka_unit_test(major_faults_are_of_files_or_of_swap),
		cmocka_unit_test(major_faults_that_take_no_time_are_no_finding),
		cmocka_unit_test(calls_are_small_only_where_their_bytes_are_known),
		cmocka_unit_test(small_messages_are_to_be_batched),
		cmocka_unit_test(the_disk_below_a_loop_device_is_slow_only_when_it_is),
		cmocka_unit_test(many_threads_that_sleep_do_not_poll),
		cmocka_unit_test(waits_in_a_resolver_are_lookups),
		cmocka_unit_test(no_command_asks_a_process_that_has_ended),
		cmocka_unit_test(evidence_is_left_out_before_what_to_do_next),
		cmocka_unit_test(a_leak_says_how_long_memory_lasts_only_where_that_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
