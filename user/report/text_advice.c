// SPDX-License-Identifier: BSD-2-Clause
/* Finds the runtime behind functions without names. */
#include "report/text_advice.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "rows/human.h"

/* Of the samples, in percent: fewer hide nothing. */
#define UNNAMED_PERCENT 10

struct runtime {
	/* Beginning of the comm or of a module in the stack; NULL: whatever is left. */
	const char *comm, *module;
	/* Names of its interpreter and of functions that run in it, where these have a name;
	 * NULL: functions are generated code, which has names or has none. */
	const char *interpreter, *named;
	const char *functions, *advice;
};

static const struct runtime runtimes[] = {
	{"node", "node", NULL, NULL, "JavaScript",
	 "Node 18, 20, 22 and 24 on x86-64 need no option; start others with --perf-basic-prof "
	 "--interpreted-frames-native-stack"},
	{"java", "libjvm.so", NULL, NULL, "Java",
	 "\"pkbpf doctor --pid PID\" has the reason and the remedy"},
	{"python", "libpython", "_PyEval_EvalFrameDefault", "py::", "Python",
	 "CPython 3.8 to 3.15 has names; later versions have them with -X perf"},
	{"python", "libpython", "PyEval_EvalFrameEx", "py::", "Python",
	 "only CPython 3.8 and later has them"},
	{"dotnet", "libcoreclr", NULL, NULL, ".NET", "start it with DOTNET_PerfMapEnabled=1"},
	{"ruby", "libruby", "vm_exec_core", NULL, "Ruby",
	 "Ruby 3.1 has names; functions that YJIT compiled have them with --yjit-perf (3.3 and "
	 "later), interpreted ones in rbspy"},
	/* Of this, names of interpreted functions are not known with any option. */
	{"php", "libphp", "execute_ex", NULL, "PHP",
	 "functions compiled by the JIT have names with -d opcache.jit_debug=16 (8.0 and later), "
	 "interpreted ones in phpspy"},
	{NULL, NULL, NULL, NULL, "generated",
	 "their program has to write /tmp/perf-PID.map; see its documentation"},
};

static bool begins(const char *text, const char *start)
{
	return start && text && strncmp(text, start, strlen(start)) == 0;
}

/* What a stack says of the functions in it. */
struct seen {
	bool generated_unnamed; /* code outside of files, without a name */
	bool has_named[ARRAY_SIZE(runtimes)], interprets[ARRAY_SIZE(runtimes)],
		is_of[ARRAY_SIZE(runtimes)];
};

static void see_frame(const struct frame *frame, struct seen *seen)
{
	if (frame->location.space == FRAME_TRUNCATED)
		return;
	if (frame->symbol.result == SYMBOL_NO_PERF_MAP)
		seen->generated_unnamed = true;
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		seen->is_of[i] |= begins(frame->symbol.module, runtimes[i].module);
		for (size_t j = 0; j < frame->symbol.line_count; j++) {
			const char *name = frame->symbol.lines[j].function;

			seen->interprets[i] |= begins(name, runtimes[i].interpreter);
			seen->has_named[i] |= begins(name, runtimes[i].named);
		}
	}
}

/* The runtime whose functions have no name in this stack; ARRAY_SIZE(runtimes): all have. */
static size_t unnamed_of(const struct profile *profile, const struct profile_row *row)
{
	const char *comm = profile_string(profile, row->comm);
	struct seen seen = {0};
	size_t count;
	const uint32_t *frames = profile_stack(profile, row->stack, &count);

	for (size_t i = 0; i < count; i++)
		see_frame(profile_frame(profile, frames[i]), &seen);
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		const struct runtime *runtime = &runtimes[i];

		if (runtime->interpreter && seen.interprets[i] && !seen.has_named[i])
			return i;
		if (seen.generated_unnamed &&
		    (seen.is_of[i] || begins(comm, runtime->comm) || !runtime->comm))
			return i;
	}
	return ARRAY_SIZE(runtimes);
}

bool text_advice(const struct text_report *report, char ret_text[TEXT_ADVICE_SIZE])
{
	uint64_t unnamed[ARRAY_SIZE(runtimes) + 1] = {0}, all = 0;
	size_t count, most = 0;
	const struct profile_row *rows = profile_rows(report->profile, &count);
	char share[HUMAN_SIZE];

	for (size_t i = 0; i < count; i++) {
		if (rows[i].kind != PKBPF_PROFILE_CPU)
			continue;
		all += rows[i].weight;
		unnamed[unnamed_of(report->profile, &rows[i])] += rows[i].weight;
	}
	for (size_t i = 1; i < ARRAY_SIZE(runtimes); i++)
		if (unnamed[i] > unnamed[most])
			most = i;
	if (!all || (double)unnamed[most] * 100 < (double)all * UNNAMED_PERCENT)
		return false;
	snprintf(ret_text, TEXT_ADVICE_SIZE,
		 "Advice: %s of samples are in or below %s functions without "
		 "names; %s.",
		 human_share(share, unnamed[most], all), runtimes[most].functions,
		 runtimes[most].advice);
	return true;
}
