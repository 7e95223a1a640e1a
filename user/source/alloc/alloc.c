// SPDX-License-Identifier: BSD-2-Clause
/* The alloc source: allocations that the sampler in a process has chosen, and their end. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pkbpf/alloc.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/unused.h"
#include "elf/usdt_site.h"
#include "event/alloc_event.h"
#include "source/alloc/sampler_library.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

#define PROVIDER	  "otel_memory"
#define DRAIN_INTERVAL_NS (NS_PER_SECOND / 4)

struct source {
	struct session *session;
	char library[PATH_MAX];
	struct usdt_site alloc_site, free_site;
	struct bpf_link *alloc_link, *free_link;
	struct event_buffer buffer;
	uint64_t last_drain_ns;
};

static void alloc_detach(struct source *source);

static void alloc_free(struct source *source)
{
	alloc_detach(source);
	event_buffer_done(&source->buffer);
	free(source);
}

static void alloc_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	bpf_program__set_autoload(skeleton->progs.alloc_sampled, wanted);
	bpf_program__set_autoload(skeleton->progs.alloc_freed, wanted);
	bpf_map__set_autocreate(skeleton->maps.alloc_late_frees, wanted);
	bpf_map__set_autocreate(skeleton->maps.alloc_users, wanted);
	/* Stacks have numbers, but none is recognized before it is unwound (stack_maps.c). */
	if (wanted)
		bpf_map__set_autocreate(skeleton->maps.stacks_sent, true);
}

static int find_sites(struct source *source, struct error *error)
{
	_cleanup_close_ int fd = open(source->library, O_RDONLY | O_CLOEXEC);
	struct elf_file file;
	int err;

	if (fd < 0)
		return error_set(error, errno, "cannot open %s: %s", source->library,
				 strerror(errno));
	err = elf_file_open(&file, fd);
	if (err == 0) {
		err = usdt_site_find(&file, PROVIDER, "alloc", &source->alloc_site);
		err = err ? err : usdt_site_find(&file, PROVIDER, "free", &source->free_site);
		elf_file_done(&file);
	}
	if (err)
		return error_set(error, -err, "cannot find the probes of %s: %s", source->library,
				 strerror(-err));
	return 0;
}

static int alloc_configure(struct session *session, _unused_ const struct source_options *options,
			   struct source **ret_source, struct error *error)
{
	struct source *source = calloc(1, sizeof(*source));
	int err;

	if (!source)
		return error_set(error, ENOMEM,
				 "cannot prepare allocation profiling: out of memory");
	source->session = session;
	err = sampler_library_find(source->library, sizeof(source->library), error);
	err = err ? err : find_sites(source, error);
	if (err) {
		alloc_free(source);
		return err;
	}
	*ret_source = source;
	return 0;
}

/* In all processes that map the library, now or later; the program tells targets. */
static int attach_site(struct source *source, const struct bpf_program *program,
		       const struct usdt_site *site, struct bpf_link **ret_link,
		       struct error *error)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = site->semaphore_offset);
	struct bpf_link *link = bpf_program__attach_uprobe_opts(program, -1, source->library,
								site->offset, &options);
	int err = link ? 0 : -errno;

	if (err)
		return error_set(error, -err,
				 "cannot attach to the allocation sampler %s: %s; its kernel needs "
				 "CONFIG_UPROBE_EVENTS",
				 source->library, strerror(-err));
	*ret_link = link;
	return 0;
}

/* Frees first: without them every allocation would seem to stay. */
static int alloc_attach(struct source *source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	int err = attach_site(source, skeleton->progs.alloc_freed, &source->free_site,
			      &source->free_link, error);

	return err ? err
		   : attach_site(source, skeleton->progs.alloc_sampled, &source->alloc_site,
				 &source->alloc_link, error);
}

static void alloc_begin(struct source *source, uint64_t start_ns)
{
	source->last_drain_ns = start_ns;
	__atomic_store_n(&session_skeleton(source->session)->bss->alloc_control.start_ns, start_ns,
			 __ATOMIC_RELEASE);
}

static void alloc_end(struct source *source, uint64_t end_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->alloc_control.end_ns, end_ns,
			 __ATOMIC_RELEASE);
}

/* Sends the frees whose records found no room in the ring. */
static int drain_late_frees(struct source *source)
{
	int fd = bpf_map__fd(session_skeleton(source->session)->maps.alloc_late_frees), err = 0;
	struct pkbpf_alloc_late_free key, next;
	bool more = bpf_map_get_next_key(fd, NULL, &next) == 0;

	for (uint32_t i = 0; more && !err && i < PKBPF_ALLOC_LATE_FREES; i++) {
		struct free_view view = {0};

		key = next;
		more = bpf_map_get_next_key(fd, &key, &next) == 0;
		if (bpf_map_lookup_elem(fd, &key, &view.time_ns))
			continue;
		view.pid = key.pid;
		view.address = key.address;
		err = free_event_encode(&source->buffer, &view);
		if (!err)
			bpf_map_delete_elem(fd, &key);
	}
	session_add_records(source->session, &source->buffer);
	return err;
}

static int alloc_poll(struct source *source)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - source->last_drain_ns < DRAIN_INTERVAL_NS)
		return 0;
	source->last_drain_ns = now_ns;
	return drain_late_frees(source);
}

static int alloc_cut(struct source *source, _unused_ uint64_t until_ns)
{
	return drain_late_frees(source);
}

static void alloc_detach(struct source *source)
{
	bool was_attached = source->alloc_link;

	bpf_link__destroy(source->alloc_link);
	bpf_link__destroy(source->free_link);
	source->alloc_link = NULL;
	source->free_link = NULL;
	if (was_attached)
		drain_late_frees(source);
}

const struct source_ops source_alloc = {
	.kind = PKBPF_PROFILE_ALLOC,
	.name = "alloc",
	.summary = "allocated bytes by stack, of a command started with --alloc",
	.by_request = true,
	.options = alloc_option_rows,
	.choose = alloc_choose,
	.configure = alloc_configure,
	.attach = alloc_attach,
	.begin = alloc_begin,
	.end = alloc_end,
	.poll = alloc_poll,
	.cut = alloc_cut,
	.detach = alloc_detach,
	.free = alloc_free,
};
