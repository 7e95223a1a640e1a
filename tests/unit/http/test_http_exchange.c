// SPDX-License-Identifier: BSD-2-Clause
/* Tests requests and answers, byte by byte, with a server of one connection at the other end of a
 * socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "http/http_exchange.h"

#define HEARD_SIZE 4096

/* What it hears, and what it says: pieces, each written when the whole request is there. */
struct server {
	int fd;
	char folder[32], path[64], url[64];
	const char *pieces[4];
	size_t wanted; /* bytes of the request before it answers; 0: up to the end of its head */
	char heard[HEARD_SIZE];
	size_t size;
	pthread_t thread;
};

static bool has_heard(const struct server *server)
{
	return server->wanted ? server->size >= server->wanted
			      : strstr(server->heard, "\r\n\r\n") != NULL;
}

static void *serve(void *context)
{
	struct server *server = context;
	int fd = accept(server->fd, NULL, NULL);
	ssize_t got = 1;

	if (fd < 0)
		return NULL;
	while (!has_heard(server) && got > 0) {
		got = read(fd, server->heard + server->size, HEARD_SIZE - 1 - server->size);
		server->size += got > 0 ? (size_t)got : 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(server->pieces) && server->pieces[i]; i++)
		if (write(fd, server->pieces[i], strlen(server->pieces[i])) < 0)
			break;
	close(fd);
	return NULL;
}

static void start(struct server *server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(server->folder, sizeof(server->folder), "/tmp/http-XXXXXX");
	assert_non_null(mkdtemp(server->folder));
	snprintf(server->path, sizeof(server->path), "%s/socket", server->folder);
	strcpy(address.sun_path, server->path);
	server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_return_code(bind(server->fd, (struct sockaddr *)&address, sizeof(address)), errno);
	assert_return_code(listen(server->fd, 1), errno);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop(struct server *server)
{
	shutdown(server->fd, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->fd);
	unlink(server->path);
	rmdir(server->folder);
}

static struct http_request request_to(const struct server *server, const char *url)
{
	return (struct http_request){
		.url = url, .socket_path = server->path, .timeout_seconds = 60};
}

static void a_post_has_headers_and_body(void **state)
{
	static const char expected[] =
		"POST /v1/x?y=1 HTTP/1.1\r\nContent-Length: 10\r\nHost: host:4318\r\n"
		"User-Agent: pkbpf/" PKBPF_VERSION "\r\nConnection: close\r\n"
		"Content-Type: text/plain\r\nX: y\r\n\r\n0123456789";
	static const char *const headers[] = {"Content-Type: text/plain", "X: y", NULL};
	struct server server = {.pieces = {"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n",
					   "Content-Length: 5\r\n\r\nla", "ter"},
				.wanted = sizeof(expected) - 1};
	struct http_request request;
	struct http_answer answer;
	struct error error;

	start(&server);
	request = request_to(&server, "http://host:4318/v1/x?y=1");
	request.headers = headers;
	request.body = "0123456789";
	request.size = 10;
	assert_int_equal(http_exchange_post(&request, &answer, &error), 0);
	stop(&server);
	assert_int_equal(answer.status, 503);
	assert_int_equal(answer.retry_after_seconds, 7);
	assert_string_equal(answer.text, "later");
	assert_string_equal(server.heard, expected);
}

static void a_get_collects_the_whole_body(void **state)
{
	struct server server = {.pieces = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3",
					   "\r\nabc\r\n4\r\nde", "fg\r\n0\r\n\r\n"}};
	struct http_body body = {.most = 7};
	struct http_request request;
	struct http_answer answer;
	struct error error;

	start(&server);
	/* An address without a path asks for the root. */
	request = request_to(&server, "http://[::1]");
	assert_int_equal(http_exchange_get(&request, &body, &answer, &error), 0);
	stop(&server);
	assert_int_equal(answer.status, 200);
	assert_int_equal(body.size, 7);
	assert_memory_equal(body.bytes, "abcdefg", 7);
	assert_ptr_equal(strstr(server.heard, "GET / HTTP/1.1\r\nHost: [::1]\r\n"), server.heard);
	free(body.bytes);
}

static void a_body_beyond_the_limit_is_an_error(void **state)
{
	struct server server = {
		.pieces = {"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n", "abcdefgh"}};
	struct http_body body = {.most = 7};
	struct http_request request;
	struct http_answer answer;
	struct error error;

	start(&server);
	request = request_to(&server, "http://host/");
	assert_int_equal(http_exchange_get(&request, &body, &answer, &error), -EFBIG);
	stop(&server);
	assert_string_equal(error.text, "the answer is longer than 7 bytes");
	assert_null(body.bytes);
}

static void what_is_no_answer_has_its_reason(void **state)
{
	static const struct {
		const char *answer, *said;
		int err;
	} table[] = {
		{"SSH-2.0-OpenSSH_9.2\r\n\r\n", "the answer is no HTTP", -EIO},
		{"HTTP/1.1 200 O", "the answer is cut off", -EIO},
		{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "the answer is cut off", -EIO},
		{"", "the answer is cut off", -EIO},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct server server = {.pieces = {table[i].answer}};
		struct http_body body = {.most = 100};
		struct http_request request;
		struct http_answer answer;
		struct error error = {0};

		start(&server);
		request = request_to(&server, "http://host/");
		assert_int_equal(http_exchange_get(&request, &body, &answer, &error), table[i].err);
		stop(&server);
		assert_string_equal(error.text, table[i].said);
		assert_null(body.bytes);
	}
}

