// SPDX-License-Identifier: BSD-2-Clause
/* Reads the kernel's lists of its functions. */
#include "source/regions/kernel_functions.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* The kernel's own limit of a name is 512 bytes (KSYM_NAME_LEN); longer lines are hostile. */
#define LINE_BYTES 768
/* A pattern for everything: more are refused anyhow. */
#define MOST_MATCHES (1U << 18)

const struct kernel_function_paths kernel_function_paths = {
	"/proc/kallsyms",
	"/sys/kernel/tracing/available_filter_functions",
	"/sys/kernel/debug/kprobes/blacklist",
};

/* What tracing calls itself: a probe would come again inside of its own program, at best to be
 * passed over, at worst with a lock held. */
static const char *const our_globs[] = {
	"bpf_*",
	"__bpf_*",
	"___bpf_*",
	"*htab_*",
	"array_map_*",
	"*ringbuf*",
	"queue_stack_*",
	"*percpu_array*",
	"ktime_get*",
	"*spin_lock*",
	"*spin_unlock*",
	"*spin_trylock*",
	"rcu_*",
	"__rcu_*",
	"trace_*",
	"__traceiter_*",
	"perf_*",
	"__perf_*",
	"*_nofault*",
	"migrate_*",
	"*memcpy*",
	"*memset*",
	"*memmove*",
	"irq_work*",
	"*unwind_*",
	"get_perf_callchain*",
	"*kprobe*",
	"*fprobe*",
	"*ftrace*",
	"*rethook*",
	"*uprobe*",
	"stack_map_*",
	"*sched_clock*",
	"preempt_count_*",
	"syscall_trace_*",
	"__htab*",
	"copy_from_user_nmi*",
	"ring_buffer_*",
	"*lru_*map*",
	"__get_user_*",
	"syscall_enter_*",
	"syscall_exit_*",
	"irqentry_*",
	"exc_*",
	"*task_storage*",
};

bool kernel_function_is_ours(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(our_globs); i++)
		if (fnmatch(our_globs[i], name, 0) == 0)
			return true;
	return false;
}

static bool is_wanted(const char *name, const char *const *globs, size_t glob_count)
{
	for (size_t i = 0; i < glob_count; i++)
		if (fnmatch(globs[i], name, 0) == 0)
			return true;
	return false;
}

static int by_address(const void *left, const void *right)
{
	const struct kernel_function *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int read_symbols(const struct kernel_function_paths *paths, const char *const *globs,
			size_t glob_count, struct kernel_functions *functions)
{
	_cleanup_fclose_ FILE *file = fopen(paths->symbols, "re");
	bool has_address = false;
	char line[LINE_BYTES], name[LINE_BYTES], type;
	uint64_t address;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		struct kernel_function *item;

		if (sscanf(line, "%" SCNx64 " %c %767s", &address, &type, name) != 3)
			continue;
		has_address |= address != 0;
		if ((type != 't' && type != 'T' && type != 'w' && type != 'W') || !address ||
		    strncmp(name, "__pfx_", 6) == 0 || !is_wanted(name, globs, glob_count))
			continue;
		/* A program of BPF has a name here, too. */
		if (strstr(line, "\t[bpf]"))
			continue;
		item = functions->items.count < MOST_MATCHES ? array_add(&functions->items) : NULL;
		if (!item)
			return -ENOMEM;
		item->address = address;
		snprintf(item->name, sizeof(item->name), "%.*s", (int)sizeof(item->name) - 1, name);
	}
	return has_address ? 0 : -EACCES;
}

/* Parts of functions are jumped to, not called. */
static bool is_part(const char *name)
{
	return strstr(name, ".cold") || strncmp(name, "__cfi_", 6) == 0;
}

static void leave_only_probeable(struct kernel_functions *functions)
{
	size_t kept = 0;
	uint64_t last = 0;

	qsort(functions->items.items, functions->items.count, sizeof(*functions->items.items),
	      by_address);
	for (size_t i = 0; i < functions->items.count; i++) {
		struct kernel_function function = functions->items.items[i];

		if (function.address == last || is_part(function.name))
			continue;
		last = function.address;
		if (kernel_function_is_ours(function.name)) {
			if (!functions->ours++)
				memcpy(functions->first_ours, function.name, sizeof(function.name));
			continue;
		}
		functions->items.items[kept++] = function;
	}
	functions->items.count = kept;
}

/* Another name of a function that is wanted, or its own. */
struct alias {
	char name[PKBPF_SPAN_NAME];
	uint32_t function;
	bool is_traceable, is_blacklisted;
};

