// SPDX-License-Identifier: BSD-2-Clause
#include "process/file/file_time.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"

/* Corrections of a running clock are smaller from note to note. */
#define STEP_NS (500 * (int64_t)NS_PER_MS)
/* A file's time is that of the last tick. */
#define SLACK_NS (20 * NS_PER_MS)
/* Clocks that were never set begin in 1970. */
#define YEAR_2000_S 946684800

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file_clock machine;

void file_clock_note(struct file_clock *clock, uint64_t now_ns, int64_t ahead_ns)
{
	struct file_clock_span *last = clock->count ? &clock->spans[clock->count - 1] : NULL;

	if (last && ahead_ns - last->ahead_ns < STEP_NS && last->ahead_ns - ahead_ns < STEP_NS) {
		last->to_ns = now_ns;
		last->ahead_ns = ahead_ns;
		return;
	}
	if (clock->count == FILE_CLOCK_MAX_SPANS) {
		memmove(clock->spans, clock->spans + 1,
			sizeof(clock->spans) - sizeof(clock->spans[0]));
		clock->count--;
	}
	clock->spans[clock->count++] = (struct file_clock_span){now_ns, now_ns, ahead_ns};
}

/* By the difference of one span, with bounds: anybody may set it to anything. */
static int64_t time_in(const struct file_clock_span *span, const struct timespec *time)
{
	int64_t time_ns;

	if (__builtin_mul_overflow((int64_t)time->tv_sec, (int64_t)NS_PER_SECOND, &time_ns) ||
	    __builtin_add_overflow(time_ns, (int64_t)time->tv_nsec, &time_ns) ||
	    __builtin_sub_overflow(time_ns, span->ahead_ns, &time_ns))
		return time->tv_sec > 0 ? INT64_MAX : INT64_MIN;
	return time_ns;
}

uint64_t file_clock_convert(const struct file_clock *clock, const struct timespec *time)
{
	const struct file_clock_span *first = clock->spans, *last = first + clock->count - 1;
	uint64_t found_ns = 0;
	int64_t time_ns;

	if (!clock->count || time->tv_sec < YEAR_2000_S)
		return 0;
	for (const struct file_clock_span *span = first; span <= last; span++) {
		time_ns = time_in(span, time);
		if (time_ns < (int64_t)span->from_ns - (int64_t)SLACK_NS ||
		    time_ns > (int64_t)(span->to_ns + SLACK_NS))
			continue;
		if (found_ns)
			return 0; /* the clock had this time twice */
		found_ns = time_ns > 0 ? (uint64_t)time_ns : 1;
	}
	if (found_ns)
		return found_ns;
	time_ns = time_in(first, time);
	if (time_ns < (int64_t)first->from_ns)
		return time_ns > 0 ? (uint64_t)time_ns : 1;
	time_ns = time_in(last, time);
	return time_ns > (int64_t)last->to_ns ? (uint64_t)time_ns : 0;
}

static void note(void)
{
	uint64_t now_ns = clock_now_ns();

	file_clock_note(&machine, now_ns, (int64_t)(clock_read_ns(CLOCK_REALTIME) - now_ns));
}

void file_time_note(void)
{
	pthread_mutex_lock(&lock);
	note();
	pthread_mutex_unlock(&lock);
}

uint64_t file_time_ns(const struct timespec *time)
{
	uint64_t time_ns;

	pthread_mutex_lock(&lock);
	note();
	time_ns = file_clock_convert(&machine, time);
	pthread_mutex_unlock(&lock);
	return time_ns;
}
