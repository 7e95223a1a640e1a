// SPDX-License-Identifier: BSD-2-Clause
/* The rows of the option table with the function that reads each value. */
#include "cli/option_table.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/near_match.h"
#include "finding/condition.h"
#include "finding/lock_condition.h"
#include "finding/region_condition.h"
#include "report/report.h"
#include "source/source.h"

#define PID_MAX		  4194304 /* PID_MAX_LIMIT of 64-bit kernels */
#define FREQUENCY_MAX	  100000  /* beyond it a sample costs more than what it measures */
#define TOP_MAX		  100000
#define KEEP_MAX	  1000000
#define UNWIND_TABLES_MIN (4ULL << 20) /* made in pieces of 1 MiB, and some are always spare */
#define UNWIND_TABLES_MAX (1ULL << 30)
#define MAX_MEMORY_MIN	  (32ULL << 20)
#define MAX_MEMORY_MAX	  (1ULL << 40)

/* ---- targets ---- */

static int parse_pid(void *context, const char *value, struct error *error)
{
	struct cli_options *options = context;

	return parse_u32_list(value, "--pid", PID_MAX, &options->live.targets.pids, error);
}

static int parse_tid(void *context, const char *value, struct error *error)
{
	struct cli_options *options = context;

	return parse_u32_list(value, "--tid", PID_MAX, &options->live.targets.tids, error);
}

static int parse_container(void *context, const char *value, struct error *error)
{
	struct cli_options *options = context;

	if (!*value)
		return error_set(error, EINVAL,
				 "--container requires the name of a container or the beginning of "
				 "its id");
	if (options->live.targets.container && strcmp(options->live.targets.container, value) != 0)
		return error_set(error, EINVAL,
				 "--container %s and --container %s are mutually exclusive; use a "
				 "pattern, or --cgroup, for several",
				 options->live.targets.container, value);
	options->live.targets.container = value;
	return 0;
}

static int parse_comm(void *context, const char *value, struct error *error)
{
	struct cli_options *options = context;

	if (!*value)
		return error_set(error, EINVAL, "--comm requires the name of a process");
	/* The kernel cuts names, so a longer one would silently match nothing. */
	if (strlen(value) >= PKBPF_COMM_SIZE)
		return error_set(error, EINVAL,
				 "invalid value '%s' for --comm: the kernel keeps %d bytes of a "
				 "name; use '%.*s'",
				 value, PKBPF_COMM_SIZE - 1, PKBPF_COMM_SIZE - 1, value);
	if (options->live.targets.comm && strcmp(options->live.targets.comm, value) != 0)
		return error_set(error, EINVAL,
				 "--comm %s and --comm %s are mutually exclusive; use --pid or "
				 "--cgroup for several processes",
				 options->live.targets.comm, value);
	options->live.targets.comm = value;
	return 0;
}

/* ---- what is measured ---- */

static int refuse_source(const char *name, struct error *error)
{
	struct near_match near = {0};
	char list[256] = "";
	size_t length = 0;

	for (size_t i = 0; source_at(i); i++) {
		near_match_offer(&near, name, source_at(i)->name);
		if (length < sizeof(list))
			length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
						   i ? "," : "", source_at(i)->name);
	}
	/* Some need options of their own, and all together cost much. */
	if (!strcmp(name, "all"))
		return error_set(error, EINVAL,
				 "invalid value 'all' for --events: name the kinds that you need, "
				 "of %s",
				 list);
	if (near.word)
		return error_set(error, EINVAL, "invalid value '%s' for --events; did you mean %s?",
				 name, near.word);
	return error_set(error, EINVAL, "invalid value '%s' for --events: expected some of %s",
			 name, list);
}

static int add_source(struct cli_options *options, const char *name, struct error *error)
{
	const struct source_ops *source = source_by_name(name);

	if (!source)
		return refuse_source(name, error);
	for (size_t i = 0; i < options->source_count; i++) {
		if (options->sources[i] == source)
			return 0;
	}
	options->sources[options->source_count++] = source;
	return 0;
}

