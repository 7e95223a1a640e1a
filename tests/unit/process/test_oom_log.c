// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/relation/oom_log: kills in the kernel's log, whose lines hold names of others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relation_reading.h"
#include "process/relation/oom_log.h"

/* As the log: one line at a read, and none is waited for. */
struct log {
	int ends[2];
	struct event_buffer buffer;
	struct read_relation found[8];
	size_t count;
};

static int open_log(void **state)
{
	static struct log log;

	log = (struct log){.count = 0};
	*state = &log;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, log.ends);
}

static int close_log(void **state)
{
	struct log *log = *state;

	close(log->ends[0]);
	close(log->ends[1]);
	event_buffer_done(&log->buffer);
	return 0;
}

static void say(const struct log *log, const char *line)
{
	assert_int_equal(write(log->ends[1], line, strlen(line)), strlen(line));
}

static void look(struct log *log)
{
	oom_log_write(log->ends[0], &(struct relation_writer){.buffer = &log->buffer});
	log->count = read_relations(&log->buffer, PKBPF_RELATION_OOM, log->found, 8);
}

static void a_kill_names_the_process_and_its_cgroup(void **state)
{
	struct log *log = *state;

	say(log, "6,1,2,-;memory: usage 20480kB, limit 20480kB, failcnt 17\n");
	say(log,
	    "6,2,3,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
	    "oom_memcg=/a/b,task_memcg=/a/b/c,task=postgres,pid=4711,uid=26\n");
	look(log);
	assert_int_equal(log->count, 1);
	assert_int_equal(log->found[0].view.pid, 4711);
	assert_int_equal(log->found[0].view.count, 1);
	assert_int_equal(log->found[0].view.value, 20480 << 10);
	assert_string_equal(log->found[0].text, "/a/b");
}

/* The machine as a whole ran out of memory: no limit, although an earlier kill had one. */
static void a_kill_without_a_limit_has_none(void **state)
{
	struct log *log = *state;

	say(log, "6,1,2,-;memory: usage 8kB, limit 8kB, failcnt 1\n");
	say(log, "6,2,3,-;oom-kill:constraint=CONSTRAINT_NONE,global_oom,task_memcg=/x,task=a,"
		 "pid=12,uid=0\n");
	look(log);
	assert_int_equal(log->count, 1);
	assert_int_equal(log->found[0].view.pid, 12);
	assert_int_equal(log->found[0].view.value, 0);
	assert_string_equal(log->found[0].text, "");
}

/* A process may name itself as it likes. */
static void a_name_does_not_pass_for_a_pid(void **state)
{
	struct log *log = *state;

	say(log, "6,2,3,-;oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/x,task=a,pid=1,uid=,"
		 "pid=77,uid=0\n");
	look(log);
	assert_int_equal(log->count, 1);
	assert_int_equal(log->found[0].view.pid, 77);
}

static void other_and_damaged_lines_say_nothing(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"6,1,2,-;usb 1-1: new device\n",
		"oom-kill:",
		"oom-kill:oom_memcg=/a",
		"memory: usage 1kB, limit unknown\n",
		"limit 12kB\n",
	};
	struct log *log = *state;

	for (size_t i = 1; i < sizeof(lines) / sizeof(lines[0]); i++)
		say(log, lines[i]);
	look(log);
	assert_int_equal(log->count, 0);
}

/* Longer than any line is taken, and than a text may be. */
static void long_lines_are_cut(void **state)
{
	struct log *log = *state;
	char line[4096];
	int start = snprintf(line, sizeof(line), "oom-kill:,pid=5,oom_memcg=/");

	memset(line + start, 'a', sizeof(line) - (size_t)start);
	strcpy(line + sizeof(line) - 10, ",pid=6\n");
	say(log, line);
	look(log);
	assert_int_equal(log->count, 1);
	assert_int_equal(log->found[0].view.pid, 5);
	assert_true(strlen(log->found[0].text) > 64 && strlen(log->found[0].text) < 128);
	assert_int_equal(strspn(log->found[0].text + 1, "a"), strlen(log->found[0].text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_kill_names_the_process_and_its_cgroup, open_log,
						close_log),
		cmocka_unit_test_setup_teardown(a_kill_without_a_limit_has_none, open_log,
						close_log),
		cmocka_unit_test_setup_teardown(a_name_does_not_pass_for_a_pid, open_log,
						close_log),
		cmocka_unit_test_setup_teardown(other_and_damaged_lines_say_nothing, open_log,
						close_log),
		cmocka_unit_test_setup_teardown(long_lines_are_cut, open_log, close_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
