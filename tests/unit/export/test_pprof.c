// SPDX-License-Identifier: BSD-2-Clause
// Tests what a reader of profile.proto finds, and what speedscope does.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <zlib.h>

#include "account_scenario.h"
#include "export/proto_writer.h"

static void numbers_are_varints_and_zero_is_left_out(void **state)
{
	static const uint8_t expected[] = {0x08, 0x96, 0x01, 0x10, 0xff, 0xff, 0xff,
					   0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
	struct proto_writer writer = {0};

	proto_number(&writer, 1, 150);
	proto_number(&writer, 2, UINT64_MAX);
	proto_number(&writer, 3, 0);
	assert_int_equal(writer.bytes.count, sizeof(expected));
	assert_memory_equal(writer.bytes.items, expected, sizeof(expected));
	proto_done(&writer);
}

static void messages_and_packed_numbers_know_their_length(void **state)
{
	static const uint8_t expected[] = {0x1a, 0x03, 0x08, 0x96, 0x01, 0x22, 0x03,
					   0x03, 0x8e, 0x02, 0x2a, 0x02, 'h',  'i'};
	static const uint64_t numbers[] = {3, 270};
	struct proto_writer writer = {0}, inner = {0};

	proto_number(&inner, 1, 150);
	proto_message(&writer, 3, &inner);
	assert_int_equal(inner.bytes.count, 0);
	proto_packed(&writer, 4, numbers, 2);
	proto_string(&writer, 5, "hi");
	assert_int_equal(writer.bytes.count, sizeof(expected));
	assert_memory_equal(writer.bytes.items, expected, sizeof(expected));
	proto_done(&inner);
	proto_done(&writer);
}

/* ---- a reader ---- */

struct reader {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number;
	uint64_t value;
	struct reader bytes;
};

static uint64_t read_varint(struct reader *reader)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		assert_true(reader->at < reader->end && shift < 64);
		value |= (uint64_t)(*reader->at & 0x7f) << shift;
		if (!(*reader->at++ & 0x80))
			return value;
	}
}

static bool next_field(struct reader *reader, struct field *field)
{
	uint64_t key;

	if (reader->at == reader->end)
		return false;
	key = read_varint(reader);
	field->number = (uint32_t)(key >> 3);
	field->value = read_varint(reader);
	if ((key & 7) == 0)
		return true;
	assert_int_equal(key & 7, 2);
	assert_true(field->value <= (uint64_t)(reader->end - reader->at));
	field->bytes = (struct reader){reader->at, reader->at + field->value};
	reader->at += field->value;
	return true;
}

/* What Go's reader demands, and sums. */
struct seen {
	uint64_t samples, types, locations, functions, strings;
	uint64_t values[2]; /* summed */
	uint64_t highest_location, highest_function;
};

static void look_at_sample(struct seen *seen, struct reader sample)
{
	struct field field;

	seen->samples++;
	while (next_field(&sample, &field)) {
		if (field.number == 1)
			while (field.bytes.at < field.bytes.end) {
				uint64_t location = read_varint(&field.bytes);

				assert_true(location > 0);
				if (location > seen->highest_location)
					seen->highest_location = location;
			}
		if (field.number == 2)
			for (size_t i = 0; field.bytes.at < field.bytes.end; i++) {
				assert_true(i < seen->types);
				seen->values[i] += read_varint(&field.bytes);
			}
	}
}

static void look_at_location(struct seen *seen, struct reader location)
{
	struct field field, line;
	bool has_line = false;

	seen->locations++;
	while (next_field(&location, &field)) {
		if (field.number == 1)
			assert_int_equal(field.value, seen->locations);
		if (field.number != 4)
			continue;
		has_line = true;
		while (next_field(&field.bytes, &line))
			if (line.number == 1 && line.value > seen->highest_function)
				seen->highest_function = line.value;
	}
	assert_true(has_line);
}

static void look_at_profile(struct seen *seen, struct reader profile)
{
	struct field field;

	while (next_field(&profile, &field)) {
		switch (field.number) {
		case 1:
			seen->types++;
			break;
		case 2:
			look_at_sample(seen, field.bytes);
			break;
		case 4:
			look_at_location(seen, field.bytes);
			break;
		case 5:
			seen->functions++;
			break;
		case 6:
			/* The first string is empty. */
			assert_true(seen->strings || !field.value);
			seen->strings++;
			break;
		default:
			break;
		}
	}
}

