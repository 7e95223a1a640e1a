// SPDX-License-Identifier: BSD-2-Clause
#include "bench/environment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/sysfs_value.h"
#include "machine/temperature.h"

#define CPUS_MAX 4096
#define CPU_ROOT "/sys/devices/system/cpu"
/* Of the CPUs, in use by others before the first run. */
#define LOAD_PART 0.25

/* ---- items ---- */

void environment_done(struct environment *environment)
{
	array_foreach(&environment->items, item) {
		free(item->name);
		free(item->value);
	}
	array_free(&environment->items);
	array_foreach(&environment->dangers, danger)
		free(*danger);
	array_free(&environment->dangers);
}

bool environment_add(struct environment *environment, const char *name, const char *value,
		     bool is_identity)
{
	struct environment_item *item = array_add(&environment->items);

	if (!item)
		return false;
	item->name = strdup(name);
	item->value = strdup(value);
	item->is_identity = is_identity;
	return item->name && item->value;
}

bool environment_add_danger(struct environment *environment, const char *format, ...)
{
	char **danger = array_add(&environment->dangers);
	va_list arguments;
	int length;

	if (!danger)
		return false;
	va_start(arguments, format);
	length = vasprintf(danger, format, arguments);
	va_end(arguments);
	if (length < 0)
		environment->dangers.count--;
	return length >= 0;
}

const char *environment_find(const struct environment *environment, const char *name)
{
	array_foreach(&environment->items, item)
		if (strcmp(item->name, name) == 0)
			return item->value;
	return NULL;
}

/* ---- files ---- */

/* "model name	: X" of /proc/cpuinfo. */
static bool find_cpu_field(const char *text, const char *field, char value[SYSFS_VALUE_SIZE])
{
	const char *at = strstr(text, field);

	if (!at)
		return false;
	at += strlen(field);
	at += strspn(at, " \t");
	if (*at++ != ':')
		return false;
	at += strspn(at, " \t");
	snprintf(value, SYSFS_VALUE_SIZE, "%.*s", (int)strcspn(at, "\n"), at);
	return value[0];
}

/* "always [madvise] never": the word in brackets. */
static void take_choice(char line[SYSFS_VALUE_SIZE])
{
	char *begin = strchr(line, '['), *end = begin ? strchr(begin, ']') : NULL;

	if (!end)
		return;
	*end = '\0';
	memmove(line, begin + 1, strlen(begin + 1) + 1);
}

/* ---- what there is ---- */

static const struct {
	const char *name, *path;
	bool is_identity, is_choice;
} files[] = {
	{"host", "/proc/sys/kernel/hostname", true, false},
	{"kernel", "/proc/sys/kernel/osrelease", true, false},
	{"smt", CPU_ROOT "/smt/control", true, false},
	{"isolated_cpus", CPU_ROOT "/isolated", false, false},
	{"frequency_driver", CPU_ROOT "/cpu0/cpufreq/scaling_driver", false, false},
	{"governor", CPU_ROOT "/cpu0/cpufreq/scaling_governor", true, false},
	{"no_turbo", CPU_ROOT "/intel_pstate/no_turbo", true, false},
	{"boost", CPU_ROOT "/cpufreq/boost", true, false},
	{"aslr", "/proc/sys/kernel/randomize_va_space", false, false},
	{"transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled", false, true},
	{"clock_source", "/sys/devices/system/clocksource/clocksource0/current_clocksource", false,
	 false},
	{"scheduler_statistics", "/proc/sys/kernel/sched_schedstats", false, false},
};

static bool read_files(struct environment *environment, const char *root)
{
	char line[SYSFS_VALUE_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (!sysfs_line(root, files[i].path, line))
			continue;
		if (files[i].is_choice)
			take_choice(line);
		if (!environment_add(environment, files[i].name, line, files[i].is_identity))
			return false;
	}
	return true;
}

static bool read_cpus(struct environment *environment, const char *root)
{
	char *text = sysfs_text(root, "/proc/cpuinfo"), value[SYSFS_VALUE_SIZE], number[32];
	bool done = true;

	if (!text)
		return true;
	for (const char *at = text; (at = strstr(at, "processor\t:")); at++)
		environment->cpus++;
	snprintf(number, sizeof(number), "%.0f", environment->cpus);
	if (find_cpu_field(text, "model name", value))
		done = environment_add(environment, "cpu", value, true);
	if (done && find_cpu_field(text, "microcode", value))
		done = environment_add(environment, "microcode", value, false);
	if (done)
		done = environment_add(environment, "cpus", number, true);
	if (done && strstr(text, " hypervisor"))
		done = environment_add(environment, "virtual_machine", "yes", true);
	free(text);
	return done;
}

/* CPUs may have governors of their own; "-" when they differ. */
static bool has_governor(const char *root, const char *wanted)
{
	char path[128], line[SYSFS_VALUE_SIZE];
	bool has = false;

	for (int cpu = 0; cpu < CPUS_MAX && !has; cpu++) {
		snprintf(path, sizeof(path), CPU_ROOT "/cpu%d/cpufreq/scaling_governor", cpu);
		if (!sysfs_line(root, path, line))
			return false;
		has = strcmp(line, wanted) == 0;
	}
	return has;
}

static double read_load(const char *root)
{
	char line[SYSFS_VALUE_SIZE];
	double load;

	return sysfs_line(root, "/proc/loadavg", line) && sscanf(line, "%lf", &load) == 1 ? load
											  : -1;
}

static double read_throttles(const char *root)
{
	uint64_t count;

	return throttle_count_read(root, &count) ? (double)count : -1;
}

/* ---- dangers ---- */

static bool is_value(const struct environment *environment, const char *name, const char *value)
{
	const char *found = environment_find(environment, name);

	return found && strcmp(found, value) == 0;
}

static bool find_dangers(struct environment *environment, const char *root)
{
	bool done = true;

	if (environment->load_before > LOAD_PART * environment->cpus)
		done = environment_add_danger(
			environment, "load %.1f on %.0f CPU%s before the first run: others compete",
			environment->load_before, environment->cpus,
			environment->cpus > 1 ? "s" : "");
	if (done && (has_governor(root, "powersave") || has_governor(root, "schedutil") ||
		     has_governor(root, "ondemand")))
		done = environment_add_danger(
			environment,
			"the CPU frequency changes with load; governor performance is steadier");
	if (done && (is_value(environment, "no_turbo", "0") || is_value(environment, "boost", "1")))
		done = environment_add_danger(
			environment,
			"turbo is on: the frequency depends on heat and on other CPUs");
	return done;
}

int environment_read(struct environment *environment, const char *root)
{
	if (!read_files(environment, root) || !read_cpus(environment, root))
		return -ENOMEM;
	environment->load_before = read_load(root);
	environment->throttles_before = read_throttles(root);
	return find_dangers(environment, root) ? 0 : -ENOMEM;
}

int environment_finish(struct environment *environment, const char *root)
{
	environment->load_after = read_load(root);
	environment->throttles_after = read_throttles(root);
	if (environment->throttles_before >= 0 &&
	    environment->throttles_after > environment->throttles_before &&
	    !environment_add_danger(environment,
				    "CPUs were throttled %.0f times by heat while runs were timed",
				    environment->throttles_after - environment->throttles_before))
		return -ENOMEM;
	return 0;
}
