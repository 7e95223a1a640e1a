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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_that_cannot_be_encoded_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
