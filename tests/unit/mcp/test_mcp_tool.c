// SPDX-License-Identifier: BSD-2-Clause
/* Tests arguments, and the texts of the tools against reports that are written here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "fake_backend.h"
#include "mcp/mcp_text.h"
#include "mcp/mcp_tool.h"

#define HEAD                                                                                       \
	"\"host\":{\"name\":\"box\",\"cpus\":4,\"busy_percent\":25.0},\"targets\":\"pid 7\","      \
	"\"time\":{\"start\":\"2026-11-27T16:00:00.123Z\",\"duration_ns\":2000000000},"            \
	"\"events\":[\"cpu\",\"offcpu\"],"

static const char report[] =
	"{" HEAD "\"findings\":[{\"rule\":\"cpu_bound\",\"text\":\"app computes\","
	"\"severity_percent\":90.5}],"
	"\"counters\":[{\"name\":\"A\",\"text\":\"samples lost\",\"is_loss\":true,\"count\":3},"
	"{\"name\":\"B\",\"text\":\"good ones\",\"is_loss\":false,\"count\":9},"
	"{\"name\":\"C\",\"text\":\"none lost\",\"is_loss\":true,\"count\":0}],"
	"\"rows\":[{\"pid\":7,\"comm\":\"app\",\"cpu\":{\"total_ns\":1500000000,"
	"\"share_percent\":75.0},\"waiting\":{\"runqueue_ns\":2000000},"
	"\"storage\":{\"read_bytes\":4096}}],"
	"\"hottest_lines\":{\"cpu\":[{\"file\":\"a.c\",\"line\":12,\"function\":\"f\","
	"\"self_percent\":50.0,\"total_percent\":60.0,\"text\":\"x++;\"}]},"
	"\"regions_by_name\":[{\"name\":\"step\",\"count\":5,\"wall_ns\":10000000,"
	"\"p99_ns\":3000000,\"sleep_ns\":1000000,\"not_left\":1}],"
	"\"slow_regions\":[{\"name\":\"step\",\"comm\":\"app\",\"tid\":8,\"at_ns\":500000000,"
	"\"wall_ns\":3000000,\"frames\":[{\"name\":\"f\"},{\"name\":\"main\"}]}],"
	"\"machine\":{\"missing\":{\"energy\":\"no meter\"}},\"cost\":{\"cpu_ns\":1000000}}";

static struct fake_backend fake;
static struct mcp_backend backend;

static int begin(void **state)
{
	(void)state;
	fake = (struct fake_backend){
		.texts = {[MCP_REPORT] = report,
			  [MCP_STACKS] = "app;main;work 30\napp;main;work;hash 10\n",
			  [MCP_DIFF] = "CPU: 1 s -> 2 s\n\n work grew\n"},
		.offcpu = "app;main;read_file;[disk] 2000\napp;main;[sleep] 500\n",
		.sources = 2};
	backend = fake_backend_of(&fake);
	return 0;
}

static const struct mcp_tool *tool_of(const char *name)
{
	for (size_t i = 0; i < mcp_tool_count; i++)
		if (strcmp(mcp_tools[i].name, name) == 0)
			return &mcp_tools[i];
	fail_msg("no tool %s", name);
	return NULL;
}

static int run(const char *name, const char *arguments, struct mcp_answer *answer,
	       struct error *error)
{
	const struct mcp_tool *tool = tool_of(name);
	json_t *json = json_loads(arguments, 0, NULL);
	struct mcp_call call = {.backend = &backend};
	int err;

	assert_non_null(json);
	error->text[0] = '\0';
	err = mcp_call_read(tool, json, &call, error);
	mcp_answer_begin(answer, 6000, call.number[MCP_OFFSET]);
	err = err < 0 ? err : tool->run(&call, answer, error);
	json_decref(json);
	assert_true(err == 0 || error->text[0]);
	return err;
}

static void assert_says(const char *name, const char *arguments, const char *const *parts)
{
	struct mcp_answer answer;
	struct error error;

	assert_int_equal(run(name, arguments, &answer, &error), 0);
	for (; *parts; parts++)
		if (!strstr(answer.text, *parts))
			fail_msg("%s does not say '%s':\n%s", name, *parts, answer.text);
	mcp_answer_done(&answer);
}

#define SAYS(name, arguments, ...)                                                                 \
	assert_says(name, arguments, (const char *const[]){__VA_ARGS__, NULL})

static void assert_refused(const char *name, const char *arguments, int err, const char *part)
{
	struct mcp_answer answer;
	struct error error;

	assert_int_equal(run(name, arguments, &answer, &error), err);
	if (!strstr(error.text, part))
		fail_msg("'%s' does not say '%s'", error.text, part);
	mcp_answer_done(&answer);
}

static void arguments_are_checked(void **state)
{
	(void)state;
	assert_refused("findings", "{\"nonsense\":1}", -EINVAL, "no argument 'nonsense'");
	assert_refused("findings", "{\"name\":\"f\"}", -EINVAL, "no argument 'name'");
	assert_refused("findings", "{\"pid\":0}", -EINVAL, "'pid' has to be a number from 1");
	assert_refused("findings", "{\"pid\":\"7\"}", -EINVAL, "'pid'");
	assert_refused("findings", "{\"from\":\"\"}", -EINVAL, "'from' has to be a text");
	assert_refused("findings", "{\"from\":\"a\\nb\"}", -EINVAL, "in one line");
	assert_refused("functions", "{\"kind\":\"gpu\"}", -EINVAL, "'kind' cannot be 'gpu'");
	assert_refused("function", "{}", -EINVAL, "needs 'name'");
	assert_refused("diff", "{}", -EINVAL, "needs 'base'");
	assert_int_equal(fake.asked, 0);
}

static void arguments_reach_the_source(void **state)
{
	(void)state;
	SAYS("processes",
	     "{\"source\":\"x\",\"from\":\"-5m\",\"to\":\"-1m\",\"pid\":7,\"comm\":\"app\","
	     "\"container\":\"web\",\"by\":\"thread\"}",
	     "app");
	assert_int_equal(fake.last.what, MCP_REPORT);
	assert_int_equal(fake.last.pid, 7);
}

static void schemas_have_what_is_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < mcp_tool_count; i++) {
		json_t *schema = mcp_tool_schema(&mcp_tools[i]);

		assert_non_null(schema);
		assert_string_equal(mcp_json_text(schema, "type"), "object");
		assert_int_equal(json_object_size(mcp_json_at(schema, "properties")),
				 __builtin_popcount(mcp_tools[i].arguments));
		assert_int_equal(json_array_size(mcp_json_at(schema, "required")),
				 __builtin_popcount(mcp_tools[i].required));
		assert_true(json_is_false(mcp_json_at(schema, "additionalProperties")));
		json_decref(schema);
	}
}

static void reports_are_told(void **state)
{
	(void)state;
	SAYS("findings", "{}", "pid 7 on box: 2.00 s from 2026-11-27T16:00:00Z",
	     "recorded: cpu, offcpu", "1. app computes (rule cpu_bound, severity 90 %)",
	     "not seen: samples lost: 3\n");
	SAYS("processes", "{}",
	     "app, pid 7: CPU 1.50 s (75.0 % of a CPU), run queue 2.00 ms, read 4.00 KiB\n");
	SAYS("lines", "{}", "a.c:12 f: self 50.0 %, total 60.0 %  | x++;\n");
	SAYS("lines", "{\"kind\":\"offcpu\"}", "no source line is known");
	SAYS("lines", "{\"kind\":\"faults\"}", "was not recorded");
	SAYS("regions", "{}",
	     "step: 5 times, wall 10.0 ms, p99 3.00 ms, sleep 1.00 ms, never left 1",
	     "slow: step in app 8 after 500 ms: wall 3.00 ms; in f < main\n");
	SAYS("machine", "{}", "lost: samples lost: 3", "good ones: 9",
	     "not measured: energy: no meter");
	SAYS("diff", "{\"base\":\"before\"}", "CPU: 1 s -> 2 s\n work grew\n");
}

static void nothing_is_said_as_nothing(void **state)
{
	(void)state;
	fake.texts[MCP_REPORT] = "{" HEAD "\"findings\":[],\"regions_by_name\":[]}";
	SAYS("findings", "{}", "no finding: ");
	SAYS("regions", "{}", "no regions: ");
	fake.sources = 0;
	SAYS("sources", "{}", "no source: start pkbpf mcp with");
}

static void functions_are_weighed(void **state)
{
	(void)state;
	SAYS("functions", "{}", "not seen: samples lost: 3\n");
	SAYS("function", "{\"name\":\"work\"}", "not seen: samples lost: 3\n");
	SAYS("functions", "{}",
	     "cpu: 40 samples (100.0%) in 2 stacks; 3 functions, sorted by self\n"
	     "work: self 30 samples (75.0%), total 40 samples (100.0%)\n");
	SAYS("functions", "{\"sort\":\"total\",\"kind\":\"offcpu\"}", "offcpu: 2.50 ms (100.0%)");
	SAYS("function", "{\"name\":\"work\"}",
	     "cpu of work: total 40 samples (100.0%) of all, self 30 samples (75.0%) of its total",
	     "  called by main: 40 samples (100.0%)\n", "  calls hash: 10 samples (25.0%)\n");
	SAYS("function", "{\"name\":\"read_file\"}",
	     "offcpu of read_file: total 2.00 ms (80.0%) of all",
	     "  ends in [disk]: 2.00 ms (100.0%)\n");
	SAYS("function", "{\"name\":\"a\"}", "functions have that in their names", "  main: total");
	assert_refused("function", "{\"name\":\"zzz\"}", -ENOENT, "no function of this source");
	/* A kind without events is none of its own fault. */
	fake.offcpu = "";
	SAYS("function", "{\"name\":\"work\"}", "cpu of work: total 40 samples");
	SAYS("functions", "{\"kind\":\"offcpu\"}", "no events of this kind were recorded");
	fake.texts[MCP_STACKS] = "no stack";
	assert_refused("functions", "{}", -EBADMSG, "cannot read the stacks");
}

