// SPDX-License-Identifier: BSD-2-Clause
/* Tests that block I/O adds up by device and operation, without counting stacked devices for
 * processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_profile.h"
#include "rows/devices.h"
#include "report/text_sections.h"

#define VDA  (254U << 20)
#define LOOP (7U << 20)

struct fixture {
	struct fake_profile fake;
	struct device_table devices;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fake_profile_init(&fixture->fake, NULL);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	device_table_done(&fixture->devices);
	fake_profile_done(&fixture->fake);
	free(fixture);
	return 0;
}

/* `count` requests of one length each. */
static void add(struct fixture *fixture, uint32_t process, uint32_t device, uint8_t state,
		uint8_t measure, uint32_t count, uint64_t each_ns)
{
	struct pkbpf_histogram_bucket bucket = {.index = pkbpf_histogram_index(each_ns),
						.count = count};
	struct distribution_key key = {.kind = PKBPF_PROFILE_BLOCKIO,
				       .process = process,
				       .device = device,
				       .state = state,
				       .measure = measure};
	struct distribution_change change = {.count = count,
					     .total = count * each_ns,
					     .max = each_ns,
					     .bytes = measure % 2 ? 0 : count * 4096ULL,
					     .buckets = &bucket,
					     .bucket_count = 1};

	assert_int_equal(profile_add_distribution(fixture->fake.profile, &key, &change), 0);
}

static void adds_processes_up_by_device_and_operation(void **state)
{
	struct fixture *fixture = *state;
	const struct device *vda;

	add(fixture, 1, VDA, PKBPF_BLOCKIO_READ, PKBPF_BLOCKIO_DEVICE_TIME, 10, 1000);
	add(fixture, 2, VDA, PKBPF_BLOCKIO_READ | PKBPF_BLOCKIO_AHEAD, PKBPF_BLOCKIO_DEVICE_TIME, 5,
	    3000);
	add(fixture, 2, VDA, PKBPF_BLOCKIO_WRITE, PKBPF_BLOCKIO_DEVICE_TIME, 1, 9000);
	add(fixture, 1, VDA, PKBPF_BLOCKIO_READ, PKBPF_BLOCKIO_QUEUE_TIME, 10, 50);
	assert_int_equal(device_table_init(&fixture->devices, fixture->fake.profile), 0);
	assert_int_equal(fixture->devices.count, 1);
	vda = fixture->devices.items[0];
	assert_int_equal(vda->count, 16);
	assert_int_equal(vda->bytes, 16 * 4096);
	assert_int_equal(vda->operations[PKBPF_BLOCKIO_READ].device.count, 15);
	assert_int_equal(vda->operations[PKBPF_BLOCKIO_READ].device.histogram.count, 15);
	assert_int_equal(vda->operations[PKBPF_BLOCKIO_READ].device.max_ns, 3000);
	assert_int_equal(vda->operations[PKBPF_BLOCKIO_READ].queue.count, 10);
	assert_int_equal(vda->operations[PKBPF_BLOCKIO_WRITE].device.count, 1);
	assert_int_equal(vda->operations[PKBPF_BLOCKIO_WRITE].queue.count, 0);
}

static void a_lower_device_has_its_requests_and_says_that_they_are(void **state)
{
	struct fixture *fixture = *state;

	add(fixture, 1, LOOP, PKBPF_BLOCKIO_READ, PKBPF_BLOCKIO_DEVICE_TIME, 20, 1000);
	add(fixture, 2, VDA, PKBPF_BLOCKIO_READ, PKBPF_BLOCKIO_LOWER_DEVICE_TIME, 7, 500);
	add(fixture, 2, VDA, PKBPF_BLOCKIO_READ, PKBPF_BLOCKIO_LOWER_QUEUE_TIME, 7, 5);
	assert_int_equal(device_table_init(&fixture->devices, fixture->fake.profile), 0);
	assert_int_equal(fixture->devices.count, 2);
	assert_int_equal(fixture->devices.items[0]->number, LOOP); /* most requests first */
	assert_int_equal(fixture->devices.items[0]->lower_count, 0);
	assert_int_equal(fixture->devices.items[1]->count, 7);
	assert_int_equal(fixture->devices.items[1]->lower_count, 7);
	assert_int_equal(fixture->devices.items[1]->operations[PKBPF_BLOCKIO_READ].queue.count, 7);
}

