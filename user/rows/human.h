/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers formatted for reading. Each function writes into the buffer of the caller and returns it.
 */
#ifndef PKBPF_ROWS_HUMAN_H
#define PKBPF_ROWS_HUMAN_H

#include <stdint.h>

#include <pkbpf/event.h>

#define HUMAN_SIZE 40

/* A computed number as a whole one; what does not fit becomes the nearest that does. */
uint64_t human_whole(double value);
/* "1,234,567" */
char *human_count(char buffer[HUMAN_SIZE], uint64_t count);
/* "1 wait", "2,000 waits", "1 process": of a regular plural. */
char *human_counted(char buffer[HUMAN_SIZE], uint64_t count, const char *plural);
/* "850 ns", "1.23 ms", "12.3 s", "5 min 03 s", "2 h 05 min" */
char *human_time(char buffer[HUMAN_SIZE], uint64_t time_ns);
/* "512 B", "23.4 MiB" */
char *human_bytes(char buffer[HUMAN_SIZE], uint64_t bytes);
/* "12.3%"; never "0.0%" for something nor "100.0%" for less than all; "-" when the whole is 0. */
char *human_share(char buffer[HUMAN_SIZE], uint64_t part, uint64_t whole);
/* A weight in the unit of its kind. */
char *human_weight(char buffer[HUMAN_SIZE], enum pkbpf_profile_kind kind, uint64_t weight);

#endif
