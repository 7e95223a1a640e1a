/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of overlays that were copied up while a process has them mapped. */
#ifndef PKBPF_SOURCE_REGIONS_REGION_OVERLAY_H
#define PKBPF_SOURCE_REGIONS_REGION_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

/* Was a file of an overlay written, renamed, or changed in its rights, since a process has started?
 * The first such change copies it to the upper layer. The process still executes the lower file,
 * and probes are on the upper one. false also when nothing is known. */
bool region_overlay_has_changed(int fd, uint32_t pid);

#endif
