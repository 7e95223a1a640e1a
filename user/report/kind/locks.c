// SPDX-License-Identifier: BSD-2-Clause
/* Locks in the report. */
#include "report/text_kind.h"

const struct text_kind text_kind_locks = {.sections = {text_locks}};
