// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf report FILE...`: any output again from recordings, without rights, programs or symbols of
 * the machine they were made on. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "cli/command_table.h"
#include "cli/exit_status.h"
#include "cli/option_check.h"
#include "cli/recording_notes.h"
#include "cli/report_profile.h"
#include "profile/account/peer_hosts.h"
#include "recording/recording_set.h"
#include "symbol/elf/symbol_folder.h"

struct report_options {
	const char *from, *to; /* as they were given; NULL: not */
	const char *symbols;   /* folder; NULL: none */
	bool resolve;
};

struct reporting {
	const struct cli_options *options;
	const struct report_options *own;
	struct console *console;
	struct recording_set set;
	struct symbol_folder *symbols;
	struct profile *profile;
	struct recording_interval interval;
};

static int fail(const struct reporting *report, const struct error *error, int status)
{
	console_error(report->console, "%s", error->text);
	return status;
}

static int open_files(struct reporting *report)
{
	struct error error;

	array_foreach(&report->options->files, path) {
		if (recording_set_add(&report->set, *path, &error) < 0)
			return fail(report, &error, EXIT_STATUS_FAILED);
	}
	if (recording_set_sort(&report->set, &error) < 0)
		return fail(report, &error, EXIT_STATUS_FAILED);
	return EXIT_STATUS_DONE;
}

static int open_symbols(struct reporting *report)
{
	struct error error;

	if (report->own->symbols &&
	    symbol_folder_open(report->own->symbols, cli_options_need_lines(report->options),
			       &report->symbols, &error) < 0)
		return fail(report, &error, EXIT_STATUS_FAILED);
	return EXIT_STATUS_DONE;
}

/* So long a report may wait for names of hosts. */
#define RESOLVE_NS (10 * NS_PER_SECOND)

static void find_hosts(const struct reporting *report)
{
	size_t left;

	if (!report->own->resolve || !report->profile)
		return;
	if (peer_hosts_find(profile_peers(report->profile), RESOLVE_NS, &left) == 0 && left)
		console_note(report->console,
			     "%zu addresses are shown by number: names of hosts are looked up for "
			     "%llu s",
			     left, RESOLVE_NS / NS_PER_SECOND);
}

/* That a folder has nothing for the recording is easily a mistake. */
static void tell_of_symbols(const struct reporting *report)
{
	struct symbol_folder_notes notes;

	if (!report->symbols)
		return;
	notes = symbol_folder_notes(report->symbols);
	if (notes.is_cut)
		console_note(report->console,
			     "%s has more than %d files; the others were not looked at",
			     report->own->symbols, SYMBOL_FOLDER_MAX_FILES);
	if (!notes.asked)
		console_note(report->console,
			     "--symbols: every function of a file with a build id has its name");
	else if (notes.missing)
		console_note(report->console,
			     "%s has files for %zu of %zu build ids with nameless functions; none "
			     "for %s",
			     report->own->symbols, notes.found, notes.asked, notes.missing);
}

/* Nobody knows whose the lost ones were. */
static void tell_of_losses(const struct reporting *report, const struct slice_choice *choice)
{
	struct profile_account account = profile_account(report->profile);

	if (slice_choice_is_of_processes(choice) && (account.lost || account.lost_other))
		console_note(report->console,
			     "losses are those of the whole recording: which processes they are of "
			     "is not known");
}

static struct slice_choice chosen(const struct reporting *report)
{
	const struct cli_options *options = report->options;
	struct slice_choice choice = {
		.pids = options->live.targets.pids.items,
		.pid_count = options->live.targets.pids.count,
		.comm = options->live.targets.comm,
		.container = options->live.targets.container,
		.symbols = report->symbols,
	};

	for (size_t i = 0; i < options->source_count; i++)
		choice.kinds_mask |= 1U << options->sources[i]->kind;
	return choice;
}

/* On the clock of the set: from its first slice on. What is before it is its start. */
static uint64_t after_start_ns(const struct reporting *report, const struct parsed_moment *moment)
{
	int64_t start_ns;

	if (!moment->is_absolute || !report->set.slices.count)
		return moment->after_ns;
	start_ns = report->set.slices.items[0].span.begin_unix_ns;
	return moment->unix_ns > start_ns ? (uint64_t)moment->unix_ns - (uint64_t)start_ns : 0;
}

/* false: all of the interval is before the first slice. The options were checked. */
static bool find_wish(const struct reporting *report, const struct slice_choice *choice,
		      bool is_merged, struct recording_wish *ret_wish)
{
	const struct report_options *own = report->own;
	struct parsed_moment from = {0}, to = {0};
	struct error error;

	if (own->from)
		parse_moment(own->from, "--from", &from, &error);
	if (own->to)
		parse_moment(own->to, "--to", &to, &error);
	*ret_wish = (struct recording_wish){
		.from_ns = after_start_ns(report, &from),
		.to_ns = after_start_ns(report, &to),
		.choice = choice,
		.want_times =
			is_merged && output_requests_show_times(report->options->outputs.items,
								report->options->outputs.count),
	};
	return !own->to || ret_wish->to_ns;
}

