// SPDX-License-Identifier: BSD-2-Clause
/* Which files and formats requests become, and what remains on the disk when a run fails or
 * dies. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "cli/output_plan.h"

static const struct source_ops cpu = {.kind = PKBPF_PROFILE_CPU, .name = "cpu"};
static const struct source_ops offcpu = {.kind = PKBPF_PROFILE_OFFCPU, .name = "offcpu"};
static const struct source_ops *const one_kind[] = {&cpu};
static const struct source_ops *const two_kinds[] = {&offcpu, &cpu};

struct fixture {
	char directory[64];
	struct process_table *processes;
	struct mapped_file_table *files;
	struct profile *profile;
	struct results results;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->directory, "/tmp/pkbpf-output-plan-XXXXXX");
	if (!mkdtemp(fixture->directory))
		return -1;
	fixture->files = mapped_file_table_new("");
	fixture->processes = process_table_new(fixture->files);
	fixture->profile = profile_new(fixture->processes);
	results_init(&fixture->results, fixture->profile, ROWS_BY_PROCESS);
	*state = fixture;
	return fixture->profile ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", fixture->directory);
	results_done(&fixture->results);
	profile_free(fixture->profile);
	process_table_free(fixture->processes);
	mapped_file_table_free(fixture->files);
	(void)!system(command);
	free(fixture);
	return 0;
}

static void in_directory(const struct fixture *fixture, const char *name, char *ret_path,
			 size_t size)
{
	snprintf(ret_path, size, "%s/%s", fixture->directory, name);
}

static int file_count(const struct fixture *fixture)
{
	DIR *dir = opendir(fixture->directory);
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(dir)))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return count;
}

static void suffixes_and_formats_choose_the_writer(void **state)
{
	static const struct {
		struct output_request request;
		const char *format;
	} rows[] = {
		{{"-", NULL}, "text"},		 {{"-", "folded"}, "folded"},
		{{"a.folded", NULL}, "folded"},	 {{"a.txt", NULL}, "text"},
		{{"a.txt", "folded"}, "folded"}, {{"b.folded.txt", NULL}, "text"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct output_plan *plan;
		struct error error;

		assert_int_equal(output_plan_new(&rows[i].request, 1, one_kind, 1, &plan, &error),
				 0);
		assert_string_equal(output_plan_format(plan, 0), rows[i].format);
		assert_string_equal(output_plan_path(plan, 0), rows[i].request.path);
		assert_null(output_plan_path(plan, 1));
		output_plan_free(plan);
	}
}

static void several_kinds_get_a_file_each(void **state)
{
	const struct output_request requests[] = {{"dir.d/app.folded", NULL},
						  {"plain", "folded"},
						  {"all.txt", NULL},
						  {"-", "folded"}};
	const char *const paths[] = {"dir.d/app.offcpu.folded",
				     "dir.d/app.cpu.folded",
				     "plain.offcpu",
				     "plain.cpu",
				     "all.txt",
				     "-"};
	struct output_plan *plan;
	struct error error;

	assert_int_equal(output_plan_new(requests, 4, two_kinds, 2, &plan, &error), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		assert_string_equal(output_plan_path(plan, i), paths[i]);
	assert_null(output_plan_path(plan, ARRAY_SIZE(paths)));
	assert_false(output_plan_reports_to_stdout(plan));
	output_plan_free(plan);
}

static void requests_of_flame_graphs_alone_hold_one_kind(void **state)
{
	const struct output_request folded[] = {{"a.folded", NULL}, {"-", "folded"}};
	const struct output_request mixed[] = {{"a.folded", NULL}, {"a.txt", NULL}};

	assert_true(output_requests_hold_one_kind(folded, 2));
	assert_false(output_requests_hold_one_kind(mixed, 2));
	assert_false(output_requests_hold_one_kind(mixed, 0));
}

static void reports_show_resources_and_flame_graphs_do_not(void **state)
{
	const struct {
		struct output_request requests[2];
		size_t count;
		bool shown;
	} rows[] = {
		{{{"a.folded", NULL}}, 1, false}, {{{"a.folded", NULL}, {"-", "folded"}}, 2, false},
		{{{"-", NULL}}, 1, true},	  {{{"a.folded", NULL}, {"-", NULL}}, 2, true},
		{{{"a.txt", NULL}}, 1, true},	  {{{"a.json", NULL}, {"a.folded", NULL}}, 2, true},
		{{{"a.csv", NULL}}, 1, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct output_plan *plan = NULL;

		assert_int_equal(
			output_plan_new(rows[i].requests, rows[i].count, two_kinds, 2, &plan, NULL),
			0);
		assert_int_equal(output_plan_shows_resources(plan), rows[i].shown);
		output_plan_free(plan);
	}
}

static void what_cannot_be_planned_is_wrong_usage(void **state)
{
	const struct {
		struct output_request requests[2];
		size_t count;
		const char *part;
	} rows[] = {
		{{{"profile.xyz", NULL}}, 1, "unknown format of profile.xyz: use a suffix ("},
		{{{"x", "foldde"}}, 1, "invalid value 'foldde' for --format; did you mean folded?"},
		{{{"x", "gif"}}, 1, "invalid value 'gif' for --format: expected folded"},
		{{{"a.txt", NULL}, {"a.txt", "folded"}}, 2, "a.txt is given twice as --output"},
		{{{"a.txt", NULL}, {"./a.txt", "folded"}}, 2, "a.txt is given twice as --output"},
		{{{"/tmp/../a.txt", NULL}, {"/a.txt", "folded"}},
		 2,
		 "a.txt is given twice as --output"},
		{{{"-", NULL}, {"-", "folded"}}, 2, "stdout is given twice as --output"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct output_plan *plan = NULL;
		struct error error;

		assert_int_equal(output_plan_new(rows[i].requests, rows[i].count, one_kind, 1,
						 &plan, &error),
				 -EINVAL);
		assert_null(plan);
		assert_non_null(strstr(error.text, rows[i].part));
	}
}

static void two_links_to_one_file_are_one_output(void **state)
{
	struct fixture *fixture = *state;
	char file[128], link_path[128];
	struct output_request requests[2] = {{file, "folded"}, {link_path, "folded"}};
	struct output_plan *plan = NULL;
	struct error error;
	FILE *out;

	in_directory(fixture, "file", file, sizeof(file));
	in_directory(fixture, "link", link_path, sizeof(link_path));
	out = fopen(file, "w");
	assert_non_null(out);
	fclose(out);
	assert_int_equal(symlink(file, link_path), 0);
	assert_int_equal(output_plan_new(requests, 2, one_kind, 1, &plan, &error), -EINVAL);
	assert_non_null(strstr(error.text, "is given twice"));
	/* A device has room for any number. */
	requests[0].path = "/dev/null";
	requests[1].path = "/dev/../dev/null";
	unlink(link_path);
	assert_int_equal(output_plan_new(requests, 2, one_kind, 1, &plan, &error), 0);
	output_plan_free(plan);
}

