// SPDX-License-Identifier: BSD-2-Clause
/* Resident memory in the report. */
#include "report/text_kind.h"

const struct text_kind text_kind_memory = {.sections = {text_memory}};
