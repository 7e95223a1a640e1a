// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "account_machine.h"
#include "recorded_profile.h"
#include "recording/recording_set.h"
#include "recording/slice_codec.h"
#include "slice_stream.h"
#include "trials.h"

#define SECOND	1000000000ULL
#define SAMPLES 12

/* A recording of so many slices of a second, the first at this time, before each of the others of
 * which the time of day makes a step; its path in a memory file. */
static int record_with_clock(uint64_t begin_ns, size_t slices, const char *host, int64_t step_ns,
			     char path[64])
{
	const struct profile *profiles[8];
	struct fake_profile fakes[8];
	int fd;

	assert_true(slices <= ARRAY_SIZE(fakes));
	for (size_t i = 0; i < slices; i++) {
		struct profile_info *info;

		account_begin(&fakes[i], 1U << PKBPF_PROFILE_CPU, 1000, 1000);
		account_process(&fakes[i], &(struct account_process){.pid = 10, .comm = "one"});
		account_samples(&fakes[i], 10, "one", SAMPLES, FAKE_IPS(ACCOUNT_MAIN));
		account_end(&fakes[i]);
		info = profile_info(fakes[i].profile);
		snprintf(info->host, sizeof(info->host), "%s", host);
		info->sequence = i;
		info->start_ns = begin_ns + i * SECOND;
		info->end_ns = info->start_ns + SECOND;
		info->start_unix_ns =
			(int64_t)(info->start_ns + 1000 * SECOND) + (int64_t)i * step_ns;
		profiles[i] = fakes[i].profile;
	}
	fd = recorded_profiles(profiles, slices);
	for (size_t i = 0; i < slices; i++)
		fake_profile_done(&fakes[i]);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static int record(uint64_t begin_ns, size_t slices, const char *host, char path[64])
{
	return record_with_clock(begin_ns, slices, host, 0, path);
}

static uint64_t samples_of(const struct profile *profile)
{
	return profile ? profile_account(profile).recorded : 0;
}

static void several_files_are_one_row_of_slices(void **state)
{
	struct recording_set set = {0};
	struct recording_interval interval;
	struct profile *profile;
	struct error error;
	char later[64], earlier[64];
	int later_fd = record(20 * SECOND, 2, "here", later);
	int earlier_fd = record(10 * SECOND, 3, "here", earlier);

	assert_int_equal(recording_set_add(&set, later, &error), 0);
	assert_int_equal(recording_set_add(&set, earlier, &error), 0);
	assert_int_equal(recording_set_sort(&set, &error), 0);
	assert_int_equal(
		recording_set_read(&set, &(struct recording_wish){0}, &profile, &interval, &error),
		0);
	assert_int_equal(interval.read, 5);
	assert_int_equal(interval.begin_ns, 10 * SECOND);
	assert_int_equal(interval.end_ns, 22 * SECOND);
	assert_int_equal(interval.gaps_ns, 7 * SECOND);
	assert_int_equal(samples_of(profile), 5 * SAMPLES);
	profile_free(profile);
	recording_set_done(&set);
	close(later_fd);
	close(earlier_fd);
}

static void an_interval_takes_the_slices_that_it_meets(void **state)
{
	static const struct {
		uint64_t from_ns, to_ns;
		size_t slices;
	} rows[] = {
		{0, 0, 5},
		{SECOND, 0, 4},
		{0, SECOND, 1},
		{SECOND, 2 * SECOND, 1},
		{SECOND / 2, SECOND + SECOND / 10, 2},
		{SECOND - SECOND / 100, SECOND + SECOND / 100, 0},
		{5 * SECOND, 0, 0},
		{5 * SECOND - SECOND / 10, 0, 1},
	};
	struct recording_set set = {0};
	struct error error;
	char path[64];
	int fd = record(10 * SECOND, 5, "here", path);

	assert_int_equal(recording_set_add(&set, path, &error), 0);
	assert_int_equal(recording_set_sort(&set, &error), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct recording_wish wish = {rows[i].from_ns, rows[i].to_ns, NULL, false};
		struct recording_interval interval;
		struct profile *profile;

		assert_int_equal(recording_set_read(&set, &wish, &profile, &interval, &error), 0);
		assert_int_equal(interval.read, rows[i].slices);
		assert_int_equal(samples_of(profile), rows[i].slices * SAMPLES);
		profile_free(profile);
	}
	recording_set_done(&set);
	close(fd);
}

static void what_would_count_twice_is_refused(void **state)
{
	struct recording_set set = {0};
	struct error error;
	char path[64];
	int fd = record(10 * SECOND, 2, "here", path);

	assert_int_equal(recording_set_add(&set, path, &error), 0);
	assert_int_equal(recording_set_add(&set, path, &error), 0);
	assert_int_equal(recording_set_sort(&set, &error), -EINVAL);
	assert_non_null(strstr(error.text, "overlap in time"));
	recording_set_done(&set);
	close(fd);
}

static void a_clock_that_is_set_divides_no_recording(void **state)
{
	const int64_t steps[] = {3600 * (int64_t)SECOND, -3600 * (int64_t)SECOND};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct recording_set set = {0};
		struct error error;
		char path[64];
		int fd = record_with_clock(100 * SECOND, 3, "here", steps[i], path);

		assert_int_equal(recording_set_add(&set, path, &error), 0);
		assert_int_equal(recording_set_sort(&set, &error), 0);
		recording_set_done(&set);
		close(fd);
	}
}

