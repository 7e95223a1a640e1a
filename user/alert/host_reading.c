// SPDX-License-Identifier: BSD-2-Clause
#include "alert/host_reading.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_io.h"
#include "base/named_line.h"

#define FILE_MAX_BYTES 16384

static const struct {
	const char *name, *path, *line;
} figures[HOST_FIGURES] = {
	[HOST_CPU_PRESSURE] = {"machine.cpu_pressure", "/proc/pressure/cpu", "some"},
	[HOST_MEMORY_PRESSURE] = {"machine.memory_pressure", "/proc/pressure/memory", "some"},
	[HOST_MEMORY_FULL_PRESSURE] = {"machine.memory_full_pressure", "/proc/pressure/memory",
				       "full"},
	[HOST_IO_PRESSURE] = {"machine.io_pressure", "/proc/pressure/io", "some"},
	[HOST_IO_FULL_PRESSURE] = {"machine.io_full_pressure", "/proc/pressure/io", "full"},
	[HOST_MEMORY_USED] = {"machine.memory_used", NULL, NULL},
	[HOST_STORE_FAILING] = {"store.failing", NULL, NULL},
	[HOST_STORE_LATE] = {"store.late", NULL, NULL},
};

enum host_figure host_figure_find(const char *name, size_t length)
{
	int figure = 0;

	while (figure < HOST_FIGURES && (strlen(figures[figure].name) != length ||
					 strncmp(figures[figure].name, name, length) != 0))
		figure++;
	return (enum host_figure)figure;
}

const char *host_figure_name(enum host_figure figure)
{
	return figures[figure].name;
}

bool host_pressure_parse(const char *text, const char *line, uint64_t *ret_us)
{
	size_t length = strlen(line);

	for (; text && *text; text = strchr(text, '\n'), text += text != NULL) {
		const char *total, *end = strchrnul(text, '\n');

		if (strncmp(text, line, length) != 0 || text[length] != ' ')
			continue;
		total = strstr(text, "total=");
		return total && total < end && sscanf(total, "total=%" SCNu64, ret_us) == 1;
	}
	return false;
}

static void read_memory(struct host_reading *reading)
{
	uint64_t total, available;
	size_t size;
	char *text;

	reading->memory_used = -1;
	if (file_read_all(AT_FDCWD, "/proc/meminfo", FILE_MAX_BYTES, &text, &size) < 0)
		return;
	total = named_number(text, "MemTotal:");
	available = named_number(text, "MemAvailable:");
	if (total && available <= total)
		reading->memory_used = 100 - 100 * (double)available / (double)total;
	free(text);
}

void host_readings_take(struct host_readings *readings, uint64_t now_ns)
{
	struct host_reading reading = {.time_ns = now_ns};

	for (int i = 0; i <= HOST_IO_FULL_PRESSURE; i++) {
		size_t size;
		char *text;

		/* Kernels without psi=1 have none. */
		if (file_read_all(AT_FDCWD, figures[i].path, FILE_MAX_BYTES, &text, &size) < 0)
			continue;
		reading.known[i] =
			host_pressure_parse(text, figures[i].line, &reading.stalled_us[i]);
		free(text);
	}
	read_memory(&reading);
	host_readings_add(readings, &reading);
}

void host_readings_add(struct host_readings *readings, const struct host_reading *reading)
{
	readings->items[readings->next] = *reading;
	readings->next = (readings->next + 1) % HOST_READINGS_MAX;
	if (readings->count < HOST_READINGS_MAX)
		readings->count++;
}

/* 0 is the last one. */
static const struct host_reading *reading_at(const struct host_readings *readings, size_t back)
{
	return &readings->items[(readings->next + HOST_READINGS_MAX - 1 - back) %
				HOST_READINGS_MAX];
}

bool host_readings_value(const struct host_readings *readings, enum host_figure figure,
			 uint64_t over_ns, double *ret_value)
{
	const struct host_reading *last, *first;
	size_t back = 1;

	if (figure == HOST_STORE_FAILING) {
		*ret_value = readings->store_failing ? 100 : 0;
		return true;
	}
	if (figure == HOST_STORE_LATE) {
		*ret_value = readings->store_late;
		return readings->store_late >= 0;
	}
	if (!readings->count)
		return false;
	last = reading_at(readings, 0);
	if (figure == HOST_MEMORY_USED) {
		*ret_value = last->memory_used;
		return last->memory_used >= 0;
	}
	while (back + 1 < readings->count &&
	       last->time_ns - reading_at(readings, back)->time_ns < over_ns)
		back++;
	if (back >= readings->count)
		return false;
	first = reading_at(readings, back);
	if (last->time_ns - first->time_ns < over_ns / 2)
		return false;
	if (!last->known[figure] || !first->known[figure] || last->time_ns <= first->time_ns ||
	    last->stalled_us[figure] < first->stalled_us[figure])
		return false;
	*ret_value = 100 * (double)(last->stalled_us[figure] - first->stalled_us[figure]) * 1000 /
		     (double)(last->time_ns - first->time_ns);
	return true;
}
