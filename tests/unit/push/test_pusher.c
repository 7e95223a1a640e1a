// SPDX-License-Identifier: BSD-2-Clause
/* Tests for push/pusher: what cannot be encoded is counted as dropped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <semaphore.h>

#include "base/clock.h"
#include "paper_server.h"
#include "push/pusher.h"

struct journal {
	sem_t is_written;
	char sentence[1024]; /* the first */
};

static void say(void *context, const char *sentence)
{
	struct journal *journal = context;

	if (journal->sentence[0])
		return;
	snprintf(journal->sentence, sizeof(journal->sentence), "%s", sentence);
	sem_post(&journal->is_written);
}

static void write_no_number(void *context, FILE *out)
{
	(void)context;
	fputs("# TYPE broken gauge\nbroken word\n", out);
}

static void a_request_that_cannot_be_encoded_is_dropped(void **state)
{
	struct journal journal = {0};
	struct pusher_options options = {
		.targets = {.items = {{.name = "here",
				       .way = PUSH_OTLP,
				       .where = "http://127.0.0.1:1/",
				       .is_protobuf = true,
				       .interval_ns = 3600 * NS_PER_SECOND}},
			    .count = 1},
		.say = say,
		.write_metrics = write_no_number,
		.context = &journal,
	};
	struct pusher *pusher;
	char *metrics = NULL;
	size_t size;
	FILE *out = open_memstream(&metrics, &size);

	(void)state;
	sem_init(&journal.is_written, 0, 0);
	pusher = pusher_new(&options);
	assert_non_null(pusher);
	sem_wait(&journal.is_written);
	pusher_write_metrics(pusher, out);
	fclose(out);
	pusher_free(pusher);
	assert_string_equal(journal.sentence,
			    "push to here: left out: cannot encode the request as protobuf; set "
			    "encoding = json");
	assert_non_null(strstr(metrics, "{target=\"here\",result=\"failed\"} 0\n"));
	assert_non_null(strstr(metrics, "{target=\"here\",result=\"dropped\"} 1\n"));
	free(metrics);
	sem_destroy(&journal.is_written);
}

static void write_gauge(void *context, FILE *out)
{
	(void)context;
	fputs("# TYPE busy gauge\nbusy 7\n", out);
}

/* Waits until the metrics of the pusher have a line. */
static void await_metric(struct pusher *pusher, const char *line)
{
	for (bool found = false; !found;) {
		char *metrics = NULL;
		size_t size;
		FILE *out = open_memstream(&metrics, &size);

		pusher_write_metrics(pusher, out);
		fclose(out);
		found = strstr(metrics, line) != NULL;
		free(metrics);
		usleep(found ? 0 : 1000);
	}
}

static struct pusher *push_to(const struct paper_server *server, struct journal *journal)
{
	struct pusher_options options = {
		.targets = {.items = {{.name = "here",
				       .way = PUSH_OTLP,
				       .headers = {"X-Token: abc", "X-Tenant: 7"},
				       .header_count = 2,
				       .interval_ns = 3600 * NS_PER_SECOND}},
			    .count = 1},
		.say = say,
		.write_metrics = write_gauge,
		.context = journal,
	};
	struct pusher *pusher;

	snprintf(options.targets.items[0].where, sizeof(options.targets.items[0].where), "%s",
		 server->url);
	pusher = pusher_new(&options);
	assert_non_null(pusher);
	return pusher;
}

static void a_request_has_the_headers_of_its_target(void **state)
{
	struct journal journal = {0};
	struct paper_server server;
	struct pusher *pusher;

	(void)state;
	sem_init(&journal.is_written, 0, 0);
	paper_server_start(&server, 200);
	pusher = push_to(&server, &journal);
	sem_wait(&server.is_asked);
	await_metric(pusher, "{target=\"here\",result=\"sent\"} 1\n");
	pusher_free(pusher);
	assert_int_equal(strncmp(server.request, "POST ", 5), 0);
	assert_non_null(strstr(server.request, "\r\nX-Token: abc\r\n"));
	assert_non_null(strstr(server.request, "\r\nX-Tenant: 7\r\n"));
	assert_non_null(strcasestr(server.request, "\r\nContent-Encoding: gzip\r\n"));
	assert_string_equal(journal.sentence, "");
	paper_server_stop(&server);
	sem_destroy(&journal.is_written);
}

/* It is wrong, and would be the next time. */
static void what_a_server_refuses_is_dropped_and_told(void **state)
{
	struct journal journal = {0};
	struct paper_server server;
	struct pusher *pusher;

	(void)state;
	sem_init(&journal.is_written, 0, 0);
	paper_server_start(&server, 400);
	pusher = push_to(&server, &journal);
	sem_wait(&journal.is_written);
	await_metric(pusher, "{target=\"here\",result=\"dropped\"} 1\n");
	pusher_free(pusher);
	assert_non_null(strstr(journal.sentence, "push to here: refused, and left out: answered "
						 "400: said"));
	assert_int_equal(server.count, 1);
	paper_server_stop(&server);
	sem_destroy(&journal.is_written);
}

static void a_server_that_is_not_ready_is_asked_later(void **state)
{
	struct journal journal = {0};
	struct paper_server server;
	struct pusher *pusher;

	(void)state;
	sem_init(&journal.is_written, 0, 0);
	paper_server_start(&server, 503);
	pusher = push_to(&server, &journal);
	sem_wait(&journal.is_written);
	await_metric(pusher, "{target=\"here\",result=\"failed\"} 1\n");
	pusher_free(pusher);
	assert_non_null(strstr(journal.sentence, "answered 503: said"));
	paper_server_stop(&server);
	sem_destroy(&journal.is_written);
}

static void a_file_that_cannot_be_written_is_told(void **state)
{
	struct journal journal = {0};
	struct pusher_options options = {
		.targets = {.items = {{.name = "node",
				       .way = PUSH_TEXTFILE,
				       .where = "/nowhere/at/all.prom",
				       .interval_ns = 3600 * NS_PER_SECOND}},
			    .count = 1},
		.say = say,
		.write_metrics = write_gauge,
		.context = &journal,
	};
	struct pusher *pusher;

	(void)state;
	sem_init(&journal.is_written, 0, 0);
	pusher = pusher_new(&options);
	sem_wait(&journal.is_written);
	await_metric(pusher, "{target=\"node\",result=\"failed\"} 1\n");
	pusher_free(pusher);
	assert_non_null(strstr(journal.sentence, "push to node: "));
	assert_non_null(strstr(journal.sentence, "No such file"));
	sem_destroy(&journal.is_written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_that_cannot_be_encoded_is_dropped),
		cmocka_unit_test(a_request_has_the_headers_of_its_target),
		cmocka_unit_test(what_a_server_refuses_is_dropped_and_told),
		cmocka_unit_test(a_server_that_is_not_ready_is_asked_later),
		cmocka_unit_test(a_file_that_cannot_be_written_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
