/* SPDX-License-Identifier: BSD-2-Clause */
/* Names frames in FRAME_PYTHON. */
#ifndef PKBPF_SYMBOL_PYTHON_SYMBOLIZER_H
#define PKBPF_SYMBOL_PYTHON_SYMBOLIZER_H

#include "symbol/symbolizer.h"

struct python_functions;

/* NULL: out of memory. Borrowed. */
struct symbolizer *python_symbolizer_new(const struct python_functions *functions);

#endif
