// SPDX-License-Identifier: BSD-2-Clause
/* Completion for zsh. */
#include "cli/command_table.h"
#include "export/format.h"
#include "manual/papers.h"
#include "source/source.h"

/* Inside single quotes, in a specification of _arguments. */
static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", out);
			continue;
		}
		if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_value(FILE *out, const struct option_row *row)
{
	fputc(':', out);
	put_text(out, row->argument);
	fputc(':', out);
	switch (row->completes) {
	case OPTION_COMPLETES_FILE:
		fputs("_files", out);
		return;
	case OPTION_COMPLETES_PID:
		fputs("_sequence _pids", out);
		return;
	case OPTION_COMPLETES_CGROUP:
		fputs("_files -W /sys/fs/cgroup -/", out);
		return;
	case OPTION_COMPLETES_KIND:
		fputs("_values -s , kind", out);
		for (size_t i = 0; source_at(i); i++)
			fprintf(out, " %s", source_at(i)->name);
		return;
	case OPTION_COMPLETES_FORMAT:
		fputc('(', out);
		for (size_t i = 0; format_at(i); i++)
			fprintf(out, "%s%s", i ? " " : "", format_at(i)->name);
		fputc(')', out);
		return;
	case OPTION_COMPLETES_TID:
	case OPTION_COMPLETES_NOTHING:
		break;
	}
	if (row->form != OPTION_CHOICE) {
		fputc(' ', out);
		return;
	}
	fputc('(', out);
	for (size_t i = 0; row->choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", row->choices[i]);
	fputc(')', out);
}

static void put_option(FILE *out, const struct option_row *row)
{
	fputs("\t\t'", out);
	if (row->repeatable)
		fputc('*', out);
	else if (row->letter)
		fprintf(out, "(-%c --%s)", row->letter, row->name);
	if (row->letter)
		fprintf(out, "'{-%c,--%s}'[", row->letter, row->name);
	else
		fprintf(out, "--%s[", row->name);
	put_text(out, row->summary);
	fputc(']', out);
	if (row->argument)
		put_value(out, row);
	fputs("'\n", out);
}

static void put_command(FILE *out, const struct command_row *command)
{
	const struct option_row *row;

	fprintf(out, "\t%s)\n\t\toptions=(\n", command->name ? command->name : "*");
	for (size_t i = 0; (row = command_option_at(command, i)); i++)
		put_option(out, row);
	if (command->takes_files)
		fputs("\t\t'*:file:_files'\n", out);
	if (!command->name) {
		fputs("\t\t'1:command:(", out);
		for (size_t i = 1; command_at(i); i++)
			fprintf(out, "%s%s", i > 1 ? " " : "", command_at(i)->name);
		fputs(")'\n\t\t'*::command:_normal'\n", out);
	}
	fputs("\t\t)\n\t\t;;\n", out);
}

void completion_zsh_write(FILE *out)
{
	fputs("#compdef pkbpf\n"
	      "# zsh completion for pkbpf, made from its table of options\n"
	      "_pkbpf() {\n"
	      "\tlocal -a options\n"
	      "\n"
	      "\tcase $words[2] in\n",
	      out);
	for (size_t i = 1; command_at(i); i++)
		put_command(out, command_at(i));
	put_command(out, command_at(0));
	fputs("\tesac\n"
	      "\tif [[ $words[2] == (",
	      out);
	for (size_t i = 1; command_at(i); i++)
		fprintf(out, "%s%s", i > 1 ? "|" : "", command_at(i)->name);
	fputs(") ]]; then\n"
	      "\t\tshift words\n"
	      "\t\t((CURRENT--))\n"
	      "\tfi\n"
	      "\t_arguments -s -S : $options\n"
	      "}\n"
	      "_pkbpf \"$@\"\n",
	      out);
}
