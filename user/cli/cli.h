/* SPDX-License-Identifier: BSD-2-Clause */
/* argv to exit status. */
#ifndef PKBPF_CLI_CLI_H
#define PKBPF_CLI_CLI_H

/* argv as main() got it, NULL-terminated. */
int cli_run(int argc, char **argv);

#endif