struct aliases {
	ARRAY_OF(struct alias) items; /* by name */
};

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct alias *)left)->name, ((const struct alias *)right)->name);
}

/* The kernel's lists have one name of each function, any of them. */
static int find_aliases(const struct kernel_function_paths *paths,
			const struct kernel_functions *functions, struct aliases *aliases)
{
	_cleanup_fclose_ FILE *file = fopen(paths->symbols, "re");
	char line[LINE_BYTES], name[LINE_BYTES], type;
	struct kernel_function wanted, *found;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		struct alias *item;

		if (sscanf(line, "%" SCNx64 " %c %767s", &wanted.address, &type, name) != 3)
			continue;
		found = bsearch(&wanted, functions->items.items, functions->items.count,
				sizeof(wanted), by_address);
		if (!found)
			continue;
		item = aliases->items.count < MOST_MATCHES ? array_add(&aliases->items) : NULL;
		if (!item)
			return -ENOMEM;
		item->function = (uint32_t)(found - functions->items.items);
		snprintf(item->name, sizeof(item->name), "%.*s", (int)sizeof(item->name) - 1, name);
	}
	qsort(aliases->items.items, aliases->items.count, sizeof(*aliases->items.items), by_name);
	return 0;
}

/* Names are the first words of lines of traceable functions, the second ones of the blacklist.
 * Returns whether the list could be read. */
static bool mark_listed(struct aliases *aliases, const char *path, bool is_blacklist)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	struct alias *end = aliases->items.items + aliases->items.count, *found, wanted;
	char line[LINE_BYTES], name[LINE_BYTES];
	bool has_lines = false;

	while (file && fgets(line, sizeof(line), file)) {
		if ((is_blacklist ? sscanf(line, "%*s %767s", name)
				  : sscanf(line, "%767s", name)) != 1)
			continue;
		has_lines = true;
		snprintf(wanted.name, sizeof(wanted.name), "%.*s", (int)sizeof(wanted.name) - 1,
			 name);
		found = bsearch(&wanted, aliases->items.items, aliases->items.count, sizeof(wanted),
				by_name);
		if (!found)
			continue;
		/* Functions of the same name cannot be told apart here. */
		while (found > aliases->items.items && by_name(found - 1, &wanted) == 0)
			found--;
		for (; found < end && by_name(found, &wanted) == 0; found++)
			*(is_blacklist ? &found->is_blacklisted : &found->is_traceable) = true;
	}
	return has_lines;
}

static void leave_listed(struct kernel_functions *functions, const struct aliases *aliases,
			 bool knows_traceable, bool *keep, const bool *refuse)
{
	size_t kept = 0;

	array_foreach(&aliases->items, alias)
		if (alias->is_traceable || !knows_traceable)
			keep[alias->function] = true;
	for (size_t i = 0; i < functions->items.count; i++) {
		struct kernel_function *function = &functions->items.items[i];

		if (keep[i] && !refuse[i]) {
			functions->items.items[kept++] = *function;
			continue;
		}
		if (!functions->refused++)
			memcpy(functions->first_refused, function->name, sizeof(function->name));
	}
	functions->items.count = kept;
}

static int leave_out(struct kernel_functions *functions, const struct kernel_function_paths *paths)
{
	size_t count = functions->items.count;
	_cleanup_free_ bool *keep = calloc(count + 1, sizeof(*keep));
	_cleanup_free_ bool *refuse = calloc(count + 1, sizeof(*refuse));
	struct aliases aliases = {0};
	bool knows_traceable;
	int err;

	if (!keep || !refuse)
		return -ENOMEM;
	if (!count)
		return 0;
	err = find_aliases(paths, functions, &aliases);
	if (!err) {
		knows_traceable = mark_listed(&aliases, paths->traceable, false);
		mark_listed(&aliases, paths->blacklist, true);
		array_foreach(&aliases.items, alias)
			if (alias->is_blacklisted)
				refuse[alias->function] = true;
		leave_listed(functions, &aliases, knows_traceable, keep, refuse);
	}
	array_free(&aliases.items);
	return err;
}

int kernel_functions_find(const struct kernel_function_paths *paths, const char *const *globs,
			  size_t glob_count, struct kernel_functions *functions)
{
	int err = read_symbols(paths, globs, glob_count, functions);

	if (err)
		return err;
	leave_only_probeable(functions);
	return leave_out(functions, paths);
}

void kernel_functions_done(struct kernel_functions *functions)
{
	array_free(&functions->items);
}
