// SPDX-License-Identifier: BSD-2-Clause
#include "bench/command_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* What a shell does more with than to split words. */
#define SHELL_CHARACTERS "|&;<>()$`*?[]#~!\n"

/* Outside of single quotes; in double quotes $ and ` only. An assignment before the program is for
 * a shell, too. */
static bool needs_shell(const char *text)
{
	char quote = '\0';
	bool is_first = true;

	for (const char *at = text; *at; at++) {
		if (*at == '\\' && quote != '\'' && at[1]) {
			at++;
		} else if (quote) {
			if (*at == quote)
				quote = '\0';
			else if (quote == '"' && (*at == '$' || *at == '`'))
				return true;
		} else if (*at == '\'' || *at == '"') {
			quote = *at;
		} else if (strchr(SHELL_CHARACTERS, *at) || (is_first && *at == '=')) {
			return true;
		} else if (*at == ' ' && at > text && at[-1] != ' ') {
			is_first = false;
		}
	}
	return false;
}

/* Copies the next word; *at moves behind it. false: a quote has no end. */
static bool take_word(const char **at, char *word)
{
	const char *from = *at;
	char quote = '\0';

	for (; *from && (quote || !strchr(" \t", *from)); from++) {
		bool escapes = *from == '\\' && quote != '\'' &&
			       (!quote || strchr("\"\\$`", from[1] ? from[1] : ' '));

		if (escapes && from[1])
			*word++ = *++from;
		else if (quote ? *from == quote : *from == '\'' || *from == '"')
			quote = quote ? '\0' : *from;
		else
			*word++ = *from;
	}
	*word = '\0';
	*at = from;
	return !quote;
}

static char **split(const char *text, struct error *error)
{
	/* No more words than characters. */
	char **words = calloc(strlen(text) + 2, sizeof(*words));
	size_t count = 0;

	if (!words)
		goto no_memory;
	for (const char *at = text + strspn(text, " \t"); *at; at += strspn(at, " \t")) {
		words[count] = malloc(strlen(at) + 1);
		if (!words[count])
			goto no_memory;
		if (!take_word(&at, words[count++])) {
			error_set(error, EINVAL, "invalid command '%s': a quote has no end", text);
			command_words_free(words);
			return NULL;
		}
	}
	if (count && words[0][0])
		return words;
	error_set(error, EINVAL, "invalid command '%s': it is empty", text);
	command_words_free(words);
	return NULL;
no_memory:
	error_set(error, ENOMEM, "cannot read the commands: out of memory");
	command_words_free(words);
	return NULL;
}

char **command_words_shell(const char *text)
{
	const char *const words[] = {"sh", "-c", text, NULL};

	return command_words_copy((char *const *)words);
}

char **command_words_split(const char *text, bool *ret_shell, struct error *error)
{
	char **words;

	*ret_shell = needs_shell(text);
	if (!*ret_shell)
		return split(text, error);
	words = command_words_shell(text);
	if (!words)
		error_set(error, ENOMEM, "cannot read the commands: out of memory");
	return words;
}

char **command_words_copy(char *const *words)
{
	size_t count = 0;
	char **copy;

	while (words[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = strdup(words[i]);
		if (!copy[i]) {
			command_words_free(copy);
			return NULL;
		}
	}
	return copy;
}

void command_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

static void put_quoted(FILE *out, const char *word)
{
	bool plain = word[0] && !strpbrk(word, " \t'\"\\" SHELL_CHARACTERS);

	if (plain) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

char *command_words_join(char *const *words)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; words[i]; i++) {
		if (i)
			fputc(' ', out);
		put_quoted(out, words[i]);
	}
	fclose(out);
	return text;
}

/* Is {name} at this brace? */
static bool is_place(const char *at, const char *name)
{
	size_t length = strlen(name);

	return strncmp(at + 1, name, length) == 0 && at[1 + length] == '}';
}

bool command_words_has(const char *text, const char *name)
{
	for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{'))
		if (is_place(at, name))
			return true;
	return false;
}

char *command_words_fill(const char *text, const struct word_parameter *parameters, size_t count)
{
	char *result = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&result, &size);

	if (!out)
		return NULL;
	while (*text) {
		const struct word_parameter *found = NULL;

		for (size_t i = 0; *text == '{' && i < count && !found; i++)
			found = is_place(text, parameters[i].name) ? &parameters[i] : NULL;
		if (found)
			fputs(found->value, out);
		else
			fputc(*text, out);
		text += found ? strlen(found->name) + 2 : 1;
	}
	fclose(out);
	return result;
}
