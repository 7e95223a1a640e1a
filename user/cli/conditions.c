// SPDX-License-Identifier: BSD-2-Clause
/* Reports the conditions of --fail-if that hold, a line each. */
#include "cli/conditions.h"

#include <errno.h>

#include "cli/exit_status.h"
#include "base/near_match.h"
#include "base/cleanup.h"
#include "finding/condition.h"
#include "finding/lock_condition.h"
#include "finding/region_condition.h"

struct teller {
	struct console *console;
	const char *expression;
};

static void tell(void *context, const char *sentence)
{
	const struct teller *teller = context;

	console_error(teller->console, "%s (--fail-if %s)", sentence, teller->expression);
}

int conditions_check_events(const struct cli_options *options, uint32_t kinds_mask,
			    struct error *error)
{
	struct condition condition;
	struct error reason;

	array_foreach(&options->conditions, text) {
		if (region_condition_is(*text))
			continue;
		if (lock_condition_is(*text)) {
			if (lock_condition_check_possible(kinds_mask, &reason) < 0)
				return error_set(error, EINVAL, "cannot check --fail-if %s: %s",
						 *text, reason.text);
			continue;
		}
		if (condition_parse(*text, &condition, error) < 0)
			return -EINVAL;
		if (condition_check_possible(&condition, kinds_mask, options->by, &reason) < 0)
			return error_set(error, EINVAL, "cannot check --fail-if %s: %s", *text,
					 reason.text);
	}
	return 0;
}

/* A gate that was not checked does not let pass. */
static int not_checked(int status)
{
	return status == EXIT_STATUS_CONDITION ? status : EXIT_STATUS_FAILED;
}

static const char *why_unknown(const struct condition *condition, const struct resource_rows *rows)
{
	if ((condition->figure->needs & ~rows->total.known) == ROW_HAS_RSS)
		return "not measured: no process was alive at the end; use memory.rss_peak";
	if (condition->figure->needs == ROW_HAS_MEAN_RSS)
		return "not measured; add memory to --events";
	return "not measured";
}

/* A name that matches nobody may be mistyped: then the condition would never hold. */
static int tell_absent(const struct teller *teller, const struct condition *condition,
		       const struct resource_rows *rows, int status)
{
	struct near_match nearest = {0};

	if (condition->may_be_absent)
		return status;
	for (size_t i = 0; i < rows->all_count && condition->name[0]; i++) {
		near_match_offer(&nearest, condition->name, rows->items[i].name);
		near_match_offer(&nearest, condition->name, rows->items[i].container);
	}
	if (nearest.word)
		console_error(teller->console,
			      "--fail-if %s: no process or container of this name was recorded; "
			      "did you mean %s? A ? before the name allows absence",
			      teller->expression, nearest.word);
	else
		console_error(teller->console,
			      "--fail-if %s: no process or container of this name or pid was "
			      "recorded; a ? before it allows absence",
			      teller->expression);
	return not_checked(status);
}

/* Returns the status, which may have become worse. */
static int check_region(const struct teller *teller, const struct region_list *list, int status)
{
	struct region_condition condition;
	char sentence[256];
	int holds;

	if (region_condition_parse(teller->expression, &condition, NULL) < 0)
		return status; /* was checked when it was read */
	holds = region_condition_check(&condition, list, sentence, sizeof(sentence));
	if (holds > 0) {
		tell((void *)teller, sentence);
		return EXIT_STATUS_CONDITION;
	}
	if (holds == -ENODATA) {
		console_error(teller->console, "--fail-if %s: not measured; add offcpu to --events",
			      teller->expression);
		return not_checked(status);
	}
	if (holds != -ESRCH || condition.may_be_absent)
		return status;
	console_error(teller->console,
		      "--fail-if %s: no region of this name was recorded%s; a ? before it allows "
		      "absence",
		      teller->expression, list->count ? "" : ", nor any other (see --regions)");
	return not_checked(status);
}

static int check_locks(const struct teller *teller, const struct resource_rows *rows, int status)
{
	struct lock_condition condition;
	int breaches;

	if (lock_condition_parse(teller->expression, &condition, NULL) < 0)
		return status; /* was checked when it was read */
	breaches = lock_condition_check(&condition, rows->profile, rows->functions, tell,
					(void *)teller);
	if (breaches > 0)
		return EXIT_STATUS_CONDITION;
	if (!breaches || (breaches == -ESRCH && condition.may_be_absent))
		return status;
	console_error(teller->console, "--fail-if %s: %s", teller->expression,
		      breaches == -ENODATA ? "not measured; add locks to --events"
		      : breaches == -ESRCH ? "no thread waited for a lock of this name; a ? before "
					     "it allows absence"
					   : "out of memory");
	return not_checked(status);
}

int conditions_check(const struct cli_options *options, struct results *results,
		     struct console *console)
{
	_cleanup_(region_list_done) struct region_list regions = {0};
	const struct resource_rows *rows;
	int status = EXIT_STATUS_DONE;

	if (!options->conditions.count)
		return status;
	if (results_rows(results, &rows) < 0 ||
	    region_list_init(&regions, results->profile, REGION_BY_NAME) < 0) {
		console_error(console, "cannot check --fail-if: out of memory");
		return EXIT_STATUS_FAILED;
	}
	for (size_t i = 0; i < options->conditions.count; i++) {
		struct teller teller = {console, options->conditions.items[i]};
		struct condition condition;
		int breaches;

		if (region_condition_is(teller.expression)) {
			status = check_region(&teller, &regions, status);
			continue;
		}
		if (lock_condition_is(teller.expression)) {
			status = check_locks(&teller, rows, status);
			continue;
		}
		if (condition_parse(teller.expression, &condition, NULL) < 0)
			continue; /* was checked when it was read */
		breaches = condition_check(&condition, rows, tell, &teller);
		if (breaches == -ENODATA) {
			console_error(console, "--fail-if %s: %s", teller.expression,
				      why_unknown(&condition, rows));
			status = not_checked(status);
		} else if (breaches == -ESRCH) {
			status = tell_absent(&teller, &condition, rows, status);
		} else if (breaches > 0) {
			status = EXIT_STATUS_CONDITION;
		}
	}
	return status;
}
