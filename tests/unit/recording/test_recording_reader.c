// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "recorded_profile.h"
#include "recording/recording_bytes.h"
#include "recording/slice_codec.h"

#define BLOCKS 3
/* PKBPF_RECORDING_TRIALS=100000 tries as many. */
#define TRIALS 3000

struct recorded {
	uint8_t *bytes;
	size_t size;
	uint64_t weight; /* of each block */
};

static uint64_t weight_of(const struct profile *profile)
{
	uint64_t weight = 0;
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);

	for (size_t i = 0; i < count; i++)
		weight += rows[i].weight;
	return weight;
}

/* Three blocks of one small profile. */
static int setup(void **state)
{
	struct recorded *recorded = calloc(1, sizeof(*recorded));
	const struct profile *profiles[BLOCKS];
	struct fake_profile fake;
	int fd;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 1000, 1000);
	account_process(&fake, &(struct account_process){.pid = 10, .comm = "one", .run_ns = 50});
	account_samples(&fake, 10, "one", 7, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_samples(&fake, 10, "one", 5, FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_MAIN));
	account_end(&fake);
	for (size_t i = 0; i < BLOCKS; i++)
		profiles[i] = fake.profile;
	recorded->weight = weight_of(fake.profile);
	assert_true(recorded->weight > 0);
	fd = recorded_profiles(profiles, BLOCKS);
	recorded->bytes = recorded_bytes(fd, &recorded->size);
	close(fd);
	fake_profile_done(&fake);
	*state = recorded;
	return 0;
}

static int teardown(void **state)
{
	struct recorded *recorded = *state;

	free(recorded->bytes);
	free(recorded);
	return 0;
}

/* What reading it says. */
struct reading {
	int err; /* of opening */
	struct error error;
	size_t whole, damaged; /* blocks */
	uint64_t weight;
	bool is_complete; /* nothing was told to be missing */
};

static struct reading read_file(int fd)
{
	struct recording_reader reader;
	struct reading reading = {0};

	reading.err = recording_reader_open(&reader, fd, &reading.error);
	if (reading.err)
		return reading;
	for (size_t i = 0; i < reader.blocks.count; i++) {
		struct recording_block block;
		struct profile *profile = NULL;
		int err = recording_reader_read(&reader, i, &block);

		if (!err) {
			err = slice_decode(&block, NULL, &profile);
			recording_block_done(&block);
		}
		assert_true(err == 0 || err == -EBADMSG);
		reading.whole += !err;
		reading.damaged += err != 0;
		if (!err)
			reading.weight += weight_of(profile);
		profile_free(profile);
	}
	reading.is_complete = !reading.damaged && !reader.cut_off && !reader.index_damaged &&
			      !reader.damaged_bytes && !reader.missing_blocks;
	recording_reader_done(&reader);
	return reading;
}

static struct reading read_bytes(const void *bytes, size_t size)
{
	int fd = recorded_file(bytes, size);
	struct reading reading = read_file(fd);

	close(fd);
	return reading;
}

static void reads_all_of_it(void **state)
{
	const struct recorded *recorded = *state;
	struct reading reading = read_bytes(recorded->bytes, recorded->size);

	assert_int_equal(reading.err, 0);
	assert_int_equal(reading.whole, BLOCKS);
	assert_int_equal(reading.weight, BLOCKS * recorded->weight);
	assert_true(reading.is_complete);
}

static void reads_up_to_the_last_whole_block_wherever_it_is_cut(void **state)
{
	const struct recorded *recorded = *state;
	size_t most = 0;

	for (size_t size = 0; size < recorded->size; size++) {
		struct reading reading = read_bytes(recorded->bytes, size);

		if (size < RECORDING_FILE_HEADER_BYTES) {
			assert_int_equal(reading.err, -EBADMSG);
			continue;
		}
		assert_int_equal(reading.err, 0);
		assert_false(reading.is_complete);
		assert_int_equal(reading.damaged, 0);
		assert_int_equal(reading.weight, reading.whole * recorded->weight);
		assert_true(reading.whole >= most);
		most = reading.whole;
	}
	assert_int_equal(most, BLOCKS);
}

static size_t trials(void)
{
	const char *wanted = getenv("PKBPF_RECORDING_TRIALS");

	return wanted ? strtoul(wanted, NULL, 10) : TRIALS;
}