static void kinds_that_stdout_has_no_room_for_are_known(void **state)
{
	const struct output_request folded = {"-", "folded"}, text = {"-", NULL},
				    file = {"a.folded", NULL};
	struct output_plan *plan;
	struct error error;

	assert_int_equal(output_plan_new(&folded, 1, two_kinds, 2, &plan, &error), 0);
	assert_string_equal(output_plan_cut_format(plan), "folded");
	output_plan_free(plan);
	assert_int_equal(output_plan_new(&folded, 1, one_kind, 1, &plan, &error), 0);
	assert_null(output_plan_cut_format(plan));
	output_plan_free(plan);
	assert_int_equal(output_plan_new(&text, 1, two_kinds, 2, &plan, &error), 0);
	assert_null(output_plan_cut_format(plan));
	output_plan_free(plan);
	assert_int_equal(output_plan_new(&file, 1, two_kinds, 2, &plan, &error), 0);
	assert_null(output_plan_cut_format(plan));
	output_plan_free(plan);
}

static void outputs_that_show_gpu_calls_are_known(void **state)
{
	static const struct {
		struct output_request request;
		bool shows;
	} table[] = {
		{{"a.txt", NULL}, true},    {{"a.json", NULL}, true},
		{{"a.html", NULL}, true},   {{"a.md", NULL}, true},
		{{"a.pkbpf", NULL}, true},  {{"a.gpu-calls.csv", NULL}, true},
		{{"a.pb.gz", NULL}, false}, {{"a.folded", NULL}, false},
		{{"a.svg", NULL}, false},   {{"a.csv", NULL}, false},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct output_plan *plan;
		struct error error;

		assert_int_equal(output_plan_new(&table[i].request, 1, one_kind, 1, &plan, &error),
				 0);
		assert_int_equal(output_plan_shows_gpu_calls(plan), table[i].shows);
		output_plan_free(plan);
	}
	(void)state;
}

