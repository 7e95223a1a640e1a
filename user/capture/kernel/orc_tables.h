/* SPDX-License-Identifier: BSD-2-Clause */
/* Passes the addresses of the kernel's ORC unwind tables to the CPU sampling program. */
#ifndef PKBPF_CAPTURE_KERNEL_ORC_TABLES_H
#define PKBPF_CAPTURE_KERNEL_ORC_TABLES_H

#include <stdbool.h>
#include <stdint.h>

struct log;
struct pkbpf_bpf;

/* Before the object is loaded. */
void orc_tables_configure(struct pkbpf_bpf *skeleton, bool wanted);

/* After it is loaded. Where the tables are not found, the kernel walks its stacks itself. */
void orc_tables_find(struct pkbpf_bpf *skeleton, const struct log *log);

/* Of a kernel release ("6.1.0-18-amd64"): the tables' format, enum pkbpf_orc_format, and whether
 * they are found in no time: before 6.2 (60443c88f3a8) the kernel expands all of its symbols' names
 * to find one, 10 ms for each of those we need. */
uint32_t orc_tables_format(const char *release);
bool orc_tables_found_at_once(const char *release);

#endif
