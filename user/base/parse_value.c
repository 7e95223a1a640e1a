// SPDX-License-Identifier: BSD-2-Clause
/* Reads numbers, times, sizes and lists that people type as options. */
#include "base/parse_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <strings.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/escape.h"

__extension__ typedef unsigned __int128 u128;

/* A century: later than anyone waits, yet clock_now_ns() plus it fits in a signed 64-bit number. */
#define DURATION_MAX_NS	   (100ULL * 365 * 24 * 3600 * NS_PER_SECOND)
#define U32_LIST_MAX_ITEMS 4096
/* Digits of a fraction that can still matter: an hour has 3.6e12 ns. */
#define FRACTION_DIGITS 15
#define FRACTION_SCALE	1000000000000000ULL
/* Typed text in a sentence is shortened to this. */
#define QUOTED_SIZE 64

#define QUOTE(text) escape_terminal((char[QUOTED_SIZE]){0}, QUOTED_SIZE, (text))

struct unit {
	const char *suffix;
	uint64_t factor;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits up to the first other character; false: the number does not fit (the digits are
 * consumed). */
static bool scan_digits(const char **text, uint64_t *ret_value)
{
	uint64_t value = 0;
	bool fits = true;

	for (; is_digit(**text); (*text)++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**text - '0'), &value))
			fits = false;
	}
	*ret_value = value;
	return fits;
}

static const struct unit *unit_find(const struct unit *units, size_t count, const char *suffix,
				    int (*compare)(const char *, const char *))
{
	for (size_t i = 0; i < count; i++) {
		if (compare(units[i].suffix, suffix) == 0)
			return &units[i];
	}
	return NULL;
}

int parse_u64(const char *text, const char *what, uint64_t min, uint64_t max, uint64_t *ret_value,
	      struct error *error)
{
	const char *end = text;
	uint64_t value;
	bool fits;

	fits = scan_digits(&end, &value);
	fits = fits && value >= min && value <= max;
	if (end == text || *end || !fits)
		return error_set(error, end == text || *end ? EINVAL : ERANGE,
				 "invalid value '%s' for %s: expected a number from %" PRIu64
				 " to %" PRIu64,
				 QUOTE(text), what, min, max);
	*ret_value = value;
	return 0;
}

/* Reads ".digits" into a number of parts in FRACTION_SCALE; false: a point without digits. */
static bool scan_fraction(const char **text, uint64_t *ret_fraction)
{
	uint64_t fraction = 0;
	unsigned int digits = 0;

	*ret_fraction = 0;
	if (**text != '.')
		return true;
	(*text)++;
	if (!is_digit(**text))
		return false;
	for (; is_digit(**text); (*text)++) {
		if (digits == FRACTION_DIGITS)
			continue;
		fraction = fraction * 10 + (uint64_t)(**text - '0');
		digits++;
	}
	for (; digits < FRACTION_DIGITS; digits++)
		fraction *= 10;
	*ret_fraction = fraction;
	return true;
}

int parse_duration_ns(const char *text, const char *what, uint64_t *ret_ns, struct error *error)
{
	static const struct unit units[] = {
		{"", NS_PER_SECOND},
		{"s", NS_PER_SECOND},
		{"ms", NS_PER_MS},
		{"us", 1000},
		{"ns", 1},
		{"m", 60 * NS_PER_SECOND},
		{"h", 3600 * NS_PER_SECOND},
	};
	const char *end = text;
	const struct unit *unit = NULL;
	uint64_t whole, fraction;
	u128 total;
	bool fits;

	fits = scan_digits(&end, &whole);
	if (end != text && scan_fraction(&end, &fraction))
		unit = unit_find(units, ARRAY_SIZE(units), end, strcmp);
	if (!unit)
		return error_set(error, EINVAL,
				 "invalid value '%s' for %s: expected a time like 10, 10s, 500ms, "
				 "20us, 5m or 1h",
				 QUOTE(text), what);

	total = (u128)whole * unit->factor;
	total += (u128)fraction * unit->factor / FRACTION_SCALE;
	if (!fits || total > DURATION_MAX_NS)
		return error_set(error, ERANGE,
				 "invalid value '%s' for %s: expected at most 100 years",
				 QUOTE(text), what);
	if (total == 0)
		return error_set(error, ERANGE,
				 "invalid value '%s' for %s: must be greater than zero",
				 QUOTE(text), what);
	*ret_ns = (uint64_t)total;
	return 0;
}