static void a_file_that_cannot_be_written_is_found_when_opening(void **state)
{
	struct fixture *fixture = *state;
	char good[128], bad[128];
	struct output_plan *plan;
	struct error error;

	in_directory(fixture, "good.txt", good, sizeof(good));
	in_directory(fixture, "missing/bad.txt", bad, sizeof(bad));
	const struct output_request requests[] = {{good, NULL}, {bad, NULL}};

	assert_int_equal(output_plan_new(requests, 2, one_kind, 1, &plan, &error), 0);
	assert_int_equal(output_plan_open(plan, &error), -ENOENT);
	assert_non_null(strstr(error.text, bad));
	output_plan_free(plan);
	assert_int_equal(file_count(fixture), 0);
}

static void one_full_disk_does_not_keep_the_others_from_being_written(void **state)
{
	struct fixture *fixture = *state;
	struct output_settings settings = {.color = COLOR_NEVER, .options.top = 3};
	struct invoking_user nobody_else = {0};
	char path[128], said[512] = "";
	struct console console = {.out = fmemopen(said, sizeof(said), "w")};
	struct output_plan *plan;
	struct error error;
	struct stat status;

	in_directory(fixture, "good.txt", path, sizeof(path));
	const struct output_request requests[] = {{"/dev/full", "text"}, {path, NULL}};

	assert_int_equal(output_plan_new(requests, 2, one_kind, 1, &plan, &error), 0);
	assert_int_equal(output_plan_open(plan, &error), 0);
	assert_int_equal(output_plan_write(plan, OUTPUT_REPORTS, &fixture->results, &settings,
					   &nobody_else, &console),
			 -ENOSPC);
	fclose(console.out);
	assert_non_null(strstr(said, "pkbpf: cannot write /dev/full: No space left on device"));
	assert_int_equal(stat(path, &status), 0);
	assert_true(status.st_size > 0);
	assert_int_equal(file_count(fixture), 1);
	output_plan_free(plan);
}

static void each_interval_has_files_of_its_own_and_the_last_are_kept(void **state)
{
	struct fixture *fixture = *state;
	struct output_settings settings = {.color = COLOR_NEVER, .options.top = 3};
	struct invoking_user nobody_else = {0};
	struct console console = {.out = stderr};
	struct output_plan *plan;
	struct error error;
	char path[128], name[128];

	in_directory(fixture, "a-%t.txt", path, sizeof(path));
	const struct output_request requests[] = {{path, NULL}, {"-", NULL}},
				    fixed = {"a.txt", NULL};

	assert_true(output_requests_have_time(requests, 2));
	assert_false(output_requests_have_time(&fixed, 1));
	assert_int_equal(output_plan_new(requests, 1, one_kind, 1, &plan, &error), 0);
	assert_int_equal(output_plan_open(plan, &error), 0);
	for (int64_t second = 1700000000; second < 1700000005; second++) {
		assert_int_equal(output_plan_open_interval(plan, second * 1000000000, &error), 0);
		assert_int_equal(output_plan_write(plan, OUTPUT_REPORTS, &fixture->results,
						   &settings, &nobody_else, &console),
				 0);
		assert_int_equal(output_plan_keep(plan, 2, &error), 0);
	}
	assert_int_equal(file_count(fixture), 2);
	in_directory(fixture, "a-20231114T221324Z.txt", name, sizeof(name));
	assert_int_equal(access(name, F_OK), 0);
	output_plan_free(plan);
}