/* It closes without having read the body: what it has said counts, not that sending failed. */
static void an_answer_before_the_end_of_the_request_counts(void **state)
{
	struct server server = {
		.pieces = {"HTTP/1.1 413 Too large\r\nContent-Length: 3\r\n\r\nbig"}};
	size_t size = 64 << 20;
	char *large = calloc(1, size);
	struct http_request request;
	struct http_answer answer;
	struct error error;
	int err;

	assert_non_null(large);
	start(&server);
	request = request_to(&server, "http://host/");
	request.body = large;
	request.size = size;
	err = http_exchange_post(&request, &answer, &error);
	stop(&server);
	free(large);
	/* Of a connection that is reset the answer may be lost. */
	if (answer.status) {
		assert_int_equal(err, 0);
		assert_int_equal(answer.status, 413);
		assert_string_equal(answer.text, "big");
	} else {
		assert_int_equal(err, -EIO);
		assert_true(error.text[0] != '\0');
	}
}

static void a_header_of_two_lines_is_not_sent(void **state)
{
	static const char *const breaks[] = {"A: b\r\nC: d", "A: b\n", "\rA: b"};

	for (size_t i = 0; i < ARRAY_SIZE(breaks); i++) {
		const char *const headers[] = {"Good: one", breaks[i], NULL};
		struct server server = {0};
		struct http_request request;
		struct http_answer answer;
		struct error error;

		start(&server);
		request = request_to(&server, "http://host/");
		request.headers = headers;
		request.timeout_seconds = 0;
		assert_int_equal(http_exchange_post(&request, &answer, &error), -EIO);
		stop(&server);
		assert_string_equal(error.text, "a header of the request has two lines");
		assert_int_equal(server.size, 0);
	}
}

static bool second_time(void *context)
{
	return ++*(int *)context == 2;
}

static void a_request_is_given_up(void **state)
{
	/* It waits for more than there is. */
	struct server server = {.wanted = HEARD_SIZE};
	struct http_request request;
	struct http_answer answer;
	struct error error;
	int asked = 0;

	start(&server);
	request = request_to(&server, "http://host/");
	request.timeout_seconds = 0;
	assert_int_equal(http_exchange_post(&request, &answer, &error), -EIO);
	stop(&server);
	assert_string_equal(error.text, "no answer in time");
	assert_int_equal(answer.status, 0);

	server = (struct server){.wanted = HEARD_SIZE};
	start(&server);
	request = request_to(&server, "http://host/");
	request.is_cancelled = second_time;
	request.context = &asked;
	assert_int_equal(http_exchange_post(&request, &answer, &error), -EIO);
	stop(&server);
	assert_string_equal(error.text, "given up");
	assert_int_equal(asked, 2);
}

static void a_server_that_is_not_there_is_named(void **state)
{
	char path[256];
	struct http_request request = {
		.url = "http://host/", .socket_path = "/nowhere/socket", .timeout_seconds = 60};
	struct http_answer answer;
	struct error error;

	assert_int_equal(http_exchange_post(&request, &answer, &error), -EIO);
	assert_string_equal(error.text, "cannot connect: No such file or directory");
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	request.socket_path = path;
	assert_int_equal(http_exchange_post(&request, &answer, &error), -EIO);
	assert_string_equal(error.text, "the path of the socket is too long");
	request.socket_path = NULL;
	request.url = "http://host:port/";
	assert_int_equal(http_exchange_post(&request, &answer, &error), -EIO);
	assert_string_equal(error.text, "'http://host:port/' is no address");
}

static void a_host_is_asked_at_its_port(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	struct server server = {.pieces = {"HTTP/1.1 204 None\r\n\r\n"}};
	struct http_request request = {.url = server.url, .timeout_seconds = 60};
	struct http_answer answer;
	struct error error;

	server.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_return_code(bind(server.fd, (struct sockaddr *)&address, size), errno);
	assert_return_code(listen(server.fd, 1), errno);
	assert_return_code(getsockname(server.fd, (struct sockaddr *)&address, &size), errno);
	snprintf(server.url, sizeof(server.url), "http://127.0.0.1:%u/x", ntohs(address.sin_port));
	assert_int_equal(pthread_create(&server.thread, NULL, serve, &server), 0);
	assert_int_equal(http_exchange_post(&request, &answer, &error), 0);
	assert_int_equal(answer.status, 204);
	assert_ptr_equal(strstr(server.heard, "GET /x HTTP/1.1\r\nHost: 127.0.0.1:"), server.heard);
	pthread_join(server.thread, NULL);
	close(server.fd);
	/* Nobody listens there any more. */
	assert_int_equal(http_exchange_post(&request, &answer, &error), -EIO);
	assert_string_equal(error.text, "cannot connect: Connection refused");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_post_has_headers_and_body),
		cmocka_unit_test(a_get_collects_the_whole_body),
		cmocka_unit_test(a_body_beyond_the_limit_is_an_error),
		cmocka_unit_test(what_is_no_answer_has_its_reason),
		cmocka_unit_test(an_answer_before_the_end_of_the_request_counts),
		cmocka_unit_test(a_header_of_two_lines_is_not_sent),
		cmocka_unit_test(a_request_is_given_up),
		cmocka_unit_test(a_server_that_is_not_there_is_named),
		cmocka_unit_test(a_host_is_asked_at_its_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
