// SPDX-License-Identifier: BSD-2-Clause
/* Makes names chosen by strangers harmless to a terminal, CSV, JSON or markup; bytes as text. */
#include "base/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define INVALID		   UINT32_MAX
#define MARKDOWN_CODE_SIZE 200

/* One character of NUL-terminated text. Invalid input gives INVALID and the length of the longest
 * prefix of a well-formed sequence (at least 1), as Unicode 15 section 3.9 recommends for
 * replacement. */
static size_t utf8_next(const char *text, uint32_t *ret_character)
{
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf; /* allowed range of the second byte */
	uint32_t character;
	size_t length;

	*ret_character = INVALID;
	if (bytes[0] < 0x80) {
		*ret_character = bytes[0];
		return 1;
	} else if (bytes[0] >= 0xc2 && bytes[0] <= 0xdf) {
		length = 2;
		character = bytes[0] & 0x1f;
	} else if (bytes[0] >= 0xe0 && bytes[0] <= 0xef) {
		length = 3;
		character = bytes[0] & 0x0f;
		if (bytes[0] == 0xe0)
			low = 0xa0; /* shorter form exists */
		else if (bytes[0] == 0xed)
			high = 0x9f; /* surrogates */
	} else if (bytes[0] >= 0xf0 && bytes[0] <= 0xf4) {
		length = 4;
		character = bytes[0] & 0x07;
		if (bytes[0] == 0xf0)
			low = 0x90; /* shorter form exists */
		else if (bytes[0] == 0xf4)
			high = 0x8f; /* beyond U+10FFFF */
	} else {
		return 1;
	}
	/* The final NUL is no continuation byte, so this never reads past it. */
	for (size_t i = 1; i < length; i++) {
		if (bytes[i] < low || bytes[i] > high)
			return i;
		character = character << 6 | (bytes[i] & 0x3f);
		low = 0x80;
		high = 0xbf;
	}
	*ret_character = character;
	return length;
}

static bool is_control(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character <= 0x9f);
}

/* Characters that are not seen but change what is: direction, joining, line breaks, hidden tags. */
static bool is_invisible(uint32_t character)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x00ad, 0x00ad}, /* soft hyphen */
		{0x034f, 0x034f}, /* combining grapheme joiner */
		{0x061c, 0x061c}, /* Arabic letter mark */
		{0x115f, 0x1160}, /* Hangul fillers */
		{0x17b4, 0x17b5}, /* Khmer inherent vowels */
		{0x180b, 0x180f}, /* Mongolian selectors and vowel separator */
		{0x200b, 0x200f}, /* zero-width space and joiners, direction marks */
		{0x2028, 0x202e}, /* line, paragraph separator; bidirectional embedding, override */
		{0x2060, 0x206f}, /* word joiner, invisible operators, bidirectional isolates */
		{0x3164, 0x3164}, /* Hangul filler */
		{0xfe00, 0xfe0f}, /* variation selectors */
		{0xfeff, 0xfeff}, /* zero-width no-break space */
		{0xffa0, 0xffa0}, /* half-width Hangul filler */
		{0xfff9, 0xfffb}, /* interlinear annotation */
		{0xe0000, 0xe0fff}, /* tags, variation selectors supplement */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (character >= ranges[i].first && character <= ranges[i].last)
			return true;
	}
	return false;
}

char *escape_terminal(char *dst, size_t size, const char *text)
{
	size_t used = 0;

	if (size == 0)
		return dst;
	while (*text) {
		uint32_t character;
		size_t length = utf8_next(text, &character);
		bool bad = character == INVALID || is_control(character) || is_invisible(character);
		size_t needed = bad ? 1 : length;

		if (needed >= size - used)
			break;
		if (bad)
			dst[used] = '?';
		else
			memcpy(dst + used, text, length);
		used += needed;
		text += length;
	}
	dst[used] = '\0';
	return dst;
}

static void json_escape_unit(FILE *out, uint32_t character)
{
	if (character >= 0x10000) {
		character -= 0x10000;
		fprintf(out, "\\u%04x\\u%04x", 0xd800 + (character >> 10),
			0xdc00 + (character & 0x3ff));
	} else {
		fprintf(out, "\\u%04x", character);
	}
}

