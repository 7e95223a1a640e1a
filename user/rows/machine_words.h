/* SPDX-License-Identifier: BSD-2-Clause */
/* Energy, temperature, frequency and CPU counters of the machine, as text. */
#ifndef PKBPF_ROWS_MACHINE_WORDS_H
#define PKBPF_ROWS_MACHINE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/account/disk_list.h"
#include "profile/account/machine_figures.h"

/* "energy 125 J (25.0 W, package-0); 63 C at most (coretemp), throttled 3 times; 2.40 GHz (1.40 to
 * 3.40)"; empty: nothing was measured. Not escaped. */
void machine_words_measured(const struct machine_figures *figures, char *text, size_t size);
/* "1.32 instructions per cycle, 3.1 % cache misses, 0.8 % branch misses"; empty: not counted. */
void machine_words_counted(const struct machine_figures *figures, char *text, size_t size);
/* "energy (reason), temperature (reason)": what is missing and why; empty: nothing is. */
void machine_words_absent(const struct machine_figures *figures, char *text, size_t size);

/* "sda 63.0 % busy, 2.10 requests at a time, read 12.0 MiB, written 3.00 MiB": the disks that had
 * requests, the busiest first, at most so many. Not escaped. */
void machine_words_disks(const struct disk_list *list, size_t most, char *text, size_t size);

#endif