static int parse_events(void *context, const char *value, struct error *error)
{
	struct cli_options *options = context;
	_cleanup_free_ char *copy = strdup(value);
	char *rest = copy, *name;

	if (!copy)
		return error_set(error, ENOMEM, "cannot read --events: out of memory");
	while ((name = strsep(&rest, ","))) {
		int err = add_source(options, name, error);

		if (err < 0)
			return err;
	}
	return 0;
}

/* ---- what is written ---- */

static int parse_output(void *context, const char *value, struct error *error)
{
	struct cli_options *options = context;
	struct output_request *request;

	if (!*value)
		return error_set(error, EINVAL,
				 "--output requires the name of a file, or - for stdout");
	request = array_add(&options->outputs);
	if (!request)
		return error_set(error, ENOMEM, "cannot read --output: out of memory");
	request->path = value;
	request->format = options->pending_format;
	options->pending_format = NULL;
	return 0;
}

static int parse_format(void *context, const char *value, struct error *error)
{
	struct cli_options *options = context;
	int err = output_format_check(value, error);

	if (err < 0)
		return err;
	if (options->pending_format)
		return error_set(
			error, EINVAL,
			"--format %s and --format %s: each requires an --output of its own",
			options->pending_format, value);
	options->pending_format = value;
	return 0;
}

/* One of the choices, or label:KEY. */
static int parse_by(void *context, const char *value, struct error *error)
{
	static const char label[] = "label:";
	struct cli_options *options = context;

	options->live.sources.context.by_key = NULL;
	if (strncmp(value, label, strlen(label)) == 0 && value[strlen(label)]) {
		options->by = ROWS_BY_LABEL;
		options->live.sources.context.by_key = value + strlen(label);
		return 0;
	}
	for (int i = 0; i < ROWS_BY_COUNT; i++) {
		if (strcmp(value, rows_grouping_names[i]) != 0)
			continue;
		options->by = (enum rows_by)i;
		return 0;
	}
	return error_set(error, EINVAL,
			 "invalid value '%s' for --by: expected process, thread, container, comm, "
			 "name, region or label:KEY",
			 value);
}

static int parse_fail_if(void *context, const char *value, struct error *error)
{
	struct cli_options *options = context;
	struct region_condition of_region;
	struct lock_condition of_lock;
	struct condition condition;
	const char **slot;
	bool is_of_region = region_condition_is(value);
	int err = is_of_region		     ? region_condition_parse(value, &of_region, error)
		  : lock_condition_is(value) ? lock_condition_parse(value, &of_lock, error)
					     : condition_parse(value, &condition, error);

	if (err < 0)
		return err;
	if (is_of_region && of_region.limit_ns &&
	    region_limits_add(&options->live.sources.regions.limits, of_region.name,
			      of_region.limit_ns) < 0)
		return error_set(error, EINVAL,
				 "--fail-if %s: over() of one region has one limit, and %d regions "
				 "can have one",
				 value, PKBPF_SPAN_LIMITS);
	slot = array_add(&options->conditions);
	if (!slot)
		return error_set(error, ENOMEM, "cannot read --fail-if: out of memory");
	*slot = value;
	return 0;
}

/* ---- how it talks ---- */

static const char *const gpu_modes[] = {
	[LIVE_GPU_AUTO] = "auto",
	[LIVE_GPU_ON] = "on",
	[LIVE_GPU_OFF] = "off",
	NULL,
};
static const char *const unwind_modes[] = {
	[PKBPF_UNWIND_AUTO] = "auto",
	[PKBPF_UNWIND_DWARF] = "dwarf",
	[PKBPF_UNWIND_FP] = "fp",
	NULL,
};
static const char *const python_modes[] = {
	[PKBPF_PYTHON_AUTO] = "auto",
	[PKBPF_PYTHON_FULL] = "full",
	[PKBPF_PYTHON_OFF] = "off",
	NULL,
};
static const char *const progress_choices[] = {"auto", "never", NULL};
static const char *const color_choices[] = {
	[COLOR_AUTO] = "auto",
	[COLOR_ALWAYS] = "always",
	[COLOR_NEVER] = "never",
	NULL,
};