/* Whatever bit is wrong: no block gives wrong figures, and what is missing is told. */
static void a_flipped_bit_costs_its_block_and_is_told(void **state)
{
	const struct recorded *recorded = *state;
	size_t bits = recorded->size * 8, step = bits / trials() + 1;
	int fd = recorded_file(recorded->bytes, recorded->size);

	for (size_t trial = 0, bit = 0; trial < trials(); trial++, bit += step) {
		size_t at = (bit % bits) / 8;
		uint8_t wrong = recorded->bytes[at] ^ (uint8_t)(1 << (bit % 8));
		struct reading reading;

		/* Each time round others. */
		bit += bit >= bits ? 1 - bits : 0;
		assert_int_equal(pwrite(fd, &wrong, 1, (off_t)at), 1);
		reading = read_file(fd);
		assert_int_equal(pwrite(fd, &recorded->bytes[at], 1, (off_t)at), 1);
		if (reading.err) {
			assert_true(at < RECORDING_FILE_HEADER_BYTES);
			continue;
		}
		assert_false(reading.is_complete);
		assert_int_equal(reading.weight, reading.whole * recorded->weight);
		assert_true(reading.whole >= BLOCKS - 1);
	}
	close(fd);
}

static void refuses_a_newer_version_with_a_sentence(void **state)
{
	const struct recorded *recorded = *state;
	struct reading reading;

	recording_put16(recorded->bytes + 8, RECORDING_FILE_MAJOR + 1);
	recording_put32(recorded->bytes + 60, recording_checksum(recorded->bytes, 60));
	reading = read_bytes(recorded->bytes, recorded->size);
	assert_int_equal(reading.err, -ENOTSUP);
	assert_non_null(strstr(reading.error.text, "use a newer pkbpf"));
}

static void refuses_what_is_no_recording(void **state)
{
	static const char text[] =
		"PKBPFEVT of the events of a test, or anything else that is long enough";

	assert_int_equal(read_bytes(text, sizeof(text)).err, -EBADMSG);
	assert_int_equal(read_bytes("", 0).err, -EBADMSG);
}

/* A later version adds one at the end of each block. */
static void skips_sections_that_it_does_not_know(void **state)
{
	const struct recorded *recorded = *state;
	int fd = recorded_file(recorded->bytes, recorded->size);
	struct recording_sections sections = {0};
	struct recording_writer writer;
	struct recording_reader reader;
	struct recording_block block;
	struct error error;
	struct reading reading;
	char *data = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&data, &size);

	assert_int_equal(recording_reader_open(&reader, fd, &error), 0);
	assert_int_equal(recording_reader_read(&reader, 0, &block), 0);
	recording_sections_add(&sections, 999, "of a later version", 18);
	for (size_t i = 0; i < block.section_count; i++) {
		uint8_t *plain;

		assert_int_equal(recording_section_unpack(&block.sections[i], &plain), 0);
		recording_sections_add(&sections, block.sections[i].kind, plain,
				       block.sections[i].plain);
		free(plain);
	}
	assert_int_equal(recording_writer_begin(&writer, out, 1), 0);
	assert_int_equal(recording_writer_add(&writer, &reader.blocks.items[0].span, &sections), 0);
	assert_int_equal(recording_writer_end(&writer), 0);
	recording_writer_done(&writer);
	recording_sections_done(&sections);
	recording_block_done(&block);
	recording_reader_done(&reader);
	close(fd);
	fclose(out);
	reading = read_bytes(data, size);
	free(data);
	assert_true(reading.is_complete);
	assert_int_equal(reading.weight, recorded->weight);
}

static void a_full_disk_is_an_error_and_leaves_whole_blocks(void **state)
{
	const struct recorded *recorded = *state;
	struct recording_sections sections = {0};
	struct recording_span span = {0};
	struct recording_writer writer;
	FILE *full = fopen("/dev/full", "w");

	(void)recorded;
	assert_non_null(full);
	recording_sections_add(&sections, 1, "x", 1);
	assert_int_equal(recording_writer_begin(&writer, full, 1), 0);
	assert_int_equal(recording_writer_add(&writer, &span, &sections), -ENOSPC);
	recording_writer_done(&writer);
	recording_sections_done(&sections);
	fclose(full);
}

static void a_section_cannot_claim_more_memory_than_it_packs(void **state)
{
	const struct recording_section section = {
		.codec = RECORDING_CODEC_ZLIB,
		.data = (const uint8_t *)"xxxxxxxx",
		.stored = 8,
		.plain = 100U << 20,
	};
	uint8_t *data;

	assert_int_equal(recording_section_unpack(&section, &data), -EBADMSG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_all_of_it),
		TEST(reads_up_to_the_last_whole_block_wherever_it_is_cut),
		TEST(a_flipped_bit_costs_its_block_and_is_told),
		TEST(refuses_a_newer_version_with_a_sentence),
		TEST(refuses_what_is_no_recording),
		TEST(skips_sections_that_it_does_not_know),
		TEST(a_full_disk_is_an_error_and_leaves_whole_blocks),
		TEST(a_section_cannot_claim_more_memory_than_it_packs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
