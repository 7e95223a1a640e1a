/* SPDX-License-Identifier: BSD-2-Clause */
/* Passes the addresses of the kernel's ORC unwind tables to the CPU sampling program. */
#ifndef PKBPF_CAPTURE_KERNEL_ORC_TABLES_H
#define PKBPF_CAPTURE_KERNEL_ORC_TABLES_H

#include <stdbool.h>
#include <stdint.h>

struct log;
struct pkbpf_bpf;

/* Call before the object is loaded. */
void orc_tables_configure(struct pkbpf_bpf *skeleton, bool wanted);

/* Call after the object is loaded. Without the tables, the kernel unwinds its own stacks. */
void orc_tables_find(struct pkbpf_bpf *skeleton, const struct log *log);

/* For a kernel release ("6.1.0-18-amd64"): the format of the tables, enum pkbpf_orc_format, and
 * whether finding them is fast. Before 6.2 (60443c88f3a8) the kernel expands the names of all
 * its symbols to find one: 10 ms for each symbol we need. */
uint32_t orc_tables_format(const char *release);
bool orc_tables_found_at_once(const char *release);

#endif
