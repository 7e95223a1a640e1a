// SPDX-License-Identifier: BSD-2-Clause
#include "base/ini.h"

#include <errno.h>
#include <string.h>

#define BLANKS " \t\r"

static char *trim(char *text)
{
	char *end;

	text += strspn(text, BLANKS);
	end = text + strlen(text);
	while (end > text && strchr(BLANKS, end[-1]))
		end--;
	*end = '\0';
	return text;
}

/* A # inside of a word, as in an address, begins none. */
static void cut_comment(char *line)
{
	for (char *at = line; (at = strchr(at, '#')); at++) {
		if (at == line || strchr(BLANKS, at[-1])) {
			*at = '\0';
			return;
		}
	}
}

static struct ini_entry *add_entry(struct ini *ini, unsigned int line, struct error *error)
{
	const struct ini_entry *last =
		ini->entries.count ? &ini->entries.items[ini->entries.count - 1] : NULL;
	struct ini_entry entry = {
		.kind = last ? last->kind : "", .name = last ? last->name : "", .line = line};
	struct ini_entry *added = array_add(&ini->entries);

	if (added)
		*added = entry;
	else
		error_set(error, ENOMEM, "line %u: out of memory", line);
	return added;
}

static int parse_section(struct ini *ini, char *line, unsigned int number, struct error *error)
{
	size_t length = strlen(line);
	struct ini_entry *entry;
	char *kind, *name;

	if (line[length - 1] != ']')
		return error_set(error, EINVAL, "line %u: a section ends with ]", number);
	line[length - 1] = '\0';
	kind = trim(line + 1);
	name = kind + strcspn(kind, BLANKS);
	if (*name)
		*name++ = '\0';
	if (!*kind)
		return error_set(error, EINVAL, "line %u: a section has a name", number);
	entry = add_entry(ini, number, error);
	if (!entry)
		return -ENOMEM;
	entry->kind = kind;
	entry->name = trim(name);
	return 0;
}

static int parse_line(struct ini *ini, char *line, unsigned int number, struct error *error)
{
	struct ini_entry *entry;
	char *equals;

	cut_comment(line);
	line = trim(line);
	if (!*line)
		return 0;
	if (*line == '[')
		return parse_section(ini, line, number, error);
	equals = strchr(line, '=');
	if (!equals)
		return error_set(error, EINVAL, "line %u: expected key = value, or [section]",
				 number);
	*equals = '\0';
	entry = add_entry(ini, number, error);
	if (!entry)
		return -ENOMEM;
	entry->key = trim(line);
	entry->value = trim(equals + 1);
	if (!*entry->key)
		return error_set(error, EINVAL, "line %u: the key is missing before =", number);
	return 0;
}

int ini_parse(char *text, struct ini *ret_ini, struct error *error)
{
	unsigned int number = 0;
	char *rest = text, *line;
	int err = 0;

	*ret_ini = (struct ini){0};
	while (err == 0 && (line = strsep(&rest, "\n")))
		err = parse_line(ret_ini, line, ++number, error);
	return err;
}

void ini_done(struct ini *ini)
{
	array_free(&ini->entries);
}