#define TARGETS	     .group = OPTION_GROUP_TARGETS
#define EVENTS	     .group = OPTION_GROUP_EVENTS
#define OUTPUT	     .group = OPTION_GROUP_OUTPUT
#define GENERAL	     .group = OPTION_GROUP_GENERAL
#define AT(member)   OPTION_AT(struct cli_options, member)
#define FLAG(member) .form = OPTION_FLAG, AT(member)

static const struct option_row rows[] = {
	{'p', "pid", "PID[,PID...]",
	 "processes, with all threads and forked workers, including later ones", TARGETS,
	 .repeatable = true, .completes = OPTION_COMPLETES_PID, .form = OPTION_PARSED,
	 .parse = parse_pid, .text = "Forked workers count until they execute another program."},
	{0, "children", NULL, "with --pid: all descendants, also after execve", TARGETS,
	 .form = OPTION_CONSTANT, AT(live.targets.follow), .constant = PKBPF_FOLLOW_DESCENDANTS},
	{0, "no-children", NULL,
	 "with --pid or a command: only that process, without forked workers", TARGETS,
	 .form = OPTION_CONSTANT, AT(live.targets.follow), .constant = PKBPF_FOLLOW_NONE},
	{'t', "tid", "TID[,TID...]", "threads", TARGETS, .repeatable = true,
	 .completes = OPTION_COMPLETES_TID, .form = OPTION_PARSED, .parse = parse_tid},
	{'G', "cgroup", "PATH",
	 "processes of this cgroup and its descendants; PATH may be relative to /sys/fs/cgroup",
	 TARGETS, .completes = OPTION_COMPLETES_CGROUP, .form = OPTION_TEXT,
	 AT(live.targets.cgroup_path)},
	{0, "container", "NAME",
	 "containers, pods or units of this name, or the container whose id begins so; those that "
	 "start later, too",
	 TARGETS, .form = OPTION_PARSED, .parse = parse_container,
	 .text = "As in reports, with or without runtime: docker:web, web, namespace/pod, "
		 "nginx.service. "
		 "In a pattern, *, ? and [...] match."},
	{0, "comm", "NAME", "processes named NAME (comm)", TARGETS, .form = OPTION_PARSED,
	 .parse = parse_comm, .text = "The kernel keeps 15 bytes of a name."},

	{'e', "events", "LIST",
	 "kinds of events (below), separated by commas; repeatable; default: cpu, offcpu, "
	 "blockio and faults, or cpu if only folded stacks are written",
	 EVENTS, .repeatable = true, .completes = OPTION_COMPLETES_KIND, .form = OPTION_PARSED,
	 .parse = parse_events},
	{'F', "frequency", "HZ", "CPU samples per second on each CPU; default 99", EVENTS,
	 .form = OPTION_NUMBER, AT(live.frequency_hz), .least = 1, .most = FREQUENCY_MAX,
	 .text = "A hardware cycle counter is used where there is one, else the CPU clock."},
	{'d', "duration", "TIME",
	 "10, 10s, 500ms, 5m; default: until Ctrl-C or the exit of all targets", EVENTS,
	 .form = OPTION_DURATION, AT(live.duration_ns),
	 .text = "A command still running then is not stopped: pkbpf waits for its exit. Stop it "
		 "with Ctrl-C or run it under timeout(1)."},
	{0, "counters", NULL,
	 "count instructions, cycles, cache and branch misses of the targets, where the CPU shows "
	 "its counters",
	 EVENTS, FLAG(live.want_counters),
	 .text = "Whole host, --pid, --tid, --cgroup or a command; counts include what the targets "
		 "start. The report then has instructions per cycle and the shares of misses; "
		 "where there is no counter, it says why. Energy, temperature and frequency of the "
		 "machine need no option."},
	{0, "gpu", "auto|on|off",
	 "figures of GPUs: auto, the default: where there is one; on: says why where there is none",
	 EVENTS, .form = OPTION_CHOICE, AT(live.gpu), .choices = gpu_modes,
	 .text = "Each second, without injecting anything into programs: how busy each device is, "
		 "its memory, power, temperature and clock, and the GPU time and memory of each "
		 "process."},
	{'U', "user", NULL, "user stacks only", EVENTS, FLAG(live.user_only)},
	{'K', "kernel", NULL, "kernel stacks only", EVENTS, FLAG(live.kernel_only)},
	{0, "unwind", "auto|dwarf|fp",
	 "how user stacks are unwound; auto: by unwind tables, and by frame pointers in code "
	 "without tables",
	 EVENTS, .form = OPTION_CHOICE, AT(live.unwind_mode), .choices = unwind_modes,
	 .text = "With dwarf: unwind tables only; with fp: frame pointers only."},
	{0, "python", "auto|full|off",
	 "Python and Ruby functions in user stacks (CPython 3.8 to 3.15, Ruby 3.1); auto: in "
	 "place of the interpreter's own frames",
	 EVENTS, .form = OPTION_CHOICE, AT(live.python_mode), .choices = python_modes,
	 .text = "With full: together with all frames of the interpreter; with off: native frames "
		 "only. Nothing has to be switched on in the program."},
	{0, "python-calls", NULL,
	 "count each call of each Python function in a command, as cProfile does", EVENTS,
	 FLAG(live.python_calls),
	 .text = "Counts are exact, times are those of samples and waits. The command is started "
		 "with a library (LD_PRELOAD) that sets the profile function of each thread, also "
		 "in "
		 "Python programs that it starts or forks. CPython 3.8 to 3.13 with a GIL. It "
		 "costs "
		 "less than cProfile. -o FILE.pstats is read by Python's pstats."},
	{0, "python-lines", NULL, "the same, and count how often each line runs", EVENTS,
	 FLAG(live.python_lines),
	 .text = "By a trace function, which debuggers and coverage.py take for themselves. Costs "
		 "more than --python-calls: up to seven times the run time of a program that does "
		 "nothing but call short functions."},
	{0, "jvm-map", NULL,
	 "ask Java programs (17 and newer) for the names of their compiled code", EVENTS,
	 FLAG(live.jvm_map),
	 .text = "At the start of a capture of --pid, and at the end of any, each JVM among the "
		 "targets writes /tmp/perf-PID.map, as for \"jcmd PID Compiler.perfmap\". jcmd is "
		 "not needed. A JVM that nobody has asked for anything yet gets SIGQUIT, by which "
		 "it "
		 "begins to listen."},
	{0, "unwind-tables", "SIZE", "maximum memory for unwind tables; default 64M", EVENTS,
	 .form = OPTION_SIZE, AT(live.unwind_table_bytes), .least = UNWIND_TABLES_MIN,
	 .most = UNWIND_TABLES_MAX,
	 .text = "Tables that were not needed for longest are evicted first."},
	{0, "max-memory", "SIZE",
	 "maximum memory of pkbpf and its BPF maps: detail is given up to stay within it", EVENTS,
	 .form = OPTION_SIZE, AT(live.max_memory_bytes), .least = MAX_MEMORY_MIN,
	 .most = MAX_MEMORY_MAX,
	 .text = "Unwind tables get a quarter of it, tables whose size is that of the number of "
		 "threads an eighth or a sixteenth each. Memory is measured four times a second; "
		 "from "
		 "seven eighths on, in this order: unused symbol tables are released; exited "
		 "processes are grouped by name and cgroup; source lines and inlined functions are "
		 "not read any more; the rarest stacks lose their inner half; the rarest stacks "
		 "are counted as [other stacks: limit of memory]. Each step is in the log, in the "
		 "notes of the report and in the counters of JSON; sums stay exact. Mapped files "
		 "of the page cache are not counted, and of serve only the process that captures."},

	{'o', "output", "FILE",
	 "output file, - for stdout; the suffix selects the format; repeatable", OUTPUT,
	 .repeatable = true, .completes = OPTION_COMPLETES_FILE, .form = OPTION_PARSED,
	 .parse = parse_output,
	 .text = "A file is written under a temporary name and renamed; it belongs to the user "
		 "behind sudo."},
	{0, "every", "TIME", "one set of files for each interval of this length; FILE contains %t",
	 OUTPUT, .form = OPTION_DURATION, AT(live.every_ns),
	 .text = "%t is the start of the interval in UTC, as in app-20261127T134500Z.json, or "
		 "app-20261127T134500Z-2.json if that file exists. "
		 "Profiling "
		 "does not stop between two intervals; a wait across the edge is divided."},
	{0, "slice", "TIME",
	 "length of the slices of recordings and of formats with a time axis; default 1s", OUTPUT,
	 .form = OPTION_DURATION, AT(live.slice_ns),
	 .text = "Slices are the steps of --from and --to of pkbpf report, and what a recording "
		 "loses at most when it is cut off. The page (-o FILE.html) joins them to 600 at "
		 "most."},
	{0, "trace", NULL,
	 "recordings and formats with a time axis: also keep single CPU samples, waits and block "
	 "requests with their times",
	 OUTPUT, FLAG(trace),
	 .text = "Sums stay what they are. FILE.firefox.json and FILE.trace.json then hold single "
		 "events instead of what each slice held, and say so. The page (-o FILE.html) "
		 "shows "
		 "what each thread did at each moment."},
	{0, "trace-min", "TIME",
	 "with --trace: shortest wait and block request to keep; default 1ms", OUTPUT,
	 .form = OPTION_DURATION, AT(live.trace_ns)},
	{0, "keep", "N", "with --every: keep the files of the last N intervals", OUTPUT,
	 .form = OPTION_NUMBER, AT(keep), .least = 1, .most = KEEP_MAX},
	{'f', "format", "NAME",
	 "format of the next --output, or of the one before it at the end; of stdout without any",
	 OUTPUT, .repeatable = true, .completes = OPTION_COMPLETES_FORMAT, .form = OPTION_PARSED,
	 .parse = parse_format},
	{0, "full", NULL, "text report: all tables, not only the first page", OUTPUT, FLAG(full),
	 .text = "Without it, the report is at most 40 lines long, 60 for the whole host."},
	{0, "tree", NULL, "text report: call tree of each kind of event, instead of the page",
	 OUTPUT, FLAG(tree),
	 .text = "A callee that has nearly all of its caller's weight stands on its line. Paths "
		 "below 1% and frames that all stacks have in common are left out, unless --full "
		 "is given, too."},
	{0, "by-line", NULL,
	 "text report: hottest source lines of each kind of event, instead of the page", OUTPUT,
	 FLAG(by_line),
	 .text = "A line's self weight includes callees without known lines, such as the kernel's. "
		 "Its text stands beside it if the file has not changed since the program began. "
		 "Reads DWARF as --lines does, also from separate debug files."},
	{0, "sort", "COLUMN", "text report: sort rows by this column; default active", OUTPUT,
	 .form = OPTION_CHOICE, AT(order), .choices = row_order_names,
	 .text = "Active time is on-CPU, run queue, disk wait and D state together."},
	{0, "width", "COLUMNS",
	 "text report: columns of a line, 80 to 200; default: those of the terminal, else 100",
	 OUTPUT, .form = OPTION_NUMBER, AT(width), .least = REPORT_WIDTH_MIN,
	 .most = REPORT_WIDTH_MAX,
	 .text = "The environment variable COLUMNS comes before the size of the terminal."},
	{0, "top", "N", "rows per table with --full; default 10", OUTPUT, .form = OPTION_NUMBER,
	 AT(top), .least = 1, .most = TOP_MAX},
	{0, "by", "process|thread|container|comm|name|region|label:KEY",
	 "rows of the resource tables; default process", OUTPUT, .form = OPTION_CHOICE, AT(by),
	 .parse = parse_by, .choices = rows_grouping_names,
	 .text = "By name: comms that differ in digits only are one, such as worker-*. "
		 "By region (as --region-frames): each has the time, samples and waits that were "
		 "in it and in no region inside of it, \"[no region]\" the rest; regions with an "
		 "id, and those of asyncio that interleave, have no time of their own. "
		 "By label:KEY, such as label:http.route: the same for the values of a label of "
		 "thread contexts (OpenTelemetry), with \"[no label]\" for the rest; stacks begin "
		 "with the value. A report of a recording takes label alone."},
	{0, "fail-if", "EXPR",
	 "exit with status 3 if the condition holds: 'blockio.p99>10ms', 'lost>0', "
	 "'*:cpu.share>80%' (any row), 'nginx:memory.rss>1G'; repeatable",
	 OUTPUT, .repeatable = true, .form = OPTION_PARSED, .parse = parse_fail_if,
	 .text = "See FIGURES. A name or pid that matches nothing is an error, unless a ? precedes "
		 "it: '?nginx:memory.rss>1G'. Locks have conditions of their own: "
		 "'lock.wait_share>5%', 'lock[cache_lock].p99>1ms'."},
	{0, "per-thread", NULL, "keep the threads of a process separate", OUTPUT,
	 FLAG(live.per_thread), .text = "Stacks, waits and resources are then kept per thread."},
	{0, "pid-frame", NULL, "root frame comm-pid instead of comm", OUTPUT, FLAG(pid_frame)},
	{0, "wait-states", NULL, "off-CPU: wait state as leaf frame, such as [disk]", OUTPUT,
	 FLAG(wait_states), .needs = "offcpu",
	 .text = "Below calls of CUDA and HIP that wait for a GPU it is [gpu wait]; CPU samples "
		 "there have [gpu wait, spinning]."},
	{0, "icicle", NULL, "flame graphs with the root on top", OUTPUT, FLAG(icicle)},
	{0, "reverse", NULL, "flame graphs (svg) merged from the leaves, with callers above",
	 OUTPUT, FLAG(reverse)},
	{0, "modules", NULL, "flame graphs (svg) with one frame per library, program or script",
	 OUTPUT, FLAG(modules)},
	{0, "no-inline", NULL, "omit inlined functions", OUTPUT, FLAG(live.no_inline)},
	{0, "lines", NULL, "file:line in frames, also from separate debug files", OUTPUT,
	 FLAG(lines)},
	{0, "debuginfod", NULL,
	 "after the interval, fetch missing debug files from the servers in DEBUGINFOD_URLS",
	 OUTPUT, FLAG(live.debuginfod),
	 .text = "Build ids of files without a full symbol table are sent to these servers; "
		 "answers stay "
		 "in the cache of debuginfod. Under sudo, they are fetched as the user who ran "
		 "sudo. "
		 "Requires libdebuginfod."},
	{0, "debuginfod-limit", "TIME",
	 "maximum time for all look-ups of --debuginfod; default 30s", OUTPUT,
	 .form = OPTION_DURATION, AT(live.debuginfod_limit_ns)},

	{'q', "quiet", NULL, "errors only", GENERAL, FLAG(quiet)},
	{'v', "verbose", NULL,
	 "report each step and all counters; twice: with details of loading BPF programs", GENERAL,
	 .repeatable = true, .form = OPTION_COUNT, AT(verbosity)},
	{0, "progress", "auto|never", "progress line; auto: if stderr is a terminal", GENERAL,
	 .form = OPTION_CHOICE, AT(no_progress), .choices = progress_choices},
	{0, "color", "auto|always|never",
	 "colors in the text report; auto: if stdout is a terminal; honors NO_COLOR", GENERAL,
	 .form = OPTION_CHOICE, AT(color), .choices = color_choices},
	{0, "version", NULL, "print the version", GENERAL, FLAG(show_version)},
	{'h', "help", NULL, "print help; --help all: all options", GENERAL, FLAG(show_help)},
};

