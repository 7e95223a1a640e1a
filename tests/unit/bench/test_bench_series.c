// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "bench/bench_series.h"

static const struct invoking_user nobody;

#define WORDS(...) ((char **)(const char *[]){__VA_ARGS__, NULL})

struct fixture {
	struct bench bench;
	struct launcher *launcher;
	struct bench_series_options options;
	struct error error;
	int failure;
};

static enum bench_end run(struct fixture *fixture, char **const *commands, size_t count)
{
	struct launcher_options options = {.user = &nobody, .commands = commands};
	sigset_t mask;

	sigemptyset(&mask);
	options.mask = &mask;
	bench_init(&fixture->bench);
	fixture->bench.seed = 5;
	for (size_t i = 0; i < count; i++)
		bench_add_variant(&fixture->bench, commands[i][0]);
	fixture->launcher = launcher_start(&options, &fixture->error);
	assert_non_null(fixture->launcher);
	fixture->options.launcher = fixture->launcher;
	return bench_series_run(&fixture->bench, &fixture->options, NULL, &fixture->failure,
				&fixture->error);
}

static void done(struct fixture *fixture)
{
	launcher_free(fixture->launcher);
	bench_done(&fixture->bench);
}

static struct fixture fixture_of(uint32_t runs, uint32_t warmup)
{
	return (struct fixture){.options = {.runs = runs,
					    .warmup = warmup,
					    .setup = BENCH_NO_COMMAND,
					    .prepare = BENCH_NO_COMMAND,
					    .conclude = BENCH_NO_COMMAND,
					    .stop_fd = -1}};
}

static void each_round_runs_every_variant_in_the_order_of_the_seed(void **state)
{
	char **const three[] = {WORDS("true"), WORDS("true", "b"), WORDS("true", "c")};
	struct fixture fixture = fixture_of(4, 1);
	uint32_t order[3];
	bool differs = false;

	(void)state;
	assert_int_equal(run(&fixture, three, 3), BENCH_END_COMPLETE);
	assert_int_equal(fixture.bench.runs.count, 15);
	for (uint32_t round = 0; round < 5; round++) {
		bench_order(5, round, 3, order);
		for (uint32_t i = 0; i < 3; i++) {
			const struct bench_run *one = &fixture.bench.runs.items[round * 3 + i];

			assert_int_equal(one->variant, order[i]);
			assert_int_equal(one->is_warmup, round == 0);
			assert_int_equal(one->number, round == 0 ? 1 : round);
			differs |= order[i] != i;
		}
	}
	assert_true(differs);
	assert_int_equal(bench_run_count(&fixture.bench, 1), 4);
	done(&fixture);
}

static void blocks_run_one_variant_after_the_other(void **state)
{
	char **const three[] = {WORDS("true"), WORDS("true", "b"), WORDS("true", "c")};
	struct fixture fixture = fixture_of(2, 1);

	(void)state;
	fixture.options.blocks = true;
	assert_int_equal(run(&fixture, three, 3), BENCH_END_COMPLETE);
	assert_int_equal(fixture.bench.runs.count, 9);
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(fixture.bench.runs.items[i].variant, i / 3);
	done(&fixture);
}

static void knows_what_every_user_may_know(void **state)
{
	char **const commands[] = {WORDS("sh", "-c", "sleep 0.05; exit 3")};
	struct fixture fixture = fixture_of(2, 0);

	(void)state;
	fixture.options.ignore_failure = true;
	assert_int_equal(run(&fixture, commands, 1), BENCH_END_COMPLETE);
	array_foreach(&fixture.bench.runs, one) {
		assert_int_equal(one->status, 3);
		assert_true(bench_run_counts(one));
		assert_true(bench_run_knows(one, BENCH_WALL));
		assert_true(one->values[BENCH_WALL] >= 50e6);
		assert_true(one->values[BENCH_MINOR_FAULTS] > 0);
		assert_true(one->values[BENCH_PEAK_RSS] > 0);
		assert_int_equal(one->left_behind, 0);
	}
	done(&fixture);
}

static void a_failure_ends_the_series(void **state)
{
	char **const commands[] = {WORDS("false")};
	struct fixture fixture = fixture_of(5, 0);

	(void)state;
	assert_int_equal(run(&fixture, commands, 1), BENCH_END_FAILED);
	assert_int_equal(fixture.bench.runs.count, 1);
	assert_int_equal(bench_run_count(&fixture.bench, 0), 0);
	assert_non_null(strstr(fixture.error.text, "status 1"));
	done(&fixture);
}

static void a_command_that_hangs_is_ended_with_all_it_has_started(void **state)
{
	char **const commands[] = {WORDS("sh", "-c", "sleep 1000 & sleep 1000")};
	struct fixture fixture = fixture_of(5, 0);

	(void)state;
	fixture.options.timeout_ns = 50000000;
	assert_int_equal(run(&fixture, commands, 1), BENCH_END_FAILED);
	assert_true(fixture.bench.runs.items[0].timed_out);
	done(&fixture);
}

static void says_that_a_command_does_not_exist(void **state)
{
	char **const commands[] = {WORDS("/nonexistent/program")};
	struct fixture fixture = fixture_of(5, 0);

	(void)state;
	assert_int_equal(run(&fixture, commands, 1), BENCH_END_NOT_STARTED);
	assert_int_equal(fixture.failure, ENOENT);
	assert_non_null(strstr(fixture.error.text, "/nonexistent/program"));
	done(&fixture);
}

