/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks procfs and the like who holds up the targets, for findings. */
#ifndef PKBPF_LIVE_LIVE_RELATIONS_H
#define PKBPF_LIVE_LIVE_RELATIONS_H

struct live_capture;

/* Right before the interval and right after it. Without memory findings know less. */
void live_relations_begin(struct live_capture *live);
void live_relations_end(struct live_capture *live);

#endif