static uint8_t *write_and_unpack(enum pkbpf_profile_kind kind, size_t *ret_size)
{
	const struct format_ops *format = format_of(file_format_by_suffix(format_at, "x.pb.gz"));
	struct format_options options = {.kind = kind};
	uint8_t *bytes = malloc(1 << 20);
	z_stream stream = {0};
	struct fake_profile fake;
	struct results results;
	char *packed = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&packed, &size);

	account_scenario_init(&fake);
	results_init(&results, fake.profile, ROWS_BY_PROCESS);
	assert_int_equal(format->write(&results, &options, out), 0);
	assert_int_equal(fclose(out), 0);
	results_done(&results);
	fake_profile_done(&fake);
	assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	stream.next_in = (unsigned char *)packed;
	stream.avail_in = (uInt)size;
	stream.next_out = bytes;
	stream.avail_out = 1 << 20;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	*ret_size = stream.total_out;
	inflateEnd(&stream);
	free(packed);
	return bytes;
}

/* The sum of the numbers in the folded stacks of the same profile. */
static uint64_t folded_sum(enum pkbpf_profile_kind kind)
{
	struct format_options options = {.kind = kind};
	struct fake_profile fake;
	uint64_t sum = 0;
	char *text;

	account_scenario_init(&fake);
	text = fake_profile_write(&fake, "folded", &options);
	fake_profile_done(&fake);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		sum += strtoull(strrchr(line, ' '), NULL, 10);
	free(text);
	return sum;
}

static void samples_refer_to_what_is_there_and_add_up(void **state)
{
	size_t size;
	uint8_t *bytes = write_and_unpack(PKBPF_PROFILE_CPU, &size);
	struct seen seen = {0};

	look_at_profile(&seen, (struct reader){bytes, bytes + size});
	assert_int_equal(seen.types, 2);
	assert_true(seen.samples > 0);
	assert_int_equal(seen.highest_location, seen.locations);
	assert_true(seen.highest_function <= seen.functions);
	assert_int_equal(seen.values[0], folded_sum(PKBPF_PROFILE_CPU));
	free(bytes);
}

/* ---- names ---- */

#define MANY 256

struct names {
	const char *strings[MANY];
	size_t lengths[MANY], string_count;
	uint64_t name_of_function[MANY];
	uint64_t leaf_of_location[MANY];
	struct reader samples[MANY];
	size_t sample_count;
};

/* The first field of that number: a number, or the beginning of a message. */
static struct field field_of(struct reader message, uint32_t number)
{
	struct field field;

	while (next_field(&message, &field))
		if (field.number == number)
			return field;
	return (struct field){0};
}

static void read_names(struct names *names, struct reader profile)
{
	struct field field;

	while (next_field(&profile, &field)) {
		bool has_id = field.number == 4 || field.number == 5;
		uint64_t id = has_id ? field_of(field.bytes, 1).value : 0;

		assert_true(names->sample_count < MANY && names->string_count < MANY);
		if (field.number == 2)
			names->samples[names->sample_count++] = field.bytes;
		assert_true(id < MANY);
		if (field.number == 4)
			names->leaf_of_location[id] =
				field_of(field_of(field.bytes, 4).bytes, 1).value;
		if (field.number == 5)
			names->name_of_function[id] = field_of(field.bytes, 2).value;
		if (field.number == 6) {
			names->strings[names->string_count] = (const char *)field.bytes.at;
			names->lengths[names->string_count++] = field.value;
		}
	}
}

/* The innermost function of a sample is the last one of a line of folded stacks, or that before
 * the scheduler's. */
static void assert_leaf(const struct names *names, struct reader sample, const char *folded)
{
	struct field locations = field_of(sample, 1);
	char user[256], kernel[256], above[256];
	uint64_t name;

	if (locations.bytes.at == locations.bytes.end)
		return;
	name = names->name_of_function[names->leaf_of_location[read_varint(&locations.bytes)]];
	snprintf(user, sizeof(user), ";%.*s ", (int)names->lengths[name], names->strings[name]);
	snprintf(kernel, sizeof(kernel), ";%.*s_[k] ", (int)names->lengths[name],
		 names->strings[name]);
	snprintf(above, sizeof(above), ";%.*s;io_schedule_[k] ", (int)names->lengths[name],
		 names->strings[name]);
	assert_true(strstr(folded, user) || strstr(folded, kernel) || strstr(folded, above));
}

