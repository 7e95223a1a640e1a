/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that begin with a name, as in procfs and cgroup files: "MemTotal:  12 kB", "nr_periods 12".
 */
#ifndef PKBPF_BASE_NAMED_LINE_H
#define PKBPF_BASE_NAMED_LINE_H

#include <stdint.h>

/* What follows the name in its line; NULL: there is no such line, or no text. The name ends with
 * what separates it: "MemTotal:", "nr_periods ". */
const char *named_line(const char *text, const char *name);
/* The decimal number there; 0 without one. */
uint64_t named_number(const char *text, const char *name);

#endif
