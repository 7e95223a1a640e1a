/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames of V8's own code that only lead from one JavaScript function to the next. */
#ifndef PKBPF_SYMBOL_V8_GLUE_H
#define PKBPF_SYMBOL_V8_GLUE_H

#include "symbol/symbolizer.h"

/* Marks the symbol of a native frame among JavaScript frames (FRAME_AMONG_JAVASCRIPT) that is glue
 * (SYMBOL_IS_GLUE). Others are left alone. */
void v8_glue_mark(struct symbol *symbol, enum frame_neighbours neighbours);

#endif
