/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes without rights read for a capture. */
#ifndef PKBPF_LIVE_LIVE_READERS_H
#define PKBPF_LIVE_LIVE_READERS_H

#include "base/log.h"

struct readers;

/* As readers_start(); the log (borrowed) gets what goes wrong then and later. NULL: there are none;
 * files of targets are to be read here. */
struct readers *live_readers_start(const struct log *log);

#endif
