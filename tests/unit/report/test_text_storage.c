// SPDX-License-Identifier: BSD-2-Clause
/* Tests what the text report says of devices, page faults and heaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "base/array.h"
#include "fake_profile.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL
#define PID    5
#define ALL                                                                                        \
	(1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_BLOCKIO | 1U << PKBPF_PROFILE_FAULTS |      \
	 1U << PKBPF_PROFILE_ALLOC)

static void begin(struct fake_profile *fake)
{
	account_begin(fake, ALL, SECOND, 19 * SECOND);
	account_process(fake, &(struct account_process){.pid = PID,
							.comm = "app",
							.run_ns = SECOND,
							.minor = 400,
							.major = 30,
							.rss_bytes = 64 << 20});
	account_samples(fake, PID, "app", 99, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
}

static char *text_of(struct fake_profile *fake, bool full)
{
	const struct format_options options = {.top = 10, .full = full, .width = 160};
	char *text;

	account_end(fake);
	text = fake_profile_write(fake, "text", &options);
	fake_profile_done(fake);
	return text;
}

/* Is there a line that begins so, after spaces, and has the other text further on? */
static bool has_line(const char *text, const char *begin, const char *rest)
{
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");
		const char *at = line + strspn(line, " ");
		char copy[512];

		snprintf(copy, sizeof(copy), "%.*s", (int)length, line);
		if (!strncmp(at, begin, strlen(begin)) && strstr(copy, rest))
			return true;
		line += length + (line[length] != '\0');
	}
	return false;
}

static void devices_are_listed_by_operation_with_their_times(void **state)
{
	struct fake_profile fake;
	char *text;

	begin(&fake);
	assert_int_equal(profile_set_device_name(fake.profile, ACCOUNT_DEVICE, "vdb"), 0);
	account_requests(&fake, PID, "app", PKBPF_BLOCKIO_READ, 200, 4096, 2 * MS, MS);
	account_requests(&fake, PID, "app", PKBPF_BLOCKIO_WRITE, 50, 65536, 8 * MS, MS);
	text = text_of(&fake, true);
	assert_true(has_line(text, "Block devices: 250 requests", ""));
	assert_true(has_line(text, "vdb    read ", "200 20.0  800 KiB service 2.00 ms"));
	assert_true(has_line(text, "vdb    write ", "50  5.0 3.12 MiB service 8.00 ms"));
	/* Of the process the same, in one row. */
	assert_true(has_line(text, "5 app ", "200     50 800 KiB 3.12 MiB"));
	assert_true(has_line(text, "Block device vdb: service-time distribution", ""));
	assert_true(has_line(text, "1.05 ms 2.10 ms ", "200 ####"));
	/* Between both nothing took place. */
	assert_false(has_line(text, "2.10 ms 4.19 ms ", "#"));
	free(text);
}

static void a_device_without_a_name_has_its_number(void **state)
{
	struct fake_profile fake;
	char *text;

	begin(&fake);
	account_requests(&fake, PID, "app", PKBPF_BLOCKIO_READ, 10, 4096, MS, MS);
	text = text_of(&fake, true);
	assert_true(has_line(text, "254:0 ", "read"));
	free(text);
}

static void faults_are_told_by_what_they_were_for(void **state)
{
	struct fake_profile fake;
	char *text;

	begin(&fake);
	account_faults(&fake, PID, "app", 300, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_major_faults(&fake, PID, "app", 20, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	text = text_of(&fake, true);
	assert_true(has_line(text, "Page faults by process: 320 faults", ""));
	assert_true(has_line(text, "93.8%    300 93.8% list_append", ""));
	assert_true(has_line(text, "6.2%     20  6.2% exec_query", ""));
	assert_true(has_line(text, "private file ", "0    20"));
	free(text);
}

static void a_place_that_grows_is_told_with_how_long_memory_lasts(void **state)
{
	struct heap_place place = {
		.pid = PID,
		.trend = HEAP_TREND_GROWS,
		.live = {.bytes = 48 << 20, .objects = 4800, .samples = 90},
		.allocated = {.bytes = 96 << 20, .objects = 9600, .samples = 180},
		.peak_bytes = 50 << 20,
		.growth_bytes = 40 << 20,
		.growth_per_second = 4 << 20};
	struct fake_profile fake;
	size_t count;
	char *text;

	begin(&fake);
	snprintf(place.comm, sizeof(place.comm), "app");
	place.stack = profile_rows(fake.profile, &count)[0].stack;
	assert_int_equal(heap_list_add(profile_heaps(fake.profile), &place), 0);
	text = text_of(&fake, true);
	assert_true(has_line(text, "* app 5: grows like a leak by 4.00 MiB/s in `exec_query`",
			     "48.0 MiB"));
	/* 3 GiB are left. */
	assert_non_null(strstr(text, "12 min 48 s"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_are_listed_by_operation_with_their_times),
		cmocka_unit_test(a_device_without_a_name_has_its_number),
		cmocka_unit_test(faults_are_told_by_what_they_were_for),
		cmocka_unit_test(a_place_that_grows_is_told_with_how_long_memory_lasts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
