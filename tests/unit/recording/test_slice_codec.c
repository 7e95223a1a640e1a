// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "golden_scenario.h"
#include "profile/slice/slice.h"
#include "recorded_profile.h"
#include "recording/packed_bytes.h"
#include "trials.h"

static void expect_same_document(const struct profile *profile, const struct profile *read,
				 const struct format_ops *format, enum rows_by by,
				 enum pkbpf_profile_kind kind)
{
	size_t expected_size, got_size, at = 0;
	char *expected, *got;

	/* Random numbers hide addresses in a recording, and a named function has one address
	 * there, where pprof has one for each instruction. */
	if (strcmp(format->file.name, "recording") == 0 || strcmp(format->file.name, "pprof") == 0)
		return;
	expected = recorded_document(profile, format->file.name, by, kind, &expected_size);
	got = recorded_document(read, format->file.name, by, kind, &got_size);
	if (expected_size != got_size || memcmp(expected, got, got_size) != 0) {
		while (at < expected_size && at < got_size && expected[at] == got[at])
			at++;
		at = at > 100 ? at - 100 : 0;
		print_error("--- live\n%.200s\n--- from the recording\n%.200s\n", expected + at,
			    got + at);
		fail_msg("%s differs at byte %zu", format->file.name, at);
	}
	free(expected);
	free(got);
}

static void expect_same_documents(const struct profile *profile, const struct profile *read)
{
	static const enum rows_by groupings[] = {ROWS_BY_PROCESS, ROWS_BY_THREAD, ROWS_BY_CONTAINER,
						 ROWS_BY_COMM};
	const struct format_ops *format;

	for (size_t i = 0; (format = format_of(format_at(i))); i++)
		for (size_t j = 0; j < trials(ARRAY_SIZE(groupings)); j++)
			for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
				expect_same_document(profile, read, format, groupings[j], kind);
}

static struct profile *through_a_recording(const struct profile *profile,
					   const struct slice_choice *choice)
{
	int fd = recorded_profiles(&profile, 1);
	struct profile *read = recorded_read(fd, 0, choice);

	close(fd);
	return read;
}

static void every_document_is_the_same(void **state)
{
	const struct golden_scenario *scenario;

	for (size_t i = 0; (scenario = golden_scenario_at(i)); i++) {
		struct fake_machine *machine = fake_machine_new();
		struct fake_profile fake;
		struct profile *read;

		scenario->play(machine);
		fake_profile_init(&fake, NULL);
		fake_profile_run(&fake, machine, scenario->symbols, scenario->symbol_count);
		scenario->describe(profile_info(fake.profile));
		read = through_a_recording(fake.profile, NULL);
		expect_same_documents(fake.profile, read);
		profile_free(read);
		fake_profile_done(&fake);
		fake_machine_free(machine);
	}
}

static void accounts_are_the_same(void **state)
{
	struct fake_profile fake;
	struct profile *read, *again;

	account_scenario_init(&fake);
	read = through_a_recording(fake.profile, NULL);
	expect_same_documents(fake.profile, read);
	/* What was read is written as well. */
	again = through_a_recording(read, NULL);
	expect_same_documents(fake.profile, again);
	profile_free(again);
	profile_free(read);
	fake_profile_done(&fake);
}

static uint64_t weight_of(const struct profile *profile, enum pkbpf_profile_kind kind, uint32_t pid)
{
	uint64_t weight = 0;
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);

	for (size_t i = 0; i < count; i++) {
		const struct process *process =
			process_table_by_id(profile_processes(profile), rows[i].process);

		if (rows[i].kind == kind && (!pid || (process && process->pid == pid)))
			weight += rows[i].weight;
	}
	return weight;
}

static void a_pid_keeps_its_figures_and_no_others(void **state)
{
	struct fake_profile fake;
	size_t count;
	const struct profile_row *rows;
	uint32_t pid;
	struct slice_choice choice = {.pids = &pid, .pid_count = 1};
	struct profile *read;

	account_scenario_init(&fake);
	rows = profile_rows(fake.profile, &count);
	pid = process_table_by_id(fake.processes, rows[0].process)->pid;
	read = through_a_recording(fake.profile, &choice);
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		assert_int_equal(weight_of(read, kind, 0), weight_of(fake.profile, kind, pid));
		assert_int_equal(weight_of(read, kind, pid), weight_of(fake.profile, kind, pid));
	}
	assert_true(weight_of(fake.profile, rows[0].kind, pid) > 0);
	assert_int_equal(resource_usage_process_count(profile_resources(read)), 1);
	assert_int_equal(resource_usage_process(profile_resources(read), 0).pid, pid);
	assert_true(profile_info_read(read)->has_targets);
	profile_free(read);
	fake_profile_done(&fake);
}

