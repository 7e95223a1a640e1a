/* SPDX-License-Identifier: BSD-2-Clause */
/* What a reader does all its life; private to this folder. */
#ifndef PKBPF_READER_READER_LOOP_H
#define PKBPF_READER_READER_LOOP_H

#include "reader/reader_keeper.h"

/* Answers questions until the other side is closed, or it has used so much CPU time that a fresh
 * process shall go on. */
void reader_loop_run(const struct reader_keeper *keeper, enum reader_lane lane);

#endif
