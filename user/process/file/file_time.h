/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times of files by the clock of records. Files have the time of day, which is set, and goes on
 * while the machine sleeps. How far it is ahead is noted, and each time is read by the difference
 * that held then.
 */
#ifndef PKBPF_PROCESS_FILE_FILE_TIME_H
#define PKBPF_PROCESS_FILE_FILE_TIME_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define FILE_CLOCK_MAX_SPANS 8

/* Spans in which the time of day was not set. */
struct file_clock {
	struct file_clock_span {
		uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
		int64_t ahead_ns;	 /* of CLOCK_REALTIME */
	} spans[FILE_CLOCK_MAX_SPANS];	 /* the latest last; the oldest ones are forgotten */
	size_t count;
};

void file_clock_note(struct file_clock *clock, uint64_t now_ns, int64_t ahead_ns);
/* CLOCK_MONOTONIC, at least 1; 0: in doubt, as the clock was set about then, or before it had the
 * time at all. */
uint64_t file_clock_convert(const struct file_clock *clock, const struct timespec *time);

/* The same for this machine and program, by any thread. */
uint64_t file_time_ns(const struct timespec *time);
void file_time_note(void);

#endif
