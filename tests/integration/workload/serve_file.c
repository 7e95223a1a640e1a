// SPDX-License-Identifier: BSD-2-Clause
/*
 * serve_file FOLDER FILE [UID]: mounts a FUSE file system at FOLDER that holds a copy of FILE as
 * "file", for root or that user alone, and prints "mounted". From SIGUSR1 on it takes requests and
 * answers none; SIGTERM ends it, and whoever waits for it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_NODE 2
#define READ_SIZE (1 << 16)

static volatile sig_atomic_t silent, ended;
static int device;
static char *contents;
static size_t size;

static void on_signal(int signal)
{
	if (signal == SIGUSR1)
		silent = 1;
	else
		ended = 1;
}

static void answer(const struct fuse_in_header *request, int error, const void *data,
		   size_t data_size)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + data_size),
		.error = error,
		.unique = request->unique,
	};
	struct iovec parts[2] = {{&header, sizeof(header)}, {(void *)data, data_size}};

	if (!silent && writev(device, parts, 2) < 0 && errno != ENOENT)
		perror("serve_file: answer");
}

static struct fuse_attr attributes_of(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == FILE_NODE ? size : 0,
		.mtime = 1000,
		.ctime = 1000,
		.mode = node == FILE_NODE ? S_IFREG | 0555 : S_IFDIR | 0555,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void look_up(const struct fuse_in_header *request, const char *name)
{
	struct fuse_entry_out entry = {.nodeid = FILE_NODE,
				       .entry_valid = 1,
				       .attr_valid = 1,
				       .attr = attributes_of(FILE_NODE)};

	if (request->nodeid == FUSE_ROOT_ID && strcmp(name, "file") == 0)
		answer(request, 0, &entry, sizeof(entry));
	else
		answer(request, -ENOENT, NULL, 0);
}

static void read_file(const struct fuse_in_header *request, const struct fuse_read_in *wanted)
{
	size_t offset = wanted->offset < size ? wanted->offset : size;
	size_t length = wanted->size < size - offset ? wanted->size : size - offset;

	answer(request, 0, contents + offset, length);
}

static void serve(const struct fuse_in_header *request, const void *body)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = 31,
		.max_readahead = READ_SIZE,
		.max_write = READ_SIZE,
	};
	struct fuse_attr_out attributes = {.attr_valid = 1, .attr = attributes_of(request->nodeid)};
	struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};

	switch (request->opcode) {
	case FUSE_INIT:
		answer(request, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		look_up(request, body);
		break;
	case FUSE_GETATTR:
		answer(request, 0, &attributes, sizeof(attributes));
		break;
	case FUSE_OPEN:
		answer(request, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		read_file(request, body);
		break;
	case FUSE_FLUSH: /* each close() waits for it */
	case FUSE_RELEASE:
		answer(request, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(request, -ENOSYS, NULL, 0);
	}
}

static void load(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &status) < 0 || !(contents = malloc((size_t)status.st_size)) ||
	    read(fd, contents, (size_t)status.st_size) != status.st_size) {
		perror(path);
		exit(1);
	}
	size = (size_t)status.st_size;
	close(fd);
}

int main(int argc, char **argv)
{
	static char request[READ_SIZE + 4096] __attribute__((aligned(8)));
	const struct sigaction action = {.sa_handler = on_signal};
	char options[100];
	ssize_t got;

	if (argc < 3)
		return 2;
	load(argv[2]);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%d,group_id=0", device,
		 argc > 3 ? atoi(argv[3]) : 0);
	if (device < 0 ||
	    mount("serve_file", argv[1], "fuse.serve_file", MS_NOSUID | MS_NODEV, options) < 0) {
		perror("serve_file: mount");
		return 1;
	}
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	puts("mounted");
	fflush(stdout);
	while (!ended) {
		got = read(device, request, sizeof(request));
		if (got >= (ssize_t)sizeof(struct fuse_in_header))
			serve((const void *)request, request + sizeof(struct fuse_in_header));
		else if (got < 0 && errno == ENODEV)
			break;
	}
	umount2(argv[1], MNT_DETACH);
	return 0;
}
