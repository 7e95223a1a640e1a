// SPDX-License-Identifier: BSD-2-Clause
/* Tests when servers are asked for debug files, and what is said when they do not answer. */
#include "symbol/elf/debuginfod.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/clock.h"
#include "symbol/symbol_notes.h"

static const struct build_id id = {.size = 20, .bytes = {0xab, 0x01, 0x23}};

/* A server that accepts and never answers; its address is in DEBUGINFOD_URLS. */
static int silent_server(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char url[64];

	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, true);
	return fd;
}

static void assert_told(const struct debuginfod *debuginfod, const char *text)
{
	struct symbol_notes notes = {0};

	debuginfod_tell(debuginfod, &notes);
	assert_int_equal(notes.count, 1);
	/* Where the library is missing, that is said. */
	if (!strstr(notes.items[0], "not installed"))
		assert_non_null(strstr(notes.items[0], text));
	symbol_notes_done(&notes);
}

static void asks_nobody_while_events_are_recorded(void **state)
{
	struct debuginfod *debuginfod = debuginfod_new(NS_PER_SECOND);
	struct symbol_notes notes = {0};
	int fd = silent_server();
	uint64_t begin_ns = clock_now_ns();

	assert_false(debuginfod_is_allowed(debuginfod));
	assert_int_equal(debuginfod_open(debuginfod, &id), -ENOENT);
	assert_true(clock_now_ns() - begin_ns < NS_PER_SECOND);
	debuginfod_tell(debuginfod, &notes);
	assert_int_equal(notes.count, 0);
	debuginfod_free(debuginfod);
	close(fd);
}

static void a_server_that_does_not_answer_is_given_up(void **state)
{
	struct debuginfod *debuginfod = debuginfod_new(NS_PER_SECOND / 4);
	int fd = silent_server();

	debuginfod_allow(debuginfod);
	assert_true(debuginfod_open(debuginfod, &id) < 0);
	/* Asking the next time would wait again. */
	assert_int_equal(debuginfod_open(debuginfod, &id), -ENOENT);
	assert_told(debuginfod, "no answer within the limit (--debuginfod-limit); found 0 of 2");
	debuginfod_free(debuginfod);
	close(fd);
}

static void a_server_that_is_not_there_is_told(void **state)
{
	struct debuginfod *debuginfod = debuginfod_new(20 * NS_PER_SECOND);

	close(silent_server());
	debuginfod_allow(debuginfod);
	/* It may be there again for the next file; not after the third. */
	for (int i = 0; i < 3; i++)
		assert_int_not_equal(debuginfod_open(debuginfod, &id), -ENOENT);
	assert_int_equal(debuginfod_open(debuginfod, &id), -ENOENT);
	assert_told(debuginfod, "Connection refused; found 0 of 4");
	debuginfod_free(debuginfod);
}

static void without_servers_nothing_is_found(void **state)
{
	struct debuginfod *debuginfod = debuginfod_new(20 * NS_PER_SECOND);

	unsetenv("DEBUGINFOD_URLS");
	debuginfod_allow(debuginfod);
	assert_true(debuginfod_open(debuginfod, &id) < 0);
	assert_told(debuginfod, "DEBUGINFOD_URLS is not set");
	debuginfod_free(debuginfod);
}

static char cache[] = "/tmp/pkbpf-debuginfod-XXXXXX";

/* The library leaves files in its cache, which it may only if that is the user's. */
static void look_ups_have_the_rights_of_their_user(void **state)
{
	const struct debuginfod_user user = {.uid = 65534, .gid = 65534, .home = cache};
	struct debuginfod *debuginfod = debuginfod_new(20 * NS_PER_SECOND);
	char path[128];
	struct stat status;

	if (geteuid() != 0 || dlopen("libdebuginfod.so.1", RTLD_NOW) == NULL) {
		debuginfod_free(debuginfod);
		skip();
	}
	snprintf(path, sizeof(path), "%s/users", cache);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(cache, 0755), 0);
	assert_int_equal(chown(path, user.uid, user.gid), 0);
	setenv("DEBUGINFOD_CACHE_PATH", path, true);
	close(silent_server());
	debuginfod_run_as(debuginfod, &user);
	debuginfod_allow(debuginfod);
	for (int i = 0; i < 3; i++)
		assert_true(debuginfod_open(debuginfod, &id) < 0);
	assert_told(debuginfod, "Connection refused; found 0 of 3");
	debuginfod_free(debuginfod);
	snprintf(path, sizeof(path), "%s/users/cache_clean_interval_s", cache);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_uid, user.uid);
	assert_int_equal(status.st_gid, user.gid);
	setenv("DEBUGINFOD_CACHE_PATH", cache, true);
}

static int begin(void **state)
{
	assert_non_null(mkdtemp(cache));
	return setenv("DEBUGINFOD_CACHE_PATH", cache, true);
}

static int end(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", cache);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_nobody_while_events_are_recorded),
		cmocka_unit_test(a_server_that_does_not_answer_is_given_up),
		cmocka_unit_test(a_server_that_is_not_there_is_told),
		cmocka_unit_test(without_servers_nothing_is_found),
		cmocka_unit_test(look_ups_have_the_rights_of_their_user),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
