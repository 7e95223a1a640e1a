// SPDX-License-Identifier: BSD-2-Clause
/* The rows of the option table with the function that reads each value. */
#include "cli/option_table.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/near_match.h"
#include "finding/condition.h"
#include "source/source.h"

/* What the BPF programs may cost before stacks of fewer waits are taken. Busy servers switch 20,000
 * times a second and CPU; with a stack for each, 1 to 2 us, they would lose 4 %. */
#define MAX_OVERHEAD_PERMILLE_PER_CPU 10

/* More than a disk with moving heads takes for a request when nobody else wants one. */
#define SLOW_IO_NS (10 * NS_PER_MS)

#define PID_MAX		  4194304 /* PID_MAX_LIMIT of 64-bit kernels */
#define FREQUENCY_MAX	  100000  /* beyond it a sample costs more than what it measures */
#define TOP_MAX		  100000
#define UNWIND_TABLES_MIN (4ULL << 20) /* made in pieces of 1 MiB, and some are always spare */
#define UNWIND_TABLES_MAX (1ULL << 30)

/* ---- targets ---- */

static int parse_pid(struct cli_options *options, const char *value, struct error *error)
{
	return parse_u32_list(value, "--pid", PID_MAX, &options->pids, error);
}

static int parse_children(struct cli_options *options, const char *value, struct error *error)
{
	options->follow = PKBPF_FOLLOW_DESCENDANTS;
	return 0;
}

static int parse_no_children(struct cli_options *options, const char *value, struct error *error)
{
	options->follow = PKBPF_FOLLOW_NONE;
	return 0;
}

static int parse_tid(struct cli_options *options, const char *value, struct error *error)
{
	return parse_u32_list(value, "--tid", PID_MAX, &options->tids, error);
}

static int parse_cgroup(struct cli_options *options, const char *value, struct error *error)
{
	if (!*value)
		return error_set(error, EINVAL, "--cgroup requires the path of a cgroup");
	options->cgroup_path = value;
	return 0;
}

static int parse_comm(struct cli_options *options, const char *value, struct error *error)
{
	if (!*value)
		return error_set(error, EINVAL, "--comm requires the name of a process");
	/* The kernel cuts names, so a longer one would silently match nothing. */
	if (strlen(value) >= PKBPF_COMM_SIZE)
		return error_set(error, EINVAL,
				 "invalid value '%s' for --comm: the kernel keeps %d bytes of a "
				 "name; use '%.*s'",
				 value, PKBPF_COMM_SIZE - 1, PKBPF_COMM_SIZE - 1, value);
	if (options->comm && strcmp(options->comm, value) != 0)
		return error_set(error, EINVAL,
				 "--comm %s and --comm %s are mutually exclusive; use --pid or "
				 "--cgroup for several processes",
				 options->comm, value);
	options->comm = value;
	return 0;
}

/* ---- what is measured ---- */

static int add_source(struct cli_options *options, const char *name, struct error *error)
{
	const struct source_ops *source = source_by_name(name);
	struct near_match near = {0};

	if (!source) {
		for (size_t i = 0; source_at(i); i++)
			near_match_offer(&near, name, source_at(i)->name);
		if (near.word)
			return error_set(error, EINVAL,
					 "invalid value '%s' for --events; did you mean %s?", name,
					 near.word);
		return error_set(
			error, EINVAL,
			"invalid value '%s' for --events: unknown kind of event; see pkbpf --help",
			name);
	}
	for (size_t i = 0; i < options->source_count; i++) {
		if (options->sources[i] == source)
			return 0;
	}
	options->sources[options->source_count++] = source;
	return 0;
}

