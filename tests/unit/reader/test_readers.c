// SPDX-License-Identifier: BSD-2-Clause
/* What a reader may do, what it costs when it dies, hangs or lies, and that none is left. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "reader/reader_jail.h"
#include "reader/readers_private.h"

#define LARGE_BYTES (3U << 20)
#define LIMIT_NS    (300 * NS_PER_MS)
#define MANY_FILES  256

enum deed {
	SAYS,
	SAYS_MUCH,
	SAYS_SIZE,
	SAYS_OPEN,
	TRIES,
	WANTS,
	DIES,
	DIES_LATE,
	HANGS,
	FAILS,
	LIES
};

static char much[LARGE_BYTES];

static int say(struct reader_reply *reply, const void *bytes, size_t size)
{
	reply->pieces[0] = (struct iovec){(void *)bytes, size};
	reply->count = 1;
	return 0;
}

/* Holes 0 and 1: files that anybody may read, which sanitizers open as well. */
#ifdef READER_IS_SANITIZED
#define ACCEPTED_HOLES 3U
#else
#define ACCEPTED_HOLES 0U
#endif

/* Bit set: it could do what it must not. */
static uint32_t find_holes(void)
{
	int pid = (int)getppid();
	const bool could[] = {
		open("/etc/passwd", O_RDONLY) >= 0,
		open("/proc/self/status", O_RDONLY) >= 0,
		socket(AF_INET, SOCK_STREAM, 0) >= 0,
		socket(AF_UNIX, SOCK_STREAM, 0) >= 0,
		kill(pid, 0) == 0,
		syscall(SYS_process_vm_readv, pid, NULL, 0, NULL, 0, 0) >= 0,
		fork() >= 0,
		prctl(PR_SET_DUMPABLE, 1) == 0,
		fcntl(0, F_SETOWN, pid) == 0,
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
			MAP_FAILED,
		geteuid() == 0 && syscall(SYS_setuid, 0) == 0,
		unlink("/tmp/pkbpf-none") == 0 || errno == ENOENT,
	};
	uint32_t holes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(could); i++)
		holes |= (uint32_t)could[i] << i;
	return holes;
}

/* Descriptors that are open. */
static uint32_t count_open(void)
{
	struct stat status;
	uint32_t count = 0;

	for (int fd = 0; fd < MANY_FILES; fd++)
		count += fstat(fd, &status) == 0;
	return count;
}

/* Time in the kernel, most of it. */
static void spend(uint64_t cpu_ns)
{
	while (clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) < cpu_ns)
		count_open();
}

/* What follows the deed is the name of a further file. */
static int say_size_of_further(const struct reader_request *request, struct reader_reply *reply)
{
	static struct stat status;
	const char *name = (const char *)request->bytes + sizeof(enum deed);
	int fd = reader_request_file(request, name, request->size - sizeof(enum deed));

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) < 0)
		return -errno;
	close(fd);
	return say(reply, &status.st_size, sizeof(status.st_size));
}

static int serve(const struct reader_request *request, struct reader_reply *reply)
{
	static uint32_t holes, open_files;
	static struct stat status;

	switch (*(const enum deed *)request->bytes) {
	case SAYS:
		return say(reply, "hello", 5);
	case SAYS_MUCH:
		return say(reply, much, sizeof(much));
	case SAYS_SIZE:
		if (fstat(request->fd, &status) < 0)
			return -errno;
		return say(reply, &status.st_size, sizeof(status.st_size));
	case TRIES:
		holes = find_holes();
		return say(reply, &holes, sizeof(holes));
	case SAYS_OPEN:
		open_files = count_open();
		return say(reply, &open_files, sizeof(open_files));
	case WANTS:
		return say_size_of_further(request, reply);
	case DIES_LATE:
		spend(LIMIT_NS / 2);
		__builtin_trap();
	case DIES:
		__builtin_trap();
	case HANGS:
		for (volatile int i = 0;; i++)
			;
	case FAILS:
		return -ENOEXEC;
	case LIES:
		return -ENOTCONN;
	default:
		return -EINVAL;
	}
}

static const reader_serve_fn services[READER_SERVICES] = {serve};

struct told {
	int count;
	char last[256];
};

static void take_log(void *context, enum log_level level, const char *text)
{
	struct told *told = context;

	told->count++;
	snprintf(told->last, sizeof(told->last), "%s", text);
}

static struct readers *begin(void)
{
	struct readers *readers = NULL;
	struct error error;

	int err = readers_start(services, &readers, &error);

