/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a stream of events back into a sink, in file order. */
#ifndef PKBPF_EVENT_REPLAYER_H
#define PKBPF_EVENT_REPLAYER_H

#include <stdio.h>

#include "base/error.h"
#include "event/event_sink.h"

/* 0 at a clean end of file; -EBADMSG when the file is no stream, is damaged or is cut (what came
 * before has been delivered); -ENOTSUP for a newer version. */
int replay_stream(FILE *in, const struct event_sink *sink, struct error *error);

#endif
