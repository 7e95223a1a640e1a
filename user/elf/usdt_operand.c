// SPDX-License-Identifier: BSD-2-Clause
/* Parses arguments of USDT probes. */
#include "elf/usdt_operand.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LONGEST_ARGUMENT 128

#if defined(__x86_64__)

/* Names of one register by size, and its word in struct pt_regs. */
static const struct {
	const char *name[4]; /* of 8, 4, 2 and 1 bytes */
	uint16_t word;
} registers[] = {
	{{"r15", "r15d", "r15w", "r15b"}, 0}, {{"r14", "r14d", "r14w", "r14b"}, 1},
	{{"r13", "r13d", "r13w", "r13b"}, 2}, {{"r12", "r12d", "r12w", "r12b"}, 3},
	{{"rbp", "ebp", "bp", "bpl"}, 4},     {{"rbx", "ebx", "bx", "bl"}, 5},
	{{"r11", "r11d", "r11w", "r11b"}, 6}, {{"r10", "r10d", "r10w", "r10b"}, 7},
	{{"r9", "r9d", "r9w", "r9b"}, 8},     {{"r8", "r8d", "r8w", "r8b"}, 9},
	{{"rax", "eax", "ax", "al"}, 10},     {{"rcx", "ecx", "cx", "cl"}, 11},
	{{"rdx", "edx", "dx", "dl"}, 12},     {{"rsi", "esi", "si", "sil"}, 13},
	{{"rdi", "edi", "di", "dil"}, 14},    {{"rsp", "esp", "sp", "spl"}, 19},
};

/* The register after '%' at *at, which moves behind its name. Addresses need one of 8 bytes. */
static bool take_register(const char **at, bool whole, uint16_t *ret_word)
{
	size_t length;

	if (**at != '%')
		return false;
	length = strspn(*at + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++) {
		for (size_t j = 0; j < (whole ? 1 : 4); j++) {
			const char *name = registers[i].name[j];

			if (strlen(name) != length || strncmp(name, *at + 1, length) != 0)
				continue;
			*ret_word = registers[i].word;
			*at += 1 + length;
			return true;
		}
	}
	return false;
}

static bool take_number(const char **at, long long *ret_number)
{
	char *end;

	if (!strchr("-0123456789", **at) || !**at)
		return false;
	errno = 0;
	*ret_number = strtoll(*at, &end, 0);
	if (end == *at || errno)
		return false;
	*at = end;
	return true;
}

/* "(%base,%index,scale)" with the offset before it. */
static bool parse_memory(const char *text, long long offset, struct pkbpf_span_operand *operand)
{
	long long scale = 1;

	if (*text++ != '(' || !take_register(&text, true, &operand->word))
		return false;
	operand->kind = PKBPF_OPERAND_MEMORY;
	operand->offset = offset;
	if (*text == ',') {
		text++;
		if (!take_register(&text, true, &operand->index_word))
			return false;
		if (*text == ',') {
			text++;
			if (!take_number(&text, &scale) ||
			    (scale != 1 && scale != 2 && scale != 4 && scale != 8))
				return false;
		}
		operand->scale = (uint8_t)scale;
	}
	return strcmp(text, ")") == 0;
}

static bool parse_value(const char *text, struct pkbpf_span_operand *operand)
{
	long long number = 0;

	if (*text == '%') {
		operand->kind = PKBPF_OPERAND_REGISTER;
		return take_register(&text, false, &operand->word) && !*text;
	}
	if (*text == '$') {
		text++;
		operand->kind = PKBPF_OPERAND_CONSTANT;
		if (!take_number(&text, &number))
			return false;
		operand->offset = number;
		return !*text;
	}
	if (*text != '(' && !take_number(&text, &number))
		return false;
	return parse_memory(text, number, operand);
}

#else

static bool parse_value(const char *text, struct pkbpf_span_operand *operand)
{
	(void)text;
	(void)operand;
	return false;
}

#endif

/* "SIZE@VALUE"; a negative size is that of a signed value. */
static bool parse_argument(const char *text, struct pkbpf_span_operand *operand)
{
	long size;
	char *end;

	operand->is_signed = *text == '-';
	size = strtol(text + operand->is_signed, &end, 10);
	if (*end != '@' || (size != 1 && size != 2 && size != 4 && size != 8))
		return false;
	operand->size = (uint8_t)size;
	return parse_value(end + 1, operand);
}

struct pkbpf_span_operand usdt_operand_parse(const char *arguments, unsigned int number)
{
	const struct pkbpf_span_operand none = {0};
	struct pkbpf_span_operand operand = {0};
	char text[LONGEST_ARGUMENT];
	size_t length;

	for (;; number--) {
		arguments += strspn(arguments, " ");
		length = strcspn(arguments, " ");
		if (!length || !number)
			break;
		arguments += length;
	}
	if (!length || length >= sizeof(text))
		return none;
	memcpy(text, arguments, length);
	text[length] = '\0';
	return parse_argument(text, &operand) ? operand : none;
}
