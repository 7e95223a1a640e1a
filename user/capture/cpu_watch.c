// SPDX-License-Identifier: BSD-2-Clause
/* The list of online CPUs, updated on the kernel's uevents and by periodic reading. */
#include "capture/cpu_watch.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"

/* Period of reading the list, with or without uevents. */
#define READ_AGAIN_NS NS_PER_SECOND
/* The kernel's bound on a uevent (UEVENT_BUFFER_SIZE), with room for its first line. */
#define MESSAGE_MAX_BYTES 4096
/* Longest list that is compared with the previous one as text. A longer one is read and parsed
 * each time. */
#define TEXT_MAX_BYTES 512
#define KERNEL_GROUP   1

struct cpu_watch {
	struct cpu_list list;
	uint32_t arrivals; /* the last arrival number assigned */
	uint64_t read_ns;
	int fd;	     /* uevent socket; -1: none */
	int list_fd; /* kept open: opening the file costs more than reading it */
	char text[TEXT_MAX_BYTES];
	ssize_t text_size; /* read shortly before the list; 0: unknown */
};

/* A socket for uevents that begin with "o" (online@, offline@): uevents of other devices must
 * not wake the session. */
static int open_announcements(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'o', 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = {ARRAY_SIZE(code), code};
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* True when the list may have changed since the last call. */
static bool text_has_changed(struct cpu_watch *watch)
{
	char text[TEXT_MAX_BYTES];
	ssize_t size = pread(watch->list_fd, text, sizeof(text), 0);

	if (size <= 0 || size == (ssize_t)sizeof(text)) {
		watch->text_size = 0;
		return true;
	}
	if (size == watch->text_size && memcmp(text, watch->text, (size_t)size) == 0)
		return false;
	memcpy(watch->text, text, (size_t)size);
	watch->text_size = size;
	return true;
}

int cpu_watch_new(struct cpu_watch **ret_watch)
{
	struct cpu_watch *watch = calloc(1, sizeof(*watch));
	int err;

	if (!watch)
		return -ENOMEM;
	/* The socket is opened first, so that no change between it and reading the list is
	 * missed. */
	watch->fd = open_announcements();
	watch->list_fd = cpu_list_open_online();
	watch->read_ns = clock_now_ns();
	text_has_changed(watch);
	err = cpu_list_read_online(&watch->list);
	if (err) {
		cpu_watch_free(watch);
		return err;
	}
	watch->list.version = 1;
	*ret_watch = watch;
	return 0;
}

int cpu_watch_fd(const struct cpu_watch *watch)
{
	return watch->fd;
}

bool cpu_watch_parse(const char *message, size_t size, uint32_t *ret_number)
{
	static const char prefix[] = "online@/devices/system/cpu/cpu";
	const char *digits = message + sizeof(prefix) - 1, *end;
	uint32_t number = 0;

	if (size <= sizeof(prefix) || memcmp(message, prefix, sizeof(prefix) - 1) != 0)
		return false;
	end = memchr(digits, '\0', size - (sizeof(prefix) - 1));
	if (!end || end == digits)
		return false;
	for (; digits < end; digits++) {
		if (*digits < '0' || *digits > '9')
			return false;
		number = number * 10 + (uint32_t)(*digits - '0');
		if (number >= CPU_LIST_MAX)
			return false;
	}
	*ret_number = number;
	return true;
}

static void read_announcements(struct cpu_watch *watch, struct cpu_arrivals *arrived)
{
	char message[MESSAGE_MAX_BYTES];
	struct sockaddr_nl sender;
	uint32_t number, *slot;

	while (watch->fd >= 0) {
		socklen_t sender_size = sizeof(sender);
		ssize_t got = recvfrom(watch->fd, message, sizeof(message), 0,
				       (struct sockaddr *)&sender, &sender_size);

		if (got < 0 && errno == ENOBUFS)
			arrived->any = arrived->all = true;
		else if (got < 0 && errno != EINTR)
			return;
		if (got <= 0 || sender_size != sizeof(sender) || sender.nl_pid != 0)
			continue; /* not from the kernel */
		arrived->any = true;
		if (!cpu_watch_parse(message, (size_t)got, &number))
			continue;
		slot = array_add(&arrived->numbers);
		if (slot)
			*slot = number;
		else
			arrived->all = true;
	}
}

static size_t times_arrived(const struct cpu_arrivals *arrivals, uint32_t number)
{
	size_t times = 0;

	array_foreach(&arrivals->numbers, each) {
		times += *each == number;
	}
	return times;
}

bool cpu_watch_number(const struct cpu_list *known, struct cpu_list *fresh,
		      const struct cpu_arrivals *arrivals, uint32_t *last)
{
	bool changed = fresh->count != known->count;

	array_foreach(fresh, cpu) {
		const struct listed_cpu *before = cpu_list_find(known, cpu->number);
		size_t times = times_arrived(arrivals, cpu->number);
		bool was_early = before && before->is_early;
		bool stayed = before && times <= was_early && !arrivals->all;

		cpu->arrival = stayed ? before->arrival : ++*last;
		cpu->is_early = times == 0 && !arrivals->all && (!before || was_early);
		changed = changed || !stayed;
	}
	return changed;
}

bool cpu_watch_poll(struct cpu_watch *watch, bool announced, uint64_t now_ns)
{
	struct cpu_arrivals arrived = {0};
	struct cpu_list fresh = {0};
	bool changed = false;

	if (!announced && now_ns - watch->read_ns < READ_AGAIN_NS)
		return false;
	read_announcements(watch, &arrived);
	if (arrived.any || now_ns - watch->read_ns >= READ_AGAIN_NS) {
		watch->read_ns = now_ns;
		/* The text is read first: the next poll finds a change between the two. */
		if ((text_has_changed(watch) || arrived.any) && cpu_list_read_online(&fresh) == 0) {
			changed =
				cpu_watch_number(&watch->list, &fresh, &arrived, &watch->arrivals);
			fresh.version = watch->list.version + changed;
			cpu_list_done(&watch->list);
			watch->list = fresh;
		}
	}
	array_free(&arrived.numbers);
	return changed;
}

const struct cpu_list *cpu_watch_list(const struct cpu_watch *watch)
{
	return &watch->list;
}

void cpu_watch_free(struct cpu_watch *watch)
{
	if (!watch)
		return;
	if (watch->fd >= 0)
		close(watch->fd);
	if (watch->list_fd >= 0)
		close(watch->list_fd);
	cpu_list_done(&watch->list);
	free(watch);
}
