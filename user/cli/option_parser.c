// SPDX-License-Identifier: BSD-2-Clause
/* Splits words into options and values as getopt_long does, but says what is wrong in one sentence.
 */
#include "cli/option_parser.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/near_match.h"

/* Longest name compared with the table; typed text beyond it is no option of ours. */
#define NAME_MAX_LENGTH 64

struct words {
	int argc;
	char *const *argv;
	int next;
};

static const struct option_row *find_name(const char *name, size_t length)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(i)); i++) {
		if (strlen(row->name) == length && strncmp(row->name, name, length) == 0)
			return row;
	}
	return NULL;
}

static const struct option_row *find_letter(char letter)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(i)); i++) {
		if (row->letter && row->letter == letter)
			return row;
	}
	return NULL;
}

static int refuse_unknown(enum verb verb, const char *name, size_t length, struct error *error)
{
	char typed[NAME_MAX_LENGTH];
	struct near_match near = {0};
	const struct option_row *row;

	snprintf(typed, sizeof(typed), "%.*s",
		 (int)(length < NAME_MAX_LENGTH ? length : NAME_MAX_LENGTH), name);
	for (size_t i = 0; (row = option_at(i)); i++) {
		if (row->verbs & verb)
			near_match_offer(&near, typed, row->name);
	}
	if (near.word)
		return error_set(error, EINVAL, "unknown option --%s; did you mean --%s?", typed,
				 near.word);
	return error_set(error, EINVAL, "unknown option --%s; see pkbpf --help", typed);
}

/* Applies one option. value: text attached to it ("--pid=1", "-p1"), NULL when none; then the next
 * word serves. */
static int apply(const struct option_row *row, enum verb verb, const char *value,
		 struct words *words, struct cli_options *options, struct error *error)
{
	if (!(row->verbs & verb))
		return error_set(error, EINVAL, "--%s does not apply to this command", row->name);
	if (row->argument && !value) {
		if (words->next >= words->argc)
			return error_set(error, EINVAL, "--%s requires a value: --%s %s", row->name,
					 row->name, row->argument);
		value = words->argv[words->next++];
		/* "--pid --children": a forgotten value must not eat the option behind it. */
		if (value[0] == '-' && value[1] == '-')
			return error_set(error, EINVAL, "--%s requires a value: --%s %s", row->name,
					 row->name, row->argument);
	}
	return row->parse(options, value, error);
}

static int parse_long(enum verb verb, const char *word, struct words *words,
		      struct cli_options *options, struct error *error)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	const struct option_row *row = find_name(word, length);

	if (!row)
		return refuse_unknown(verb, word, length, error);
	if (equals && !row->argument)
		return error_set(error, EINVAL, "--%s takes no value", row->name);
	return apply(row, verb, equals ? equals + 1 : NULL, words, options, error);
}

/* "-qv", "-p1", "-qp1": letters until one takes the rest as its value. */
static int parse_letters(enum verb verb, const char *letters, struct words *words,
			 struct cli_options *options, struct error *error)
{
	for (const char *at = letters; *at; at++) {
		const struct option_row *row = find_letter(*at);
		int err;

		if (!row && find_name(letters, strlen(letters)))
			return error_set(error, EINVAL, "unknown option -%s; did you mean --%s?",
					 letters, letters);
		if (!row)
			return error_set(error, EINVAL, "unknown option -%c; see pkbpf --help",
					 *at);
		if (row->argument && at[1])
			return apply(row, verb, at + 1, words, options, error);
		err = apply(row, verb, NULL, words, options, error);
		if (err < 0 || options->show_help || options->show_version)
			return err;
	}
	return 0;
}

/* ---- what no single option can see ---- */

static int check_targets(const struct cli_options *options, struct error *error)
{
	const struct {
		const char *name;
		bool given;
	} choices[] = {
		{"--pid", options->pids.count > 0},
		{"--tid", options->tids.count > 0},
		{"--cgroup", options->cgroup_path != NULL},
		{"-- COMMAND", options->command != NULL},
	};
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		if (!choices[i].given)
			continue;
		if (first)
			return error_set(error, EINVAL, "%s and %s are mutually exclusive", first,
					 choices[i].name);
		first = choices[i].name;
	}
	if (options->follow == PKBPF_FOLLOW_DESCENDANTS && !options->pids.count &&
	    !options->command)
		return error_set(error, EINVAL, "--children requires --pid");
	return 0;
}

int options_check_events(const struct cli_options *options, const struct source_ops *const *sources,
			 size_t count, struct error *error)
{
	const struct {
		const char *name;
		bool given;
	} of_offcpu[] = {
		{"--wakers", options->wakers},
		{"--wait-states", options->wait_states},
		{"--kernel-threads", options->kernel_threads},
	};

	for (size_t i = 0; i < count; i++)
		if (sources[i]->kind == PKBPF_PROFILE_OFFCPU)
			return 0;
	for (size_t i = 0; i < ARRAY_SIZE(of_offcpu); i++)
		if (of_offcpu[i].given)
			return error_set(error, EINVAL,
					 "%s requires off-CPU events; add offcpu to --events",
					 of_offcpu[i].name);
	return 0;
}

static int check_record(struct cli_options *options, struct error *error)
{
	struct output_request *request;
	int err = check_targets(options, error);

	if (err < 0)
		return err;
	if (options->user_only && options->kernel_only)
		return error_set(error, EINVAL,
				 "--user and --kernel are mutually exclusive; the default is both");
	if (options->user_only && options->wakers)
		return error_set(error, EINVAL,
				 "--wakers and --user are mutually exclusive: kernel frames tell "
				 "an interrupt from the thread it interrupted");
	if (options->pending_format && options->outputs.count > 0)
		return error_set(error, EINVAL,
				 "--format %s follows the last --output; put it before the "
				 "--output it belongs to",
				 options->pending_format);
	if (options->outputs.count > 0)
		return 0;
	request = array_add(&options->outputs);
	if (!request)
		return error_set(error, ENOMEM, "cannot plan the outputs: out of memory");
	request->path = "-";
	request->format = options->pending_format;
	options->pending_format = NULL;
	return 0;
}

/* A number is most likely a process, anything else a command. */
static int refuse_argument(const char *word, struct error *error)
{
	bool is_number = word[strspn(word, "0123456789,")] == '\0';

	return error_set(error, EINVAL, "unexpected argument '%s'; did you mean %s %s?", word,
			 is_number ? "--pid" : "pkbpf --", word);
}

int options_parse(enum verb verb, int argc, char *const *argv, struct cli_options *options,
		  struct error *error)
{
	struct words words = {.argc = argc, .argv = argv};

	while (words.next < argc) {
		const char *word = argv[words.next++];
		int err;

		if (strcmp(word, "--") == 0) {
			if (verb != VERB_RECORD)
				return error_set(error, EINVAL,
						 "-- COMMAND does not apply to this command");
			if (words.next == argc)
				return error_set(error, EINVAL, "-- requires a command");
			options->command = argv + words.next;
			break;
		}
		if (strncmp(word, "--", 2) == 0)
			err = parse_long(verb, word + 2, &words, options, error);
		else if (word[0] == '-' && word[1])
			err = parse_letters(verb, word + 1, &words, options, error);
		else if (verb == VERB_RECORD)
			return refuse_argument(word, error);
		else
			return error_set(error, EINVAL, "unexpected argument '%s'", word);
		if (err < 0 || options->show_help || options->show_version)
			return err;
	}
	return verb == VERB_RECORD ? check_record(options, error) : 0;
}
