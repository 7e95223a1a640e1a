// SPDX-License-Identifier: BSD-2-Clause
/* Tells which limits of the command line were passed, a line each. */
#include "cli/limits.h"

#include <errno.h>

#include "base/cleanup.h"
#include "cli/exit_status.h"
#include "report/limit.h"

struct teller {
	struct console *console;
	const char *expression;
};

static void tell(void *context, const char *sentence)
{
	const struct teller *teller = context;

	console_error(teller->console, "%s (--fail-if %s)", sentence, teller->expression);
}

static const char *why_unknown(const struct limit *limit, const struct resource_rows *rows)
{
	uint32_t missing = limit->figure->needs & ~rows->total.known;

	if (missing == ROW_HAS_WAIT_LENGTHS && rows->by == REPORT_BY_THREAD)
		return "the lengths of waits are not told by thread; choose another --by";
	if (missing == ROW_HAS_RSS)
		return "no process was there at the end, when memory is looked at; memory.rss_peak is known of those that have ended";
	return "nothing of the kind was recorded; choose the events with --events";
}

int limits_check(const struct cli_options *options, const struct profile *profile,
		 struct console *console)
{
	_cleanup_(resource_rows_done) struct resource_rows rows = {0};
	int status = EXIT_STATUS_DONE;

	if (!options->limits.count)
		return status;
	if (resource_rows_init(&rows, profile, options->by) < 0) {
		console_error(console, "cannot check --fail-if: out of memory");
		return EXIT_STATUS_FAILED;
	}
	for (size_t i = 0; i < options->limits.count; i++) {
		struct teller teller = {console, options->limits.items[i]};
		struct limit limit;
		int breaches;

		if (limit_parse(teller.expression, &limit, NULL) < 0)
			continue; /* was checked when it was read */
		breaches = limit_check(&limit, &rows, tell, &teller);
		/* No failure, but whoever relies on it has to know, quiet or not. */
		if (breaches == -ENODATA)
			console_error(console, "--fail-if %s: %s", teller.expression, why_unknown(&limit, &rows));
		else if (breaches == -ESRCH)
			console_error(console, "--fail-if %s: nothing of this name or pid was recorded", teller.expression);
		else if (breaches > 0)
			status = EXIT_STATUS_LIMIT;
	}
	return status;
}
