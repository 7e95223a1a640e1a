// SPDX-License-Identifier: BSD-2-Clause
/* Tests what findings say of network peers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "account_machine.h"
#include "finding_fixture.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL
#define PID    5

static uint32_t peer_of(const struct fake_profile *fake)
{
	struct peer peer = {.address = {.port = 5432,
					.family = PKBPF_NETWORK_IPV4,
					.role = PKBPF_NETWORK_CLIENT,
					.protocol = PKBPF_NETWORK_TCP},
			    .comm = "postgres"};

	assert_int_equal(inet_pton(AF_INET, "10.0.0.7", peer.address.address), 1);
	return peer_table_get(profile_peers(fake->profile), &peer);
}

static uint32_t name_server_of(const struct fake_profile *fake)
{
	struct peer peer = {.address = {.port = 53,
					.family = PKBPF_NETWORK_IPV4,
					.role = PKBPF_NETWORK_CLIENT,
					.protocol = PKBPF_NETWORK_UDP}};

	assert_int_equal(inet_pton(AF_INET, "10.0.0.53", peer.address.address), 1);
	return peer_table_get(profile_peers(fake->profile), &peer);
}

static void add_to(const struct fake_profile *fake, uint32_t peer, uint8_t measure, uint8_t state,
		   uint32_t count, uint64_t each_ns)
{
	const struct process *process = process_table_find(profile_processes(fake->profile), PID);
	struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(each_ns), count};
	struct distribution_key key = {.kind = PKBPF_PROFILE_NETWORK,
				       .process = process->id,
				       .device = peer,
				       .state = state,
				       .measure = measure};
	struct distribution_change change = {.count = count,
					     .total = each_ns ? count * each_ns : count,
					     .max = each_ns,
					     .buckets = &bucket,
					     .bucket_count = each_ns ? 1 : 0};

	assert_int_equal(profile_add_distribution(fake->profile, &key, &change), 0);
}

static void add(const struct fake_profile *fake, uint8_t measure, uint8_t state, uint32_t count,
		uint64_t each_ns)
{
	add_to(fake, peer_of(fake), measure, state, count, each_ns);
}

/* A process that runs for a second of ten. */
static void begin(struct fake_profile *fake)
{
	account_begin(fake, 1U << PKBPF_PROFILE_NETWORK | 1U << PKBPF_PROFILE_CPU, SECOND,
		      21 * SECOND);
	account_process(fake,
			&(struct account_process){.pid = PID, .comm = "app", .run_ns = SECOND});
	account_samples(fake, PID, "app", 99, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
}

static void a_backend_that_answers_slowly_is_named(void **state)
{
	struct fake_profile fake;
	const struct finding *finding;
	struct findings findings;

	begin(&fake);
	add(&fake, PKBPF_NETWORK_RESPONSES, PKBPF_NETWORK_CLIENT, 200, 45 * MS);
	add(&fake, PKBPF_NETWORK_WAITS, PKBPF_NETWORK_CLIENT, 200, 45 * MS);
	account_end(&fake);
	findings = findings_of(&fake);
	finding = finding_of(&findings, "peer_bound");
	assert_non_null(finding);
	assert_string_equal(finding->by, "peer tcp 10.0.0.7:5432 (postgres)");
	assert_non_null(strstr(finding->evidence, "90 % of wall time"));
	assert_non_null(strstr(finding->evidence, "200 answers"));
	assert_true(finding->is_alarm);
}

static void a_fast_backend_is_no_finding(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake);
	add(&fake, PKBPF_NETWORK_RESPONSES, PKBPF_NETWORK_CLIENT, 75000, 100000);
	add(&fake, PKBPF_NETWORK_WAITS, PKBPF_NETWORK_CLIENT, 75000, 100000);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_null(finding_of(&findings, "peer_bound"));
}

/* Answers to one question, and then what the peer sends of its own accord. */
static void a_peer_that_sends_events_owes_no_answer(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake);
	add(&fake, PKBPF_NETWORK_RESPONSES, PKBPF_NETWORK_CLIENT, 1, MS);
	add(&fake, PKBPF_NETWORK_WAITS, PKBPF_NETWORK_CLIENT, 90, 100 * MS);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_null(finding_of(&findings, "peer_bound"));
}

static void connections_that_are_refused_are_told_with_the_peer(void **state)
{
	struct fake_profile fake;
	const struct finding *finding;
	struct findings findings;

	begin(&fake);
	add(&fake, PKBPF_NETWORK_CONNECTS, PKBPF_NETWORK_CLIENT, 10, MS);
	add(&fake, PKBPF_NETWORK_FAILURES, 111, 30, 0);
	account_end(&fake);
	findings = findings_of(&fake);
	finding = finding_of(&findings, "peer_fails");
	assert_non_null(finding);
	assert_non_null(strstr(finding->cause, "Connection refused"));
	assert_non_null(strstr(finding->by, "10.0.0.7:5432"));
	assert_non_null(strstr(finding->evidence, "30 of 40 attempts failed"));
}

