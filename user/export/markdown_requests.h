/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PKBPF_EXPORT_MARKDOWN_REQUESTS_H
#define PKBPF_EXPORT_MARKDOWN_REQUESTS_H

#include <stdio.h>

#include "rows/resource_rows.h"

/* A table of the slowest requests by thread contexts; nothing where none was recorded. -ENOMEM. */
int markdown_requests(const struct resource_rows *rows, FILE *out);

#endif
