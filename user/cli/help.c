// SPDX-License-Identifier: BSD-2-Clause
/* Lays the rows of the tables out in two columns. */
#include "cli/help.h"

#include <string.h>

#include "base/array.h"
#include "export/format.h"
#include "source/source.h"

#define LEFT_WIDTH 28
#define LINE_WIDTH 80

/* Prints left in its column and the words of text beside it, broken into lines. */
static void print_row(FILE *out, const char *left, const char *text)
{
	int column = fprintf(out, "  %s", left);

	if (column >= LEFT_WIDTH) {
		fputc('\n', out);
		column = 0;
	}
	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column + 1 + length > LINE_WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		if (column < LEFT_WIDTH)
			column += fprintf(out, "%*s", LEFT_WIDTH - column, "");
		else
			column += fprintf(out, " ");
		column += fprintf(out, "%.*s", length, text);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static const char *summary_of(const struct command_row *command, const struct option_row *row)
{
	const struct command_words *words = command->words;

	while (words && words->option && strcmp(words->option, row->name) != 0)
		words++;
	return words && words->option ? words->summary : row->summary;
}

static void print_option(FILE *out, const struct command_row *command, const struct option_row *row)
{
	char letter[8] = "    ", left[96];

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name, row->argument ? " " : "",
		 row->argument ? row->argument : "");
	print_row(out, left, summary_of(command, row));
}

static void print_group(FILE *out, const struct command_row *command, enum option_group group)
{
	const struct option_row *row;
	bool first = true;

	for (size_t i = 0; (row = command_option_at(command, i)); i++) {
		if (row->group != group)
			continue;
		if (first)
			/* Titles say what a profile does without such options. */
			fprintf(out, "\n%.*s:\n",
				command->name ? (int)strcspn(option_group_title(group), " ") : 80,
				option_group_title(group));
		first = false;
		print_option(out, command, row);
	}
}

static void print_events(FILE *out)
{
	const struct source_ops *source;

	fprintf(out, "\nKinds of events:\n");
	for (size_t i = 0; (source = source_at(i)); i++)
		print_row(out, source->name, source->summary);
}

static void print_formats(FILE *out)
{
	const struct file_format *format;
	char left[64];

	fprintf(out, "\nFormats:\n");
	for (size_t i = 0; (format = format_at(i)); i++) {
		snprintf(left, sizeof(left), "%-14s %s", format->name, format->suffix);
		print_row(out, left, format->summary);
	}
}

void help_print(const struct command_row *command, FILE *out)
{
	const struct command_row *other;

	fprintf(out, "Usage: pkbpf %s\n%s.\n", command->synopsis, command->summary);
	if (!command->name) {
		fprintf(out, "\nOther commands:\n");
		for (size_t i = 0; (other = command_at(i)); i++) {
			if (other->name)
				print_row(out, other->synopsis, other->summary);
		}
	}
	for (int group = 0; group < OPTION_GROUP_COUNT; group++)
		print_group(out, command, (enum option_group)group);
	if (!command->name) {
		print_events(out);
		print_formats(out);
		fprintf(out, "\nExit status: 0 success, 1 failure, 2 wrong usage, 3 a --fail-if "
			     "condition held,\n4 nothing recorded, 5 profiling not possible here "
			     "(see pkbpf doctor);\nwith -- COMMAND the status of the command, if "
			     "it is not 0.\nCtrl-C stops the profile, and ends COMMAND as it would "
			     "without "
			     "pkbpf;\na signal to pkbpf alone ends COMMAND by SIGTERM.\n");
	}
}

/* ---- one screen ---- */

/* Options of most runs, in one line each. */
static const char *const first_options[][2] = {
	{"pid", "processes, with all threads and forked workers"},
	{"children", "with --pid: all descendants"},
	{"container", "containers, pods or units of this name"},
	{"comm", "processes of this name"},
	{"events", "default: cpu,offcpu,blockio,faults"},
	{"duration", "10, 500ms, 5m; default: until Ctrl-C"},
	{"frequency", "CPU samples per second on each CPU; default 99"},
	{"output", "write FILE; the format is that of its suffix"},
	{"full", "all tables in the text report"},
	{"by", "rows: process, thread, container, comm, region, label:KEY"},
	{"fail-if", "exit with status 3 if EXPR holds"},
};

static const char *const examples[][2] = {
	{"pkbpf -p 1234 -d 10", "a process and its workers"},
	{"pkbpf -d 30", "the whole host"},
	{"pkbpf -o report.html -o cpu.svg -- make", "a command: report and flame graph"},
	{"pkbpf -d 60 -o web.pkbpf", "record; later: pkbpf report web.pkbpf"},
	{"pkbpf bench './old' './new'", "which is faster, and where"},
};

#define EXAMPLE_WIDTH 42

/* What is essential of a summary stands before the first sign of more. */
static void print_command(FILE *out, const char *left, const char *summary)
{
	size_t room = LINE_WIDTH - LEFT_WIDTH, length = strcspn(summary, ";:(");

	while (length > room || (length && summary[length - 1] == ' '))
		length--;
	/* Not within a word or a clause. */
	if (length == room)
		while (length && summary[length] != ',')
			length--;
	fprintf(out, "  %-*s%.*s\n", LEFT_WIDTH - 2, left, (int)length, summary);
}

static void print_first_option(FILE *out, const struct option_row *row, const char *summary)
{
	char left[LEFT_WIDTH], letter[8] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	/* Lists and choices have room in the long help. */
	snprintf(left, sizeof(left), "%s--%s %.*s", letter, row->name,
		 row->argument ? (int)strcspn(row->argument, "|[") : 0,
		 row->argument ? row->argument : "");
	fprintf(out, "  %-*s%s\n", LEFT_WIDTH - 2, left, summary);
}

void help_print_first(FILE *out)
{
	const struct command_row *command;
	const struct option_row *row;

	fprintf(out, "Usage: pkbpf %s\n%s.\n\nExamples, as root:\n", command_profile.synopsis,
		command_profile.summary);
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++)
		fprintf(out, "  %-*s%s\n", EXAMPLE_WIDTH, examples[i][0], examples[i][1]);
	fprintf(out, "\nOther commands (pkbpf COMMAND --help):\n");
	for (size_t i = 0; (command = command_at(i)); i++)
		if (command->name)
			print_command(out, command->name, command->summary);
	fprintf(out, "\nOptions:\n");
	for (size_t i = 0; i < ARRAY_SIZE(first_options); i++)
		for (size_t j = 0; (row = option_at(j)); j++)
			if (strcmp(row->name, first_options[i][0]) == 0)
				print_first_option(out, row, first_options[i][1]);
	fprintf(out, "\nAll options, kinds of events, formats and exit statuses: pkbpf --help "
		     "all, man pkbpf\n");
}
