/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a stream of events back into a sink, in file order. */
#ifndef PKBPF_TEST_REPLAYER_H
#define PKBPF_TEST_REPLAYER_H

#include <stdio.h>

#include "base/error.h"
#include "event/event_sink.h"

/* Returns 0 at a clean end of file; -EBADMSG when the file is no stream, damaged or truncated
 * (earlier records have been delivered); -ENOTSUP for a newer version. */
int replay_stream(FILE *in, const struct event_sink *sink, struct error *error);

#endif
