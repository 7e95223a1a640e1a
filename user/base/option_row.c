// SPDX-License-Identifier: BSD-2-Clause
/* Reads the value of an option in the form that its row asks for. */
#include "base/option_row.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/parse_value.h"
#include "base/text_append.h"

#define NAME_SIZE 64
#define LIST_SIZE 256

static void store_number(const struct option_row *row, void *options, uint64_t number)
{
	char *member = (char *)options + row->offset;
	uint32_t number32 = (uint32_t)number;
	uint8_t number8 = (uint8_t)number;

	if (row->size == sizeof(number))
		memcpy(member, &number, sizeof(number));
	else if (row->size == sizeof(number32))
		memcpy(member, &number32, sizeof(number32));
	else
		memcpy(member, &number8, sizeof(number8));
}

/* "auto, dwarf or fp" */
static void list_choices(const char *const *choices, char *ret_list, size_t size)
{
	ret_list[0] = '\0';
	for (size_t i = 0; choices[i]; i++) {
		const char *separator = i == 0 ? "" : choices[i + 1] ? ", " : " or ";

		text_append(ret_list, size, "%s%s", separator, choices[i]);
	}
}

/* Names of columns are typed in small letters, and without their "%". */
static bool is_choice(const char *choice, const char *value)
{
	return strcasecmp(choice, value) == 0 ||
	       (choice[0] == '%' && strcasecmp(choice + 1, value) == 0);
}

static int apply_choice(const struct option_row *row, void *options, const char *value,
			struct error *error)
{
	char list[LIST_SIZE];

	for (size_t i = 0; row->choices[i]; i++) {
		if (is_choice(row->choices[i], value)) {
			store_number(row, options, i);
			return 0;
		}
	}
	list_choices(row->choices, list, sizeof(list));
	return error_set(error, EINVAL, "invalid value '%s' for --%s: expected %s", value,
			 row->name, list);
}

static int apply_size(const struct option_row *row, void *options, const char *value,
		      struct error *error)
{
	char name[NAME_SIZE];
	uint64_t bytes;
	int err;

	snprintf(name, sizeof(name), "--%s", row->name);
	err = parse_size_bytes(value, name, &bytes, error);
	if (err < 0)
		return err;
	if (bytes < row->least || bytes > row->most)
		return error_set(error, ERANGE,
				 "invalid value '%s' for %s: expected %lluM to %lluM", value, name,
				 (unsigned long long)row->least >> 20,
				 (unsigned long long)row->most >> 20);
	store_number(row, options, bytes);
	return 0;
}

static int apply_number(const struct option_row *row, void *options, const char *value,
			struct error *error)
{
	char name[NAME_SIZE];
	uint64_t number;
	int err;

	snprintf(name, sizeof(name), "--%s", row->name);
	if (row->form == OPTION_DURATION)
		err = parse_duration_ns(value, name, &number, error);
	else
		err = parse_u64(value, name, row->least, row->most, &number, error);
	if (err == 0)
		store_number(row, options, number);
	return err;
}

static int apply_text(const struct option_row *row, void *options, const char *value,
		      struct error *error)
{
	if (!*value)
		return error_set(error, EINVAL, "--%s requires a value: --%s %s", row->name,
				 row->name, row->argument);
	memcpy((char *)options + row->offset, &value, sizeof(value));
	return 0;
}

int option_row_apply(const struct option_row *row, void *options, const char *value,
		     struct error *error)
{
	switch (row->form) {
	case OPTION_FLAG:
		store_number(row, options, true);
		return 0;
	case OPTION_CONSTANT:
		store_number(row, options, row->constant);
		return 0;
	case OPTION_COUNT:
		++*(unsigned int *)((char *)options + row->offset);
		return 0;
	case OPTION_NUMBER:
	case OPTION_DURATION:
		return apply_number(row, options, value, error);
	case OPTION_SIZE:
		return apply_size(row, options, value, error);
	case OPTION_CHOICE:
		return row->parse ? row->parse(options, value, error)
				  : apply_choice(row, options, value, error);
	case OPTION_TEXT:
		return apply_text(row, options, value, error);
	case OPTION_PARSED:
		return row->parse(options, value, error);
	}
	return -EINVAL;
}