static int parse_events(struct cli_options *options, const char *value, struct error *error)
{
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

static int parse_frequency(struct cli_options *options, const char *value, struct error *error)
{
	uint64_t hz;
	int err = parse_u64(value, "--frequency", 1, FREQUENCY_MAX, &hz, error);

	if (err == 0)
		options->frequency_hz = (uint32_t)hz;
	return err;
}

static int parse_duration(struct cli_options *options, const char *value, struct error *error)
{
	return parse_duration_ns(value, "--duration", &options->duration_ns, error);
}

static int parse_user_only(struct cli_options *options, const char *value, struct error *error)
{
	options->user_only = true;
	return 0;
}

static int parse_kernel_only(struct cli_options *options, const char *value, struct error *error)
{
	options->kernel_only = true;
	return 0;
}

static const struct {
	const char *name;
	enum pkbpf_unwind_mode mode;
} unwind_modes[] = {
	{"auto", PKBPF_UNWIND_AUTO},
	{"dwarf", PKBPF_UNWIND_DWARF},
	{"fp", PKBPF_UNWIND_FP},
};

static int parse_unwind(struct cli_options *options, const char *value, struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(unwind_modes); i++) {
		if (strcmp(value, unwind_modes[i].name) == 0) {
			options->unwind_mode = unwind_modes[i].mode;
			return 0;
		}
	}
	return error_set(error, EINVAL,
			 "invalid value '%s' for --unwind: expected auto, dwarf or fp", value);
}

static int parse_unwind_tables(struct cli_options *options, const char *value, struct error *error)
{
	uint64_t bytes;
	int err = parse_size_bytes(value, "--unwind-tables", &bytes, error);

	if (err < 0)
		return err;
	if (bytes < UNWIND_TABLES_MIN || bytes > UNWIND_TABLES_MAX)
		return error_set(error, ERANGE,
				 "invalid value '%s' for --unwind-tables: expected %lluM to %lluM",
				 value, UNWIND_TABLES_MIN >> 20, UNWIND_TABLES_MAX >> 20);
	options->unwind_table_bytes = bytes;
	return 0;
}

static int parse_min_block(struct cli_options *options, const char *value, struct error *error)
{
	return parse_duration_ns(value, "--min-block", &options->min_block_ns, error);
}

static int parse_wakers(struct cli_options *options, const char *value, struct error *error)
{
	options->wakers = true;
	return 0;
}

static int parse_kernel_threads(struct cli_options *options, const char *value, struct error *error)
{
	options->kernel_threads = true;
	return 0;
}

static int parse_max_overhead(struct cli_options *options, const char *value, struct error *error)
{
	char number[16];
	size_t length = strlen(value);
	uint64_t percent;
	int err;

	if (strcmp(value, "none") == 0) {
		options->max_overhead_permille = 0;
		return 0;
	}
	if (length && value[length - 1] == '%')
		length--;
	if (length >= sizeof(number))
		return error_set(error, EINVAL,
				 "invalid value '%s' for --max-overhead: expected 1 to 100 "
				 "(percent of one CPU) or none",
				 value);
	memcpy(number, value, length);
	number[length] = '\0';
	err = parse_u64(number, "--max-overhead", 1, 100, &percent, error);
	if (err == 0)
		options->max_overhead_permille = (uint32_t)percent * 10;
	return err;
}

static int parse_slow_io(struct cli_options *options, const char *value, struct error *error)
{
	if (strcmp(value, "none") == 0)
		options->slow_io_ns = UINT64_MAX;
	else if (strcmp(value, "0") == 0)
		options->slow_io_ns = 0;
	else
		return parse_duration_ns(value, "--slow-io", &options->slow_io_ns, error);
	return 0;
}

/* ---- what is written ---- */