static const struct option_row *source_option_at(size_t index)
{
	const struct option_row *row;

	for (size_t i = 0; (row = source_option_rows_at(i)); i++) {
		for (; row->name; row++) {
			if (index-- == 0)
				return row;
		}
	}
	return NULL;
}

const struct option_row *option_at(size_t index)
{
	return index < ARRAY_SIZE(rows) ? &rows[index] : source_option_at(index - ARRAY_SIZE(rows));
}

/* The struct that the row is about. */
static void *target_of(const struct option_row *row, struct cli_options *options)
{
	bool is_of_source = row < rows || row >= rows + ARRAY_SIZE(rows);

	return is_of_source ? (void *)&options->live.sources : options;
}

#define MAX_GIVEN (64 * ARRAY_SIZE(((struct cli_options *)NULL)->given))

static size_t number_of(const struct option_row *row)
{
	const struct option_row *other;
	size_t number = 0;

	while ((other = option_at(number)) && other != row)
		number++;
	return number;
}

int option_apply(const struct option_row *row, struct cli_options *options, const char *value,
		 struct error *error)
{
	size_t number = number_of(row);
	int err = option_row_apply(row, target_of(row, options), value, error);

	if (err >= 0 && number < MAX_GIVEN)
		options->given[number / 64] |= 1ULL << number % 64;
	return err;
}