static void recordings_of_two_boots_are_refused(void **state)
{
	struct recording_set set = {0};
	struct error error;
	char before[64], after[64];
	int fd = record(100 * SECOND, 1, "here", before),
	    other = record_with_clock(200 * SECOND, 2, "here", 3600 * (int64_t)SECOND, after);

	assert_int_equal(recording_set_add(&set, before, &error), 0);
	assert_int_equal(recording_set_add(&set, after, &error), 0);
	assert_int_equal(recording_set_sort(&set, &error), 0);
	recording_set_done(&set);
	set = (struct recording_set){0};
	assert_int_equal(recording_set_add(&set, after, &error), 0);
	close(fd);
	fd = record_with_clock(300 * SECOND, 1, "here", 0, before);
	assert_int_equal(recording_set_add(&set, before, &error), 0);
	assert_int_equal(recording_set_sort(&set, &error), -EINVAL);
	assert_non_null(strstr(error.text, "different machines or boots"));
	recording_set_done(&set);
	close(fd);
	close(other);
}

static void another_host_is_refused(void **state)
{
	struct recording_set set = {0};
	struct recording_interval interval;
	struct profile *profile;
	struct error error;
	char here[64], there[64];
	int here_fd = record(10 * SECOND, 1, "here", here);
	int there_fd = record(20 * SECOND, 1, "there", there);

	assert_int_equal(recording_set_add(&set, here, &error), 0);
	assert_int_equal(recording_set_add(&set, there, &error), 0);
	assert_int_equal(recording_set_sort(&set, &error), 0);
	assert_int_equal(
		recording_set_read(&set, &(struct recording_wish){0}, &profile, &interval, &error),
		-EINVAL);
	assert_non_null(strstr(error.text, "another host"));
	recording_set_done(&set);
	close(here_fd);
	close(there_fd);
}

static void a_damaged_slice_is_left_out_and_counted(void **state)
{
	struct recording_set set = {0};
	struct recording_interval interval;
	struct profile *profile;
	struct error error;
	char path[64];
	int fd = record(10 * SECOND, 3, "here", path);
	uint8_t byte;

	assert_int_equal(recording_set_add(&set, path, &error), 0);
	assert_int_equal(recording_set_sort(&set, &error), 0);
	assert_int_equal(pread(fd, &byte, 1, 200), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, 200), 1);
	assert_int_equal(
		recording_set_read(&set, &(struct recording_wish){0}, &profile, &interval, &error),
		0);
	assert_int_equal(interval.read, 2);
	assert_int_equal(interval.damaged, 1);
	assert_int_equal(samples_of(profile), 2 * SAMPLES);
	profile_free(profile);
	recording_set_done(&set);
	close(fd);
}