	/* A kernel, or an emulator, without filters of system calls. */
	if (err == -ENOSYS || err == -EINVAL) {
		print_message("%s\n", error.text);
		skip();
	}
	if (err)
		fail_msg("%s", error.text);
	return readers;
}

static struct reader_question question_of(enum reader_lane lane, const enum deed *deed, int fd)
{
	return (struct reader_question){
		.lane = lane,
		.service = READER_BUILDS_TABLE,
		.fd = fd,
		.bytes = deed,
		.size = sizeof(*deed),
		.name = "/lib/libx.so",
		.cpu_limit_ns = LIMIT_NS,
	};
}

static int ask(struct readers *readers, enum deed deed, int fd, struct reader_answer *answer)
{
	struct reader_question question = question_of(READER_NAMES, &deed, fd);

	return readers_ask(readers, &question, answer);
}

static void require_hello(struct readers *readers)
{
	struct reader_answer answer;

	assert_int_equal(ask(readers, SAYS, -1, &answer), 0);
	assert_int_equal(answer.size, 5);
	assert_memory_equal(answer.bytes, "hello", 5);
	reader_answer_done(&answer);
}

static void test_answers(void **state)
{
	struct readers *readers = begin();
	struct reader_answer answer;
	int fd = reader_memory_file("12345678", 8);
	off_t size;

	memset(much, 'm', sizeof(much));
	require_hello(readers);
	assert_int_equal(ask(readers, SAYS_MUCH, -1, &answer), 0);
	assert_int_equal(answer.size, sizeof(much));
	assert_non_null(answer.mapping);
	reader_answer_done(&answer);
	assert_int_equal(ask(readers, SAYS_SIZE, fd, &answer), 0);
	memcpy(&size, answer.bytes, sizeof(size));
	assert_int_equal(size, 8);
	reader_answer_done(&answer);
	assert_int_equal(ask(readers, FAILS, -1, &answer), -ENOEXEC);
	assert_int_equal(readers_lost_files(readers), 0);
	assert_true(readers_cpu_ns(readers) > 0);
	/* A page at least, and no more than what the much takes twice over, and what code has. */
	assert_in_range(readers_memory_bytes(readers), 4096, 256U << 20);
	assert_int_equal(readers_keeper(readers), readers->keeper);
	assert_int_equal(readers_keeper(NULL), 0);
	close(fd);
	readers_stop(readers);
}

static void test_has_no_rights(void **state)
{
	struct readers *readers = begin();
	struct reader_answer answer;
	uint32_t holes;

	assert_int_equal(ask(readers, TRIES, -1, &answer), 0);
	memcpy(&holes, answer.bytes, sizeof(holes));
	reader_answer_done(&answer);
	readers_stop(readers);
	assert_int_equal(holes & ~ACCEPTED_HOLES, 0);
}

/* Descriptors of a process, which is ours. */
static uint32_t open_files_of(pid_t pid)
{
	char path[64];
	uint32_t count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	assert_non_null(folder);
	for (struct dirent *each; (each = readdir(folder));)
		count += each->d_name[0] != '.';
	closedir(folder);
	return count;
}

static void test_has_only_its_own_files(void **state)
{
	static const int places[] = {20, 21, 23, 40, 99, 200};
	const struct rlimit many = {4096, 4096};
	struct reader_answer answer;
	struct readers *readers;
	uint32_t count;

	setrlimit(RLIMIT_NOFILE, &many);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		assert_int_equal(dup2(STDOUT_FILENO, places[i]), places[i]);
	readers = begin();
	assert_int_equal(ask(readers, SAYS_OPEN, -1, &answer), 0);
	memcpy(&count, answer.bytes, sizeof(count));
	reader_answer_done(&answer);
	/* The standard ones, and its lane; of the keeper: all lanes, orders, and ends of readers.
	 */
	assert_int_equal(count, 3 + 1);
	if (geteuid() == 0)
		assert_int_equal(open_files_of(readers->keeper), 3 + READER_LANES + 2);
	readers_stop(readers);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		close(places[i]);
}

static int open_further(void *context, const void *bytes, size_t size)
{
	const char *name = bytes;

	(*(int *)context)++;
	if (size != 5 || memcmp(name, "other", 5) != 0)
		return -ENOENT;
	return reader_memory_file("123456", 6);
}

static int want(struct readers *readers, const char *name, int *asked, struct reader_answer *answer)
{
	struct reader_question question = question_of(READER_NAMES, NULL, -1);
	const enum deed wants = WANTS;
	static char bytes[sizeof(wants) + 2 * READER_MAX_REQUEST_BYTES];

	memcpy(bytes, &wants, sizeof(wants));
	snprintf(bytes + sizeof(wants), sizeof(bytes) - sizeof(wants), "%s", name);
	question.bytes = bytes;
	question.size = sizeof(wants) + strlen(name);
	question.open = asked ? open_further : NULL;
	question.context = asked;
	return readers_ask(readers, &question, answer);
}