static void single_failures_are_normal(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake);
	add(&fake, PKBPF_NETWORK_CONNECTS, PKBPF_NETWORK_CLIENT, 1000, MS);
	add(&fake, PKBPF_NETWORK_FAILURES, 111, 30, 0);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_null(finding_of(&findings, "peer_fails"));
}

static void segments_that_are_lost_are_told(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake);
	add(&fake, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 1000, 0);
	add(&fake, PKBPF_NETWORK_RETRANSMITS, 0, 50, 0);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_non_null(finding_of(&findings, "retransmits"));
}

static void queries_without_an_answer_are_told_with_the_server(void **state)
{
	struct fake_profile fake;
	const struct finding *finding;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_NETWORK | 1U << PKBPF_PROFILE_OFFCPU, SECOND,
		      21 * SECOND);
	account_process(&fake, &(struct account_process){.pid = PID, .comm = "app"});
	account_waits(&fake, PID, "app", PKBPF_WAIT_SLEEP, 1, 5 * SECOND, 1,
		      FAKE_IPS(ACCOUNT_EPOLL), FAKE_IPS(ACCOUNT_RESOLVE, ACCOUNT_MAIN));
	add_to(&fake, name_server_of(&fake), PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 10, 0);
	add_to(&fake, name_server_of(&fake), PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_RECEIVED, 6, 0);
	account_end(&fake);
	findings = findings_of(&fake);
	finding = finding_of(&findings, "name_lookup");
	assert_non_null(finding);
	assert_string_equal(finding->by, "peer udp 10.0.0.53:53 (domain?)");
	assert_non_null(strstr(finding->cause, "time out"));
	assert_non_null(strstr(finding->evidence, "4 of 10 queries"));
	assert_non_null(strstr(finding->evidence, "the longest wait for one 5.00 s"));
}

static void the_first_of_several_answers_is_enough(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake);
	add_to(&fake, name_server_of(&fake), PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 90, 0);
	add_to(&fake, name_server_of(&fake), PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_RECEIVED, 30, 0);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_null(finding_of(&findings, "name_lookup"));
}

static void where_nobody_answers_lookups_fail(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake);
	add_to(&fake, name_server_of(&fake), PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 9, 0);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_non_null(finding_of(&findings, "name_lookup"));
	assert_non_null(strstr(finding_of(&findings, "name_lookup")->cause, "fail"));
}

static void messages_that_went_well_are_attempts_too(void **state)
{
	static const uint32_t sent[] = {3006, 6};

	for (size_t i = 0; i < 2; i++) {
		struct fake_profile fake;
		const struct finding *finding;
		struct findings findings;

		begin(&fake);
		add_to(&fake, name_server_of(&fake), PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT,
		       sent[i], 0);
		add_to(&fake, name_server_of(&fake), PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_RECEIVED,
		       sent[i], 0);
		add_to(&fake, name_server_of(&fake), PKBPF_NETWORK_FAILURES, 111, 6, 0);
		account_end(&fake);
		findings = findings_of(&fake);
		finding = finding_of(&findings, "peer_fails");
		assert_int_equal(finding != NULL, i == 1);
		if (finding)
			assert_non_null(strstr(finding->evidence, "6 of 12 messages failed"));
	}
}

static void a_connection_that_is_reset_was_established(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake);
	add(&fake, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 1000, 0);
	add(&fake, PKBPF_NETWORK_FAILURES, 104, 6, 0);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_null(finding_of(&findings, "peer_fails"));
}

static void queries_that_are_answered_are_no_finding(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake);
	add_to(&fake, name_server_of(&fake), PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 1000, 0);
	add_to(&fake, name_server_of(&fake), PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_RECEIVED, 998,
	       0);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_null(finding_of(&findings, "name_lookup"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_backend_that_answers_slowly_is_named),
		cmocka_unit_test(a_fast_backend_is_no_finding),
		cmocka_unit_test(a_peer_that_sends_events_owes_no_answer),
		cmocka_unit_test(connections_that_are_refused_are_told_with_the_peer),
		cmocka_unit_test(single_failures_are_normal),
		cmocka_unit_test(segments_that_are_lost_are_told),
		cmocka_unit_test(queries_without_an_answer_are_told_with_the_server),
		cmocka_unit_test(queries_that_are_answered_are_no_finding),
		cmocka_unit_test(the_first_of_several_answers_is_enough),
		cmocka_unit_test(where_nobody_answers_lookups_fail),
		cmocka_unit_test(messages_that_went_well_are_attempts_too),
		cmocka_unit_test(a_connection_that_is_reset_was_established),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
