// SPDX-License-Identifier: BSD-2-Clause
// Tests recorded byte streams against the documents they gave; UPDATE_GOLDEN=1 rewrites what is
// expected.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recorder.h"
#include "replayer.h"
#include "fake_profile.h"
#include "golden_scenario.h"

static void path_of(char path[4096], const struct golden_scenario *scenario, const char *suffix)
{
	snprintf(path, 4096, "%s/%s%s", GOLDEN_DIR, scenario->name, suffix);
}

static bool wants_update(void)
{
	const char *value = getenv("UPDATE_GOLDEN");

	return value && !strcmp(value, "1");
}

static void expect(const struct golden_scenario *scenario, const char *suffix, const char *data,
		   size_t size)
{
	char path[4096], *expected;
	long length;
	FILE *file;

	path_of(path, scenario, suffix);
	if (wants_update()) {
		file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(data, 1, size, file), size);
		assert_int_equal(fclose(file), 0);
		return;
	}
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s is missing: run with UPDATE_GOLDEN=1", path);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	length = ftell(file);
	rewind(file);
	expected = calloc(1, (size_t)length + 1);
	assert_non_null(expected);
	assert_int_equal(fread(expected, 1, (size_t)length, file), length);
	fclose(file);
	if ((size_t)length != size || memcmp(expected, data, size) != 0) {
		if (memchr(data, '\0', size))
			fail_msg("%s: %zu bytes instead of %ld, or other ones", path, size, length);
		print_error("--- expected %s\n%s--- got\n%s", path, expected, data);
		fail_msg("%s differs", path);
	}
	free(expected);
}

static void records_are_encoded_as_ever(void **state)
{
	const struct golden_scenario *scenario;

	for (size_t i = 0; (scenario = golden_scenario_at(i)); i++) {
		struct fake_machine *machine = fake_machine_new();
		const struct event_buffer *records;
		char *data = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&data, &size);

		assert_non_null(out);
		scenario->play(machine);
		records = fake_machine_records(machine);
		assert_int_equal(recorder_begin(out), 0);
		for (size_t at = 0; at < records->size;) {
			const struct pkbpf_event_header *header =
				(const struct pkbpf_event_header *)(records->data + at);

			assert_int_equal(recorder_write(out, header, header->size), 0);
			at += header->size;
		}
		assert_int_equal(fclose(out), 0);
		expect(scenario, ".events", data, size);
		free(data);
		fake_machine_free(machine);
	}
}

static void replay(const struct golden_scenario *scenario, struct fake_profile *fake)
{
	struct event_sink sink;
	struct error error;
	char path[4096];
	FILE *in;

	fake_profile_init(fake, NULL);
	scenario->describe(profile_info(fake->profile));
	path_of(path, scenario, ".events");
	in = fopen(path, "rb");
	assert_non_null(in);
	sink = aggregator_sink(fake->aggregator);
	assert_int_equal(replay_stream(in, &sink, &error), 0);
	fclose(in);
	fake_profile_name(fake, scenario->symbols, scenario->symbol_count);
}

static void recordings_give_the_folded_stacks_they_gave(void **state)
{
	const struct golden_scenario *scenario;

	for (size_t i = 0; (scenario = golden_scenario_at(i)); i++) {
		struct fake_profile fake;
		char *text;

		replay(scenario, &fake);
		text = fake_profile_write(&fake, "folded", NULL);
		expect(scenario, ".cpu.folded", text, strlen(text));
		free(text);
		fake_profile_done(&fake);
	}
}

static void recordings_give_the_report_they_gave(void **state)
{
	const struct golden_scenario *scenario;

	for (size_t i = 0; (scenario = golden_scenario_at(i)); i++) {
		struct fake_profile fake;
		char *text;

		replay(scenario, &fake);
		text = fake_profile_write(&fake, "text", &(struct format_options){.top = 10});
		expect(scenario, ".txt", text, strlen(text));
		free(text);
		text = fake_profile_write(&fake, "text", NULL);
		expect(scenario, ".full.txt", text, strlen(text));
		free(text);
		fake_profile_done(&fake);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_encoded_as_ever),
		cmocka_unit_test(recordings_give_the_folded_stacks_they_gave),
		cmocka_unit_test(recordings_give_the_report_they_gave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
