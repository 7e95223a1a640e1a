// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_io.h"

#define TOKEN_MAX_BYTES 4096
#define TOKEN_LEAST	16

int serve_token_read(const char *path, char **ret_token, struct error *error)
{
	struct stat status;
	char *token;
	size_t size;
	int err;

	if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & S_IROTH))
		return error_set(error, EACCES,
				 "the token in %s can be read by every user: chmod o= %s, and "
				 "change it",
				 path, path);
	err = file_read_all(AT_FDCWD, path, TOKEN_MAX_BYTES, &token, &size);
	if (err < 0)
		return error_set(error, -err, "cannot read --token-file %s: %s", path,
				 strerror(-err));
	token[strcspn(token, "\r\n")] = '\0';
	if (strlen(token) < TOKEN_LEAST) {
		free(token);
		return error_set(error, EINVAL,
				 "the token in %s is shorter than %d characters: anybody could "
				 "guess it",
				 path, TOKEN_LEAST);
	}
	*ret_token = token;
	return 0;
}
