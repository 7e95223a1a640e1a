// SPDX-License-Identifier: BSD-2-Clause
// Formats counts, times, sizes and shares for people.
#include "rows/human.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "profile/kind_table.h"

uint64_t human_whole(double value)
{
	/* 2^64 is a double, 2^64 - 1 is not. */
	return value >= 0x1p64 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;
}

char *human_count(char buffer[HUMAN_SIZE], uint64_t count)
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), used = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buffer[used++] = ',';
		buffer[used++] = digits[i];
	}
	buffer[used] = '\0';
	return buffer;
}

char *human_counted(char buffer[HUMAN_SIZE], uint64_t count, const char *plural)
{
	size_t length = strlen(plural), used;

	if (count == 1)
		length -= length > 4 && strcmp(plural + length - 4, "sses") == 0 ? 2 : 1;
	used = strlen(human_count(buffer, count));
	snprintf(buffer + used, HUMAN_SIZE - used, " %.*s", (int)length, plural);
	return buffer;
}

/* Three significant digits, so that a column of them can be compared at a glance. */
static char *three_digits(char buffer[HUMAN_SIZE], double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(buffer, HUMAN_SIZE, "%.*f %s", decimals, value, unit);
	return buffer;
}

char *human_time(char buffer[HUMAN_SIZE], uint64_t time_ns)
{
	uint64_t seconds = time_ns / NS_PER_SECOND;

	if (time_ns < 1000)
		snprintf(buffer, HUMAN_SIZE, "%" PRIu64 " ns", time_ns);
	else if (time_ns < 999500)
		three_digits(buffer, (double)time_ns / 1e3, "us");
	else if (time_ns < 999500000)
		three_digits(buffer, (double)time_ns / 1e6, "ms");
	else if (seconds < 100)
		three_digits(buffer, (double)time_ns / 1e9, "s");
	else if (seconds < 6000)
		snprintf(buffer, HUMAN_SIZE, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60,
			 seconds % 60);
	else
		snprintf(buffer, HUMAN_SIZE, "%" PRIu64 " h %02" PRIu64 " min", seconds / 3600,
			 seconds / 60 % 60);
	return buffer;
}

char *human_bytes(char buffer[HUMAN_SIZE], uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(buffer, HUMAN_SIZE, "%" PRIu64 " B", bytes);
		return buffer;
	}
	value /= 1024;
	/* 999.5 would print as four digits. */
	while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	return three_digits(buffer, value, units[unit]);
}

char *human_share(char buffer[HUMAN_SIZE], uint64_t part, uint64_t whole)
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!whole)
		snprintf(buffer, HUMAN_SIZE, "-");
	else if (part && share < 0.05)
		snprintf(buffer, HUMAN_SIZE, "<0.1%%");
	else if (part < whole && share >= 99.95)
		snprintf(buffer, HUMAN_SIZE, ">99.9%%");
	else
		snprintf(buffer, HUMAN_SIZE, "%.1f%%", share);
	return buffer;
}

char *human_weight(char buffer[HUMAN_SIZE], enum pkbpf_profile_kind kind, uint64_t weight)
{
	if (kind_ops_of(kind)->weight == PROFILE_WEIGHT_NS)
		return human_time(buffer, weight);
	if (kind_ops_of(kind)->weight == PROFILE_WEIGHT_BYTES)
		return human_bytes(buffer, weight);
	return human_count(buffer, weight);
}
