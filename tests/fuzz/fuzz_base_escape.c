// SPDX-License-Identifier: BSD-2-Clause
/* Feeds names to every escaper and looks for what must not come out. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Decodes by arithmetic on the value, a different way than the escaper's byte ranges. Aborts on bad
 * UTF-8. */
static uint32_t character_next(const char **at)
{
	static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
	unsigned char first = (unsigned char)*(*at)++;
	unsigned int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
	uint32_t character = more ? first & (0x3fU >> more) : first;

	require(more || first < 0x80);
	for (unsigned int i = 0; i < more; i++) {
		require((**at & 0xc0) == 0x80);
		character = character << 6 | ((unsigned char)*(*at)++ & 0x3f);
	}
	require(character >= smallest[more] && character <= 0x10ffff);
	require(character < 0xd800 || character > 0xdfff);
	return character;
}

static bool is_control(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character <= 0x9f);
}

static void check_text(const char *text, const char *forbidden, const char *allowed_controls)
{
	while (*text) {
		uint32_t character = character_next(&text);

		require(!is_control(character) ||
			(character < 0x80 && strchr(allowed_controls, (int)character)));
		require(character >= 0x80 || !strchr(forbidden, (int)character));
	}
}

static char *capture(void (*escape)(FILE *, const char *), const char *text)
{
	char *result = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&result, &size);

	require(out != NULL);
	escape(out, text);
	fclose(out);
	require(strlen(result) == size);
	return result;
}

static void check_json(const char *json)
{
	size_t length = strlen(json);

	require(length >= 2 && json[0] == '"' && json[length - 1] == '"');
	check_text(json, "<", "");
	for (const char *at = json + 1; at < json + length - 1; at++) {
		require(*at != '"');
		if (*at == '\\')
			require(strchr("\"\\ntu", *++at) && at < json + length - 1);
	}
}

static void check_csv(const char *csv)
{
	size_t length = strlen(csv);
	const char *first = csv;

	check_text(csv, "", "\t\r\n");
	if (csv[0] == '"') {
		require(length >= 2 && csv[length - 1] == '"');
		first++;
		for (const char *at = csv + 1; at < csv + length - 1; at++) {
			if (*at == '"')
				require(*++at == '"' && at < csv + length - 1);
		}
	} else {
		require(!strpbrk(csv, ",\"\r\n"));
	}
	require(!*first || !strchr("=+-@\t\r", *first));
}

static void check_markup(const char *markup)
{
	static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

	check_text(markup, "<>\"'", "");
	for (const char *at = strchr(markup, '&'); at; at = strchr(at + 1, '&')) {
		bool known = false;

		for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
			known |= strncmp(at, entities[i], strlen(entities[i])) == 0;
		require(known);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	_cleanup_free_ char *json = NULL, *csv = NULL, *markup = NULL, *whole = NULL;

	if (!text)
		return 0;
	whole = malloc(size + 1);
	if (!whole)
		return 0;
	escape_terminal(whole, size + 1, text); /* never longer than its input */
	check_text(whole, "", "");
	for (size_t room = 1; room <= size && room < 24; room++) {
		_cleanup_free_ char *cut = malloc(room);

		if (!cut)
			return 0;
		escape_terminal(cut, room, text);
		check_text(cut, "", "");
		require(strncmp(whole, cut, strlen(cut)) == 0);
	}
	json = capture(escape_json, text);
	check_json(json);
	csv = capture(escape_csv, text);
	check_csv(csv);
	markup = capture(escape_markup, text);
	check_markup(markup);
	return 0;
}
