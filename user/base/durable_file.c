// SPDX-License-Identifier: BSD-2-Clause
#include "base/durable_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int durable_sync(int fd)
{
	if (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS)
		return 0;
	return -errno;
}

int durable_file_open(struct durable_file *file, int directory_fd, const char *temporary,
		      mode_t mode)
{
	int fd = openat(directory_fd, temporary,
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	int err;

	*file = (struct durable_file){.directory_fd = directory_fd, .temporary = temporary};
	if (fd < 0)
		return -errno;
	file->stream = fdopen(fd, "w");
	if (file->stream)
		return 0;
	err = -errno;
	close(fd);
	unlinkat(directory_fd, temporary, 0);
	return err;
}

/* The order matters: content, name, directory. */
int durable_file_close(struct durable_file *file, const char *name, int err)
{
	if (err == 0 && (ferror(file->stream) || fflush(file->stream) == EOF))
		err = errno ? -errno : -EIO;
	if (err == 0)
		err = durable_sync(fileno(file->stream));
	if (fclose(file->stream) == EOF && err == 0)
		err = -errno;
	file->stream = NULL;
	if (err == 0 && renameat(file->directory_fd, file->temporary, file->directory_fd, name) < 0)
		err = -errno;
	if (err < 0) {
		unlinkat(file->directory_fd, file->temporary, 0);
		return err;
	}
	return durable_sync(file->directory_fd);
}
