/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections of the JSON report in files of their own. */
#ifndef PKBPF_EXPORT_JSON_JSON_SECTIONS_H
#define PKBPF_EXPORT_JSON_JSON_SECTIONS_H

#include "export/json/json_writer.h"
#include "finding/results.h"
#include "rows/resource_rows.h"

/* Frames written of a stack. */
#define JSON_FRAMES_MAX 256

/* "frames" of a stack, leaf first; deeper ones are cut, and say so. `functions` holds
 * JSON_FRAMES_MAX of them, or all. */
void json_frames(struct json_writer *writer, const struct resource_rows *rows,
		 const uint32_t *functions, size_t count);
/* "host" and "time". */
void json_machine(struct json_writer *writer, const struct resource_rows *rows);
/* "machine": its energy, heat, frequency and CPU counters; nothing where they were not read. */
void json_figures(struct json_writer *writer, const struct profile_info *info);
/* "disks"; nothing where none was measured. */
void json_disks(struct json_writer *writer, const struct profile *profile);
/* "gpus"; nothing where there is none. */
void json_gpus(struct json_writer *writer, const struct profile *profile);
/* "cpu_limits" and "memory_limits", with the kernel's account. */
void json_cgroup_limits(struct json_writer *writer, const struct profile *profile);
/* "targets", "events" with how they were recorded, and "unwinder". */
void json_events(struct json_writer *writer, const struct profile *profile);
/* "samples", "counters", "cost" and "percentiles". */
void json_counters(struct json_writer *writer, const struct profile *profile);
/* "by", "total", "rows" and how many are in none. */
void json_rows(struct json_writer *writer, const struct resource_rows *rows, bool with_stacks);
/* "histogram": buckets that are not empty. */
void json_histogram(struct json_writer *writer, const struct histogram *histogram);
/* "devices". -ENOMEM. */
int json_devices(struct json_writer *writer, const struct profile *profile);
/* "slow_requests". -ENOMEM. */
int json_slow_io(struct json_writer *writer, const struct resource_rows *rows);
/* "peers". -ENOMEM. */
int json_peers(struct json_writer *writer, const struct resource_rows *rows);
/* "regions" and "regions_by_name", when there are any. -ENOMEM. */
int json_regions(struct json_writer *writer, const struct profile *profile);
/* Keys of the parts of a region's time, by enum pkbpf_wait_state. */
extern const char *const json_part_keys[PKBPF_WAIT_STATES];
/* "calls_by_stack". -ENOMEM. */
int json_calls(struct json_writer *writer, const struct resource_rows *rows);
/* "requests": the slowest ones by thread contexts; nothing where there is none. -ENOMEM. */
int json_requests(struct json_writer *writer, const struct resource_rows *rows);
int json_slow_regions(struct json_writer *writer, const struct resource_rows *rows);
/* "gpu_calls"; nothing without any. -ENOMEM. */
int json_gpu_calls(struct json_writer *writer, const struct resource_rows *rows);
/* "python_calls"; nothing without any. -ENOMEM. */
int json_python_calls(struct json_writer *writer, const struct resource_rows *rows);
/* "heap": places of allocation. */
int json_heap(struct json_writer *writer, const struct resource_rows *rows);
/* "locks". -ENOMEM. */
int json_locks(struct json_writer *writer, const struct resource_rows *rows);
/* "memory_over_time": the kernel's counts of each process. */
int json_memory(struct json_writer *writer, const struct resource_rows *rows);
/* "hottest_lines", by kind. -ENOMEM. */
int json_lines(struct json_writer *writer, const struct results *results);

#endif