static void a_name_beside_its_inlined_copies_can_be_asked_for(void **state)
{
	(void)state;
	fake.offcpu = "";
	fake.texts[MCP_STACKS] = "app;main;work 30\napp;main;work_[i] 10\napp;main;workers 5\n";
	SAYS("function", "{\"name\":\"work\"}", "cpu of work: total 30 samples",
	     "  not in these figures: work [inlined]: total 10 samples (22.2%)\n");
	SAYS("function", "{\"name\":\"work [inlined]\"}",
	     "cpu of work [inlined]: total 10 samples");
	SAYS("function", "{\"name\":\"wor\"}", "3 functions have that in their names");
}

static void a_history_has_figures(void **state)
{
	(void)state;
	fake.texts[MCP_WINDOWS] = "{\"level\":\"slice\",\"windows\":[[0,10],[10,20]],\"gaps\":[1]}";
	SAYS("sources", "{}",
	     "run.pkbpf: recording of pid 7 on box, 2.00 s from 2026-11-27T16:00:00Z; kinds: cpu, "
	     "offcpu; findings: 1\n",
	     "/history: history of pkbpf serve; 2 windows of level slice in the last hour, from "
	     "1970-01-01T00:00:00Z to 1970-01-01T00:00:20Z; gaps: 1\n");
	fake.texts[MCP_SERIES] = "{\"figure\":\"cpu.share\",\"windows\":[[0,1],[1,2],[2,3]],"
				 "\"series\":[{\"name\":\"app\",\"values\":[1.5,null,3]},"
				 "{\"name\":\"idle\",\"values\":[null,null,null]}]}";
	SAYS("series", "{\"source\":\"/history\"}", "cpu.share in 3 windows",
	     "app: least 1.5, most 3, last 3; over time: 1.5 - 3\n");
	fake.texts[MCP_SERIES] = "{\"figure\":\"cpu.share\",\"windows\":[[0,1],[1,2]],"
				 "\"left_out\":[null,\"half of the stacks\"],\"series\":[]}";
	SAYS("series", "{}",
	     "not seen: left out in 1 windows to stay within --max-cpu: half of the stacks\n");
	fake.texts[MCP_WINDOWS] = "{\"windows\":[]}";
	fake.texts[MCP_REPORT] = NULL;
	SAYS("sources", "{}", "run.pkbpf: cannot be read: no such file\n",
	     "/history: history without a window");
	fake.texts[MCP_WINDOWS] = "nonsense";
	SAYS("sources", "{}", "/history: cannot be read: the answer of the source is no JSON");
}

