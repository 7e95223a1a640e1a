// SPDX-License-Identifier: BSD-2-Clause
/* Fills the template of the manual with what the tables say. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/command_table.h"
#include "export/format.h"
#include "finding/finding_rules.h"
#include "manual/papers.h"
#include "rows/figure_table.h"
#include "source/source.h"

#define LINE_SIZE   512
#define RULE_SIZE   1024 /* summary, measurements and threshold of a rule */
#define LINE_LENGTH 78	 /* mandoc warns of longer lines */

/* Text in which nothing is a command of roff. */
static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
	}
}

/* Text that is roff already, broken into lines at spaces. */
static void put_lines(FILE *out, const char *text)
{
	bool begins_sentence = false;
	size_t column = 0;

	while (*text) {
		size_t length = strcspn(text, " \n");

		if (column && (column + 1 + length > LINE_LENGTH || begins_sentence)) {
			fputc('\n', out);
			column = 0;
		}
		/* No line begins with what would be a command. */
		if (column == 0 && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		column += (size_t)fprintf(out, "%s%.*s", column ? " " : "", (int)length, text);
		begins_sentence = length && text[length - 1] == '.';
		text += length + strspn(text + length, " \n");
	}
	fputc('\n', out);
}

static void put_sentence(FILE *out, const char *text, const char *end)
{
	char *roff = NULL;
	size_t size;
	FILE *stream = open_memstream(&roff, &size);

	if (!stream)
		return;
	fputc(toupper((unsigned char)*text), stream);
	put_text(stream, text + 1);
	fputs(end, stream);
	if (fclose(stream) == 0)
		put_lines(out, roff);
	free(roff);
}

static void put_item(FILE *out, const char *macro, const char *name, const char *text)
{
	fprintf(out, ".It %s ", macro);
	put_text(out, name);
	fputc('\n', out);
	put_sentence(out, text, ".");
}

static void put_option(FILE *out, const struct option_row *row)
{
	fputs(".It ", out);
	if (row->letter)
		fprintf(out, "Fl %c , ", row->letter);
	fputs("Fl \\-", out);
	put_text(out, row->name);
	if (row->argument)
		fprintf(out, " Ar %s", row->argument);
	fputc('\n', out);
	put_sentence(out, row->summary, ".");
	if (row->text)
		put_sentence(out, row->text, "");
}

/* Of commands: what they have beside the options of the table. */
static void put_own_options(FILE *out)
{
	const struct command_row *command;
	const struct option_row *row;

	for (size_t i = 0; (command = command_at(i)); i++) {
		if (!command->own_options)
			continue;
		fprintf(out, ".Ss Of pkbpf %s alone\n.Bl -tag -width Ds\n", command->name);
		for (row = command->own_options; row->name; row++)
			put_option(out, row);
		fputs(".El\n", out);
	}
}

static void put_options(FILE *out)
{
	const struct command_row *command = command_at(0);
	const struct option_row *row;

	for (int group = 0; group < OPTION_GROUP_COUNT; group++) {
		fputs(".Ss ", out);
		put_text(out, option_group_title((enum option_group)group));
		fputs("\n.Bl -tag -width Ds\n", out);
		for (size_t i = 0; (row = command_option_at(command, i)); i++) {
			if ((int)row->group == group)
				put_option(out, row);
		}
		fputs(".El\n", out);
	}
	put_own_options(out);
}

static void put_commands(FILE *out)
{
	const struct command_row *command;
	char name[LINE_SIZE];

	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; (command = command_at(i)); i++) {
		snprintf(name, sizeof(name), "\"pkbpf %s\"", command->synopsis);
		if (command->name)
			put_item(out, "Sy", name, command->summary);
	}
	fputs(".El\n", out);
}

static void put_events(FILE *out)
{
	const struct source_ops *source;

	fputs(".Bl -tag -width blockio\n", out);
	for (size_t i = 0; (source = source_at(i)); i++)
		put_item(out, "Cm", source->name, source->summary);
	fputs(".El\n", out);
}

static void put_formats(FILE *out)
{
	const struct file_format *format;
	char name[LINE_SIZE];

	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; (format = format_at(i)); i++) {
		snprintf(name, sizeof(name), "%s Pq Pa %s", format->name, format->suffix);
		put_item(out, "Cm", name, format->summary);
	}
	fputs(".El\n", out);
}

static const char *unit_text(enum figure_unit unit)
{
	static const char *const texts[] = {
		[FIGURE_COUNT] = "count",     [FIGURE_NS] = "time",
		[FIGURE_BYTES] = "bytes",     [FIGURE_SIGNED_BYTES] = "bytes, negative possible",
		[FIGURE_PERCENT] = "percent",
	};

	return texts[unit];
}

static void put_figures(FILE *out)
{
	const struct figure *figure;
	char name[LINE_SIZE], text[LINE_SIZE];

	fputs(".Bl -tag -width Ds -compact\n", out);
	for (size_t i = 0; (figure = figure_at(i)); i++) {
		snprintf(name, sizeof(name), "%s.%s", figure->group, figure->name);
		snprintf(text, sizeof(text), "%s (%s)", figure->summary, unit_text(figure->unit));
		put_item(out, "Cm", name, text);
	}
	fputs(".El\n", out);
}

static void put_rule(FILE *out, const struct finding_rule *rule)
{
	char text[RULE_SIZE];

	snprintf(text, sizeof(text), "%s. Measured: %s. Threshold: %s", rule->summary, rule->proof,
		 rule->reason);
	put_item(out, "Cm", rule->name, text);
}

static void put_rules(FILE *out)
{
	fputs(".Bl -tag -width dirty_throttled -compact\n", out);
	for (size_t i = 0; i < FINDING_RULE_COUNT; i++)
		put_rule(out, &finding_rules[i]);
	fputs(".El\n", out);
}

static const struct {
	const char *line;
	void (*put)(FILE *out);
} sections[] = {
	{"@OPTIONS@\n", put_options}, {"@COMMANDS@\n", put_commands}, {"@EVENTS@\n", put_events},
	{"@FORMATS@\n", put_formats}, {"@FIGURES@\n", put_figures},   {"@RULES@\n", put_rules},
};

void manual_write(FILE *template, FILE *out)
{
	char line[LINE_SIZE];

	while (fgets(line, sizeof(line), template)) {
		size_t i = 0;

		while (i < ARRAY_SIZE(sections) && strcmp(line, sections[i].line) != 0)
			i++;
		if (i < ARRAY_SIZE(sections))
			sections[i].put(out);
		else if (line[0] == '.')
			fputs(line, out);
		else
			put_lines(out, line);
	}
}
