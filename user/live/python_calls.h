/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder in which the Python programs of a command leave their counts (--python-calls). */
#ifndef PKBPF_LIVE_PYTHON_CALLS_H
#define PKBPF_LIVE_PYTHON_CALLS_H

#include "base/error.h"
#include "live/invoking_user.h"
#include "profile/profile.h"

struct python_calls;

/* Makes a folder for the user's processes. -errno with the sentence. */
int python_calls_new(const struct invoking_user *user, struct python_calls **ret_calls,
		     struct error *error);
const char *python_calls_path(const struct python_calls *calls);
/* Adds what has been counted so far, and takes the files away. -ENOMEM. */
int python_calls_collect(struct python_calls *calls, struct profile *profile);
/* Removes the folder. NULL is fine. */
void python_calls_free(struct python_calls *calls);

#endif