static int parse_output(struct cli_options *options, const char *value, struct error *error)
{
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

static int parse_format(struct cli_options *options, const char *value, struct error *error)
{
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

static int parse_top(struct cli_options *options, const char *value, struct error *error)
{
	uint64_t rows;
	int err = parse_u64(value, "--top", 1, TOP_MAX, &rows, error);

	if (err == 0)
		options->top = (unsigned int)rows;
	return err;
}

static int parse_by(struct cli_options *options, const char *value, struct error *error)
{
	if (!rows_grouping_find(value, &options->by))
		return error_set(
			error, EINVAL,
			"invalid value '%s' for --by: expected process, thread, container or comm",
			value);
	/* What is added up per process cannot be taken apart later. */
	if (options->by == ROWS_BY_THREAD)
		options->per_thread = true;
	return 0;
}

static int parse_fail_if(struct cli_options *options, const char *value, struct error *error)
{
	struct condition condition;
	const char **slot;
	int err = condition_parse(value, &condition, error);

	if (err < 0)
		return err;
	slot = array_add(&options->conditions);
	if (!slot)
		return error_set(error, ENOMEM, "cannot read --fail-if: out of memory");
	*slot = value;
	return 0;
}

static int parse_per_thread(struct cli_options *options, const char *value, struct error *error)
{
	options->per_thread = true;
	return 0;
}

static int parse_pid_frame(struct cli_options *options, const char *value, struct error *error)
{
	options->pid_frame = true;
	return 0;
}

static int parse_wait_states(struct cli_options *options, const char *value, struct error *error)
{
	options->wait_states = true;
	return 0;
}

static int parse_no_inline(struct cli_options *options, const char *value, struct error *error)
{
	options->no_inline = true;
	return 0;
}

static int parse_lines(struct cli_options *options, const char *value, struct error *error)
{
	options->lines = true;
	return 0;
}

/* ---- how it talks ---- */

static int parse_quiet(struct cli_options *options, const char *value, struct error *error)
{
	options->quiet = true;
	return 0;
}

static int parse_verbose(struct cli_options *options, const char *value, struct error *error)
{
	options->verbosity++;
	return 0;
}

static int parse_progress(struct cli_options *options, const char *value, struct error *error)
{
	bool never = strcmp(value, "never") == 0;

	if (!never && strcmp(value, "auto") != 0)
		return error_set(error, EINVAL,
				 "invalid value '%s' for --progress: expected auto or never",
				 value);
	options->no_progress = never;
	return 0;
}

static int parse_color(struct cli_options *options, const char *value, struct error *error)
{
	static const char *const names[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(value, names[i]) == 0) {
			options->color = (enum color_choice)i;
			return 0;
		}
	}
	return error_set(error, EINVAL,
			 "invalid value '%s' for --color: expected auto, always or never", value);
}

static int parse_version(struct cli_options *options, const char *value, struct error *error)
{
	options->show_version = true;
	return 0;
}

static int parse_help(struct cli_options *options, const char *value, struct error *error)
{
	options->show_help = true;
	return 0;
}

static const struct option_row rows[] = {
	{'p', "pid", "PID[,PID...]",
	 "processes, with all threads and forked workers, including later ones", SECTION_TARGETS,
	 VERB_ALL, parse_pid},
	{0, "children", NULL, "with --pid: all descendants, also after execve", SECTION_TARGETS,
	 VERB_RECORD, parse_children},
	{0, "no-children", NULL,
	 "with --pid or a command: only that process, without forked workers", SECTION_TARGETS,
	 VERB_RECORD, parse_no_children},
	{'t', "tid", "TID[,TID...]", "threads", SECTION_TARGETS, VERB_RECORD, parse_tid},
	{'G', "cgroup", "PATH",
	 "processes of this cgroup and its descendants; PATH may be relative to /sys/fs/cgroup",
	 SECTION_TARGETS, VERB_RECORD, parse_cgroup},
	{0, "comm", "NAME", "processes named NAME (comm)", SECTION_TARGETS, VERB_RECORD,
	 parse_comm},

	{'e', "events", "LIST",
	 "kinds of events (below), separated by commas; repeatable; default: all, or cpu if only "
	 "folded stacks are written",
	 SECTION_EVENTS, VERB_RECORD, parse_events},
	{'F', "frequency", "HZ", "CPU samples per second on each CPU; default 99", SECTION_EVENTS,
	 VERB_RECORD, parse_frequency},
	{'d', "duration", "TIME",
	 "10, 10s, 500ms, 5m; default: until Ctrl-C or the exit of all targets", SECTION_EVENTS,
	 VERB_RECORD, parse_duration},
	{'U', "user", NULL, "user stacks only", SECTION_EVENTS, VERB_RECORD, parse_user_only},
	{'K', "kernel", NULL, "kernel stacks only", SECTION_EVENTS, VERB_RECORD, parse_kernel_only},
	{0, "unwind", "auto|dwarf|fp",
	 "how user stacks are unwound; auto: by unwind tables, and by frame pointers in code "
	 "without tables",
	 SECTION_EVENTS, VERB_RECORD, parse_unwind},
	{0, "unwind-tables", "SIZE", "maximum memory for unwind tables; default 64M",
	 SECTION_EVENTS, VERB_RECORD, parse_unwind_tables},

	{0, "min-block", "TIME", "off-CPU: shortest wait to record; default 1us", SECTION_EVENTS,
	 VERB_RECORD, parse_min_block},
	{0, "wakers", NULL, "off-CPU: waker stacks", SECTION_EVENTS, VERB_RECORD, parse_wakers},
	{0, "kernel-threads", NULL, "off-CPU: include kernel threads", SECTION_EVENTS, VERB_RECORD,
	 parse_kernel_threads},
	{0, "max-overhead", "PERCENT",
	 "off-CPU: skip stacks of waits when the BPF programs use more than PERCENT of one CPU; "
	 "none: never skip; default: 1 for each CPU of the machine",
	 SECTION_EVENTS, VERB_RECORD, parse_max_overhead},

	{0, "slow-io", "TIME",
	 "block I/O: list the slowest requests, if they take at least TIME; 0: any; none: no list; "
	 "default 10ms",
	 SECTION_EVENTS, VERB_RECORD, parse_slow_io},

	{'o', "output", "FILE",
	 "output file, - for stdout; the suffix selects the format; repeatable", SECTION_OUTPUT,
	 VERB_RECORD, parse_output},
	{'f', "format", "NAME", "format of the next --output, or of stdout without --output",
	 SECTION_OUTPUT, VERB_RECORD, parse_format},
	{0, "top", "N", "rows per table of the text report; default 10", SECTION_OUTPUT,
	 VERB_RECORD, parse_top},
	{0, "by", "process|thread|container|comm", "rows of the resource tables; default process",
	 SECTION_OUTPUT, VERB_RECORD, parse_by},
	{0, "fail-if", "EXPR",
	 "exit with status 3 if the condition holds: 'blockio.p99>10ms', 'lost>0', "
	 "'*:cpu.share>80%' (any row), 'nginx:memory.rss>1G'; repeatable",
	 SECTION_OUTPUT, VERB_RECORD, parse_fail_if},
	{0, "per-thread", NULL, "keep the threads of a process separate", SECTION_OUTPUT,
	 VERB_RECORD, parse_per_thread},
	{0, "pid-frame", NULL, "root frame comm-pid instead of comm", SECTION_OUTPUT, VERB_RECORD,
	 parse_pid_frame},
	{0, "wait-states", NULL, "off-CPU: wait state as leaf frame, such as [disk]",
	 SECTION_OUTPUT, VERB_RECORD, parse_wait_states},
	{0, "no-inline", NULL, "omit inlined functions", SECTION_OUTPUT, VERB_RECORD,
	 parse_no_inline},
	{0, "lines", NULL, "file:line in frames, also from separate debug files", SECTION_OUTPUT,
	 VERB_RECORD, parse_lines},

	{'q', "quiet", NULL, "errors only", SECTION_GENERAL, VERB_RECORD, parse_quiet},
	{'v', "verbose", NULL,
	 "report each step and all counters; twice: with details of loading BPF programs",
	 SECTION_GENERAL, VERB_RECORD, parse_verbose},
	{0, "progress", "auto|never", "progress line; auto: if stderr is a terminal",
	 SECTION_GENERAL, VERB_RECORD, parse_progress},
	{0, "color", "auto|always|never",
	 "colors in the text report; auto: if stdout is a terminal; honors NO_COLOR",
	 SECTION_GENERAL, VERB_ALL, parse_color},
	{0, "version", NULL, "print the version", SECTION_GENERAL, VERB_ALL, parse_version},
	{'h', "help", NULL, "print this help", SECTION_GENERAL, VERB_ALL, parse_help},
};

const struct option_row *option_at(size_t index)
{
	return index < ARRAY_SIZE(rows) ? &rows[index] : NULL;
}

const char *option_section_title(enum option_section section)
{
	static const char *const titles[SECTION_COUNT] = {
		[SECTION_TARGETS] = "Targets (default: the whole host)",
		[SECTION_EVENTS] = "Events",
		[SECTION_OUTPUT] = "Output (default: the text report on stdout)",
		[SECTION_GENERAL] = "General",
	};

	return titles[section];
}

void cli_options_init(struct cli_options *options)
{
	*options = (struct cli_options){
		.frequency_hz = 99,
		.max_overhead_permille =
			MAX_OVERHEAD_PERMILLE_PER_CPU * (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.slow_io_ns = SLOW_IO_NS,
		.top = 10,
		.follow = PKBPF_FOLLOW_WORKERS,
	};
}

void cli_options_done(struct cli_options *options)
{
	free(options->pids.items);
	free(options->tids.items);
	array_free(&options->outputs);
	array_free(&options->conditions);
	*options = (struct cli_options){0};
}