bool option_is_given(const struct option_row *row, const struct cli_options *options)
{
	size_t number = number_of(row);

	return number < MAX_GIVEN && options->given[number / 64] & 1ULL << number % 64;
}

const char *option_group_title(enum option_group group)
{
	static const char *const titles[OPTION_GROUP_COUNT] = {
		[OPTION_GROUP_TARGETS] = "Targets (default: the whole host)",
		[OPTION_GROUP_EVENTS] = "Events",
		[OPTION_GROUP_OUTPUT] = "Output (default: the text report on stdout)",
		[OPTION_GROUP_GENERAL] = "General",
	};

	return titles[group];
}

void cli_options_init(struct cli_options *options)
{
	*options = (struct cli_options){.top = 10};
	live_options_init(&options->live);
}

void cli_options_done(struct cli_options *options)
{
	live_options_done(&options->live);
	array_free(&options->outputs);
	array_free(&options->conditions);
	array_free(&options->files);
	free(options->own);
	*options = (struct cli_options){0};
}

bool cli_options_need_lines(const struct cli_options *options)
{
	return options->lines || options->by_line ||
	       output_requests_need_lines(options->outputs.items, options->outputs.count);
}

struct output_settings cli_options_settings(const struct cli_options *options)
{
	return (struct output_settings){
		.options =
			{
				.top = options->top,
				.width = options->width,
				.order = options->order,
				.full = options->full,
				.tree = options->tree,
				.by_line = options->by_line,
				.per_thread = options->live.per_thread,
				.pid_frame = options->pid_frame,
				.lines = options->lines,
				.details = options->verbosity > 0,
				.wait_states = options->wait_states,
				.icicle = options->icicle,
				.reverse = options->reverse,
				.modules = options->modules,
			},
		.color = options->color,
	};
}
