// SPDX-License-Identifier: BSD-2-Clause
#include "history/history_time.h"

#include <errno.h>
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

static int parse_calendar(const char *text, int64_t *ret_unix_ns)
{
	struct tm calendar = {.tm_isdst = -1};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &calendar);
	time_t seconds;

	if (!end || (*end && strcmp(end, "Z") != 0))
		return -EINVAL;
	seconds = *end ? timegm(&calendar) : mktime(&calendar);
	if (seconds < 0 || (uint64_t)seconds > UNIX_SECONDS_MAX)
		return -EINVAL;
	*ret_unix_ns = (int64_t)seconds * (int64_t)NS_PER_SECOND;
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
	if (parse_calendar(text, ret_unix_ns) == 0)
		return 0;
	if (parse_u64(text, "time", 0, UNIX_SECONDS_MAX, &value, &unused) < 0)
		return bad_time(text, error);
	*ret_unix_ns = (int64_t)(value * NS_PER_SECOND);
	return 0;
}

int64_t history_time_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * (int64_t)NS_PER_SECOND + now.tv_nsec;
}
