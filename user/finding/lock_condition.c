// SPDX-License-Identifier: BSD-2-Clause
/* Parses conditions on locks and holds them against what was recorded. */
#include "finding/lock_condition.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text_append.h"
#include "rows/waits.h"

#define ALL	    "lock."
#define ONE	    "lock["
#define FIGURE_SIZE 64

static double wait_of(const struct lock_figures *figures)
{
	return (double)figures->lock.wait_ns;
}

static double share_of(const struct lock_figures *figures)
{
	return figures->wall_ns ? 100 * wait_of(figures) / (double)figures->wall_ns : 0;
}

static double waits_of(const struct lock_figures *figures)
{
	return (double)figures->lock.waits;
}

static double mean_of(const struct lock_figures *figures)
{
	return figures->lock.waits ? wait_of(figures) / waits_of(figures) : 0;
}

static double p50_of(const struct lock_figures *figures)
{
	return (double)lock_percentile_ns(&figures->lock, 500);
}

static double p99_of(const struct lock_figures *figures)
{
	return (double)lock_percentile_ns(&figures->lock, 990);
}

static double max_of(const struct lock_figures *figures)
{
	return (double)figures->lock.max_ns;
}

static double waiters_of(const struct lock_figures *figures)
{
	return (double)figures->lock.max_waiters;
}

static const struct lock_figure lock_figures[] = {
	{"wait", FIGURE_NS, "time of all waits, with the run queue", wait_of},
	{"wait_share", FIGURE_PERCENT,
	 "the same as a share of the wall time of all threads of the processes that wait",
	 share_of},
	{"waits", FIGURE_COUNT, "number of waits", waits_of},
	{"mean", FIGURE_NS, "mean of a wait", mean_of},
	{"p50", FIGURE_NS, "p50 of a wait", p50_of},
	{"p99", FIGURE_NS, "p99 of a wait", p99_of},
	{"max", FIGURE_NS, "longest wait", max_of},
	{"waiters", FIGURE_COUNT, "most threads that waited at once", waiters_of},
};

/* ---- reading ---- */

