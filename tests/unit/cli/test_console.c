// SPDX-License-Identifier: BSD-2-Clause
/* How sentences, notes, diagnostics and the status line share one stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/console.h"

struct capture {
	struct console console;
	char *text;
	size_t size;
};

static void open_capture(struct capture *capture)
{
	*capture = (struct capture){0};
	capture->console.out = open_memstream(&capture->text, &capture->size);
	assert_non_null(capture->console.out);
}

static void expect_text(struct capture *capture, const char *text)
{
	fclose(capture->console.out);
	assert_string_equal(capture->text, text);
	free(capture->text);
}

static void errors_begin_with_the_name_of_the_program(void **state)
{
	struct capture capture;

	open_capture(&capture);
	console_error(&capture.console, "cannot profile pid %d: %s", 4711, "no such process");
	expect_text(&capture, "pkbpf: cannot profile pid 4711: no such process\n");
}

static void names_cannot_control_the_terminal(void **state)
{
	struct capture capture;

	open_capture(&capture);
	console_error(&capture.console, "cannot write %s", "\033[2J\aevil");
	console_status(&capture.console, "a\033b");
	expect_text(&capture, "pkbpf: cannot write ?[2J?evil\n\r\033[Ka?b");
}

static void every_line_of_an_excerpt_gets_the_prefix(void **state)
{
	struct capture capture;

	open_capture(&capture);
	console_error(&capture.console, "one\n\ntwo\n");
	expect_text(&capture, "pkbpf: one\npkbpf: two\n");
}

static void the_status_line_gives_way_to_a_sentence(void **state)
{
	struct capture capture;

	open_capture(&capture);
	console_status(&capture.console, "working");
	console_error(&capture.console, "stop");
	console_status(&capture.console, ""); /* nothing shown: nothing to clear */
	expect_text(&capture, "\r\033[Kworking\r\033[Kpkbpf: stop\n");
}

static void quiet_silences_notes_and_warnings_but_not_errors(void **state)
{
	struct capture capture;
	struct log log;

	open_capture(&capture);
	capture.console.quiet = true;
	log = console_log(&capture.console);
	console_note(&capture.console, "note");
	log_warning(&log, "careful");
	console_error(&capture.console, "error");
	expect_text(&capture, "pkbpf: error\n");
}

static void verbosity_opens_the_levels_one_by_one(void **state)
{
	static const char *const expected[] = {
		"pkbpf: warning: w\n",
		"pkbpf: warning: w\npkbpf: i\n",
		"pkbpf: warning: w\npkbpf: i\npkbpf: d\n",
	};

	for (unsigned int verbosity = 0; verbosity < 3; verbosity++) {
		struct capture capture;
		struct log log;

		open_capture(&capture);
		capture.console.verbosity = verbosity;
		log = console_log(&capture.console);
		log_warning(&log, "w");
		log_info(&log, "i");
		log_debug(&log, "d");
		expect_text(&capture, expected[verbosity]);
	}
}

static void colors_follow_the_choice_and_never_go_to_a_pipe(void **state)
{
	/* descriptor -1 is no terminal */
	assert_true(console_wants_color(COLOR_ALWAYS, -1));
	assert_false(console_wants_color(COLOR_NEVER, -1));
	assert_false(console_wants_color(COLOR_AUTO, -1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_begin_with_the_name_of_the_program),
		cmocka_unit_test(names_cannot_control_the_terminal),
		cmocka_unit_test(every_line_of_an_excerpt_gets_the_prefix),
		cmocka_unit_test(the_status_line_gives_way_to_a_sentence),
		cmocka_unit_test(quiet_silences_notes_and_warnings_but_not_errors),
		cmocka_unit_test(verbosity_opens_the_levels_one_by_one),
		cmocka_unit_test(colors_follow_the_choice_and_never_go_to_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
