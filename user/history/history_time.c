// SPDX-License-Identifier: BSD-2-Clause
#include "history/history_time.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/parse_value.h"

/* Later than this no clock is. */
#define UNIX_SECONDS_MAX 9000000000ULL

static int bad_time(const char *text, struct error *error)
{
	return error_set(error, EINVAL,
			 "'%.64s' is no time: expected 2026-11-27T16:00:00Z, seconds since 1970, "
			 "now, or now-90m",
			 text);
}

/* ".5" and the like, which may be missing. Returns what follows. */
static const char *parse_fraction(const char *text, int64_t *ret_ns)
{
	int64_t unit = (int64_t)NS_PER_SECOND / 10;

	*ret_ns = 0;
	if (*text != '.' || !isdigit((unsigned char)text[1]))
		return text;
	for (text++; isdigit((unsigned char)*text); text++, unit /= 10)
		*ret_ns += (*text - '0') * unit;
	return text;
}

static int parse_calendar(const char *text, int64_t *ret_unix_ns)
{
	struct tm calendar = {.tm_isdst = -1};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &calendar);
	int64_t fraction_ns;
	time_t seconds;

	if (!end)
		return -EINVAL;
	end = parse_fraction(end, &fraction_ns);
	if (*end && strcmp(end, "Z") != 0)
		return -EINVAL;
	seconds = *end ? timegm(&calendar) : mktime(&calendar);
	if (seconds < 0 || (uint64_t)seconds > UNIX_SECONDS_MAX)
		return -EINVAL;
	*ret_unix_ns = (int64_t)seconds * (int64_t)NS_PER_SECOND + fraction_ns;
	return 0;
}

static int parse_seconds(const char *text, int64_t *ret_unix_ns)
{
	size_t digits = strspn(text, "0123456789");
	int64_t fraction_ns;
	struct error unused;
	uint64_t seconds;
	char whole[16];

	if (digits >= sizeof(whole) || *parse_fraction(text + digits, &fraction_ns))
		return -EINVAL;
	snprintf(whole, sizeof(whole), "%.*s", (int)digits, text);
	if (parse_u64(whole, "time", 0, UNIX_SECONDS_MAX, &seconds, &unused) < 0)
		return -EINVAL;
	*ret_unix_ns = (int64_t)(seconds * NS_PER_SECOND) + fraction_ns;
	return 0;
}

int history_time_parse(const char *text, int64_t now_unix_ns, int64_t *ret_unix_ns,
		       struct error *error)
{
	const char *rest = strncmp(text, "now", 3) == 0 ? text + 3 : text;
	uint64_t value;
	struct error unused;

	if (rest != text && !*rest) {
		*ret_unix_ns = now_unix_ns;
		return 0;
	}
	if (*rest == '-') {
		if (parse_duration_ns(rest + 1, "time", &value, &unused) < 0 ||
		    value > (uint64_t)now_unix_ns)
			return bad_time(text, error);
		*ret_unix_ns = now_unix_ns - (int64_t)value;
		return 0;
	}
	if (rest != text)
		return bad_time(text, error);
	if (parse_calendar(text, ret_unix_ns) == 0 || parse_seconds(text, ret_unix_ns) == 0)
		return 0;
	return bad_time(text, error);
}

int64_t history_time_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * (int64_t)NS_PER_SECOND + now.tv_nsec;
}
