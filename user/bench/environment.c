// SPDX-License-Identifier: BSD-2-Clause
#include "bench/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_io.h"

#define FILE_SIZE_MAX (4 << 20)
#define CPUS_MAX      4096
#define VALUE_MAX     200
#define CPU_ROOT      "/sys/devices/system/cpu"
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

/* NULL: it does not exist, or cannot be read. */
static char *read_file(const char *root, const char *path)
{
	char full[512], *text;
	size_t size;

	snprintf(full, sizeof(full), "%s%s", root, path);
	return file_read_all(AT_FDCWD, full, FILE_SIZE_MAX, &text, &size) < 0 ? NULL : text;
}

/* The first line of a file, without spaces around it. */
static bool read_line(const char *root, const char *path, char line[VALUE_MAX])
{
	char *text = read_file(root, path), *from = text;

	if (!text)
		return false;
	from += strspn(from, " \t");
	snprintf(line, VALUE_MAX, "%.*s", (int)strcspn(from, "\n"), from);
	for (size_t length = strlen(line); length && line[length - 1] == ' ';)
		line[--length] = '\0';
	free(text);
	return line[0];
}

static bool read_number(const char *root, const char *path, double *ret_number)
{
	char line[VALUE_MAX], extra;

	return read_line(root, path, line) && sscanf(line, "%lf%c", ret_number, &extra) == 1;
}

/* "model name	: X" of /proc/cpuinfo. */
static bool find_cpu_field(const char *text, const char *field, char value[VALUE_MAX])
{
	const char *at = strstr(text, field);

	if (!at)
		return false;
	at += strlen(field);
	at += strspn(at, " \t");
	if (*at++ != ':')
		return false;
	at += strspn(at, " \t");
	snprintf(value, VALUE_MAX, "%.*s", (int)strcspn(at, "\n"), at);
	return value[0];
}

/* "always [madvise] never": the word in brackets. */
static void take_choice(char line[VALUE_MAX])
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
	char line[VALUE_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (!read_line(root, files[i].path, line))
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
	char *text = read_file(root, "/proc/cpuinfo"), value[VALUE_MAX], number[32];
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
	char path[128], line[VALUE_MAX];
	bool has = false;

	for (int cpu = 0; cpu < CPUS_MAX && !has; cpu++) {
		snprintf(path, sizeof(path), CPU_ROOT "/cpu%d/cpufreq/scaling_governor", cpu);
		if (!read_line(root, path, line))
			return false;
		has = strcmp(line, wanted) == 0;
	}
	return has;
}

static double read_load(const char *root)
{
	char line[VALUE_MAX];
	double load;

	return read_line(root, "/proc/loadavg", line) && sscanf(line, "%lf", &load) == 1 ? load
											 : -1;
}

/* Of all CPUs; they count those of their core and package. */
static double read_throttles(const char *root)
{
	char path[160];
	double sum = 0, one;
	bool known = false;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		static const char *const names[] = {"core", "package"};

		snprintf(path, sizeof(path), CPU_ROOT "/cpu%d/topology/core_id", cpu);
		if (!read_number(root, path, &one))
			break;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			snprintf(path, sizeof(path),
				 CPU_ROOT "/cpu%d/thermal_throttle/%s_throttle_count", cpu,
				 names[i]);
			if (!read_number(root, path, &one))
				continue;
			known = true;
			sum += one;
		}
	}
	return known ? sum : -1;
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