static void samples_have_the_names_that_folded_stacks_have(void **state)
{
	static const enum pkbpf_profile_kind kinds[] = {PKBPF_PROFILE_CPU, PKBPF_PROFILE_OFFCPU,
							PKBPF_PROFILE_BLOCKIO,
							PKBPF_PROFILE_FAULTS};

	for (size_t i = 0; i < 4; i++) {
		struct format_options options = {.kind = kinds[i]};
		struct names names = {0};
		struct fake_profile fake;
		size_t size;
		uint8_t *bytes = write_and_unpack(kinds[i], &size);
		char *text;

		account_scenario_init(&fake);
		text = fake_profile_write(&fake, "folded", &options);
		fake_profile_done(&fake);
		read_names(&names, (struct reader){bytes, bytes + size});
		for (size_t j = 0; j < names.sample_count; j++)
			assert_leaf(&names, names.samples[j], text);
		free(text);
		free(bytes);
	}
}

/* The function at the top of a sample; "": none. */
static const char *leaf_of(const struct names *names, struct reader sample, char text[256])
{
	struct field locations = field_of(sample, 1);
	uint64_t name;

	text[0] = '\0';
	if (locations.bytes.at == locations.bytes.end)
		return text;
	name = names->name_of_function[names->leaf_of_location[read_varint(&locations.bytes)]];
	snprintf(text, 256, "%.*s", (int)names->lengths[name], names->strings[name]);
	return text;
}

/* go tool pprof calls the first mapping the profile's file. */
static void waits_are_those_of_a_program_not_of_the_scheduler(void **state)
{
	size_t size;
	uint8_t *bytes = write_and_unpack(PKBPF_PROFILE_OFFCPU, &size);
	struct reader profile = {bytes, bytes + size};
	struct names names = {0};
	char text[256];
	uint64_t file;

	read_names(&names, profile);
	assert_true(names.sample_count > 0);
	for (size_t i = 0; i < names.sample_count; i++)
		assert_string_not_equal(leaf_of(&names, names.samples[i], text), "io_schedule");
	file = field_of(field_of(profile, 3).bytes, 5).value;
	assert_true(file && names.strings[file][0] != '[');
	free(bytes);
}

static void times_are_nanoseconds(void **state)
{
	size_t size;
	uint8_t *bytes = write_and_unpack(PKBPF_PROFILE_OFFCPU, &size);
	struct seen seen = {0};

	look_at_profile(&seen, (struct reader){bytes, bytes + size});
	assert_int_equal(seen.types, 2);
	assert_in_range(seen.values[1] / 1000, folded_sum(PKBPF_PROFILE_OFFCPU) - seen.samples,
			folded_sum(PKBPF_PROFILE_OFFCPU) + seen.samples);
	free(bytes);
}

static void speedscope_has_a_profile_for_each_kind(void **state)
{
	struct fake_profile fake;
	json_t *document, *profiles, *profile;
	json_error_t error;
	size_t i, frames;
	char *text;

	account_scenario_init(&fake);
	text = fake_profile_write(&fake, "speedscope", NULL);
	fake_profile_done(&fake);
	document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	assert_non_null(document);
	frames = json_array_size(json_object_get(json_object_get(document, "shared"), "frames"));
	profiles = json_object_get(document, "profiles");
	assert_true(json_array_size(profiles) >= 3);
	json_array_foreach(profiles, i, profile)
	{
		json_t *samples = json_object_get(profile, "samples"), *stack, *weight;
		json_t *weights = json_object_get(profile, "weights");
		json_int_t sum = 0;
		size_t j;

		assert_int_equal(json_array_size(samples), json_array_size(weights));
		json_array_foreach(weights, j, weight) sum += json_integer_value(weight);
		assert_int_equal(sum, json_integer_value(json_object_get(profile, "endValue")));
		json_array_foreach(samples, j, stack)
		{
			size_t k;
			json_t *frame;

			assert_true(json_array_size(stack) > 0);
			json_array_foreach(stack, k, frame)
				assert_true((size_t)json_integer_value(frame) < frames);
		}
	}
	json_decref(document);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_varints_and_zero_is_left_out),
		cmocka_unit_test(messages_and_packed_numbers_know_their_length),
		cmocka_unit_test(samples_refer_to_what_is_there_and_add_up),
		cmocka_unit_test(samples_have_the_names_that_folded_stacks_have),
		cmocka_unit_test(waits_are_those_of_a_program_not_of_the_scheduler),
		cmocka_unit_test(times_are_nanoseconds),
		cmocka_unit_test(speedscope_has_a_profile_for_each_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
