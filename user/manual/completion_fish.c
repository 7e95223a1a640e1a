// SPDX-License-Identifier: BSD-2-Clause
/* Completion for fish. */
#include "cli/command_table.h"
#include "export/format.h"
#include "manual/papers.h"
#include "source/source.h"

/* Between single quotes. */
static void put_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

/* The commands that are named; the default command is none of them. */
static void put_condition(FILE *out, const struct command_row *command)
{
	fprintf(out, " -n '%s__fish_seen_subcommand_from", command->name ? "" : "not ");
	for (size_t i = 0; command_at(i); i++)
		if (command_at(i)->name && (!command->name || command_at(i) == command))
			fprintf(out, " %s", command_at(i)->name);
	fputs("'", out);
}

static void put_value(FILE *out, const struct option_row *row)
{
	if (row->completes == OPTION_COMPLETES_FILE) {
		fputs(" -r -F", out);
		return;
	}
	fputs(" -x", out);
	if (row->completes == OPTION_COMPLETES_PID) {
		fputs(" -a '(__fish_complete_pids)'", out);
	} else if (row->completes == OPTION_COMPLETES_KIND) {
		fputs(" -a '(__fish_append ,", out);
		for (size_t i = 0; source_at(i); i++)
			fprintf(out, " %s", source_at(i)->name);
		fputs(")'", out);
	} else if (row->completes == OPTION_COMPLETES_FORMAT) {
		fputs(" -a '", out);
		for (size_t i = 0; format_at(i); i++)
			fprintf(out, "%s%s", i ? " " : "", format_at(i)->name);
		fputs("'", out);
	} else if (row->form == OPTION_CHOICE) {
		fputs(" -a '", out);
		for (size_t i = 0; row->choices[i]; i++)
			fprintf(out, "%s%s", i ? " " : "", row->choices[i]);
		fputs("'", out);
	}
}

static void put_option(FILE *out, const struct command_row *command, const struct option_row *row)
{
	fputs("complete -c pkbpf", out);
	put_condition(out, command);
	if (row->letter)
		fprintf(out, " -s %c", row->letter);
	fprintf(out, " -l %s", row->name);
	if (row->argument)
		put_value(out, row);
	fputs(" -d ", out);
	put_quoted(out, row->summary);
	fputc('\n', out);
}

void completion_fish_write(FILE *out)
{
	const struct command_row *command;
	const struct option_row *row;

	fputs("# fish completion for pkbpf, made from its table of options\n"
	      "complete -c pkbpf -f\n"
	      "complete -c pkbpf -n 'contains -- -- (commandline -opc)' -x "
	      "-a '(__fish_complete_subcommand)'\n",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++) {
		if (command->name) {
			fputs("complete -c pkbpf", out);
			put_condition(out, command_at(0));
			fprintf(out, " -a %s -d ", command->name);
			put_quoted(out, command->summary);
			fputc('\n', out);
		}
		if (command->takes_files) {
			fputs("complete -c pkbpf", out);
			put_condition(out, command);
			fputs(" -F\n", out);
		}
		for (size_t j = 0; (row = command_option_at(command, j)); j++)
			put_option(out, command, row);
	}
}