/* Streams of everything there is, made up. */
static void whatever_happened_reads_as_it_was_written(void **state)
{
	for (uint64_t seed = 1; seed <= trials(20); seed++) {
		struct slice_stream stream;
		struct slice_plan plan = {0};
		struct profile *profile, *read;
		const struct profile *written;
		char *expected, *got;
		int fd;

		slice_stream_init(&stream, seed, 300);
		profile = slice_stream_play(&stream, &plan);
		written = profile;
		fd = recorded_profiles(&written, 1);
		read = recorded_read(fd, 0, NULL);
		expected = slice_stream_write(profile);
		got = slice_stream_write(read);
		assert_string_equal(expected, got);
		free(expected);
		free(got);
		profile_free(read);
		profile_free(profile);
		close(fd);
		slice_stream_done(&stream);
	}
}

struct slice_writer {
	struct recording_writer writer;
	FILE *out;
	char *data;
	size_t size;
};

static void write_slice(void *context, const struct profile *slice)
{
	struct slice_writer *into = context;
	struct recording_span span = slice_span(slice);
	struct recording_sections sections = {0};

	assert_int_equal(slice_encode(slice, 1, &sections), 0);
	assert_int_equal(recording_writer_add(&into->writer, &span, &sections), 0);
	recording_sections_done(&sections);
}

static void slices_read_as_they_were_merged(void **state)
{
	for (uint64_t seed = 1; seed <= trials(20); seed++) {
		const uint64_t start_ns = SLICE_STREAM_START_NS;
		const uint64_t cuts[] = {start_ns + SECOND / 10, start_ns + SECOND / 2,
					 start_ns + SECOND / 2, start_ns + 2 * SECOND};
		struct slice_writer into = {0};
		struct slice_stream stream;
		struct slice_plan plan = {.cuts = cuts,
					  .cut_count = ARRAY_SIZE(cuts),
					  .reads_at_cuts = true,
					  .max_names_bytes = seed % 2 ? 1 : 0,
					  .take = write_slice,
					  .context = &into};
		struct recording_set set = {0};
		struct recording_interval interval;
		struct profile *merged, *read;
		struct error error;
		char path[64], *expected, *got;
		int fd;

		into.out = open_memstream(&into.data, &into.size);
		assert_non_null(into.out);
		assert_int_equal(recording_writer_begin(&into.writer, into.out, 1), 0);
		slice_stream_init(&stream, seed, 400);
		merged = slice_stream_play(&stream, &plan);
		assert_int_equal(recording_writer_end(&into.writer), 0);
		recording_writer_done(&into.writer);
		assert_int_equal(fclose(into.out), 0);
		fd = recorded_file(into.data, into.size);
		free(into.data);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		assert_int_equal(recording_set_add(&set, path, &error), 0);
		assert_int_equal(recording_set_sort(&set, &error), 0);
		assert_int_equal(recording_set_read(&set, &(struct recording_wish){0}, &read,
						    &interval, &error),
				 0);
		assert_int_equal(interval.read, plan.slice_count);
		expected = slice_stream_write(merged);
		got = slice_stream_write(read);
		assert_string_equal(expected, got);
		free(expected);
		free(got);
		profile_free(read);
		profile_free(merged);
		recording_set_done(&set);
		close(fd);
		slice_stream_done(&stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_files_are_one_row_of_slices),
		cmocka_unit_test(an_interval_takes_the_slices_that_it_meets),
		cmocka_unit_test(what_would_count_twice_is_refused),
		cmocka_unit_test(a_clock_that_is_set_divides_no_recording),
		cmocka_unit_test(recordings_of_two_boots_are_refused),
		cmocka_unit_test(another_host_is_refused),
		cmocka_unit_test(a_damaged_slice_is_left_out_and_counted),
		cmocka_unit_test(whatever_happened_reads_as_it_was_written),
		cmocka_unit_test(slices_read_as_they_were_merged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