static void test_further_files(void **state)
{
	struct readers *readers = begin();
	uint32_t open_before = open_files_of(getpid());
	struct reader_answer answer;
	int asked = 0;
	off_t size;

	for (int i = 1; i <= 3; i++) {
		assert_int_equal(want(readers, "other", &asked, &answer), 0);
		assert_int_equal(asked, i);
		assert_int_equal(answer.size, sizeof(size));
		memcpy(&size, answer.bytes, sizeof(size));
		assert_int_equal(size, 6);
		reader_answer_done(&answer);
	}
	assert_int_equal(want(readers, "mother", &asked, &answer), -ENOENT);
	assert_int_equal(asked, 4);
	assert_int_equal(want(readers, "other", NULL, &answer), -EPERM);
	/* A file more would be open here, or there. */
	assert_int_equal(open_files_of(getpid()), open_before);
	assert_int_equal(ask(readers, SAYS_OPEN, -1, &answer), 0);
	assert_int_equal(*(const uint32_t *)answer.bytes, 3 + 1);
	reader_answer_done(&answer);
	readers_stop(readers);
}

/* Only this program sends orders; a descriptor in one is none that is kept. */
static void test_orders_leave_nothing_open(void **state)
{
	const struct reader_order orders[] = {{.lane = READER_TABLES}, {.lane = READER_LANES}};
	struct readers *readers;
	uint32_t before;

	if (geteuid() != 0)
		skip();
	readers = begin();
	require_hello(readers);
	before = open_files_of(readers->keeper);
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		assert_int_equal(reader_send(readers->control_fd, &orders[i], sizeof(orders[i]),
					     NULL, 0, STDOUT_FILENO),
				 0);
	/* It answers in the order in which it was asked: the reader of this one dies behind them.
	 */
	assert_int_equal(ask(readers, DIES, -1, &(struct reader_answer){0}), -EPIPE);
	require_hello(readers);
	assert_int_equal(open_files_of(readers->keeper), before);
	readers_stop(readers);
}

static void test_time_of_the_dead_counts(void **state)
{
	struct readers *readers = begin();
	struct reader_answer answer;

	for (uint64_t i = 1; i <= 2; i++) {
		assert_int_equal(ask(readers, DIES_LATE, -1, &answer), -EPIPE);
		require_hello(readers);
		/* Its time in the kernel, too. */
		assert_in_range(readers_cpu_ns(readers), i * LIMIT_NS * 9 / 20, i * LIMIT_NS * 10);
	}
	readers_stop(readers);
}

static void test_death_costs_one_answer(void **state)
{
	struct readers *readers = begin();
	struct told told = {0};
	const struct log log = {LOG_WARNING, take_log, &told};
	struct reader_answer answer;

	readers_set_log(readers, &log);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ask(readers, DIES, -1, &answer), -EPIPE);
		require_hello(readers);
	}
	assert_int_equal(told.count, 3);
	assert_non_null(strstr(told.last, "libx.so"));
	assert_int_equal(readers_lost_files(readers), 3);
	readers_stop(readers);
}

static void test_loop_costs_one_answer(void **state)
{
	struct readers *readers = begin();
	struct reader_answer answer;

	assert_int_equal(ask(readers, HANGS, -1, &answer), -ETIMEDOUT);
	require_hello(readers);
	/* The time that was spent counts, although its process is gone. */
	assert_true(readers_cpu_ns(readers) >= LIMIT_NS / 2);
	assert_int_equal(readers_lost_files(readers), 1);
	readers_stop(readers);
}

static int await(struct readers *readers, struct reader_asked *asked, struct reader_answer *answer)
{
	const struct reader_asked *const all[] = {asked};
	int err;

	while ((err = readers_look(readers, asked, answer)) == -EAGAIN)
		readers_wait(readers, all, 1, 50);
	return err;
}

