// SPDX-License-Identifier: BSD-2-Clause
/* Calls of chosen functions by stack, in the report. */
#include "report/text_kind.h"

const struct text_kind text_kind_calls = {.sections = {NULL}};
