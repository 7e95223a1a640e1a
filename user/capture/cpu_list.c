// SPDX-License-Identifier: BSD-2-Clause
/* The online and possible CPUs, as the kernel lists them. */
#include "capture/cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file_io.h"

#define ONLINE_PATH   "/sys/devices/system/cpu/online"
#define POSSIBLE_PATH "/sys/devices/system/cpu/possible"
/* A list of 8192 CPUs with every second one offline is 40 KiB of text. */
#define LIST_MAX_BYTES (256 * 1024)

static int parse_number(const char **text, uint32_t *ret_value)
{
	uint32_t value = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++) {
		value = value * 10 + (uint32_t)(**text - '0');
		if (value >= CPU_LIST_MAX)
			return -EINVAL;
	}
	*ret_value = value;
	return 0;
}

static int list_add(struct cpu_list *list, uint32_t number)
{
	struct listed_cpu *cpu = array_add(list);

	if (!cpu)
		return -ENOMEM;
	cpu->number = number;
	return 0;
}

int cpu_list_parse_range(const char **text, uint32_t *ret_first, uint32_t *ret_last)
{
	const char *at = *text;
	uint32_t first, last;
	int err = parse_number(&at, &first);

	last = first;
	if (!err && *at == '-') {
		at++;
		err = parse_number(&at, &last);
	}
	if (err || last < first)
		return -EINVAL;
	*text = at;
	*ret_first = first;
	*ret_last = last;
	return 0;
}

static int parse_range(const char **text, struct cpu_list *list)
{
	uint32_t first, last;
	int err = cpu_list_parse_range(text, &first, &last);

	if (err)
		return err;
	if (list->count && first <= list->items[list->count - 1].number)
		return -EINVAL;
	for (uint32_t cpu = first; cpu <= last && !err; cpu++)
		err = list_add(list, cpu);
	return err;
}

static int parse_ranges(const char *text, struct cpu_list *list)
{
	while (*text && *text != '\n') {
		int err = parse_range(&text, list);

		if (err)
			return err;
		if (*text == ',')
			text++;
		else if (*text && *text != '\n')
			return -EINVAL;
	}
	return 0;
}

int cpu_list_parse(const char *text, struct cpu_list *list)
{
	struct cpu_list parsed = {0};
	int err = parse_ranges(text, &parsed);

	if (err) {
		cpu_list_done(&parsed);
		return err;
	}
	cpu_list_done(list);
	*list = parsed;
	return 0;
}

static int list_read(const char *path, struct cpu_list *list)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	int err = file_read_all(AT_FDCWD, path, LIST_MAX_BYTES, &text, &size);

	return err ? err : cpu_list_parse(text, list);
}

int cpu_list_read_online(struct cpu_list *list)
{
	return list_read(ONLINE_PATH, list);
}

int cpu_list_open_online(void)
{
	return open(ONLINE_PATH, O_RDONLY | O_CLOEXEC);
}

uint32_t cpu_list_possible_bound(void)
{
	struct cpu_list list = {0};
	uint32_t bound;

	if (list_read(POSSIBLE_PATH, &list))
		return 0;
	bound = list.count ? list.items[list.count - 1].number + 1 : 0;
	cpu_list_done(&list);
	return bound;
}

const struct listed_cpu *cpu_list_find(const struct cpu_list *list, uint32_t number)
{
	array_foreach(list, cpu) {
		if (cpu->number == number)
			return cpu;
	}
	return NULL;
}

bool cpu_list_still_has(const struct cpu_list *list, struct listed_cpu cpu)
{
	const struct listed_cpu *now = cpu_list_find(list, cpu.number);

	return now && now->arrival == cpu.arrival;
}

void cpu_list_done(struct cpu_list *list)
{
	array_free(list);
}
