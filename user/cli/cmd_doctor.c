// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf doctor`: a line for each capability of this machine and user, with the remedy for what is
 * missing; or, with
 * --pid, how well the stacks of a process can be unwound. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/escape.h"
#include "capture/kernel/capability.h"
#include "cli/command_table.h"
#include "cli/doctor_unwind.h"
#include "cli/exit_status.h"

#define GREEN  "\033[32m"
#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN  "\033[0m"

static void print_line(const char *mark, const char *paint, bool color, const char *name,
		       const char *remedy)
{
	char escaped[ERROR_TEXT_SIZE];

	printf("%s%-8s%s %s%s%s\n", color ? paint : "", mark, color ? PLAIN : "", name,
	       *remedy ? ": " : "", escape_terminal(escaped, sizeof(escaped), remedy));
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
	bool color = console_wants_color(options->color, STDOUT_FILENO);
	struct utsname machine = {0};
	bool usable = true;

	if (options->live.targets.pids.count)
		return examine_processes(options, console);
	uname(&machine);
	printf("%s %s %s\n", machine.sysname, machine.release, machine.machine);
	for (int i = 0; i < CAPABILITY_COUNT; i++) {
		const struct capability_ops *capability = capability_get((enum capability)i);
		struct error error = {0};

		if (capability->probe(&error)) {
			print_line("ok", GREEN, color, capability->name, "");
		} else if (capability->required) {
			print_line("missing", RED, color, capability->name, error.text);
			usable = false;
		} else {
			print_line("without", YELLOW, color, capability->name, error.text);
		}
	}
	printf(usable ? "profiling will work\n" : "profiling will not work\n");
	return usable ? EXIT_STATUS_DONE : EXIT_STATUS_NOT_ALLOWED;
}

const struct command_row command_doctor = {
	.name = "doctor",
	.synopsis = "doctor [--pid PID]",
	.summary = "Checks what this machine allows, or how well the stacks of a process unwind",
	.options = (const char *const[]){"pid", "color", NULL},
	.words =
		(const struct command_words[]){
			{"pid", "show how the stacks of each thread of these processes unwind"},
			{"color", "colors of the marks; auto: if stdout is a terminal; honors "
				  "NO_COLOR"},
			{NULL, NULL},
		},
	.run = doctor_run,
};
