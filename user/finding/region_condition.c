// SPDX-License-Identifier: BSD-2-Clause
/* Parses conditions on regions and holds them against what was recorded. */
#include "finding/region_condition.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

#define PREFIX "region["

static double count_of(const struct region_line *line)
{
	return (double)line->sums.count;
}

static double not_left_of(const struct region_line *line)
{
	return (double)line->sums.lost_end;
}

static double total_of(const struct region_line *line)
{
	return (double)line->sums.total_ns;
}

static double mean_of(const struct region_line *line)
{
	return line->sums.count ? (double)line->sums.total_ns / (double)line->sums.count : 0;
}

static double p50_of(const struct region_line *line)
{
	return (double)line->p50_ns;
}

static double p95_of(const struct region_line *line)
{
	return (double)line->p95_ns;
}

static double p99_of(const struct region_line *line)
{
	return (double)line->p99_ns;
}

static double max_of(const struct region_line *line)
{
	return (double)line->sums.max_ns;
}

/* Of regions without items: of themselves. */
static double throughput_of(const struct region_line *line)
{
	double mean_ns = mean_of(line);

	if (line->sums.items)
		return line->items_per_second;
	return mean_ns > 0 ? NS_PER_SECOND / mean_ns : 0;
}

static double on_cpu_of(const struct region_line *line)
{
	return (double)line->sums.part_ns[PKBPF_WAIT_NONE];
}

static double runqueue_of(const struct region_line *line)
{
	return (double)line->sums.part_ns[PKBPF_WAIT_RUNQUEUE];
}

static double sleep_of(const struct region_line *line)
{
	return (double)line->sums.part_ns[PKBPF_WAIT_SLEEP];
}

static double disk_of(const struct region_line *line)
{
	return (double)line->sums.part_ns[PKBPF_WAIT_DISK];
}

static const struct region_figure region_figures[] = {
	{"count", FIGURE_COUNT, "number of regions left", count_of, false},
	{"total", FIGURE_NS, "wall time of all", total_of, false},
	{"mean", FIGURE_NS, "wall time of one", mean_of, false},
	{"p50", FIGURE_NS, "p50 of the wall time", p50_of, false},
	{"p95", FIGURE_NS, "p95 of the wall time", p95_of, false},
	{"p99", FIGURE_NS, "p99 of the wall time", p99_of, false},
	{"max", FIGURE_NS, "maximum of the wall time", max_of, false},
	{"throughput", FIGURE_COUNT, "items, or without any regions, per second of wall time",
	 throughput_of, false},
	{"not_left", FIGURE_COUNT, "regions that ended without being left", not_left_of, false},
	{"on_cpu", FIGURE_NS, "time on a CPU", on_cpu_of, true},
	{"runqueue", FIGURE_NS, "time in the run queue", runqueue_of, true},
	{"sleep", FIGURE_NS, "time asleep", sleep_of, true},
	{"disk", FIGURE_NS, "time in disk waits", disk_of, true},
};

const struct region_figure *region_figure_at(size_t index)
{
	return index < ARRAY_SIZE(region_figures) ? &region_figures[index] : NULL;
}

static const char *without_question(const char *text)
{
	text += strspn(text, " \t");
	return text + (*text == '?');
}

bool region_condition_is(const char *text)
{
	return strncmp(without_question(text), PREFIX, strlen(PREFIX)) == 0;
}

static const struct region_figure *find_figure(const char *name, size_t length)
{
	while (length && strchr(" \t", name[length - 1]))
		length--;
	for (size_t i = 0; i < ARRAY_SIZE(region_figures); i++)
		if (strlen(region_figures[i].name) == length &&
		    strncmp(region_figures[i].name, name, length) == 0)
			return &region_figures[i];
	return NULL;
}

/* "1000/s" is what "1000" is. */
static int parse_quantity(const char *text, struct region_condition *condition,
			  const char **ret_example)
{
	char number[64];
	size_t length = strlen(text);

	while (length && strchr(" \t", text[length - 1]))
		length--;
	if (condition->figure->value == throughput_of && length > 2 &&
	    strncmp(text + length - 2, "/s", 2) == 0)
		length -= 2;
	snprintf(number, sizeof(number), "%.*s",
		 length < sizeof(number) ? (int)length : (int)sizeof(number) - 1, text);
	return quantity_parse(number, condition->figure->unit, &condition->value, ret_example);
}

int region_condition_parse(const char *text, struct region_condition *ret_condition,
			   struct error *error)
{
	struct region_condition condition = {0};
	const char *begin = without_question(text), *name = begin + strlen(PREFIX);
	const char *comparison, *end, *example;

	condition.may_be_absent = begin > text && begin[-1] == '?';
	comparison = comparator_find(name, &condition.comparison);
	end = comparison ? memrchr(name, ']', (size_t)(comparison - name)) : NULL;
	if (!end || end[1] != '.')
		return error_set(error, EINVAL,
				 "invalid value '%s' for --fail-if: expected a condition like "
				 "region[predict].p99>100ms",
				 text);
	if (end == name || end - name >= (ptrdiff_t)sizeof(condition.name))
		return error_set(error, EINVAL,
				 "--fail-if requires a name of 1 to %zu bytes in region[...]",
				 sizeof(condition.name) - 1);
	memcpy(condition.name, name, (size_t)(end - name));
	condition.figure = find_figure(end + 2, (size_t)(comparison - end - 2));
	if (!condition.figure)
		return error_set(error, EINVAL,
				 "unknown figure '%.*s' in --fail-if: expected count, total, mean, "
				 "p50, p95, p99, max, throughput, not_left, on_cpu, runqueue, "
				 "sleep or disk after region[%s]",
				 (int)(comparison - end - 2), end + 2, condition.name);
	if (parse_quantity(comparator_value(comparison), &condition, &example))
		return error_set(error, EINVAL,
				 "invalid value in --fail-if: expected one like %s for "
				 "region[%s].%s",
				 example, condition.name, condition.figure->name);
	*ret_condition = condition;
	return 0;
}

int region_condition_value(const struct region_condition *condition, const struct region_list *list,
			   double *ret_value)
{
	const struct region_line *line = region_list_find(list, condition->name);

	if (!line)
		return -ESRCH;
	if (condition->figure->is_part && line->sums.total_ns &&
	    region_sums_undivided_ns(&line->sums) == line->sums.total_ns)
		return -ENODATA;
	*ret_value = condition->figure->value(line);
	return 0;
}

int region_condition_check(const struct region_condition *condition, const struct region_list *list,
			   char *ret_sentence, size_t size)
{
	char value[HUMAN_SIZE];
	double number;
	int err = region_condition_value(condition, list, &number);

	if (err < 0)
		return err;
	if (!comparator_holds(condition->comparison, number, condition->value))
		return false;
	quantity_format(value, condition->figure->unit, number);
	snprintf(ret_sentence, size, "region[%s].%s is %s%s", condition->name,
		 condition->figure->name, value,
		 condition->figure->value == throughput_of ? "/s" : "");
	return true;
}
