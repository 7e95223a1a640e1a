/* SPDX-License-Identifier: BSD-2-Clause */
/* The output formats there are, in the order of --help: a row each, which is format_<name> of the
 * file that writes it. */
#ifndef PKBPF_EXPORT_FORMATS_H
#define PKBPF_EXPORT_FORMATS_H

#include "export/format.h"

#define FORMATS(ROW)                                                                               \
	ROW(folded)                                                                                \
	ROW(text)                                                                                  \
	ROW(json)                                                                                  \
	ROW(csv)                                                                                   \
	ROW(csv_functions)                                                                         \
	ROW(csv_lines)                                                                             \
	ROW(csv_regions)                                                                           \
	ROW(csv_peers)                                                                             \
	ROW(csv_allocations)                                                                       \
	ROW(csv_locks)                                                                             \
	ROW(csv_gpu_calls)                                                                         \
	ROW(csv_python_calls)                                                                      \
	ROW(csv_python_lines)                                                                      \
	ROW(markdown)                                                                              \
	ROW(sarif)                                                                                 \
	ROW(recording)                                                                             \
	ROW(svg)                                                                                   \
	ROW(html)                                                                                  \
	ROW(pprof)                                                                                 \
	ROW(pstats)                                                                                \
	ROW(speedscope)                                                                            \
	ROW(firefox)                                                                               \
	ROW(chrome)                                                                                \
	ROW(events)

#define FORMAT_DECLARE(name) extern const struct format_ops format_##name;
FORMATS(FORMAT_DECLARE)
#undef FORMAT_DECLARE

#endif
