/* SPDX-License-Identifier: BSD-2-Clause */
/* Pressure and memory of the machine over time, as the kernel tells everybody. */
#ifndef PKBPF_ALERT_HOST_READING_H
#define PKBPF_ALERT_HOST_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum host_figure {
	HOST_CPU_PRESSURE,	   /* share of the time in which some task waited for a CPU, % */
	HOST_MEMORY_PRESSURE,	   /* for memory, */
	HOST_MEMORY_FULL_PRESSURE, /* all of them at once */
	HOST_IO_PRESSURE,
	HOST_IO_FULL_PRESSURE,
	HOST_MEMORY_USED,   /* memory that is not available, %, now */
	HOST_STORE_FAILING, /* 100 %: the history cannot be written */
	HOST_STORE_LATE,    /* age of the newest slice that rules have seen, % of an interval */
	HOST_FIGURES,
};

#define HOST_READINGS_MAX 1024

struct host_reading {
	uint64_t time_ns;
	uint64_t stalled_us[HOST_IO_FULL_PRESSURE + 1]; /* sums since boot */
	bool known[HOST_IO_FULL_PRESSURE + 1];
	double memory_used; /* %, < 0 unknown */
};

/* The last readings; zero-initialised is empty. */
struct host_readings {
	struct host_reading items[HOST_READINGS_MAX];
	size_t count, next;
	bool store_failing;
	double store_late; /* %, < 0: unknown */
};

/* "machine.io_pressure"; HOST_FIGURES: there is none. */
enum host_figure host_figure_find(const char *name, size_t length);
const char *host_figure_name(enum host_figure figure);
/* Reads now. */
void host_readings_take(struct host_readings *readings, uint64_t now_ns);
void host_readings_add(struct host_readings *readings, const struct host_reading *reading);
/* Over the last over_ns, or since the reading before the last one. false: not known (yet). */
bool host_readings_value(const struct host_readings *readings, enum host_figure figure,
			 uint64_t over_ns, double *ret_value);
/* Of a text of /proc/pressure: the sum in µs of "some" or "full". false: none. */
bool host_pressure_parse(const char *text, const char *line, uint64_t *ret_us);

#endif