static void test_loop_holds_up_nobody_else(void **state)
{
	const enum deed hangs = HANGS, says = SAYS;
	struct readers *readers = begin();
	struct reader_question slow = question_of(READER_TABLES, &hangs, -1),
			       quick = question_of(READER_TABLES_BESIDE, &says, -1);
	struct reader_asked slow_asked, quick_asked;
	struct reader_answer answer;

	assert_int_equal(readers_begin(readers, &slow, &slow_asked), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(readers_begin(readers, &quick, &quick_asked), 0);
		assert_int_equal(await(readers, &quick_asked, &answer), 0);
		assert_memory_equal(answer.bytes, "hello", 5);
		reader_answer_done(&answer);
	}
	assert_int_equal(await(readers, &slow_asked, &answer), -ETIMEDOUT);
	assert_int_equal(readers_lost_files(readers), 1);
	/* Nobody waits for this one, and its answer is none to the next question. */
	slow.bytes = &says;
	assert_int_equal(readers_begin(readers, &slow, &slow_asked), 0);
	readers_drop(readers, &slow_asked);
	assert_int_equal(readers_begin(readers, &slow, &slow_asked), 0);
	assert_int_equal(await(readers, &slow_asked, &answer), 0);
	reader_answer_done(&answer);
	readers_stop(readers);
}

/* No reader may have its file read with more rights. */
static void test_lie(void **state)
{
	struct readers *readers = begin();
	struct reader_answer answer;

	assert_int_equal(ask(readers, LIES, -1, &answer), -EBADMSG);
	require_hello(readers);
	readers_stop(readers);
}

static void test_none(void **state)
{
	struct reader_answer answer;

	assert_int_equal(ask(NULL, SAYS, -1, &answer), -ENOTCONN);
	assert_int_equal(readers_cpu_ns(NULL), 0);
	assert_int_equal(readers_memory_bytes(NULL), 0);
	readers_stop(NULL);
}

/* Faults on request, for integration tests: at the file that is meant, and at no other. */
static void test_hooks(void **state)
{
	static const struct {
		const char *wanted;
		int err;
	} rows[] = {
		{"crash:libx.so", -EPIPE}, {"loop:libx.so", -ETIMEDOUT},
		{"rubbish:libx.so", 0},	   {"rubbish:/lib/libx.so", 0},
		{"crash:x.so", 0},	   {"crash:", 0},
	};
	struct readers *readers = begin();
	struct reader_answer answer;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int err;

		setenv("PKBPF_READER_FAULT", rows[i].wanted, 1);
		err = ask(readers, SAYS, -1, &answer);
		if (i == 0 && !err) {
			readers_stop(readers);
			skip(); /* built without */
		}
		assert_int_equal(err, rows[i].err);
		if (err)
			continue;
		assert_int_equal(answer.size, 5);
		assert_int_equal(memcmp(answer.bytes, "hello", 5) != 0, i == 2);
		reader_answer_done(&answer);
	}
	unsetenv("PKBPF_READER_FAULT");
	require_hello(readers);
	assert_int_equal(readers_lost_files(readers), 2);
	readers_stop(readers);
}

static bool lives(pid_t pid)
{
	return kill(pid, 0) == 0 || errno != ESRCH;
}

static void test_end_of_keeper(void **state)
{
	struct readers *readers = begin();
	struct told told = {0};
	const struct log log = {LOG_WARNING, take_log, &told};
	struct reader_answer answer;

	readers_set_log(readers, &log);
	require_hello(readers);
	kill(readers->keeper, SIGKILL);
	/* The socket is closed when both have ended. */
	for (int i = 0; i < 1000 && ask(readers, SAYS, -1, &answer) == 0; i++) {
		reader_answer_done(&answer);
		usleep(10000);
	}
	/* Never read with the rights of the program instead. */
	assert_int_equal(ask(readers, SAYS, -1, &answer), -EPIPE);
	assert_int_equal(told.count, 1);
	assert_true(readers_lost_files(readers) >= 1);
	readers_stop(readers);
	readers = readers_none();
	assert_int_equal(ask(readers, SAYS, -1, &answer), -EPIPE);
	readers_stop(readers);
}

/* Numbers of the process in a line of its status, the second of which is the effective one. */
static uint32_t user_of(pid_t pid)
{
	char path[64], line[256];
	uint32_t user = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "Uid: %*u %u", &user);
	fclose(file);
	return user;
}

static void test_no_other_process_may_stop_them(void **state)
{
	struct readers *readers = begin();
	pid_t reader;

	if (geteuid() != 0)
		skip();
	require_hello(readers);
	reader = readers->board->lanes[READER_NAMES].pid;
	assert_int_equal(user_of(readers->keeper), 0);
	assert_int_not_equal(user_of(reader), 0);
	assert_int_not_equal(user_of(reader), 65534);
	readers_stop(readers);
}

/* One that has ended may wait for its new parent to take note. */
static bool has_memory(pid_t pid)
{
	unsigned long pages = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages > 0;
}

