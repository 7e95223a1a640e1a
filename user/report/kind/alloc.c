// SPDX-License-Identifier: BSD-2-Clause
/* Sampled allocations in the report. */
#include "report/text_kind.h"

const struct text_kind text_kind_alloc = {.sections = {text_heap}};
