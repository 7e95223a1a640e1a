/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of counted Python functions, from the stacks of CPU samples and waits. */
#ifndef PKBPF_ROWS_PYTHON_TIMES_H
#define PKBPF_ROWS_PYTHON_TIMES_H

#include "rows/python_calls.h"

/* Before functions are sorted. A function of a stack is the counted one of its file and name that
 * begins nearest above its line. -ENOMEM. */
int python_times_add(struct python_calls_rows *rows, const struct profile *profile);

#endif