static size_t limits_of(const struct profile *profile, uint32_t pid)
{
	const struct slice_choice choice = {.pids = &pid, .pid_count = 1};
	struct profile *read = through_a_recording(profile, pid ? &choice : NULL);
	size_t count = resource_usage_cgroup_limit_count(profile_resources(read));

	profile_free(read);
	return count;
}

static void a_pid_keeps_the_limits_that_it_is_under(void **state)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 1000, 1000);
	account_cgroup(&fake, 1, "/pod/web");
	account_cgroup(&fake, 2, "/podium");
	account_process(&fake, &(struct account_process){.pid = 10, .comm = "web", .cgroup_id = 1});
	account_process(&fake,
			&(struct account_process){.pid = 20, .comm = "other", .cgroup_id = 2});
	account_cpu_limit(&fake, 3, "/pod", 50, 10, 5);
	account_cpu_limit(&fake, 1, "/pod/web", 50, 10, 5);
	account_end(&fake);
	assert_int_equal(limits_of(fake.profile, 0), 2);
	assert_int_equal(limits_of(fake.profile, 10), 2);
	assert_int_equal(limits_of(fake.profile, 20), 0);
	fake_profile_done(&fake);
}

static void a_kind_keeps_its_figures_and_no_others(void **state)
{
	const struct slice_choice choice = {.kinds_mask = 1U << PKBPF_PROFILE_BLOCKIO};
	struct fake_profile fake;
	struct profile *read;

	account_scenario_init(&fake);
	read = through_a_recording(fake.profile, &choice);
	assert_int_equal(weight_of(read, PKBPF_PROFILE_BLOCKIO, 0),
			 weight_of(fake.profile, PKBPF_PROFILE_BLOCKIO, 0));
	assert_int_equal(weight_of(read, PKBPF_PROFILE_OFFCPU, 0), 0);
	assert_int_equal(profile_info_read(read)->kinds_mask, 1U << PKBPF_PROFILE_BLOCKIO);
	profile_free(read);
	fake_profile_done(&fake);
}

static bool holds(const uint8_t *bytes, size_t size, const void *wanted, size_t wanted_size)
{
	return memmem(bytes, size, wanted, wanted_size) != NULL;
}

/* In the plain bytes of all sections. */
static bool recording_holds(int fd, uint64_t number)
{
	struct recording_reader reader;
	struct recording_block block;
	struct packed_bytes packed = {0};
	struct error error;
	bool found = false;

	packed_bytes_add_number(&packed, number);
	assert_int_equal(recording_reader_open(&reader, fd, &error), 0);
	assert_int_equal(recording_reader_read(&reader, 0, &block), 0);
	for (size_t i = 0; i < block.section_count; i++) {
		uint8_t *data;

		assert_int_equal(recording_section_unpack(&block.sections[i], &data), 0);
		found = found || holds(data, block.sections[i].plain, &number, sizeof(number)) ||
			holds(data, block.sections[i].plain, packed.items, packed.count);
		free(data);
	}
	packed_bytes_done(&packed);
	recording_block_done(&block);
	recording_reader_done(&reader);
	return found;
}

static void no_address_of_the_kernel_or_of_memory_is_written(void **state)
{
	const struct profile *profile;
	struct fake_profile fake;
	int fd;

	account_scenario_init(&fake);
	profile = fake.profile;
	fd = recorded_profiles(&profile, 1);
	for (size_t i = 0; i < profile_frame_count(profile); i++) {
		const struct frame *frame = profile_frame(profile, (uint32_t)i);

		if (frame->location.space == FRAME_KERNEL)
			assert_false(recording_holds(fd, frame->location.address));
	}
	close(fd);
	fake_profile_done(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_document_is_the_same),
		cmocka_unit_test(accounts_are_the_same),
		cmocka_unit_test(a_pid_keeps_its_figures_and_no_others),
		cmocka_unit_test(a_pid_keeps_the_limits_that_it_is_under),
		cmocka_unit_test(a_kind_keeps_its_figures_and_no_others),
		cmocka_unit_test(no_address_of_the_kernel_or_of_memory_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
