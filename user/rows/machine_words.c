// SPDX-License-Identifier: BSD-2-Clause
#include "rows/machine_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text_append.h"
#include "rows/human.h"

#define UJ_PER_JOULE 1e6
#define GHZ	     1e9

static const char *separator(const char *text)
{
	return text[0] ? "; " : "";
}

void machine_words_measured(const struct machine_figures *figures, char *text, size_t size)
{
	char number[HUMAN_SIZE];

	text[0] = '\0';
	if (figures->energy_ns)
		text_append(text, size, "energy %.3g J (%.1f W, %s)",
			    (double)figures->energy_uj / UJ_PER_JOULE, machine_mean_watts(figures),
			    figures->energy_source);
	if (figures->temperature_source[0])
		text_append(text, size, "%shottest CPU %.0f C (%s)", separator(text),
			    (double)figures->millicelsius / 1000, figures->temperature_source);
	if (figures->throttles)
		text_append(text, size, "%sthrottled by heat %s",
			    figures->temperature_source[0] ? ", " : separator(text),
			    human_counted(number, figures->throttles, "times"));
	if (figures->frequency_readings) {
		text_append(text, size, "%s%.2f GHz (%.2f to %.2f)", separator(text),
			    machine_mean_hz(figures) / GHZ, (double)figures->min_hz / GHZ,
			    (double)figures->max_hz / GHZ);
		if (figures->base_hz)
			text_append(text, size, ", base %.2f", (double)figures->base_hz / GHZ);
	}
}

void machine_words_counted(const struct machine_figures *figures, char *text, size_t size)
{
	text[0] = '\0';
	if (machine_has_counts(figures, MACHINE_INSTRUCTIONS, MACHINE_CYCLES))
		text_append(text, size, "%.2f instructions per cycle",
			    machine_ratio(figures, MACHINE_INSTRUCTIONS, MACHINE_CYCLES));
	if (machine_has_counts(figures, MACHINE_CACHE_MISSES, MACHINE_CACHE_REFERENCES))
		text_append(text, size, "%s%.1f %% cache misses", separator(text),
			    100 * machine_ratio(figures, MACHINE_CACHE_MISSES,
						MACHINE_CACHE_REFERENCES));
	if (machine_has_counts(figures, MACHINE_BRANCH_MISSES, MACHINE_BRANCHES))
		text_append(text, size, "%s%.1f %% branch misses", separator(text),
			    100 * machine_ratio(figures, MACHINE_BRANCH_MISSES, MACHINE_BRANCHES));
	if (text[0] && figures->counts_scaled)
		text_append(text, size, " (scaled: events took turns)");
}

void machine_words_absent(const struct machine_figures *figures, char *text, size_t size)
{
	const struct {
		const char *name, *reason;
	} figures_absent[] = {
		{"energy", figures->energy_reason},
		{"temperature", figures->temperature_reason},
		{"frequency", figures->frequency_reason},
		{"CPU counters", figures->counts_reason},
	};

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(figures_absent); i++)
		if (figures_absent[i].reason[0])
			text_append(text, size, "%s%s: %s", separator(text), figures_absent[i].name,
				    figures_absent[i].reason);
}

static int compare_disks(const void *a, const void *b)
{
	const struct disk *left = a, *right = b;
	double difference = disk_busy_percent(right) - disk_busy_percent(left);

	return difference ? (difference > 0) - (difference < 0) : strcmp(left->name, right->name);
}

void machine_words_disks(const struct disk_list *list, size_t most, char *text, size_t size)
{
	struct disk sorted[DISK_LIST_MAX];
	char read[HUMAN_SIZE], written[HUMAN_SIZE];
	size_t count = 0, shown;

	text[0] = '\0';
	array_foreach(&list->items, disk)
		if ((disk->reads || disk->writes || disk->busy_ns) && count < DISK_LIST_MAX)
			sorted[count++] = *disk;
	qsort(sorted, count, sizeof(*sorted), compare_disks);
	shown = count < most ? count : most;
	for (size_t i = 0; i < shown; i++)
		text_append(text, size,
			    "%s%s %.1f %% busy, %.2f requests at a time, read %s, written %s",
			    separator(text), sorted[i].name, disk_busy_percent(&sorted[i]),
			    disk_queue(&sorted[i]), human_bytes(read, sorted[i].read_bytes),
			    human_bytes(written, sorted[i].written_bytes));
	if (count > shown)
		text_append(text, size, "; and %zu more", count - shown);
}
