// SPDX-License-Identifier: BSD-2-Clause
/* Parses conditions on regions and holds them against what was recorded. */
#include "finding/region_condition.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/parse_value.h"

#define PREFIX	    "region["
#define FIGURE_SIZE 64

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

static double over_of(const struct region_line *line)
{
	return line->sums.count ? 100.0 * (double)line->sums.over / (double)line->sums.count : 0;
}

static double violations_of(const struct region_line *line)
{
	return (double)line->sums.over;
}

static double rss_mean_of(const struct region_line *line)
{
	return (double)region_line_mean_rss(line);
}

static double rss_max_of(const struct region_line *line)
{
	return (double)line->sums.rss_max_kib * 1024;
}

static double rss_growth_of(const struct region_line *line)
{
	return (double)line->sums.rss_growth_kib * 1024;
}

/* Of regions without items: per region. Items of those by number are not of those that were read.
 */
static double item_growth_of(const struct region_line *line)
{
	bool all_read = line->sums.rss_readings == line->sums.count;
	uint64_t parts = line->sums.items && all_read ? line->sums.items : line->sums.rss_readings;

	return rss_growth_of(line) / (double)parts;
}

static const struct region_figure region_figures[] = {
	{"count", FIGURE_COUNT, "number of regions left", count_of, .adds_up = true},
	{"total", FIGURE_NS, "wall time of all", total_of, .adds_up = true},
	{"mean", FIGURE_NS, "wall time of one", mean_of, .is_length = true},
	{"p50", FIGURE_NS, "p50 of the wall time", p50_of, .is_length = true, .permille = 500},
	{"p95", FIGURE_NS, "p95 of the wall time", p95_of, .is_length = true, .permille = 950},
	{"p99", FIGURE_NS, "p99 of the wall time", p99_of, .is_length = true, .permille = 990},
	{"max", FIGURE_NS, "maximum of the wall time", max_of, .is_length = true, .permille = 1000},
	{"throughput", FIGURE_COUNT, "items, or without any regions, per second of wall time",
	 throughput_of, .is_part = false},
	{"not_left", FIGURE_COUNT, "regions that ended without being left", not_left_of,
	 .adds_up = true},
	{"over", FIGURE_PERCENT, "share of the regions that took longer than the limit", over_of,
	 .of_limit = true},
	{"violations", FIGURE_COUNT, "regions that took longer than the limit of an objective",
	 violations_of, .of_limit = true},
	{"on_cpu", FIGURE_NS, "time on a CPU", on_cpu_of, .is_part = true, .adds_up = true},
	{"runqueue", FIGURE_NS, "time in the run queue", runqueue_of, .is_part = true,
	 .adds_up = true},
	{"sleep", FIGURE_NS, "time asleep", sleep_of, .is_part = true, .adds_up = true},
	{"disk", FIGURE_NS, "time in disk waits", disk_of, .is_part = true, .adds_up = true},
	{"rss_mean", FIGURE_BYTES, "mean RSS of the process when it ended", rss_mean_of,
	 .of_memory = true},
	{"rss_max", FIGURE_BYTES, "maximum RSS of the process when it began or ended", rss_max_of,
	 .of_memory = true},
	{"rss_growth", FIGURE_SIGNED_BYTES, "growth of RSS from begin to end, of all",
	 rss_growth_of, .of_memory = true, .adds_up = true},
	{"rss_growth_per_item", FIGURE_SIGNED_BYTES,
	 "growth of RSS per item; per region without any, or where some are begun by number",
	 item_growth_of, .of_memory = true},
};

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

/* "over(100ms)": cuts the limit off. */
static int take_limit(char *figure, struct region_condition *condition, struct error *error)
{
	char *limit = strchr(figure, '('), *end = limit ? strchr(limit, ')') : NULL;

	if (!limit)
		return 0;
	if (!end || end[1 + strspn(end + 1, " \t")] || strncmp(figure, "over(", 5) != 0)
		return error_set(error, EINVAL,
				 "'%s': expected a limit as in over(100ms), of this figure alone",
				 figure);
	*end = '\0';
	*limit++ = '\0';
	if (parse_duration_ns(limit, "over()", &condition->limit_ns, error) < 0)
		return -EINVAL;
	return condition->limit_ns
		       ? 0
		       : error_set(error, EINVAL, "over() requires a limit of more than 0");
}

