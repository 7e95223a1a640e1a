// SPDX-License-Identifier: BSD-2-Clause
/* Tests the list of slow requests by thread contexts in the text report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/context.h>
#include <pkbpf/offcpu.h>

#include "account_machine.h"
#include "report/report.h"
#include "report/text_table.h"

#define MS	1000000ULL
#define PID	5
#define HEADING "\nSlowest requests (by thread contexts)\n"

struct fixture {
	struct fake_profile fake;
	char *text;
};

/* Stacks 1: disk, 2: sleep. */
static int setup(void **state)
{
	static struct fixture fixture;

	account_begin(&fixture.fake, 1U << PKBPF_PROFILE_OFFCPU, 1, 1);
	account_process(&fixture.fake,
			&(struct account_process){.pid = PID, .comm = "app", .run_ns = 100});
	account_waits(&fixture.fake, PID, "app", PKBPF_WAIT_DISK, 1, 9 * MS, 1,
		      FAKE_IPS(ACCOUNT_IO_SLEEP), FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_MAIN));
	account_waits(&fixture.fake, PID, "app", PKBPF_WAIT_SLEEP, 1, 9 * MS, 2,
		      FAKE_IPS(ACCOUNT_NANOSLEEP), FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	request_list_limit(profile_contexts(fixture.fake.profile), 3);
	fixture.text = NULL;
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	free(fixture->text);
	fake_profile_done(&fixture->fake);
	return 0;
}

/* It ran for 10 ms, was in the run queue for 2 ms, slept for sleep_ns and waited for the disk for
 * the rest. */
static struct pkbpf_event_request request_of(uint64_t at_ns, uint64_t wall_ns, uint64_t sleep_ns)
{
	struct pkbpf_event_request request = {
		.header = {.kind = PKBPF_EVENT_REQUEST,
			   .size = sizeof(request),
			   .time_ns = ACCOUNT_START_NS + at_ns + wall_ns},
		.trace = {0x88, 0x77, 0x01},
		.span = {0xab},
		.start_ns = ACCOUNT_START_NS + at_ns,
		.wall_ns = wall_ns,
		.part_ns = {[PKBPF_WAIT_NONE] = 10 * MS,
			    [PKBPF_WAIT_RUNQUEUE] = 2 * MS,
			    [PKBPF_WAIT_SLEEP] = sleep_ns,
			    [PKBPF_WAIT_DISK] = wall_ns - 12 * MS - sleep_ns},
		.pid = PID,
		.tid = 7,
		.comm = "worker",
		.labels = {"/orders"},
	};

	return request;
}

static void send_request(struct fixture *fixture, const struct pkbpf_event_request *request)
{
	struct event_sink sink = aggregator_sink(fixture->fake.aggregator);

	sink.ops->on_other(sink.context, &request->header);
}

static const char *report(struct fixture *fixture)
{
	account_end(&fixture->fake);
	fixture->text = fake_profile_write(&fixture->fake, "text", NULL);
	for (const char *line = fixture->text; *line; line += strcspn(line, "\n") + 1) {
		char *copy = strndup(line, strcspn(line, "\n"));

		assert_non_null(copy);
		/* Ids and reasons have a line of their own that is not cut. */
		if (strncmp(copy, " #", 2) != 0 && text_columns(copy) > REPORT_WIDTH_DEFAULT)
			fail_msg("%zu columns: %s", text_columns(copy), copy);
		free(copy);
	}
	return fixture->text;
}

static void assert_shows(const char *text, const char *part)
{
	const char *list = strstr(text, HEADING);

	assert_non_null(list);
	if (!strstr(list, part))
		fail_msg("no \"%s\" in:\n%s", part, list);
}

static void no_request_is_not_worth_a_heading(void **state)
{
	assert_null(strstr(report(*state), "Slowest requests"));
}