static void a_file_of_a_clock_that_was_set_back_is_kept_as_long_as_others(void **state)
{
	static const int64_t seconds[] = {1700000000, 1700000002, 1700000000, 1700000004};
	struct fixture *fixture = *state;
	struct output_settings settings = {.color = COLOR_NEVER, .options.top = 3};
	struct invoking_user nobody_else = {0};
	struct console console = {.out = stderr};
	struct output_plan *plan;
	struct error error;
	char path[128], name[128];

	in_directory(fixture, "a-%t.txt", path, sizeof(path));
	in_directory(fixture, "a-20231114T221320Z-2.txt", name, sizeof(name));
	const struct output_request request = {path, NULL};

	assert_int_equal(output_plan_new(&request, 1, one_kind, 1, &plan, &error), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(output_plan_open_interval(plan, seconds[i] * 1000000000, &error),
				 0);
		assert_int_equal(output_plan_write(plan, OUTPUT_REPORTS, &fixture->results,
						   &settings, &nobody_else, &console),
				 0);
		assert_int_equal(output_plan_keep(plan, 2, &error), 0);
	}
	assert_int_equal(access(name, F_OK), 0);
	assert_int_equal(file_count(fixture), 2);
	output_plan_free(plan);
}

static void a_time_that_comes_again_overwrites_no_file(void **state)
{
	struct fixture *fixture = *state;
	struct output_settings settings = {.color = COLOR_NEVER, .options.top = 3};
	struct invoking_user nobody_else = {0};
	struct console console = {.out = stderr};
	struct output_plan *plan;
	struct error error;
	char path[128], name[128], line[8] = "";
	FILE *theirs;

	in_directory(fixture, "a-%t.txt", path, sizeof(path));
	in_directory(fixture, "a-20231114T221320Z.txt", name, sizeof(name));
	theirs = fopen(name, "w");
	fputs("theirs", theirs);
	fclose(theirs);
	const struct output_request request = {path, NULL};

	assert_int_equal(output_plan_new(&request, 1, one_kind, 1, &plan, &error), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(output_plan_open_interval(plan, 1700000000000000000, &error), 0);
		assert_int_equal(output_plan_write(plan, OUTPUT_REPORTS, &fixture->results,
						   &settings, &nobody_else, &console),
				 0);
	}
	theirs = fopen(name, "r");
	assert_non_null(fgets(line, sizeof(line), theirs));
	fclose(theirs);
	assert_string_equal(line, "theirs");
	in_directory(fixture, "a-20231114T221320Z-3.txt", name, sizeof(name));
	assert_int_equal(access(name, F_OK), 0);
	assert_int_equal(file_count(fixture), 3);
	output_plan_free(plan);
}

static void a_recording_that_is_kept_belongs_to_the_user_behind_sudo(void **state)
{
	struct fixture *fixture = *state;
	struct invoking_user user = {.behind_sudo = true, .uid = 1234, .gid = 2345};
	struct format_options options = {.top = 3};
	struct console console = {.out = stderr};
	struct output_plan *plan;
	struct error error;
	struct stat status;
	char path[128];

	if (geteuid() != 0)
		user = (struct invoking_user){
			.behind_sudo = true, .uid = geteuid(), .gid = getegid()};
	in_directory(fixture, "r.pkbpf", path, sizeof(path));
	const struct output_request request = {path, NULL};

	assert_int_equal(output_plan_new(&request, 1, one_kind, 1, &plan, &error), 0);
	output_plan_set_owner(plan, &user);
	assert_int_equal(output_plan_open(plan, &error), 0);
	assert_int_equal(output_plan_add_slice(plan, fixture->results.profile, &options, &console),
			 0);
	output_plan_abandon(plan);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_uid, user.uid);
	assert_int_equal(status.st_gid, user.gid);
	output_plan_free(plan);
}

