/* SPDX-License-Identifier: BSD-2-Clause */
/* The token without which `pkbpf serve` does not answer. */
#ifndef PKBPF_CLI_SERVE_TOKEN_H
#define PKBPF_CLI_SERVE_TOKEN_H

#include "base/error.h"

/* The first line of the file, which the caller frees. -EINVAL: too short; -EACCES: a regular file
 * that every user can read; errors of reading; with
 * the sentence. */
int serve_token_read(const char *path, char **ret_token, struct error *error);

#endif