void escape_json(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		uint32_t character;
		size_t length = utf8_next(text, &character);

		if (character == INVALID)
			fputs("\xef\xbf\xbd", out);
		else if (character == '"' || character == '\\')
			fprintf(out, "\\%c", (char)character);
		else if (character == '\n')
			fputs("\\n", out);
		else if (character == '\t')
			fputs("\\t", out);
		else if (character == '<' || is_control(character) || is_invisible(character))
			json_escape_unit(out, character); /* lossless, harmless when printed */
		else
			fwrite(text, 1, length, out);
		text += length;
	}
	fputc('"', out);
}

void escape_csv(FILE *out, const char *text)
{
	bool quoted = strpbrk(text, ",\"\r\n") != NULL;

	if (quoted)
		fputc('"', out);
	if (*text && strchr("=+-@\t\r", *text))
		fputc('\'', out);
	while (*text) {
		uint32_t character;
		size_t length = utf8_next(text, &character);

		if (character == INVALID)
			fputs("\xef\xbf\xbd", out);
		else if (character == '"')
			fputs("\"\"", out);
		else if (is_invisible(character) ||
			 (is_control(character) && !strchr("\t\r\n", (int)character)))
			fputc('?', out);
		else
			fwrite(text, 1, length, out);
		text += length;
	}
	if (quoted)
		fputc('"', out);
}

/* Returns the length of the character in the text. */
static size_t write_markup(FILE *out, const char *text)
{
	uint32_t character;
	size_t length = utf8_next(text, &character);

	if (character == INVALID || character == 0xfffe || character == 0xffff)
		fputs("\xef\xbf\xbd", out); /* XML 1.0 allows none of these */
	else if (is_control(character) || is_invisible(character))
		fputc('?', out);
	else if (character == '&')
		fputs("&amp;", out);
	else if (character == '<')
		fputs("&lt;", out);
	else if (character == '>')
		fputs("&gt;", out);
	else if (character == '"')
		fputs("&quot;", out);
	else if (character == '\'')
		fputs("&#39;", out);
	else
		fwrite(text, 1, length, out);
	return length;
}

void escape_markup(FILE *out, const char *text)
{
	while (*text)
		text += write_markup(out, text);
}

void escape_markdown(FILE *out, const char *text)
{
	while (*text) {
		if (strchr("\\`*_[]|~!#", *text))
			fputc('\\', out);
		text += write_markup(out, text);
	}
}

void escape_markdown_code(FILE *out, const char *text)
{
	char clean[MARKDOWN_CODE_SIZE];

	escape_terminal(clean, sizeof(clean), text);
	fputc('`', out);
	/* Nothing but ` and, in tables, | means anything in code. */
	for (const char *at = clean; *at; at++) {
		if (*at == '|')
			fputs("\\|", out);
		else
			fputc(*at == '`' ? '\'' : *at, out);
	}
	fputc('`', out);
}

bool escape_uri(char *uri, size_t size, const char *text, const char *also)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t used = strlen(uri);

	for (const unsigned char *each = (const unsigned char *)text; *each; each++) {
		bool is_plain = (*each >= '0' && *each <= '9') || (*each >= 'a' && *each <= 'z') ||
				(*each >= 'A' && *each <= 'Z') || strchr("-._~", *each) ||
				strchr(also, *each);

		if (used + (is_plain ? 1 : 3) >= size)
			return false;
		if (is_plain) {
			uri[used++] = (char)*each;
		} else {
			uri[used++] = '%';
			uri[used++] = digits[*each >> 4];
			uri[used++] = digits[*each & 15];
		}
		uri[used] = '\0';
	}
	return true;
}

void escape_base64(FILE *out, const void *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *at = bytes;

	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t three = (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) |
				 (left > 2 ? at[i + 2] : 0);
		const char text[4] = {digits[three >> 18], digits[three >> 12 & 63],
				      left > 1 ? digits[three >> 6 & 63] : '=',
				      left > 2 ? digits[three & 63] : '='};

		fwrite(text, 1, sizeof(text), out);
	}
}
