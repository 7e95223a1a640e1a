/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of a perf map, /tmp/perf-PID.map, as tools/perf/Documentation/jit-interface.txt has it. */
#ifndef PKBPF_SYMBOL_JIT_PERF_MAP_H
#define PKBPF_SYMBOL_JIT_PERF_MAP_H

#include "symbol/jit/code_entry.h"

/* "START SIZE name" without its newline: hex with or without 0x. The name points into line. */
bool perf_map_parse_line(const char *line, size_t size, struct code_entry *ret_entry);

#endif
