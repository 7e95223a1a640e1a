// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_user.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Levels of the store, and what is kept of alerts. */
#define DEPTH_MAX 4

struct user {
	uid_t uid;
	gid_t gid;
};

/* What belongs to the owner of the store becomes another user's. */
struct giving {
	uid_t from;
	struct user to;
};

static int find_named(const char *name, struct user *ret_user, struct error *error)
{
	const struct passwd *account = getpwnam(name);

	if (!account)
		return error_set(error, EINVAL, "--run-as %.64s: there is no such user", name);
	*ret_user = (struct user){account->pw_uid, account->pw_gid};
	return 0;
}

static int choose(const char *name, const struct stat *store, struct user *ret_user,
		  struct error *error)
{
	if (name)
		return find_named(name, ret_user, error);
	*ret_user = (struct user){store->st_uid, store->st_gid};
	if (store->st_uid != 0 || find_named(SERVE_USER_ACCOUNT, ret_user, error) == 0)
		return 0;
	*ret_user = (struct user){SERVE_USER_ID, SERVE_USER_ID};
	return 0;
}

static int give_folder(int parent_fd, const char *name, const struct giving *giving, int depth);

/* Regular files and folders; links are not followed, and a file with another name is that one's as
 * well. */
static int give(int folder_fd, const char *name, const struct giving *giving, int depth)
{
	struct stat st;

	if (fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
		return give_folder(folder_fd, name, giving, depth + 1);
	if (!S_ISREG(st.st_mode) || st.st_uid != giving->from || st.st_nlink != 1)
		return 0;
	return fchownat(folder_fd, name, giving->to.uid, giving->to.gid, AT_SYMLINK_NOFOLLOW) < 0
		       ? -errno
		       : 0;
}

/* What others may write to can hold links to its owner's files by now. */
static bool is_of_owner_alone(const struct stat *st, uid_t owner)
{
	return st->st_uid == owner && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Its contents first: an end in the middle leaves a folder that is gone through again. */
static int give_folder(int parent_fd, const char *name, const struct giving *giving, int depth)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err = 0;
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat st;

	if (!folder) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	if (fstat(fd, &st) < 0)
		err = -errno;
	else if (is_of_owner_alone(&st, giving->from)) {
		while (!err && (entry = readdir(folder)))
			if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
				err = give(fd, entry->d_name, giving, depth);
		if (!err && fchown(fd, giving->to.uid, giving->to.gid) < 0)
			err = -errno;
	}
	closedir(folder);
	return err;
}

static bool is_ours(uid_t uid, const char *name)
{
	const struct passwd *account = getpwnam(name ? name : SERVE_USER_ACCOUNT);

	return uid == geteuid() || uid == SERVE_USER_ID || (account && account->pw_uid == uid);
}

/* Another user may have made it first, to get the history. */
static bool is_planted(int store_fd, const struct stat *store, const char *name)
{
	struct stat parent;

	return !is_ours(store->st_uid, name) && fstatat(store_fd, "..", &parent, 0) == 0 &&
	       parent.st_mode & S_IWOTH && parent.st_uid != store->st_uid;
}

static int open_store(const char *store, const char *name, struct stat *ret_st, struct error *error)
{
	_cleanup_close_ int fd = -1;

	if (mkdir(store, 0700) < 0 && errno != EEXIST)
		return error_set(error, errno, "cannot make the store %s: %s", store,
				 strerror(errno));
	fd = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, ret_st) < 0)
		return error_set(error, errno, "cannot open the store %s: %s", store,
				 strerror(errno));
	if (is_planted(fd, ret_st, name))
		return error_set(error, EACCES,
				 "cannot use the store %s: it belongs to user %u, in a directory "
				 "that all may write; choose another --store",
				 store, (unsigned int)ret_st->st_uid);
	return take_fd(fd);
}

/* false: these ids are not to be had here. */
static bool can_become(const struct user *user)
{
	/* The effective ones alone can be taken back. */
	if (setegid(user->gid) < 0)
		return false;
	if (seteuid(user->uid) < 0) {
		(void)!setegid(0);
		return false;
	}
	return seteuid(0) == 0 && setegid(0) == 0;
}

static int become(const struct user *user, struct error *error)
{
	if (setgroups(0, NULL) < 0 || setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		return error_set(error, errno, "cannot become user %u: %s; see --run-as",
				 (unsigned int)user->uid, strerror(errno));
	return 0;
}

int serve_user_become(const char *name, const char *store, bool *ret_is_root, struct error *error)
{
	_cleanup_close_ int fd = -1;
	struct user user;
	struct stat st;
	int err;

	*ret_is_root = false;
	fd = open_store(store, name, &st, error);
	if (fd < 0)
		return fd;
	if (geteuid() != 0)
		return take_fd(fd);
	err = choose(name, &st, &user, error);
	if (err < 0)
		return err;
	if (!name && user.uid != 0 && !can_become(&user)) {
		*ret_is_root = true;
		return take_fd(fd);
	}
	if (user.uid != st.st_uid)
		err = give_folder(fd, ".", &(struct giving){st.st_uid, user}, 0);
	/* Without CAP_CHOWN, before anything was given. */
	if (!name && err == -EPERM) {
		*ret_is_root = true;
		return take_fd(fd);
	}
	if (err < 0)
		return error_set(error, -err, "cannot give the store %s to user %u: %s", store,
				 (unsigned int)user.uid, strerror(-err));
	if (user.uid == 0)
		return take_fd(fd);
	err = become(&user, error);
	return err < 0 ? err : take_fd(fd);
}

/* ---- what it may do ---- */

/* Are all folders on the way open to others? */
static bool may_reach(const char *path)
{
	char folder[PATH_MAX];
	struct stat st;

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		if (stat(folder, &st) == 0 && !(st.st_mode & S_IXOTH))
			return false;
	}
	return true;
}

bool serve_user_may_run(const char *command)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%.*s", (int)strcspn(command, " \t"), command);
	return may_reach(path) && (stat(path, &st) < 0 || st.st_mode & S_IXOTH);
}

bool serve_user_may_write(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 0, path);
	return may_reach(path) && (stat(folder, &st) < 0 || st.st_uid != 0 || st.st_mode & S_IWOTH);
}
