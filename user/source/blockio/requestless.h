/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices that take I/O without making requests of it (zram, RAM disks): the tracepoints of
 * requests do not show it, so that it is told to be missing.
 */
#ifndef PKBPF_SOURCE_BLOCKIO_REQUESTLESS_H
#define PKBPF_SOURCE_BLOCKIO_REQUESTLESS_H

#include <stdint.h>

/*
 * Reads, writes and discards of these devices since they exist, from `sysfs` ("/sys"). Devices that
 * hand all they get on to others (dm, md, NVMe with several paths) are none of them: it is seen
 * there. What cannot be read counts nothing.
 */
uint64_t requestless_count(const char *sysfs);

#endif