static void test_stopped_processes_end(void **state)
{
	struct readers *readers = begin();
	pid_t keeper = readers->keeper, reader;
	uint64_t begin_ns = clock_now_ns();

	require_hello(readers);
	reader = readers->board->lanes[READER_NAMES].pid;
	kill(reader, SIGSTOP);
	kill(keeper, SIGSTOP);
	readers_stop(readers);
	assert_true(clock_now_ns() - begin_ns < 10 * NS_PER_SECOND);
	assert_false(lives(keeper));
	for (int i = 0; i < 1000 && has_memory(reader); i++)
		usleep(1000);
	assert_false(has_memory(reader));
}

static void test_a_keeper_that_does_nothing_is_given_up(void **state)
{
	struct readers *readers = begin();
	struct told told = {0};
	const struct log log = {LOG_WARNING, take_log, &told};
	uint64_t begin_ns = clock_now_ns();
	const enum deed says = SAYS;
	struct reader_question question = question_of(READER_NAMES, &says, -1);
	struct reader_answer answer;

	readers_set_log(readers, &log);
	kill(readers->keeper, SIGSTOP);
	question.cpu_limit_ns = 100 * NS_PER_SECOND;
	assert_int_equal(readers_ask(readers, &question, &answer), -EPIPE);
	assert_int_equal(readers_ask(readers, &question, &answer), -EPIPE);
	assert_true(clock_now_ns() - begin_ns < 15 * NS_PER_SECOND);
	assert_int_equal(told.count, 1);
	readers_stop(readers);
}

static void test_nobody_is_left(void **state)
{
	struct readers *readers = begin();
	pid_t keeper = readers->keeper, reader;

	require_hello(readers);
	reader = readers->board->lanes[READER_NAMES].pid;
	assert_true(lives(keeper));
	assert_true(lives(reader));
	readers_stop(readers);
	assert_false(lives(keeper));
	assert_false(lives(reader));
}

/* ---- answers that no sound reader gives ---- */

static int memory_file(size_t size, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	if (seals)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void test_files_that_may_change(void **state)
{
	const int all = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
	struct reader_answer answer;

	assert_int_equal(reader_answer_map(memory_file(4096, 0), 4096, &answer), -EBADMSG);
	assert_int_equal(reader_answer_map(memory_file(4096, F_SEAL_WRITE), 4096, &answer),
			 -EBADMSG);
	assert_int_equal(reader_answer_map(memory_file(4096, all), 8192, &answer), -EBADMSG);
	assert_int_equal(reader_answer_map(memory_file(0, all), 0, &answer), -EBADMSG);
	assert_int_equal(reader_answer_map(open("/dev/zero", O_RDONLY), 4096, &answer), -EBADMSG);
	assert_int_equal(reader_answer_map(memory_file(4096, all), 4096, &answer), 0);
	reader_answer_done(&answer);
}

static void test_messages(void **state)
{
	struct reader_packet packet = {.head.tell = {.kind = READER_ANSWERS, .size = 4}};
	const size_t head = sizeof(packet.head.tell);
	struct reader_answer answer;

	assert_int_equal(reader_answer_take(&packet, head + 4, -1, &answer), 0);
	assert_int_equal(answer.size, 4);
	reader_answer_done(&answer);
	assert_int_equal(reader_answer_take(&packet, head + 3, -1, &answer), -EBADMSG);
	assert_int_equal(reader_answer_take(&packet, head - 1, -1, &answer), -EBADMSG);
	packet.head.tell.result = 1;
	assert_int_equal(reader_answer_take(&packet, head + 4, -1, &answer), -EBADMSG);
	packet.head.tell.result = INT32_MIN;
	assert_int_equal(reader_answer_take(&packet, head + 4, -1, &answer), -EBADMSG);
	packet.head.tell.result = 0;
	packet.head.tell.kind = 7;
	assert_int_equal(reader_answer_take(&packet, head + 4, -1, &answer), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_has_no_rights),
		cmocka_unit_test(test_has_only_its_own_files),
		cmocka_unit_test(test_further_files),
		cmocka_unit_test(test_orders_leave_nothing_open),
		cmocka_unit_test(test_time_of_the_dead_counts),
		cmocka_unit_test(test_death_costs_one_answer),
		cmocka_unit_test(test_loop_costs_one_answer),
		cmocka_unit_test(test_loop_holds_up_nobody_else),
		cmocka_unit_test(test_lie),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_hooks),
		cmocka_unit_test(test_end_of_keeper),
		cmocka_unit_test(test_nobody_is_left),
		cmocka_unit_test(test_no_other_process_may_stop_them),
		cmocka_unit_test(test_stopped_processes_end),
		cmocka_unit_test(test_a_keeper_that_does_nothing_is_given_up),
		cmocka_unit_test(test_files_that_may_change),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
