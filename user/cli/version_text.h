/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer to --version: number and commit, how it was built, what it was built with, licences.
 */
#ifndef PKBPF_CLI_VERSION_TEXT_H
#define PKBPF_CLI_VERSION_TEXT_H

#include <stdio.h>

void version_print(FILE *out);

#endif
