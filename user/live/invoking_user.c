// SPDX-License-Identifier: BSD-2-Clause
/* Reads who called sudo from what sudo leaves in the environment. */
#include "live/invoking_user.h"

#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse_value.h"

static int read_id(const char *name, uint32_t *ret_id, struct error *error)
{
	const char *text = getenv(name);
	uint64_t id;
	int err;

	/* (uid_t)-1 means "unchanged" to the kernel. */
	err = parse_u64(text ? text : "", name, 0, UINT32_MAX - 1, &id, error);
	if (err == 0)
		*ret_id = (uint32_t)id;
	return err;
}

int invoking_user_find(struct invoking_user *ret_user, struct error *error)
{
	struct invoking_user user = {.behind_sudo = true};
	const struct passwd *entry;
	uint32_t uid = 0, gid = 0;
	int err;

	if (geteuid() != 0 || !getenv("SUDO_UID")) {
		*ret_user = (struct invoking_user){0};
		return 0;
	}
	err = read_id("SUDO_UID", &uid, error);
	if (err < 0)
		return err;
	if (uid == 0) {
		*ret_user = (struct invoking_user){0};
		return 0;
	}
	entry = getpwuid(uid);
	if (entry && !getenv("SUDO_GID")) {
		gid = entry->pw_gid;
	} else {
		err = read_id("SUDO_GID", &gid, error);
		if (err < 0)
			return err;
	}
	user.uid = uid;
	user.gid = gid;
	if (entry) {
		user.name = strdup(entry->pw_name);
		user.home = strdup(entry->pw_dir);
		if (!user.name || !user.home) {
			invoking_user_done(&user);
			return error_set(error, ENOMEM, "cannot look up user %u: out of memory",
					 uid);
		}
	}
	*ret_user = user;
	return 0;
}

void invoking_user_done(struct invoking_user *user)
{
	free(user->name);
	free(user->home);
	*user = (struct invoking_user){0};
}
