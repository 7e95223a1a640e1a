// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf doctor`: a line for each capability of this machine and user, with the remedy for what is
 * missing; or, with --pid, how well the stacks of a process can be unwound. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/escape.h"
#include "capture/kernel/capability.h"
#include "cli/command_table.h"
#include "cli/doctor_json.h"
#include "cli/doctor_unwind.h"
#include "cli/exit_status.h"

#define GREEN  "\033[32m"
#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN  "\033[0m"

struct doctor_options {
	bool json;
};

static void print_line(const struct doctor_check *check, bool color)
{
	const struct capability_ops *capability = check->capability;
	const char *mark = check->is_present	  ? "ok"
			   : capability->required ? "missing"
						  : "without",
		   *paint = check->is_present	   ? GREEN
			    : capability->required ? RED
						   : YELLOW;
	char escaped[ERROR_TEXT_SIZE];

	printf("%s%-8s%s %s", color ? paint : "", mark, color ? PLAIN : "", capability->name);
	if (!check->is_present || capability->says_what)
		printf(": %s", escape_terminal(escaped, sizeof(escaped), check->error.text));
	putchar('\n');
	if (!check->is_present && !capability->required)
		printf("         works without it: %s\n", capability->without);
}

static int examine_processes(const struct cli_options *options, struct console *console)
{
	int status = EXIT_STATUS_DONE;

	for (size_t i = 0; i < options->live.targets.pids.count; i++) {
		struct error error = {0};

		if (i)
			putchar('\n');
		if (doctor_unwind(options->live.targets.pids.items[i], &error)) {
			console_error(console, "%s", error.text);
			status = EXIT_STATUS_FAILED;
		}
	}
	return status;
}

static int doctor_run(const struct cli_options *options, struct console *console)
{
	const struct doctor_options *own = options->own;
	bool color = console_wants_color(options->color, STDOUT_FILENO);
	struct doctor_check checks[CAPABILITY_COUNT] = {0};
	struct utsname machine = {0};
	bool usable = true;

	if (options->live.targets.pids.count)
		return examine_processes(options, console);
	for (int i = 0; i < CAPABILITY_COUNT; i++) {
		checks[i].capability = capability_get((enum capability)i);
		checks[i].is_present = checks[i].capability->probe(&checks[i].error);
		usable = usable && (checks[i].is_present || !checks[i].capability->required);
	}
	if (own->json) {
		doctor_json_write(stdout, checks, CAPABILITY_COUNT);
		return usable ? EXIT_STATUS_DONE : EXIT_STATUS_NOT_ALLOWED;
	}
	uname(&machine);
	printf("%s %s %s\n", machine.sysname, machine.release, machine.machine);
	for (int i = 0; i < CAPABILITY_COUNT; i++)
		print_line(&checks[i], color);
	printf(usable ? "profiling will work\n" : "profiling will not work\n");
	return usable ? EXIT_STATUS_DONE : EXIT_STATUS_NOT_ALLOWED;
}

static int doctor_check_options(struct cli_options *options, struct error *error)
{
	const struct doctor_options *own = options->own;

	if (own->json && options->live.targets.pids.count)
		return error_set(error, EINVAL, "--json and --pid are mutually exclusive");
	return 0;
}

static const struct option_row own_options[] = {
	{0, "json", NULL, "print the checks as JSON", .group = OPTION_GROUP_OUTPUT,
	 .form = OPTION_FLAG, OPTION_AT(struct doctor_options, json)},
	{0},
};

const struct command_row command_doctor = {
	.name = "doctor",
	.synopsis = "doctor [--pid PID] [--json]",
	.summary = "Checks what this machine allows, or how well the stacks of a process unwind",
	.options = (const char *const[]){"pid", "color", NULL},
	.words =
		(const struct command_words[]){
			{"pid", "show how the stacks of each thread of these processes unwind"},
			{"color", "colors of the marks; auto: if stdout is a terminal; honors "
				  "NO_COLOR"},
			{NULL, NULL},
		},
	.own_options = own_options,
	.own_size = sizeof(struct doctor_options),
	.check = doctor_check_options,
	.run = doctor_run,
};