int parse_moment(const char *text, const char *what, struct parsed_moment *ret_moment,
		 struct error *error)
{
	struct tm time = {.tm_isdst = -1};
	const char *end;

	*ret_moment = (struct parsed_moment){0};
	if (!strchr(text, 'T'))
		return parse_duration_ns(text, what, &ret_moment->after_ns, error);
	end = strptime(text, "%Y-%m-%dT%H:%M:%S", &time);
	if (!end)
		end = strptime(text, "%Y%m%dT%H%M%S", &time);
	if (!end || (*end && strcmp(end, "Z") != 0))
		return error_set(error, EINVAL,
				 "invalid value '%s' for %s: expected a time like 10s, "
				 "2026-11-27T13:45:00 or 2026-11-27T13:45:00Z",
				 text, what);
	ret_moment->is_absolute = true;
	ret_moment->unix_ns = (int64_t)(*end ? timegm(&time) : mktime(&time)) * 1000000000;
	return 0;
}

int parse_size_bytes(const char *text, const char *what, uint64_t *ret_bytes, struct error *error)
{
	static const struct unit units[] = {
		{"", 1},
		{"B", 1},
		{"K", 1ULL << 10},
		{"KB", 1ULL << 10},
		{"KiB", 1ULL << 10},
		{"M", 1ULL << 20},
		{"MB", 1ULL << 20},
		{"MiB", 1ULL << 20},
		{"G", 1ULL << 30},
		{"GB", 1ULL << 30},
		{"GiB", 1ULL << 30},
		{"T", 1ULL << 40},
		{"TB", 1ULL << 40},
		{"TiB", 1ULL << 40},
	};
	const char *end = text;
	const struct unit *unit = NULL;
	uint64_t count, bytes;
	bool fits;

	fits = scan_digits(&end, &count);
	if (end != text)
		unit = unit_find(units, ARRAY_SIZE(units), end, strcasecmp);
	if (!unit)
		return error_set(
			error, EINVAL,
			"invalid value '%s' for %s: expected a size like 64, 64K, 64MiB or 2G",
			QUOTE(text), what);
	if (!fits || __builtin_mul_overflow(count, unit->factor, &bytes))
		return error_set(error, ERANGE,
				 "invalid value '%s' for %s: expected less than 2^64 bytes",
				 QUOTE(text), what);
	*ret_bytes = bytes;
	return 0;
}

static bool list_has(const struct u32_list *list, uint32_t value)
{
	array_foreach(list, each) {
		if (*each == value)
			return true;
	}
	return false;
}

/* text: the list as given, for the message. */
static int list_add(struct u32_list *list, uint32_t value, const char *text, const char *what,
		    struct error *error)
{
	uint32_t *added;

	if (list_has(list, value))
		return 0;
	if (list->count >= U32_LIST_MAX_ITEMS)
		return error_set(error, ERANGE,
				 "invalid value '%s' for %s: expected at most %d numbers",
				 QUOTE(text), what, U32_LIST_MAX_ITEMS);
	added = array_add(list);
	if (!added)
		return error_set(error, ENOMEM, "cannot read %s: out of memory", what);
	*added = value;
	return 0;
}

/* Appends the items of text; on failure the list may have grown. */
static int list_append(const char *text, const char *what, uint32_t max, struct u32_list *list,
		       struct error *error)
{
	const char *at = text;

	for (;;) {
		const char *item = at;
		uint64_t value;
		bool fits = scan_digits(&at, &value);
		int err;

		if (at == item || (*at && *at != ','))
			return error_set(error, EINVAL,
					 "invalid value '%s' for %s: expected numbers like 1,2,30",
					 QUOTE(text), what);
		if (!fits || value < 1 || value > max)
			return error_set(
				error, ERANGE,
				"invalid value '%s' for %s: expected numbers from 1 to %" PRIu32
				", not '%.*s'",
				QUOTE(text), what, max, (int)(at - item > 32 ? 32 : at - item),
				item);
		err = list_add(list, (uint32_t)value, text, what, error);
		if (err < 0 || !*at)
			return err;
		at++;
	}
}

int parse_u32_list(const char *text, const char *what, uint32_t max, struct u32_list *list,
		   struct error *error)
{
	size_t count = list->count;
	int err = list_append(text, what, max, list, error);

	if (err < 0)
		list->count = count;
	return err;
}
