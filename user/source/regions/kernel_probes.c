// SPDX-License-Identifier: BSD-2-Clause
/* Makes probes of the kernel, by perf events of the kind "kprobe" or by links for many. */
#include "source/regions/kernel_probes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#define KPROBES "/sys/bus/event_source/devices/kprobe"
/* include/uapi/linux/bpf.h since 5.18 */
#define LINK_CREATE	    28
#define ATTACH_KPROBE_MULTI ((enum bpf_attach_type)42)
#define MULTI_RETURN	    1

struct multi_link_attr {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint32_t multi_flags, count;
	uint64_t symbols, addresses, cookies;
};

void kernel_probes_init(struct kernel_probes *probes, struct bpf_program *program, bool is_return,
			bool uses_multi)
{
	*probes = (struct kernel_probes){
		.uses_multi = uses_multi, .is_return = is_return, .program = program, .multi = -1};
	if (uses_multi)
		bpf_program__set_expected_attach_type(program, ATTACH_KPROBE_MULTI);
}

/* The number at the end of a file; -1: none. */
static int read_number(const char *path)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	int number;

	return file && fscanf(file, "%*[^0-9]%d", &number) == 1 ? number : -1;
}

static int read_type(void)
{
	_cleanup_fclose_ FILE *file = fopen(KPROBES "/type", "re");
	int number;

	return file && fscanf(file, "%d", &number) == 1 ? number : -1;
}

static int open_event(const struct kernel_probes *probes, uint64_t address)
{
	int type = read_type();
	int return_bit = read_number(KPROBES "/format/retprobe"), fd;
	struct perf_event_attr attr = {.size = sizeof(attr), .kprobe_addr = address};

	if (type < 0 || return_bit < 0 || return_bit > 63)
		return -ENOTSUP;
	attr.type = (uint32_t)type;
	attr.config = probes->is_return ? 1ULL << return_bit : 0;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int kernel_probes_add(struct kernel_probes *probes, uint64_t address, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = cookie);
	struct kernel_probe *item, probe = {.address = address, .cookie = cookie};
	int fd, err = 0;

	if (!probes->uses_multi) {
		fd = open_event(probes, address);
		if (fd < 0)
			return fd;
		probe.link = bpf_program__attach_perf_event_opts(probes->program, fd, &options);
		if (!probe.link) {
			err = -errno;
			close(fd);
			return err;
		}
	}
	item = array_add(&probes->items);
	if (!item) {
		bpf_link__destroy(probe.link);
		return -ENOMEM;
	}
	*item = probe;
	return 0;
}

void kernel_probes_drop(struct kernel_probes *probes, uint64_t cookie)
{
	size_t kept = 0;

	for (size_t i = 0; i < probes->items.count; i++) {
		if (probes->items.items[i].cookie == cookie)
			bpf_link__destroy(probes->items.items[i].link);
		else
			probes->items.items[kept++] = probes->items.items[i];
	}
	probes->items.count = kept;
}

static void close_multi(struct kernel_probes *probes)
{
	if (probes->multi >= 0)
		close(probes->multi);
	probes->multi = -1;
}

int kernel_probes_update(struct kernel_probes *probes)
{
	size_t count = probes->items.count;
	_cleanup_free_ uint64_t *words = calloc(2 * count + 1, sizeof(*words));
	struct multi_link_attr attr = {
		.program_fd = (uint32_t)bpf_program__fd(probes->program),
		.attach_type = ATTACH_KPROBE_MULTI,
		.multi_flags = probes->is_return ? MULTI_RETURN : 0,
		.count = (uint32_t)count,
	};

	if (!probes->uses_multi)
		return 0;
	close_multi(probes);
	if (!count)
		return 0;
	if (!words)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		words[i] = probes->items.items[i].address;
		words[count + i] = probes->items.items[i].cookie;
	}
	attr.addresses = (uint64_t)(uintptr_t)words;
	attr.cookies = (uint64_t)(uintptr_t)(words + count);
	probes->multi = (int)syscall(SYS_bpf, LINK_CREATE, &attr, sizeof(attr));
	return probes->multi < 0 ? -errno : 0;
}

void kernel_probes_remove(struct kernel_probes *probes)
{
	close_multi(probes);
	array_foreach(&probes->items, item)
		bpf_link__destroy(item->link);
	array_free(&probes->items);
}