static void a_long_series_has_means(void **state)
{
	char text[4000] = "{\"figure\":\"x\",\"windows\":[", *end;
	size_t points = 0;
	struct mcp_answer answer;
	struct error error;

	(void)state;
	for (int i = 0; i < 100; i++)
		strcat(text, i ? ",[0,1]" : "[0,1]");
	strcat(text, "],\"series\":[{\"name\":\"app\",\"values\":[");
	for (int i = 0; i < 100; i++)
		strcat(text, i ? (i % 2 ? ",2" : ",4") : "4");
	strcat(text, "]}]}");
	fake.texts[MCP_SERIES] = text;
	assert_int_equal(run("series", "{}", &answer, &error), 0);
	assert_non_null(strstr(answer.text, "values over time are means"));
	end = strstr(answer.text, "over time: 3.2 ");
	assert_non_null(end);
	for (end += sizeof("over time:") - 1; *end && *end != '\n'; end++)
		points += *end == ' ';
	assert_int_equal(points, 20);
	mcp_answer_done(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(arguments_are_checked, begin),
		cmocka_unit_test_setup(arguments_reach_the_source, begin),
		cmocka_unit_test_setup(schemas_have_what_is_taken, begin),
		cmocka_unit_test_setup(reports_are_told, begin),
		cmocka_unit_test_setup(nothing_is_said_as_nothing, begin),
		cmocka_unit_test_setup(functions_are_weighed, begin),
		cmocka_unit_test_setup(a_name_beside_its_inlined_copies_can_be_asked_for, begin),
		cmocka_unit_test_setup(a_history_has_figures, begin),
		cmocka_unit_test_setup(a_long_series_has_means, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
