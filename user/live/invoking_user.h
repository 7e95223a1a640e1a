/* SPDX-License-Identifier: BSD-2-Clause */
/* The user behind sudo: owner of files, user of commands. */
#ifndef PKBPF_LIVE_INVOKING_USER_H
#define PKBPF_LIVE_INVOKING_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct invoking_user {
	bool behind_sudo; /* false: nobody else than ourselves; the rest is unset */
	uid_t uid;
	gid_t gid;
	char *name; /* NULL: the user database does not know uid */
	char *home; /* NULL likewise */
};

/* From SUDO_UID and SUDO_GID, believed only when we are root. -EINVAL: they hold no ids. */
int invoking_user_find(struct invoking_user *ret_user, struct error *error);
void invoking_user_done(struct invoking_user *user);

#endif
