// SPDX-License-Identifier: BSD-2-Clause
/* Switches the kernel's statistics of BPF programs on and off in turns. */
#include "capture/program_clock.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define COUNT_NS (100 * NS_PER_MS)
#define PAUSE_NS (900 * NS_PER_MS)
/* What the kernel takes to measure one run. */
#define RUN_NS 50

/* Run times of programs attached to events, and of iterators, which run on request. */
struct run_times {
	uint64_t events_ns, iterators_ns;
	uint64_t event_runs;
};

struct program_clock {
	const struct bpf_object *object;
	bool always;
	int fd; /* the kernel measures while it is open; -1: pause */
	uint64_t opened_ns;
	bool stays;	    /* without a pause, for the time being */
	uint64_t turned_ns; /* time of the last switch between measuring and pause */
	uint64_t start_cost_ns, stop_cost_ns; /* CPU time of the last ones */
	/* Run times at the start of this measurement: other tools may measure during our pauses. */
	struct run_times begun;
	struct run_times counted;
	uint64_t counted_ns; /* total length of finished measurements */
	struct program_share last;
	/* without pauses: run times at the last look */
	struct run_times looked;
	uint64_t looked_ns;
};

static bool read_run_times(const struct bpf_object *object, struct run_times *ret_times)
{
	struct run_times times = {0};
	struct bpf_program *program;

	bpf_object__for_each_program(program, (struct bpf_object *)object)
	{
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);
		int fd = bpf_program__fd(program);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size))
			return false;
		if (bpf_program__expected_attach_type(program) == BPF_TRACE_ITER) {
			times.iterators_ns += info.run_time_ns;
		} else {
			times.events_ns += info.run_time_ns;
			times.event_runs += info.run_cnt;
		}
	}
	*ret_times = times;
	return true;
}

bool program_clock_stays(uint64_t runs, uint64_t counted_ns, uint64_t switch_ns)
{
	return counted_ns &&
	       (double)runs * RUN_NS * PAUSE_NS / (double)counted_ns < (double)switch_ns;
}

static void begin_counting(struct program_clock *clock, uint64_t now_ns)
{
	uint64_t begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	clock->fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	clock->start_cost_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	clock->stays = false;
	clock->turned_ns = now_ns;
	if (clock->fd >= 0 && read_run_times(clock->object, &clock->begun))
		return;
	if (clock->fd >= 0)
		close(clock->fd);
	clock->fd = -1;
}

static bool add_current(const struct program_clock *clock, struct run_times *times)
{
	struct run_times now;

	if (!read_run_times(clock->object, &now))
		return false;
	times->events_ns += now.events_ns - clock->begun.events_ns;
	times->iterators_ns += now.iterators_ns - clock->begun.iterators_ns;
	times->event_runs += now.event_runs - clock->begun.event_runs;
	return true;
}

/* Returns how many runs there were; they are not counted again when it goes on. */
static uint64_t add_counted(struct program_clock *clock, uint64_t now_ns)
{
	struct run_times before = clock->counted;

	if (!add_current(clock, &clock->counted))
		return UINT64_MAX;
	clock->counted_ns += now_ns - clock->turned_ns;
	clock->last = (struct program_share){
		.number = clock->last.number + 1,
		.ran_ns = clock->counted.events_ns - before.events_ns,
		.passed_ns = now_ns - clock->turned_ns,
	};
	clock->begun.events_ns += clock->counted.events_ns - before.events_ns;
	clock->begun.iterators_ns += clock->counted.iterators_ns - before.iterators_ns;
	clock->begun.event_runs += clock->counted.event_runs - before.event_runs;
	return clock->counted.event_runs - before.event_runs;
}

static void stop_counting(struct program_clock *clock)
{
	uint64_t begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	close(clock->fd);
	clock->fd = -1;
	clock->stop_cost_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

static void end_counting(struct program_clock *clock, uint64_t now_ns)
{
	add_counted(clock, now_ns);
	stop_counting(clock);
	clock->turned_ns = now_ns;
}

/* Goes on when that costs less. */
static void end_or_stay(struct program_clock *clock, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - clock->turned_ns, runs = add_counted(clock, now_ns);
	/* Stopping takes about as long as starting did. */
	uint64_t stop_ns = clock->stop_cost_ns ? clock->stop_cost_ns : clock->start_cost_ns;

	clock->stays = runs != UINT64_MAX &&
		       program_clock_stays(runs, passed_ns, clock->start_cost_ns + stop_ns);
	if (!clock->stays)
		stop_counting(clock);
	clock->turned_ns = now_ns;
}

/* Without a pause: switching costs more than what there is to measure. */
static void look_while_counting(struct program_clock *clock, uint64_t now_ns)
{
	struct run_times times;

	if (clock->fd < 0 || now_ns - clock->looked_ns < NS_PER_SECOND ||
	    !read_run_times(clock->object, &times))
		return;
	if (clock->looked_ns)
		clock->last = (struct program_share){
			.number = clock->last.number + 1,
			.ran_ns = times.events_ns - clock->looked.events_ns,
			.passed_ns = now_ns - clock->looked_ns,
		};
	clock->looked = times;
	clock->looked_ns = now_ns;
}

struct program_clock *program_clock_open(const struct bpf_object *object, bool always,
					 uint64_t now_ns)
{
	struct program_clock *clock = calloc(1, sizeof(*clock));

	if (!clock)
		return NULL;
	clock->object = object;
	clock->always = always;
	clock->opened_ns = now_ns;
	begin_counting(clock, now_ns);
	if (clock->fd >= 0)
		return clock;
	free(clock);
	return NULL;
}

void program_clock_poll(struct program_clock *clock, uint64_t now_ns)
{
	if (!clock)
		return;
	if (clock->always)
		look_while_counting(clock, now_ns);
	else if (clock->fd >= 0 &&
		 now_ns - clock->turned_ns >= (clock->stays ? COUNT_NS + PAUSE_NS : COUNT_NS))
		end_or_stay(clock, now_ns);
	else if (clock->fd < 0 && now_ns - clock->turned_ns >= PAUSE_NS)
		begin_counting(clock, now_ns);
}

void program_clock_restart(struct program_clock *clock, uint64_t now_ns)
{
	if (!clock || clock->always)
		return;
	if (clock->fd >= 0)
		end_counting(clock, now_ns);
	clock->last = (struct program_share){0};
	begin_counting(clock, now_ns);
}

struct program_share program_clock_last(const struct program_clock *clock)
{
	return clock ? clock->last : (struct program_share){0};
}

void program_clock_resume(struct program_clock *clock, uint64_t now_ns)
{
	if (clock && clock->fd < 0)
		begin_counting(clock, now_ns);
}

bool program_clock_read(const struct program_clock *clock, uint64_t now_ns, uint64_t *ret_ns)
{
	struct run_times times;
	uint64_t counted_ns;

	if (!clock)
		return false;
	times = clock->counted;
	counted_ns = clock->counted_ns;
	if (clock->fd >= 0) {
		if (!add_current(clock, &times))
			return false;
		counted_ns += now_ns - clock->turned_ns;
	}
	if (!counted_ns)
		return false;
	*ret_ns = times.iterators_ns +
		  (uint64_t)((double)times.events_ns * (double)(now_ns - clock->opened_ns) /
			     (double)counted_ns);
	return true;
}

void program_clock_close(struct program_clock *clock)
{
	if (!clock)
		return;
	if (clock->fd >= 0)
		close(clock->fd);
	free(clock);
}
