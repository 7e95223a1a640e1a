/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks procfs and the like who holds up the targets, for findings. */
#ifndef PKBPF_LIVE_LIVE_RELATIONS_H
#define PKBPF_LIVE_LIVE_RELATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct live_capture;

/* Right before the interval and right after it. Without memory findings know less. */
void live_relations_begin(struct live_capture *live);
void live_relations_end(struct live_capture *live);
/* Whether the process is one of the targets now. Others have records, too: they map files, and wake
 * targets. */
bool live_is_target(const struct live_capture *live, uint32_t pid);

#endif