static int read_profile(struct reporting *report)
{
	const struct cli_options *options = report->options;
	struct slice_choice choice = chosen(report);
	struct recording_wish wish;
	struct error error;
	bool is_within = find_wish(report, &choice, true, &wish);

	/* A time after the start and one of the day are known to be in order only here. */
	if (is_within && report->own->from && report->own->to && wish.from_ns >= wish.to_ns) {
		console_error(report->console, "--from must be less than --to");
		return EXIT_STATUS_USAGE;
	}
	if (is_within && recording_set_read(&report->set, &wish, &report->profile,
					    &report->interval, &error) < 0)
		return fail(report, &error, EXIT_STATUS_FAILED);
	recording_notes_write(&report->set, &report->interval, report->console);
	if (report->profile) {
		tell_of_losses(report, &choice);
		return EXIT_STATUS_DONE;
	}
	if (report->set.slices.count && !report->interval.damaged) {
		console_error(report->console, "no slice between --from and --to");
		return EXIT_STATUS_EMPTY;
	}
	console_error(report->console, "nothing to report: no whole slice in %s%s",
		      options->files.items[0], options->files.count > 1 ? " and the others" : "");
	return EXIT_STATUS_FAILED;
}

/* Regions and values of a label stand at the same place of stacks: a recording has one of both. */
static int check_grouping(const struct reporting *report)
{
	bool has_label = profile_info_read(report->profile)->label_key[0];
	enum rows_by by = report->options->by;

	if (by == ROWS_BY_LABEL && !has_label)
		console_error(report->console, "--by label: the recording has no label, or several "
					       "have different ones: record with --by label:KEY");
	else if (by == ROWS_BY_REGION && has_label)
		console_error(report->console, "--by region: stacks of the recording begin with "
					       "values of a label: use --by label");
	else
		return EXIT_STATUS_DONE;
	return EXIT_STATUS_USAGE;
}

/* Recordings keep their slices. */
static int each_slice(void *context, recording_take take, void *take_context, struct error *error)
{
	const struct reporting *report = context;
	struct slice_choice choice = chosen(report);
	struct recording_wish wish;
	struct recording_interval interval;

	if (!find_wish(report, &choice, false, &wish))
		return 0;
	return recording_set_each(&report->set, &wish, take, take_context, &interval, error);
}

static int report_run(const struct cli_options *options, struct console *console)
{
	struct reporting report = {.options = options, .own = options->own, .console = console};
	const struct report_slices slices = {each_slice, &report};
	int status = open_files(&report);

	if (status == EXIT_STATUS_DONE)
		status = open_symbols(&report);
	if (status == EXIT_STATUS_DONE)
		status = read_profile(&report);
	if (status == EXIT_STATUS_DONE)
		status = check_grouping(&report);
	if (status == EXIT_STATUS_DONE)
		tell_of_symbols(&report);
	if (status == EXIT_STATUS_DONE)
		find_hosts(&report);
	if (status == EXIT_STATUS_DONE)
		status = report_profile(options, report.profile, &slices, console);
	profile_free(report.profile);
	recording_set_done(&report.set);
	symbol_folder_free(report.symbols);
	return status;
}

static int report_check(struct cli_options *options, struct error *error)
{
	const struct report_options *own = options->own;
	struct parsed_moment from = {0}, to = {0};

	if (!options->files.count)
		return error_set(error, EINVAL,
				 "report requires a recording: pkbpf report FILE.pkbpf");
	if ((own->from && parse_moment(own->from, "--from", &from, error) < 0) ||
	    (own->to && parse_moment(own->to, "--to", &to, error) < 0))
		return -EINVAL;
	if (own->from && own->to && from.is_absolute == to.is_absolute &&
	    (from.is_absolute ? from.unix_ns >= to.unix_ns : from.after_ns >= to.after_ns))
		return error_set(error, EINVAL, "--from must be less than --to");
	if (options->by == ROWS_BY_THREAD)
		options->live.per_thread = true;
	if (options->live.sources.context.by_key)
		return error_set(
			error, EINVAL,
			"a recording has one label, which was chosen when it was made: use "
			"--by label");
	return options_check_outputs(options, error);
}

#define REPORT(member) OPTION_AT(struct report_options, member)

static const struct option_row own_options[] = {
	{0, "from", "TIME",
	 "from this time on, in whole slices: 10s after the start, or 2026-11-27T13:45:00",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_TEXT, REPORT(from)},
	{0, "to", "TIME",
	 "up to this time, in whole slices: 10s after the start, or 2026-11-27T13:45:00",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_TEXT, REPORT(to)},
	{0, "symbols", "DIR",
	 "name functions that were recorded without a name by programs, libraries and debug files "
	 "below DIR with the same build id",
	 .group = OPTION_GROUP_OUTPUT, .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT,
	 REPORT(symbols)},
	{0, "resolve", NULL, "show network peers by the names of their hosts",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_FLAG, REPORT(resolve),
	 .text = "Asks the system's resolver, for ten seconds at most; JSON has the address as "
		 "well. "
		 "Nothing is looked up while a profile is recorded."},
	{0},
};

const struct command_row command_report = {
	.name = "report",
	.synopsis = "report FILE... [OPTIONS]",
	.summary = "Writes any output from recordings (-o FILE.pkbpf); needs no rights and no "
		   "programs",
	.options = (const char *const[]){"pid",	    "container",  "comm",      "events",
					 "output",  "format",	  "top",       "by",
					 "fail-if", "per-thread", "pid-frame", "wait-states",
					 "icicle",  "reverse",	  "modules",   "lines",
					 "full",    "sort",	  "width",     "tree",
					 "by-line", "quiet",	  "verbose",   "color",
					 NULL},
	.words =
		(const struct command_words[]){
			{"events", "kinds of events, separated by commas: cpu, offcpu, blockio, "
				   "faults, network, memory, alloc; default: all recorded ones"},
			{"container",
			 "processes of containers, pods or units of this name, or with an id that "
			 "begins so"},
			{NULL, NULL},
		},
	.own_options = own_options,
	.own_size = sizeof(struct report_options),
	.takes_files = true,
	.check = report_check,
	.run = report_run,
};
