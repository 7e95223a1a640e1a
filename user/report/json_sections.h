/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of the JSON report that are files of their own. */
#ifndef PKBPF_REPORT_JSON_SECTIONS_H
#define PKBPF_REPORT_JSON_SECTIONS_H

#include "report/json_writer.h"
#include "rows/resource_rows.h"

/* Frames written of a stack. */
#define JSON_FRAMES_MAX 256

/* "frames" of a stack, leaf first; deeper ones are cut, and say so. `functions` holds
 * JSON_FRAMES_MAX of them, or all. */
void json_frames(struct json_writer *writer, const struct resource_rows *rows,
		 const uint32_t *functions, size_t count);
/* "slow_requests", when block I/O was measured. -ENOMEM. */
int json_slow_io(struct json_writer *writer, const struct resource_rows *rows);

#endif