/* name: behind "region["; until: where the comparison is, or the end of the text. */
static int parse_subject(const char *name, const char *until, const char *text,
			 struct region_condition *condition, struct error *error)
{
	const char *end = memrchr(name, ']', (size_t)(until - name));
	char figure[FIGURE_SIZE];

	if (!end || end[1] != '.')
		return error_set(error, EINVAL,
				 "invalid value '%s': expected a figure or condition of a region "
				 "like region[predict].p99>100ms",
				 text);
	if (end == name || end - name >= (ptrdiff_t)sizeof(condition->name))
		return error_set(error, EINVAL,
				 "a region requires a name of 1 to %zu bytes in region[...]",
				 sizeof(condition->name) - 1);
	memcpy(condition->name, name, (size_t)(end - name));
	snprintf(figure, sizeof(figure), "%.*s", (int)(until - end - 2), end + 2);
	if (take_limit(figure, condition, error) < 0)
		return -EINVAL;
	condition->figure = find_figure(figure, strlen(figure));
	if (!condition->figure)
		return error_set(error, EINVAL,
				 "unknown figure '%s': expected count, total, mean, p50, p95, p99, "
				 "max, throughput, not_left, over(TIME), violations, on_cpu, "
				 "runqueue, sleep or disk after region[%s]",
				 figure, condition->name);
	return 0;
}

int region_figure_parse(const char *text, struct region_condition *ret_subject, struct error *error)
{
	*ret_subject = (struct region_condition){0};
	return parse_subject(text + strlen(PREFIX), text + strlen(text), text, ret_subject, error);
}

uint64_t region_condition_limit_ns(const struct region_condition *condition)
{
	if (condition->limit_ns)
		return condition->limit_ns;
	return condition->figure->is_length ? (uint64_t)condition->value : 0;
}

int region_condition_parse(const char *text, struct region_condition *ret_condition,
			   struct error *error)
{
	struct region_condition condition = {0};
	const char *begin = without_question(text), *name = begin + strlen(PREFIX);
	const char *comparison = comparator_find(name, &condition.comparison), *example;

	condition.may_be_absent = begin > text && begin[-1] == '?';
	if (!comparison)
		return error_set(error, EINVAL,
				 "invalid value '%s' for --fail-if: expected a condition like "
				 "region[predict].p99>100ms",
				 text);
	if (parse_subject(name, comparison, text, &condition, error) < 0)
		return -EINVAL;
	if (condition.figure->of_limit && !condition.limit_ns)
		return error_set(error, EINVAL,
				 "a condition on region[%s].%s requires a limit: use "
				 "region[%s].over(100ms)>1%%",
				 condition.name, condition.figure->name, condition.name);
	if (parse_quantity(comparator_value(comparison), &condition, &example))
		return error_set(error, EINVAL,
				 "invalid value in --fail-if: expected one like %s for "
				 "region[%s].%s",
				 example, condition.name, condition.figure->name);
	*ret_condition = condition;
	return 0;
}

int region_condition_check_possible(const struct region_condition *condition, uint32_t kinds_mask,
				    bool regions, struct error *error)
{
	if (!regions)
		return error_set(error, EINVAL,
				 "regions are not recorded; add --regions (in a configuration: "
				 "regions = yes)");
	if (condition->figure->is_part && !(kinds_mask & 1U << PKBPF_PROFILE_OFFCPU))
		return error_set(error, EINVAL,
				 "the parts of a region's time are not recorded; add offcpu to "
				 "--events");
	return 0;
}

int region_condition_value(const struct region_condition *condition, const struct region_list *list,
			   double *ret_value)
{
	const struct region_line *line = region_list_find(list, condition->name);

	if (!line)
		return -ESRCH;
	/* None that was left has a length; without probes nothing was counted. */
	if (!line->sums.count && (!condition->figure->adds_up || line->missed_ns))
		return -ENODATA;
	if (condition->figure->is_part && line->sums.total_ns &&
	    region_sums_undivided_ns(&line->sums) == line->sums.total_ns)
		return -ENODATA;
	if (condition->figure->of_memory && !line->sums.rss_readings)
		return -ENODATA;
	if (condition->figure->of_limit &&
	    !(condition->limit_ns ? region_sums_count_over(&line->sums, condition->limit_ns)
				  : region_sums_has_limit(&line->sums)))
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
