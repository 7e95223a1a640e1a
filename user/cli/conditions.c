// SPDX-License-Identifier: BSD-2-Clause
/* Reports the conditions of --fail-if that hold, a line each. */
#include "cli/conditions.h"

#include <errno.h>

#include "cli/exit_status.h"
#include "finding/condition.h"
#include "profile/kind_table.h"

struct teller {
	struct console *console;
	const char *expression;
};

static void tell(void *context, const char *sentence)
{
	const struct teller *teller = context;

	console_error(teller->console, "%s (--fail-if %s)", sentence, teller->expression);
}

/* Which kind of event a figure comes from; rows know it only of what was recorded. */
static const struct {
	unsigned int known; /* enum row_known */
	enum pkbpf_profile_kind kind;
} origins[] = {
	{ROW_HAS_SAMPLES, PKBPF_PROFILE_CPU},	      {ROW_HAS_WAITS, PKBPF_PROFILE_OFFCPU},
	{ROW_HAS_WAIT_LENGTHS, PKBPF_PROFILE_OFFCPU}, {ROW_HAS_BLOCKIO, PKBPF_PROFILE_BLOCKIO},
	{ROW_HAS_FAULTS, PKBPF_PROFILE_FAULTS},
};

int conditions_check_events(const struct cli_options *options, uint32_t kinds_mask,
			    struct error *error)
{
	struct condition condition;

	array_foreach(&options->conditions, text) {
		if (condition_parse(*text, &condition, error) < 0)
			return -EINVAL;
		for (size_t i = 0; i < sizeof(origins) / sizeof(*origins); i++) {
			if (condition.figure->needs & origins[i].known &&
			    !(kinds_mask & 1U << origins[i].kind))
				return error_set(error, EINVAL,
						 "cannot check --fail-if %s: its events are not "
						 "recorded; add %s to --events",
						 *text, profile_kind_row(origins[i].kind)->name);
		}
		if (condition.figure->needs & ROW_HAS_WAIT_LENGTHS && options->by == ROWS_BY_THREAD)
			return error_set(error, EINVAL,
					 "cannot check --fail-if %s: no wait-time distributions by "
					 "thread; use another --by",
					 *text);
		if (condition.figure->needs & (ROW_HAS_RSS | ROW_HAS_PEAK) &&
		    options->by == ROWS_BY_THREAD &&
		    (condition.any_row || condition.pid || condition.name[0]))
			return error_set(
				error, EINVAL,
				"cannot check --fail-if %s: no RSS by thread; use another --by",
				*text);
	}
	return 0;
}

static const char *why_unknown(const struct condition *condition, const struct resource_rows *rows)
{
	if ((condition->figure->needs & ~rows->total.known) == ROW_HAS_RSS)
		return "not measured: no process was alive at the end; use memory.rss_peak";
	return "not measured";
}

int conditions_check(const struct cli_options *options, struct results *results,
		     struct console *console)
{
	const struct resource_rows *rows;
	int status = EXIT_STATUS_DONE;

	if (!options->conditions.count)
		return status;
	if (results_rows(results, &rows) < 0) {
		console_error(console, "cannot check --fail-if: out of memory");
		return EXIT_STATUS_FAILED;
	}
	for (size_t i = 0; i < options->conditions.count; i++) {
		struct teller teller = {console, options->conditions.items[i]};
		struct condition condition;
		int breaches;

		if (condition_parse(teller.expression, &condition, NULL) < 0)
			continue; /* was checked when it was read */
		breaches = condition_check(&condition, rows, tell, &teller);
		/* No failure, but whoever relies on it has to know, quiet or not. */
		if (breaches == -ENODATA)
			console_error(console, "--fail-if %s: %s", teller.expression,
				      why_unknown(&condition, rows));
		else if (breaches == -ESRCH)
			console_error(console,
				      "--fail-if %s: no process of this name or pid was recorded",
				      teller.expression);
		else if (breaches > 0)
			status = EXIT_STATUS_LIMIT;
	}
	return status;
}