static void states_of_later_versions_are_other_operations(void **state)
{
	struct fixture *fixture = *state;

	add(fixture, 1, VDA, 0x86, PKBPF_BLOCKIO_DEVICE_TIME, 3, 1000);
	add(fixture, 1, VDA, 0x07, 9, 3, 1000); /* an unknown measure counts nowhere */
	assert_int_equal(device_table_init(&fixture->devices, fixture->fake.profile), 0);
	assert_int_equal(fixture->devices.items[0]->operations[PKBPF_BLOCKIO_OTHER].device.count,
			 3);
	assert_int_equal(fixture->devices.items[0]->count, 3);
	assert_string_equal(device_operation_name(200), "other");
}

static void devices_are_called_by_name_or_number(void **state)
{
	struct fixture *fixture = *state;
	char buffer[32];

	profile_set_device_name(fixture->fake.profile, VDA, "vda");
	assert_string_equal(device_name(fixture->fake.profile, VDA, buffer), "vda");
	assert_string_equal(device_name(fixture->fake.profile, 8U << 20 | 17, buffer), "8:17");
}

static char *print(struct fixture *fixture)
{
	struct report_options options = {.top = 10, .full = true};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct text_report report = {.profile = fixture->fake.profile,
				     .options = &options,
				     .width = REPORT_WIDTH_DEFAULT,
				     .out = out};

	assert_int_equal(text_devices(&report), 0);
	fclose(out);
	return text;
}

static void the_section_has_a_line_per_operation_and_a_histogram(void **state)
{
	struct fixture *fixture = *state;
	char *text;

	profile_set_device_name(fixture->fake.profile, VDA, "vda");
	add(fixture, 1, VDA, PKBPF_BLOCKIO_READ, PKBPF_BLOCKIO_DEVICE_TIME, 1500, 70000);
	add(fixture, 1, VDA, PKBPF_BLOCKIO_READ, PKBPF_BLOCKIO_QUEUE_TIME, 1500, 900);
	add(fixture, 1, VDA, PKBPF_BLOCKIO_FLUSH, PKBPF_BLOCKIO_DEVICE_TIME, 2, 3000000);
	text = print(fixture);
	assert_non_null(strstr(text, "Block devices: 1,502 requests"));
	assert_non_null(strstr(text, "vda    read"));
	assert_non_null(strstr(text, "flush"));
	assert_non_null(strstr(text, "5.86 MiB"));
	assert_non_null(strstr(text, "Block device vda: service-time distribution"));
	assert_non_null(strstr(text, "65.5 us  131 us    1,500 ####"));
	free(text);
}

static void the_section_says_how_many_requests_have_no_known_length(void **state)
{
	struct fixture *fixture = *state;
	struct distribution_key key = {.kind = PKBPF_PROFILE_BLOCKIO,
				       .process = 1,
				       .device = VDA,
				       .state = PKBPF_BLOCKIO_READ};
	struct distribution_change change = {.count = 3, .total = 5000, .max = 5000, .open = true};
	char *text;

	add(fixture, 1, VDA, PKBPF_BLOCKIO_READ, PKBPF_BLOCKIO_DEVICE_TIME, 10, 70000);
	text = print(fixture);
	assert_null(strstr(text, "no percentile"));
	free(text);
	assert_int_equal(profile_add_distribution(fixture->fake.profile, &key, &change), 0);
	text = print(fixture);
	assert_non_null(strstr(text, "Block devices: 13 requests"));
	assert_non_null(strstr(text, "3 of these requests are in no distribution"));
	free(text);
}

static void no_block_io_prints_nothing(void **state)
{
	char *text = print(*state);

	assert_string_equal(text, "");
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(adds_processes_up_by_device_and_operation),
		TEST(a_lower_device_has_its_requests_and_says_that_they_are),
		TEST(states_of_later_versions_are_other_operations),
		TEST(devices_are_called_by_name_or_number),
		TEST(the_section_has_a_line_per_operation_and_a_histogram),
		TEST(the_section_says_how_many_requests_have_no_known_length),
		TEST(no_block_io_prints_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