static const char *without_question(const char *text)
{
	text += strspn(text, " \t");
	return text + (*text == '?');
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool lock_condition_is(const char *text)
{
	const char *begin = without_question(text);

	return begins_with(begin, ALL) || begins_with(begin, ONE);
}

static int parse_figure(const char *name, const char *until, struct lock_condition *condition,
			struct error *error)
{
	char expected[256] = "";
	size_t length = (size_t)(until - name);

	while (length && strchr(" \t", name[length - 1]))
		length--;
	for (size_t i = 0; i < ARRAY_SIZE(lock_figures); i++) {
		condition->figure = &lock_figures[i];
		if (strlen(lock_figures[i].name) == length &&
		    strncmp(lock_figures[i].name, name, length) == 0)
			return 0;
		text_append(expected, sizeof(expected), "%s%s", i ? ", " : "",
			    lock_figures[i].name);
	}
	return error_set(error, EINVAL, "unknown figure '%.*s' of a lock in --fail-if: expected %s",
			 length < FIGURE_SIZE ? (int)length : FIGURE_SIZE, name, expected);
}

/* Takes the name; *at: behind it. */
static int parse_name(const char **at, const char *until, struct lock_condition *condition,
		      struct error *error)
{
	const char *name, *end;
	bool is_one = begins_with(*at, ONE);

	*at += strlen(ALL);
	if (!is_one)
		return 0;
	name = *at;
	end = until > name ? memrchr(name, ']', (size_t)(until - name)) : NULL;
	if (!end || end[1] != '.' || end == name ||
	    end - name >= (ptrdiff_t)sizeof(condition->name))
		return error_set(error, EINVAL,
				 "invalid lock in --fail-if: expected a condition like "
				 "lock[cache_lock].p99>1ms, with a name of 1 to %zu bytes",
				 sizeof(condition->name) - 1);
	memcpy(condition->name, name, (size_t)(end - name));
	condition->name[end - name] = '\0';
	condition->is_any = strcmp(condition->name, "*") == 0;
	*at = end + 2;
	return 0;
}

int lock_condition_parse(const char *text, struct lock_condition *ret_condition,
			 struct error *error)
{
	struct lock_condition condition = {.comparison = CONDITION_ABOVE};
	const char *at = without_question(text), *example;
	const char *comparison = comparator_find(at, &condition.comparison);

	condition.may_be_absent = at > text && at[-1] == '?';
	if (!comparison)
		return error_set(error, EINVAL,
				 "invalid value '%s' for --fail-if: expected a condition like "
				 "lock.wait_share>5%% or lock[cache_lock].p99>1ms",
				 text);
	if (parse_name(&at, comparison, &condition, error) < 0 ||
	    parse_figure(at, comparison > at ? comparison : at, &condition, error) < 0)
		return -EINVAL;
	if (quantity_parse(comparator_value(comparison), condition.figure->unit, &condition.value,
			   &example))
		return error_set(
			error, EINVAL,
			"invalid value in --fail-if: expected one like %s for %s of a lock",
			example, condition.figure->name);
	*ret_condition = condition;
	return 0;
}

int lock_condition_check_possible(uint32_t kinds_mask, struct error *error)
{
	if (kinds_mask & 1U << PKBPF_PROFILE_LOCKS)
		return 0;
	return error_set(error, EINVAL, "locks are not recorded; add locks to --events");
}

/* ---- checking ---- */

struct checking {
	const struct lock_condition *condition;
	const struct function_table *functions;
	const struct profile *profile;
	struct waits waits;
	struct lock_views views;
	void (*on_breach)(void *context, const char *sentence);
	void *context;
	int breaches;
};

static bool is_meant(const struct checking *checking, const struct lock_view *view)
{
	const struct lock_condition *condition = checking->condition;
	char name[LOCK_NAME_TEXT_SIZE];

	if (!condition->name[0])
		return true;
	if (view->lock->class == PKBPF_LOCK_OTHERS)
		return false;
	return condition->is_any || strcmp(view->lock->name, condition->name) == 0 ||
	       strcmp(lock_view_name(name, view, checking->functions), condition->name) == 0;
}

static uint64_t wall_ns_of(const struct checking *checking, uint32_t pid)
{
	const struct process_table *processes = profile_processes(checking->profile);
	uint64_t wall_ns = 0;

	for (size_t i = 0; i < checking->waits.count; i++) {
		const struct waits_process *waits = &checking->waits.processes[i];
		const struct process *process =
			process_table_by_id((struct process_table *)processes, waits->process);

		if (process && process->pid == pid)
			wall_ns += waits->wall_ns;
	}
	return wall_ns;
}

/* Each process once. */
static void add_wall(const struct checking *checking, size_t index, struct lock_figures *figures)
{
	uint32_t pid = checking->views.items[index].lock->pid;

	for (size_t i = 0; i < index && !checking->condition->is_any; i++)
		if (checking->views.items[i].lock->pid == pid &&
		    is_meant(checking, &checking->views.items[i]))
			return;
	figures->wall_ns += wall_ns_of(checking, pid);
}

static void add_lock(struct lock_figures *figures, const struct lock *lock)
{
	figures->lock.waits += lock->waits;
	figures->lock.wait_ns += lock->wait_ns;
	if (lock->max_ns > figures->lock.max_ns)
		figures->lock.max_ns = lock->max_ns;
	if (lock->max_waiters > figures->lock.max_waiters)
		figures->lock.max_waiters = lock->max_waiters;
	for (size_t i = 0; i < PKBPF_LOCK_BUCKETS; i++)
		figures->lock.buckets[i] += lock->buckets[i];
}

/* view: NULL: of all that are meant. */
static void judge(struct checking *checking, const struct lock_figures *figures,
		  const struct lock_view *view)
{
	const struct lock_condition *condition = checking->condition;
	double value = condition->figure->value(figures);
	char sentence[LOCK_NAME_TEXT_SIZE + 128], number[HUMAN_SIZE], name[LOCK_NAME_TEXT_SIZE];

	if (!comparator_holds(condition->comparison, value, condition->value))
		return;
	quantity_format(number, condition->figure->unit, value);
	if (view)
		snprintf(sentence, sizeof(sentence), "lock[%s].%s is %s",
			 view->lock->name[0] ? view->lock->name
					     : lock_view_name(name, view, checking->functions),
			 condition->figure->name, number);
	else if (condition->name[0])
		snprintf(sentence, sizeof(sentence), "lock[%s].%s is %s", condition->name,
			 condition->figure->name, number);
	else
		snprintf(sentence, sizeof(sentence), "lock.%s is %s", condition->figure->name,
			 number);
	checking->on_breach(checking->context, sentence);
	checking->breaches++;
}

/* Returns how many locks are meant. */
static size_t check_all(struct checking *checking)
{
	struct lock_figures together = {.wall_ns = 0};
	bool is_any = checking->condition->is_any;
	size_t meant = 0;

	for (size_t i = 0; i < checking->views.count; i++) {
		const struct lock_view *view = &checking->views.items[i];
		struct lock_figures alone = {.wall_ns = 0};
		struct lock_figures *figures = is_any ? &alone : &together;

		/* How many wait for a lock of the kernel at once is not measured. */
		if (!is_meant(checking, view) ||
		    (checking->condition->figure->value == waiters_of &&
		     lock_is_of_kernel(view->lock)))
			continue;
		meant++;
		add_lock(figures, view->lock);
		add_wall(checking, i, figures);
		if (is_any)
			judge(checking, figures, view);
	}
	if (!is_any && (meant || !checking->condition->name[0]))
		judge(checking, &together, NULL);
	return meant;
}

int lock_condition_check(const struct lock_condition *condition, const struct profile *profile,
			 const struct function_table *functions,
			 void (*on_breach)(void *context, const char *sentence), void *context)
{
	struct checking checking = {.condition = condition,
				    .functions = functions,
				    .profile = profile,
				    .on_breach = on_breach,
				    .context = context};
	size_t meant;
	int err;

	if (!(profile_info_read(profile)->kinds_mask & 1U << PKBPF_PROFILE_LOCKS))
		return -ENODATA;
	err = waits_init(&checking.waits, profile);
	if (err)
		return err;
	err = lock_views_make(&checking.views, profile, functions);
	if (!err) {
		meant = check_all(&checking);
		/* Any of none is none; so are all of none. */
		if (!meant && condition->name[0] && !condition->is_any)
			err = -ESRCH;
		lock_views_done(&checking.views);
	}
	waits_done(&checking.waits);
	return err ? err : checking.breaches;
}
