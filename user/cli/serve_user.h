/* SPDX-License-Identifier: BSD-2-Clause */
/* The user that the front of `pkbpf serve` becomes, and to whom the store belongs. */
#ifndef PKBPF_CLI_SERVE_USER_H
#define PKBPF_CLI_SERVE_USER_H

#include <stdbool.h>

#include "base/error.h"

/* Where there is no account "pkbpf": an id that systems leave unused, and readers do not take
 * (reader/reader_jail.c). */
#define SERVE_USER_ID	   0x7ffd0001U
#define SERVE_USER_ACCOUNT "pkbpf"

/* Opens the store, which is made when it is not there, and becomes another user for good, with one
 * thread. Without root there is no other: only the store is opened. As root: the user `name`; NULL:
 * the owner of the store, or if that is root, SERVE_USER_ACCOUNT or SERVE_USER_ID. What the
 * owner of the store has in it is given to that user. "root": stays root. Returns the descriptor of
 * the store; -errno with the sentence. *ret_is_root: no other user could be had, as in a user
 * namespace that has no more. */
int serve_user_become(const char *name, const char *store, bool *ret_is_root, struct error *error);
/* Could a user without rights run this command (arguments may follow its path)? */
bool serve_user_may_run(const char *command);
/* Could one write a file here, in a folder that is not root's alone? */
bool serve_user_may_write(const char *path);

#endif