static void counts_what_a_run_leaves_behind(void **state)
{
	char **const commands[] = {WORDS("sh", "-c", "sleep 0.2 & sleep 0.2 & exit 0")};
	struct fixture fixture = fixture_of(1, 0);

	(void)state;
	assert_int_equal(run(&fixture, commands, 1), BENCH_END_COMPLETE);
	assert_in_range(fixture.bench.runs.items[0].left_behind, 1, 2);
	done(&fixture);
}

static void stops_early_when_asked_and_keeps_what_there_is(void **state)
{
	char **const three[] = {WORDS("true"), WORDS("true", "b"), WORDS("true", "c")};
	struct fixture fixture = fixture_of(5, 0);
	int pipe_fds[2];

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	fixture.options.stop_fd = pipe_fds[0];
	assert_int_equal(run(&fixture, three, 3), BENCH_END_STOPPED);
	assert_true(fixture.bench.interrupted);
	assert_int_equal(fixture.bench.runs.count, 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	done(&fixture);
}

static void prepares_and_concludes_each_run_and_sets_up_once(void **state)
{
	char path[] = "/tmp/pkbpf-bench-XXXXXX", text[128], line[64] = "";
	int fd = mkstemp(path);
	char prepare[128], conclude[128];
	char **const commands[] = {WORDS("true"), WORDS("sh", "-c", text),
				   WORDS("sh", "-c", prepare), WORDS("sh", "-c", conclude)};
	struct fixture fixture = fixture_of(2, 0);
	struct launcher_options options = {.user = &nobody, .commands = commands};
	sigset_t mask;

	(void)state;
	snprintf(text, sizeof(text), "printf s >> %s", path);
	snprintf(prepare, sizeof(prepare), "printf p >> %s", path);
	snprintf(conclude, sizeof(conclude), "printf c >> %s", path);
	sigemptyset(&mask);
	options.mask = &mask;
	fixture.options.setup = 1;
	fixture.options.prepare = 2;
	fixture.options.conclude = 3;
	bench_init(&fixture.bench);
	bench_add_variant(&fixture.bench, "true");
	fixture.launcher = launcher_start(&options, &fixture.error);
	fixture.options.launcher = fixture.launcher;
	assert_int_equal(bench_series_run(&fixture.bench, &fixture.options, NULL, &fixture.failure,
					  &fixture.error),
			 BENCH_END_COMPLETE);
	assert_true(read(fd, line, sizeof(line) - 1) > 0);
	assert_string_equal(line, "spcpc");
	close(fd);
	unlink(path);
	done(&fixture);
}

/* Each variant has commands of its own. */
static void each_variant_is_prepared_by_its_own_command(void **state)
{
	char path[] = "/tmp/pkbpf-bench-XXXXXX", texts[4][64], line[64] = "";
	int fd = mkstemp(path);
	char **const commands[] = {WORDS("true"),
				   WORDS("true"),
				   WORDS("sh", "-c", texts[0]),
				   WORDS("sh", "-c", texts[1]),
				   WORDS("sh", "-c", texts[2]),
				   WORDS("sh", "-c", texts[3])};
	struct fixture fixture = fixture_of(3, 0);
	struct launcher_options options = {.user = &nobody, .commands = commands};
	sigset_t mask;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		snprintf(texts[i], sizeof(texts[i]), "printf %c >> %s", "aAbB"[i / 2 + i % 2 * 2],
			 path);
	sigemptyset(&mask);
	options.mask = &mask;
	fixture.options.prepare = 2;
	fixture.options.conclude = 4;
	bench_init(&fixture.bench);
	bench_add_variant(&fixture.bench, "a");
	bench_add_variant(&fixture.bench, "b");
	fixture.launcher = launcher_start(&options, &fixture.error);
	fixture.options.launcher = fixture.launcher;
	assert_int_equal(bench_series_run(&fixture.bench, &fixture.options, NULL, &fixture.failure,
					  &fixture.error),
			 BENCH_END_COMPLETE);
	assert_int_equal(read(fd, line, sizeof(line) - 1), 12);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(line[2 * i], fixture.bench.runs.items[i].variant ? 'b' : 'a');
		assert_int_equal(line[2 * i + 1], fixture.bench.runs.items[i].variant ? 'B' : 'A');
	}
	close(fd);
	unlink(path);
	done(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_round_runs_every_variant_in_the_order_of_the_seed),
		cmocka_unit_test(blocks_run_one_variant_after_the_other),
		cmocka_unit_test(knows_what_every_user_may_know),
		cmocka_unit_test(a_failure_ends_the_series),
		cmocka_unit_test(a_command_that_hangs_is_ended_with_all_it_has_started),
		cmocka_unit_test(says_that_a_command_does_not_exist),
		cmocka_unit_test(counts_what_a_run_leaves_behind),
		cmocka_unit_test(stops_early_when_asked_and_keeps_what_there_is),
		cmocka_unit_test(prepares_and_concludes_each_run_and_sets_up_once),
		cmocka_unit_test(each_variant_is_prepared_by_its_own_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