static void abandoning_leaves_the_old_file_and_no_temporary(void **state)
{
	struct fixture *fixture = *state;
	struct output_plan *plan;
	struct error error;
	char path[128], text[8] = "";
	FILE *file;

	in_directory(fixture, "old.folded", path, sizeof(path));
	file = fopen(path, "w");
	fputs("old", file);
	fclose(file);
	const struct output_request request = {path, NULL};

	assert_int_equal(output_plan_new(&request, 1, one_kind, 1, &plan, &error), 0);
	assert_int_equal(output_plan_open(plan, &error), 0);
	output_plan_abandon(plan);
	assert_int_equal(file_count(fixture), 1);
	file = fopen(path, "r");
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "old");
	output_plan_free(plan);
}

/* What they say of the run's cost includes the writing of the others. */
static void reports_are_written_apart_from_stacks(void **state)
{
	struct fixture *fixture = *state;
	struct output_settings settings = {.color = COLOR_NEVER, .options.top = 3};
	char report[128], stacks[128];
	struct console console = {.out = stderr};
	struct invoking_user nobody_else = {0};
	struct output_plan *plan;
	struct error error;

	in_directory(fixture, "first.txt", report, sizeof(report));
	in_directory(fixture, "second.folded", stacks, sizeof(stacks));
	const struct output_request requests[] = {{report, NULL}, {stacks, NULL}};

	assert_int_equal(output_plan_new(requests, 2, one_kind, 1, &plan, &error), 0);
	assert_int_equal(output_plan_open(plan, &error), 0);
	assert_int_equal(output_plan_write(plan, OUTPUT_STACKS, &fixture->results, &settings,
					   &nobody_else, &console),
			 0);
	assert_int_equal(access(stacks, F_OK), 0);
	assert_int_equal(access(report, F_OK), -1);
	assert_int_equal(output_plan_write(plan, OUTPUT_REPORTS, &fixture->results, &settings,
					   &nobody_else, &console),
			 0);
	assert_int_equal(access(report, F_OK), 0);
	assert_int_equal(file_count(fixture), 2);
	output_plan_free(plan);
}

static void files_belong_to_the_user_behind_sudo(void **state)
{
	struct fixture *fixture = *state;
	struct invoking_user user = {.behind_sudo = true, .uid = 1234, .gid = 2345};
	struct output_settings settings = {.color = COLOR_NEVER, .options.top = 3};
	struct console console = {.out = stderr};
	struct output_plan *plan;
	struct error error;
	struct stat status;
	char path[128];

	if (geteuid() != 0)
		user = (struct invoking_user){
			.behind_sudo = true, .uid = geteuid(), .gid = getegid()};
	in_directory(fixture, "mine.txt", path, sizeof(path));
	const struct output_request request = {path, NULL};

	assert_int_equal(output_plan_new(&request, 1, one_kind, 1, &plan, &error), 0);
	assert_int_equal(output_plan_open(plan, &error), 0);
	assert_int_equal(output_plan_write(plan, OUTPUT_REPORTS, &fixture->results, &settings,
					   &user, &console),
			 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_uid, user.uid);
	assert_int_equal(status.st_gid, user.gid);
	output_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suffixes_and_formats_choose_the_writer),
		cmocka_unit_test(several_kinds_get_a_file_each),
		cmocka_unit_test_setup_teardown(two_links_to_one_file_are_one_output, set_up,
						tear_down),
		cmocka_unit_test(kinds_that_stdout_has_no_room_for_are_known),
		cmocka_unit_test(outputs_that_show_gpu_calls_are_known),
		cmocka_unit_test(requests_of_flame_graphs_alone_hold_one_kind),
		cmocka_unit_test(reports_show_resources_and_flame_graphs_do_not),
		cmocka_unit_test(what_cannot_be_planned_is_wrong_usage),
		cmocka_unit_test_setup_teardown(a_file_that_cannot_be_written_is_found_when_opening,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			one_full_disk_does_not_keep_the_others_from_being_written, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			each_interval_has_files_of_its_own_and_the_last_are_kept, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_file_of_a_clock_that_was_set_back_is_kept_as_long_as_others, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_time_that_comes_again_overwrites_no_file, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_recording_that_is_kept_belongs_to_the_user_behind_sudo, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(abandoning_leaves_the_old_file_and_no_temporary,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(reports_are_written_apart_from_stacks, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(files_belong_to_the_user_behind_sudo, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
