/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes in words and numbers for people. */
#ifndef PKBPF_DIFF_DIFF_WORDS_H
#define PKBPF_DIFF_DIFF_WORDS_H

#include "diff/comparison.h"

#define DIFF_WORDS_SIZE 128

/* Is a value a time? Else it is a number of events, or of bytes. */
bool diff_words_is_time(const struct diff_key *key);
/* "ns", "bytes" of GPUs, "events": of values in JSON. */
const char *diff_words_unit(const struct diff_key *key);
/* "CPU": heading of a kind. */
const char *diff_words_title(uint32_t kind);
/* "312 ms": a value, in the unit of work; of the weight of a kind. */
char *diff_words_value(char text[DIFF_WORDS_SIZE], const struct diff_key *key, double value);
char *diff_words_amount(char text[DIFF_WORDS_SIZE], uint32_t kind, double value);
/* "+5.1 %", "new", "gone" */
char *diff_words_change(char text[DIFF_WORDS_SIZE], const struct diff_row *row);
/* "+3.0 to +7.2 %", or in the unit of the value; "" when no interval is known */
char *diff_words_interval(char text[DIFF_WORDS_SIZE], const struct diff_row *row);
/* "31.2 -> 32.4 %"; "-" of regions and GPU calls */
char *diff_words_share(char text[DIFF_WORDS_SIZE], const struct diff_row *row);
/* "second", "run", "request": what values are per */
const char *diff_words_per(const struct diff_work *work);
/* Behind that of a whole page: what is per call instead; "" without regions. */
const char *diff_words_per_call(const struct comparison *comparison);
/* "process", "self", … */
const char *diff_words_level(uint32_t level);
/* "12 functions", "1 process" */
char *diff_words_counted(char text[DIFF_WORDS_SIZE], size_t count, uint32_t level);
/* "app.pkbpf: 10.0 s in 10 slices, comm app on host" without escapes. */
void diff_words_side(char *text, size_t size, const struct measurement *side, const char *title);

#define DIFF_NOTES_MAX 6
/* What a reader has to know before believing the figures. Returns how many. */
size_t diff_words_notes(const struct comparison *comparison, char notes[DIFF_NOTES_MAX][512]);

#endif