static void a_request_has_its_parts_ids_and_reasons(void **state)
{
	struct pkbpf_event_request request = request_of(1500 * MS, 100 * MS, 50 * MS);
	const char *text;

	request.reasons[0] = (struct pkbpf_context_reason){.stack_id = 2, .wait_ns = 50 * MS};
	request.reasons[1] = (struct pkbpf_context_reason){.stack_id = 1, .wait_ns = 30 * MS};
	send_request(*state, &request);
	text = report(*state);
	assert_shows(text, "\n 1   1.500   5 worker   7 /orders 100 ms 10.0 ms   2.00 ms 50.0 ms "
			   "38.0 ms\n");
	assert_shows(text, "\n #1 trace 88770100000000000000000000000000 span ab00000000000000: "
			   "50.0 ms sleeps on its own timer in exec_query, 30.0 ms waits for block "
			   "I/O in XLogFlush, 8.00 ms other waits\n");
}

static void the_slowest_are_kept_and_the_first_is_the_slowest(void **state)
{
	static const uint64_t wall_ms[] = {20, 400, 30, 300, 200};
	const char *text;

	for (size_t i = 0; i < sizeof(wall_ms) / sizeof(wall_ms[0]); i++) {
		struct pkbpf_event_request request =
			request_of(1000 * (i + 1) * MS, wall_ms[i] * MS, MS);

		send_request(*state, &request);
	}
	text = report(*state);
	assert_shows(text, "\n 1   2.000 ");
	assert_shows(text, "\n 2   4.000 ");
	assert_shows(text, "\n 3   5.000 ");
	assert_null(strstr(text, "\n #4 trace"));
}

static void waits_of_one_cause_are_one_and_an_open_request_says_so(void **state)
{
	struct pkbpf_event_request request = request_of(1500 * MS, 100 * MS, 50 * MS);

	request.header.flags = PKBPF_REQUEST_OPEN;
	request.reasons[2] = (struct pkbpf_context_reason){.stack_id = 1, .wait_ns = 38 * MS};
	request.reasons[7] = (struct pkbpf_context_reason){.stack_id = 2, .wait_ns = 20 * MS};
	request.reasons[15] = (struct pkbpf_context_reason){.stack_id = 2, .wait_ns = 30 * MS};
	send_request(*state, &request);
	assert_shows(report(*state), " span ab00000000000000, not ended: 50.0 ms sleeps on its own "
				     "timer in exec_query, 38.0 ms waits for block I/O in "
				     "XLogFlush");
}

static void what_is_not_known_is_not_told(void **state)
{
	struct pkbpf_event_request request = request_of(0, 12 * MS, 0);

	memset(request.labels, 0, sizeof(request.labels));
	/* No stack came with this number. */
	request.reasons[0] = (struct pkbpf_context_reason){.stack_id = 99, .wait_ns = MS};
	send_request(*state, &request);
	assert_shows(report(*state), " 7 -     12.0 ms 10.0 ms   2.00 ms     .    .\n"
				     " #1 trace 88770100000000000000000000000000 span "
				     "ab00000000000000\n");
}

static void names_cannot_move_the_cursor_or_widen_the_table(void **state)
{
	struct pkbpf_event_request request = request_of(0, UINT64_MAX / 4, UINT64_MAX / 8);
	const char *text;

	snprintf(request.comm, sizeof(request.comm), "\x1b[31mred\x07......");
	snprintf(request.labels[0], sizeof(request.labels[0]),
		 "\x1b[2J/a/very/long/label/that/somebody/made/for/us/to/print");
	request.tid = UINT32_MAX;
	send_request(*state, &request);
	text = strstr(report(*state), HEADING);
	assert_non_null(text);
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(text, '\x07'));
}

static void parts_that_do_not_add_up_are_no_request(void **state)
{
	struct pkbpf_event_request request = request_of(0, 100 * MS, 50 * MS);

	request.wall_ns++;
	send_request(*state, &request);
	assert_null(strstr(report(*state), "Slowest requests"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_request_is_not_worth_a_heading),
		TEST(a_request_has_its_parts_ids_and_reasons),
		TEST(the_slowest_are_kept_and_the_first_is_the_slowest),
		TEST(waits_of_one_cause_are_one_and_an_open_request_says_so),
		TEST(what_is_not_known_is_not_told),
		TEST(names_cannot_move_the_cursor_or_widen_the_table),
		TEST(parts_that_do_not_add_up_are_no_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
