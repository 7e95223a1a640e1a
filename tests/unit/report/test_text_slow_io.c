// SPDX-License-Identifier: BSD-2-Clause
/* Tests the list of slow block requests in the text report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/blockio.h>
#include <pkbpf/offcpu.h>

#include "account_machine.h"
#include "report/report.h"
#include "report/text_table.h"

#define MS	1000000ULL
#define HEADING "\nSlowest block I/O requests (submitter's stack: leaf <- caller)\n"

struct fixture {
	struct fake_profile fake;
	char *text;
};

static int setup(void **state)
{
	static struct fixture fixture;

	account_begin(&fixture.fake, 1U << PKBPF_PROFILE_BLOCKIO | 1U << PKBPF_PROFILE_OFFCPU, 1,
		      1);
	account_process(&fixture.fake,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = 100});
	account_waits(&fixture.fake, 5, "app", PKBPF_WAIT_DISK, 1, 9 * MS, 1,
		      FAKE_IPS(ACCOUNT_IO_SLEEP), FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_MAIN));
	account_waits(&fixture.fake, 5, "app", PKBPF_WAIT_DISK, 1, 9 * MS, 2, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_waits(&fixture.fake, 5, "app", PKBPF_WAIT_DISK, 1, 9 * MS, 3,
		      FAKE_IPS(ACCOUNT_IO_SLEEP, ACCOUNT_EPOLL, ACCOUNT_GETEVENTS, ACCOUNT_FUTEX,
			       ACCOUNT_IO_SLEEP, ACCOUNT_EPOLL),
		      FAKE_IPS(ACCOUNT_SPIN, ACCOUNT_MAIN));
	account_requests(&fixture.fake, 5, "app", PKBPF_BLOCKIO_READ, 100, 4096, 2 * MS, 0);
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

static void request(struct fixture *fixture, uint64_t stack_id, uint64_t device_ns)
{
	account_slow_io(&fixture->fake, &(struct account_slow_io){.pid = 5,
								  .tid = 5,
								  .comm = "app",
								  .operation = PKBPF_BLOCKIO_READ,
								  .stack_id = stack_id,
								  .at_ns = 1500 * MS,
								  .device_ns = device_ns,
								  .bytes = 4096});
}

static const char *report(struct fixture *fixture)
{
	account_end(&fixture->fake);
	fixture->text = fake_profile_write(&fixture->fake, "text", NULL);
	for (const char *line = fixture->text; *line; line += strcspn(line, "\n") + 1) {
		char *copy = strndup(line, strcspn(line, "\n"));

		assert_non_null(copy);
		if (text_columns(copy) > REPORT_WIDTH_DEFAULT)
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

static void no_slow_request_is_not_worth_a_heading(void **state)
{
	assert_null(strstr(report(*state), "Slowest"));
}

static void the_slowest_is_first_and_has_its_times(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	request(fixture, 2, 20 * MS);
	account_slow_io(&fixture->fake, &(struct account_slow_io){.pid = 5,
								  .comm = "app-writer",
								  .operation = PKBPF_BLOCKIO_WRITE |
									       PKBPF_BLOCKIO_SYNC,
								  .stack_id = 1,
								  .at_ns = 3210 * MS,
								  .queue_ns = 700 * MS,
								  .device_ns = 200 * MS,
								  .bytes = 1 << 20,
								  .fua = true,
								  .metadata = true,
								  .failed = true});
	text = report(fixture);
	assert_shows(text, HEADING);
	assert_shows(text, "\n 1   3.210   5 app-writer 254:0  write sync fua meta FAILED 1.00 MiB "
			   "    700 ms       200 ms  900 ms\n");
	assert_shows(text, "\n 2   1.500   5 app        254:0  read                       4.00 KiB "
			   "      0 ns      20.0 ms 20.0 ms\n");
	assert_shows(
		text,
		"\n #1:        io_schedule <- XLogFlush <- main\n #2:        exec_query <- main\n");
	assert_null(strstr(text, "in flight at"));
}

static void requests_of_one_stack_share_its_line(void **state)
{
	static const uint64_t stacks[] = {1, 1, 1, 2, 1, 2, 2};

	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		request(*state, stacks[i], (100 - i) * MS);
	assert_shows(
		report(*state),
		"\n #1-3, 5:   io_schedule <- XLogFlush <- main\n #4, 6-7:   exec_query <- main\n");
}

static void frames_of_the_kernel_leave_room_for_the_program(void **state)
{
	request(*state, 3, 20 * MS);
	assert_shows(report(*state),
		     "\n #1:        io_schedule <- do_epoll_wait <- ... <- spin<int> <- main\n");
}

static void what_was_not_complete_says_so(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	account_slow_io(&fixture->fake, &(struct account_slow_io){.pid = 5,
								  .comm = "app",
								  .operation = PKBPF_BLOCKIO_FLUSH,
								  .queue_ns = 1234 * MS,
								  .open = true});
	text = report(fixture);
	assert_shows(text,
		     "\n 1   0.000   5 app  254:0  flush    -     1.23 s         0 ns > 1.23 s\n");
	assert_shows(text, "\n (\">\" still in flight at the end of the interval)\n");
	assert_shows(text, "\n #1:        [no stack]\n");
}

static void write_back_has_no_pid(void **state)
{
	struct fixture *fixture = *state;

	account_slow_io(&fixture->fake, &(struct account_slow_io){.pid = PKBPF_PID_WRITEBACK | 7,
								  .comm = PKBPF_WRITEBACK_COMM,
								  .operation = PKBPF_BLOCKIO_WRITE,
								  .device_ns = 20 * MS,
								  .bytes = 4096});
	assert_shows(report(fixture), "\n 1   0.000   - [writeback] 254:0  write");
}

static void names_cannot_move_the_cursor_or_widen_the_table(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	profile_set_device_name(fixture->fake.profile, 254U << 20,
				"a\x1b[2Jvery-long-device-name-of-some-volume-manager");
	account_slow_io(&fixture->fake,
			&(struct account_slow_io){.pid = 4000000000U % PKBPF_PID_WRITEBACK,
						  .comm = "\x1b[31mred\x07.......",
						  .operation = PKBPF_BLOCKIO_WRITE |
							       PKBPF_BLOCKIO_SYNC |
							       PKBPF_BLOCKIO_AHEAD,
						  .queue_ns = UINT64_MAX / 4,
						  .device_ns = UINT64_MAX / 4,
						  .bytes = UINT32_MAX,
						  .at_ns = UINT64_MAX / 4,
						  .fua = true,
						  .metadata = true,
						  .failed = true,
						  .open = true});
	text = strstr(report(fixture), HEADING);
	assert_non_null(text);
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(text, '\x07'));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_slow_request_is_not_worth_a_heading),
		TEST(the_slowest_is_first_and_has_its_times),
		TEST(requests_of_one_stack_share_its_line),
		TEST(frames_of_the_kernel_leave_room_for_the_program),
		TEST(what_was_not_complete_says_so),
		TEST(write_back_has_no_pid),
		TEST(names_cannot_move_the_cursor_or_widen_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
