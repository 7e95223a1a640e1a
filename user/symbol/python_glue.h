/* SPDX-License-Identifier: BSD-2-Clause */
/* Native functions by which a Python interpreter calls Python functions: between these they say
 * nothing that the functions themselves do not. */
#ifndef PKBPF_SYMBOL_PYTHON_GLUE_H
#define PKBPF_SYMBOL_PYTHON_GLUE_H

#include <stdbool.h>

#include "symbol/symbolizer.h"

/* Of a native frame that, directly or not, calls a Python function. Static functions of stripped
 * interpreters have no names: those of the interpreter's file count, too. */
bool python_glue_is(const struct symbol *symbol);

#endif
