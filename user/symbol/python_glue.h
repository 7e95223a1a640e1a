/* SPDX-License-Identifier: BSD-2-Clause */
/* Native functions by which a Python interpreter calls Python functions: between these they say
 * nothing that the functions themselves do not. */
#ifndef PKBPF_SYMBOL_PYTHON_GLUE_H
#define PKBPF_SYMBOL_PYTHON_GLUE_H

#include "symbol/symbolizer.h"

/* Marks the symbol of a native frame that is glue (SYMBOL_IS_GLUE), and takes glue off that the
 * compiler inlined into another function. Static functions of stripped interpreters have no names:
 * those of the interpreter's file count, too. */
void python_glue_mark(struct symbol *symbol, enum frame_neighbours neighbours);

#endif
