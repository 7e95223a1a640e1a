// SPDX-License-Identifier: BSD-2-Clause
/* Splits words into options and values as getopt_long does, but says what is wrong in one
 * sentence. */
#include "cli/option_parser.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near_match.h"

/* Longest name compared with the table; typed text beyond it is no option of ours. */
#define NAME_MAX_LENGTH 64

struct reading {
	const struct command_row *command;
	struct cli_options *options;
	char *const *words;
	int count, next;
};

static bool has_name(const struct option_row *row, const char *name, size_t length)
{
	return strlen(row->name) == length && strncmp(row->name, name, length) == 0;
}

/* Of the command; NULL: it takes none of this name. */
static const struct option_row *find_name(const struct command_row *command, const char *name,
					  size_t length)
{
	const struct option_row *row;

	for (size_t i = 0; (row = command_option_at(command, i)); i++) {
		if (has_name(row, name, length))
			return row;
	}
	return NULL;
}

static const struct option_row *find_letter(const struct command_row *command, char letter)
{
	const struct option_row *row;

	for (size_t i = 0; (row = command_option_at(command, i)); i++) {
		if (row->letter && row->letter == letter)
			return row;
	}
	return NULL;
}

static int refuse_foreign(const struct option_row *row, struct error *error)
{
	return error_set(error, EINVAL, "--%s does not apply to this command", row->name);
}

static int refuse_unknown(const struct command_row *command, const char *name, size_t length,
			  struct error *error)
{
	char typed[NAME_MAX_LENGTH];
	struct near_match near = {0};
	const struct option_row *row;

	snprintf(typed, sizeof(typed), "%.*s",
		 (int)(length < NAME_MAX_LENGTH ? length : NAME_MAX_LENGTH), name);
	for (size_t i = 0; (row = option_at(i)); i++) {
		if (has_name(row, name, length))
			return refuse_foreign(row, error);
	}
	for (size_t i = 0; (row = command_option_at(command, i)); i++)
		near_match_offer(&near, typed, row->name);
	if (near.word)
		return error_set(error, EINVAL, "unknown option --%s; did you mean --%s?", typed,
				 near.word);
	return error_set(error, EINVAL, "unknown option --%s; see pkbpf --help all", typed);
}

/* letters: the word that the letter is in. */
static int refuse_letter(const struct command_row *command, const char *letters, char letter,
			 struct error *error)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(i)); i++) {
		if (row->letter == letter)
			return refuse_foreign(row, error);
	}
	if (find_name(command, letters, strlen(letters)))
		return error_set(error, EINVAL, "unknown option -%s; did you mean --%s?", letters,
				 letters);
	return error_set(error, EINVAL, "unknown option -%c; see pkbpf --help all", letter);
}

/* Applies one option. value: text attached to it ("--pid=1", "-p1"), NULL when none; then the next
 * word serves. */
static int apply(struct reading *reading, const struct option_row *row, const char *value,
		 struct error *error)
{
	if (row->argument && !value) {
		if (reading->next >= reading->count)
			return error_set(error, EINVAL, "--%s requires a value: --%s %s", row->name,
					 row->name, row->argument);
		value = reading->words[reading->next++];
		/* "--pid --children": a forgotten value must not eat the option behind it. */
		if (value[0] == '-' && value[1] == '-')
			return error_set(error, EINVAL, "--%s requires a value: --%s %s", row->name,
					 row->name, row->argument);
	}
	if (command_owns(reading->command, row))
		return option_row_apply(row, reading->options->own, value, error);
	return option_apply(row, reading->options, value, error);
}

static int parse_long(struct reading *reading, const char *word, struct error *error)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	const struct option_row *row = find_name(reading->command, word, length);

	if (!row)
		return refuse_unknown(reading->command, word, length, error);
	if (equals && !row->argument)
		return error_set(error, EINVAL, "--%s takes no value", row->name);
	return apply(reading, row, equals ? equals + 1 : NULL, error);
}

/* "-qv", "-p1", "-qp1": letters until one takes the rest as its value. */
static bool ends_reading(const struct cli_options *options)
{
	return options->show_help || options->show_version;
}

static int parse_letters(struct reading *reading, const char *letters, struct error *error)
{
	for (const char *at = letters; *at; at++) {
		const struct option_row *row = find_letter(reading->command, *at);
		int err;

		if (!row)
			return refuse_letter(reading->command, letters, *at, error);
		if (row->argument && at[1])
			return apply(reading, row, at + 1, error);
		err = apply(reading, row, NULL, error);
		if (err < 0 || ends_reading(reading->options))
			return err;
	}
	return 0;
}

/* A number is most likely a process, anything else a command. */
static int refuse_argument(const char *word, struct error *error)
{
	bool is_number = word[strspn(word, "0123456789,")] == '\0';

	return error_set(error, EINVAL, "unexpected argument '%s'; did you mean %s %s?", word,
			 is_number ? "--pid" : "pkbpf --", word);
}

static int take_file(struct reading *reading, const char *word, struct error *error)
{
	const char **slot = array_add(&reading->options->files);

	if (!slot)
		return error_set(error, ENOMEM, "cannot read the arguments: out of memory");
	*slot = word;
	return 0;
}

/* What follows "--". */
static int take_command(struct reading *reading, struct error *error)
{
	int err = 0;

	if (reading->command->takes_files && !reading->command->takes_command) {
		while (reading->next < reading->count && err == 0)
			err = take_file(reading, reading->words[reading->next++], error);
		return err;
	}
	if (!reading->command->takes_command)
		return error_set(error, EINVAL, "-- COMMAND does not apply to this command");
	if (reading->next == reading->count)
		return error_set(error, EINVAL, "-- requires a command");
	reading->options->live.targets.command = reading->words + reading->next;
	return 0;
}

static int parse_word(struct reading *reading, const char *word, struct error *error)
{
	if (strncmp(word, "--", 2) == 0)
		return parse_long(reading, word + 2, error);
	if (word[0] == '-' && word[1])
		return parse_letters(reading, word + 1, error);
	if (reading->command->takes_files)
		return take_file(reading, word, error);
	if (reading->command->takes_command)
		return refuse_argument(word, error);
	return error_set(error, EINVAL, "unexpected argument '%s'", word);
}

int options_parse(const struct command_row *command, int argc, char *const *argv,
		  struct cli_options *options, struct error *error)
{
	struct reading reading = {command, options, argv, argc, 0};

	options->words = argv;
	options->word_count = argc;
	if (command->own_size) {
		options->own = calloc(1, command->own_size);
		if (!options->own)
			return error_set(error, ENOMEM, "cannot read the options: out of memory");
	}

	while (reading.next < argc) {
		const char *word = argv[reading.next++];
		bool is_last = strcmp(word, "--") == 0;
		int err =
			is_last ? take_command(&reading, error) : parse_word(&reading, word, error);

		if (err == 0 && is_last)
			break;
		if (err == 0 && options->show_help && reading.next < argc)
			options->show_all_help = strcmp(argv[reading.next], "all") == 0;
		if (err < 0 || ends_reading(options))
			return err;
	}
	return command->check ? command->check(options, error) : 0;
}
