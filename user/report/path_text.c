// SPDX-License-Identifier: BSD-2-Clause
/* Shortens names of frames, and paths to the frames that fit. */
#include "report/path_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "report/text_table.h"

/* What is read of a name before it is shortened. */
#define READ_SIZE 1024
#define ANONYMOUS "(anonymous namespace)::"

/* Without arguments and template parameters, when it is long; then its end, which is the function.
 */
static void shorten_name(char *name)
{
	char *kept = name;
	int depth = 0;
	size_t columns;

	if (text_columns(name) <= PATH_NAME_COLUMNS)
		return;
	/* At its begin it is no arguments. */
	if (!strncmp(name, ANONYMOUS, strlen(ANONYMOUS)))
		memmove(name, name + strlen(ANONYMOUS), strlen(name + strlen(ANONYMOUS)) + 1);
	for (const char *c = name; *c; c++) {
		/* "operator<", "->": no brackets */
		bool is_arrow = c > name && (c[-1] == '-' || c[-1] == '=');

		if ((*c == '<' || *c == '(') && c > name)
			depth++;
		if (!depth)
			*kept++ = *c;
		if ((*c == '>' || *c == ')') && depth && !is_arrow)
			depth--;
	}
	*kept = '\0';
	/* Of an anonymous namespace. */
	while ((kept = strstr(name, "::::")))
		memmove(kept, kept + 2, strlen(kept + 2) + 1);
	columns = text_columns(name);
	if (columns > PATH_NAME_COLUMNS && strlen(name) == columns) {
		memmove(name + 3, name + columns - (PATH_NAME_COLUMNS - 3),
			PATH_NAME_COLUMNS - 3 + 1);
		memset(name, '.', 3);
	}
	text_cut(name, PATH_NAME_COLUMNS);
}

/* "java.util.ArrayList.sort" is "ArrayList.sort": names of two packages or more, in small letters,
 * before a class. */
static const char *without_packages(const char *name)
{
	const char *class = name;
	int packages = 0;

	for (;;) {
		size_t length = strspn(class, "abcdefghijklmnopqrstuvwxyz0123456789_");

		if (!length || class[length] != '.')
			break;
		class += length + 1;
		packages++;
	}
	return packages >= 2 && *class >= 'A' && *class <= 'Z' && strchr(class, '.') ? class : name;
}

void path_step_comm(struct path_step *step, const char *comm)
{
	char clean[READ_SIZE];

	*step = (struct path_step){.is_comm = true};
	escape_terminal(clean, sizeof(clean), comm[0] ? comm : "[unknown]");
	snprintf(step->text, sizeof(step->text), "%.*s:", 4 * PATH_NAME_COLUMNS, clean);
	step->columns = text_columns(step->text);
}

void path_step_function(struct path_step *step, const struct function *function, bool enters_kernel)
{
	char clean[READ_SIZE];

	*step = (struct path_step){0};
	escape_terminal(clean, sizeof(clean), without_packages(function->name));
	/* Copies made by the compiler are the same function. */
	if (function->mark == FUNCTION_KERNEL)
		clean[strcspn(clean, ".")] = '\0';
	shorten_name(clean);
	snprintf(step->text, sizeof(step->text), "%s%.*s", enters_kernel ? "[k] " : "",
		 4 * PATH_NAME_COLUMNS, clean);
	step->columns = text_columns(step->text);
}

/* Columns of step i behind another one. */
static size_t joined_columns(const struct path_step *step)
{
	return strlen(" > ") + step->columns;
}

/* Of a path that is too long, the frames that fit from the last one backwards. */
static size_t first_fitting(const struct path_step *steps, size_t count, size_t room)
{
	/* Whose it is stays. */
	size_t used = (steps[0].is_comm ? steps[0].columns + 1 : 0) + strlen("..."), first = count;

	while (first > steps[0].is_comm && used + joined_columns(&steps[first - 1]) <= room)
		used += joined_columns(&steps[--first]);
	return first == count ? count - 1 : first;
}

char *path_text(const struct path_step *steps, size_t count, size_t room)
{
	size_t all = 0, first = 0, size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < count; i++)
		all += joined_columns(&steps[i]);
	if (all > room + strlen(" > "))
		first = first_fitting(steps, count, room);
	if (steps[0].is_comm)
		fprintf(out, "%s%s", steps[0].text, count > 1 ? " " : "");
	if (first > steps[0].is_comm)
		fputs("... > ", out);
	if (first < steps[0].is_comm)
		first = steps[0].is_comm;
	for (size_t i = first; i < count; i++)
		fprintf(out, "%s%s", i > first ? " > " : "", steps[i].text);
	return fclose(out) == 0 ? text : NULL;
}
