/* SPDX-License-Identifier: BSD-2-Clause */
/* Slices of a running `pkbpf serve`, asked for over HTTP as they come. One owner thread. */
#ifndef PKBPF_CLI_HISTORY_CLIENT_H
#define PKBPF_CLI_HISTORY_CLIENT_H

#include "base/error.h"
#include "profile/profile.h"
#include "recording/slice_choice.h"

struct history_client;

/* address: "127.0.0.1:7747", "http://[::1]:7747", or "/path/of/socket". token_file NULL: without a
 * token. -EINVAL: what is given is wrong; -ENOTSUP: libcurl is not there; -ENOMEM, errors of the
 * token's file; with the sentence. */
int history_client_new(const char *address, const char *token_file,
		       struct history_client **ret_client, struct error *error);
/* What was recorded since the last call, or of the last slices: *ret_slice is the caller's; NULL:
 * there is nothing new yet. choice NULL: all. -EAGAIN: nobody answers, which may change; -EIO: the
 * answer is none that a history gives; -ENOMEM; with the sentence. */
int history_client_next(struct history_client *client, const struct slice_choice *choice,
			struct profile **ret_slice, struct error *error);
/* NULL is fine. */
void history_client_free(struct history_client *client);

#endif
