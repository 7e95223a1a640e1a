// SPDX-License-Identifier: BSD-2-Clause
#include "cli/report_profile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/conditions.h"
#include "cli/exit_status.h"
#include "cli/option_check.h"
#include "cli/profile_summary.h"
#include "symbol/source_text.h"

struct reporting {
	const struct cli_options *options;
	struct console *console;
	struct profile *profile;
	const struct report_slices *slices;
	const struct source_ops *sources[PKBPF_PROFILE_KINDS];
	size_t source_count;
};

static int fail(const struct reporting *report, const struct error *error, int status)
{
	console_error(report->console, "%s", error->text);
	return status;
}

/* Those asked for, or all that were recorded. */
static int choose_kinds(struct reporting *report)
{
	const struct cli_options *options = report->options;
	uint32_t recorded = profile_info_read(report->profile)->kinds_mask;

	for (size_t i = 0; i < options->source_count; i++) {
		if (!(recorded & 1U << options->sources[i]->kind)) {
			console_error(report->console,
				      "no %s were recorded: other --events were chosen",
				      options->sources[i]->name);
			return EXIT_STATUS_USAGE;
		}
		report->sources[report->source_count++] = options->sources[i];
	}
	for (size_t i = 0; source_at(i) && !options->source_count; i++)
		if (recorded & 1U << source_at(i)->kind)
			report->sources[report->source_count++] = source_at(i);
	return EXIT_STATUS_DONE;
}

/* What was added up when it was recorded cannot be taken apart. */
static int check_threads(const struct reporting *report)
{
	const struct cli_options *options = report->options;
	size_t count;
	const struct profile_row *rows = profile_rows(report->profile, &count);
	size_t i = 0;

	while (i < count && rows[i].tid == PROFILE_NO_THREAD)
		i++;
	if (i < count || !count || !options->live.per_thread)
		return EXIT_STATUS_DONE;
	console_error(report->console,
		      "no threads in the recording: it was made without --per-thread");
	return EXIT_STATUS_USAGE;
}

struct slice_output {
	struct reporting *report;
	struct output_plan *plan;
};

static int write_slice(void *context, const struct profile *slice, struct error *error)
{
	const struct slice_output *output = context;
	struct output_settings settings = cli_options_settings(output->report->options);
	int err = output_plan_add_slice(output->plan, slice, &settings.options,
					output->report->console);

	/* It has been told already. */
	return err ? error_set(error, -err, "nothing more is written") : 0;
}

static int write_slices(struct reporting *report, struct output_plan *plan)
{
	struct slice_output output = {report, plan};
	struct error error;

	if (!output_plan_takes_slices(plan))
		return 0;
	return report->slices->each(report->slices->context, write_slice, &output, &error);
}

static int write_outputs(struct reporting *report, struct output_plan *plan,
			 struct results *results)
{
	const struct cli_options *options = report->options;
	struct output_settings settings = cli_options_settings(options);
	struct invoking_user user = {0};
	struct error error;
	int err, report_err, slice_err;

	if (invoking_user_find(&user, &error) < 0)
		return fail(report, &error, EXIT_STATUS_FAILED);
	slice_err = write_slices(report, plan);
	err = output_plan_write(plan, OUTPUT_STACKS, results, &settings, &user, report->console);
	report_err =
		output_plan_write(plan, OUTPUT_REPORTS, results, &settings, &user, report->console);
	invoking_user_done(&user);
	return slice_err < 0 || err < 0 || report_err < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE;
}

/* Files of another machine are not here, or not the same. */
static bool is_of_this_host(const struct profile *profile)
{
	char name[256];

	return gethostname(name, sizeof(name)) == 0 &&
	       !strncmp(name, profile_info_read(profile)->host, sizeof(name));
}

static int write_results(struct reporting *report, struct output_plan *plan)
{
	const struct cli_options *options = report->options;
	struct results results;
	struct error error;
	size_t row_count;
	char text[512];
	int status;

	if (output_plan_open(plan, &error) < 0)
		return fail(report, &error, EXIT_STATUS_FAILED);
	results_init(&results, report->profile, options->by);
	if (is_of_this_host(report->profile))
		results.sources = source_text_new("", profile_processes(report->profile), false);
	status = write_outputs(report, plan, &results);
	if (status == EXIT_STATUS_DONE)
		status = conditions_check(options, &results, report->console);
	results_done(&results);
	source_text_free(results.sources);
	profile_rows(report->profile, &row_count);
	if (!row_count) {
		console_error(report->console, "no events of %s were recorded",
			      profile_info_read(report->profile)->targets);
		return status == EXIT_STATUS_DONE ? EXIT_STATUS_EMPTY : status;
	}
	if (!output_plan_reports_to_stdout(plan)) {
		profile_summary_write(report->profile, text, sizeof(text));
		console_note(report->console, "%s", text);
	}
	return status;
}

static int report_on_profile(struct reporting *report)
{
	const struct cli_options *options = report->options;
	uint32_t kinds_mask = profile_info_read(report->profile)->kinds_mask;
	struct output_plan *plan;
	struct error error;
	int status = choose_kinds(report);

	if (status == EXIT_STATUS_DONE)
		status = check_threads(report);
	if (status != EXIT_STATUS_DONE)
		return status;
	if (options_check_events(options, kinds_mask, &error) < 0 ||
	    conditions_check_events(options, kinds_mask, &error) < 0 ||
	    output_plan_new(options->outputs.items, options->outputs.count, report->sources,
			    report->source_count, &plan, &error) < 0)
		return fail(report, &error, EXIT_STATUS_USAGE);
	status = write_results(report, plan);
	output_plan_free(plan);
	return status;
}

int report_profile(const struct cli_options *options, struct profile *profile,
		   const struct report_slices *slices, struct console *console)
{
	struct reporting report = {
		.options = options, .console = console, .profile = profile, .slices = slices};

	return report_on_profile(&report);
}
