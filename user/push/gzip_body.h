/* SPDX-License-Identifier: BSD-2-Clause */
/* Bodies of requests, packed. */
#ifndef PKBPF_PUSH_GZIP_BODY_H
#define PKBPF_PUSH_GZIP_BODY_H

#include <stddef.h>

#define GZIP_BODY_HEADER "Content-Encoding: gzip"

/* text as a gzip file, which the caller frees. -ENOMEM. */
int gzip_body(const char *text, size_t size, char **ret_body, size_t *ret_size);

#endif
