// SPDX-License-Identifier: BSD-2-Clause
/* Sorts locks, and names the functions that wait for them and hold them. */
#include "rows/lock_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text_append.h"
#include "profile/account/wait_state.h"

/* Functions looked at of a stack. */
#define STACK_FUNCTIONS 128
/* Named of a lock that has no name. */
#define NAMED_SITES 3

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Of the C library, or of a wrapper of its locks that is linked into the program. */
static bool is_of_library(const struct function *function)
{
	static const char *const modules[] = {"libc.",	  "libc-",   "libpthread",
					      "ld-linux", "ld-musl", "libstdc++"};
	static const char *const names[] = {
		"pthread_",  "__pthread_",  "___pthread_", "__lll_",	      "lll_",	"futex",
		"__futex",   "__GI_",	    "__gthread_",  "__glibcxx_",      "std::",	"syscall",
		"__syscall", "__timedwait", "__lock",	   "clock_nanosleep", "__wait",
	};

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++)
		if (begins_with(function->module, modules[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (begins_with(function->name, names[i]))
			return true;
	return false;
}

/* The innermost function of the program, and the innermost one outside of the kernel. */
static void find_functions(const struct function_table *functions, const struct profile *profile,
			   uint32_t stack, struct lock_share *share)
{
	uint32_t ids[STACK_FUNCTIONS];
	size_t count = function_table_stack(functions, profile, stack, ids, STACK_FUNCTIONS);
	uint32_t leaf = LOCK_NO_FUNCTION;

	share->function = share->leaf = LOCK_NO_FUNCTION;
	if (count > STACK_FUNCTIONS)
		count = STACK_FUNCTIONS;
	for (size_t i = 0; i < count; i++) {
		const struct function *function = function_table_get(functions, ids[i]);

		if (function_is_outside(function))
			continue;
		if (leaf == LOCK_NO_FUNCTION)
			leaf = ids[i];
		if (is_of_library(function))
			continue;
		share->function = ids[i];
		break;
	}
	if (share->function == LOCK_NO_FUNCTION)
		share->function = leaf;
	else if (leaf != share->function)
		share->leaf = leaf;
}

bool lock_is_of_kernel(const struct lock *lock)
{
	return lock->class >= PKBPF_LOCK_KERNEL_MUTEX && lock->class <= PKBPF_LOCK_KERNEL_RT;
}

/* Takes locks of the kernel for others, or traces that. */
static bool is_of_kernel_locks(const char *name)
{
	static const char *const names[] = {
		"[",
		"bpf_",
		"__bpf_",
		"__traceiter_",
		"trace_",
		"mutex_",
		"__mutex_",
		"ww_mutex_",
		"down_",
		"__down_",
		"rwsem_",
		"_raw_",
		"__raw_",
		"native_queued",
		"queued_",
		"__pv_queued",
		"percpu_",
		"__percpu_",
		"rt_mutex_",
		"__rt_mutex_",
		"do_raw_",
		"osq_lock",
		"lock_mm_and_find_vma",
		"rt_spin_",
		"__lock_text",
		"mmap_read_lock",
		"mmap_write_lock",
		"mmap_lock",
		"up_write",
		"up_read",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (begins_with(name, names[i]))
			return true;
	return false;
}

/* The innermost function of the kernel that needs the lock. */
static void find_kernel_function(const struct function_table *functions,
				 const struct profile *profile, uint32_t stack,
				 struct lock_share *share)
{
	uint32_t ids[STACK_FUNCTIONS];
	size_t count = function_table_stack(functions, profile, stack, ids, STACK_FUNCTIONS);

	for (size_t i = 0; i < count && i < STACK_FUNCTIONS; i++) {
		const struct function *function = function_table_get(functions, ids[i]);

		if (!function->named || is_of_kernel_locks(function->name))
			continue;
		share->function = ids[i];
		return;
	}
}

/* Does it wait to write, at a rwlock of the C library? */
static bool is_of_writer(const struct function_table *functions, const struct profile *profile,
			 uint32_t stack)
{
	uint32_t ids[STACK_FUNCTIONS];
	size_t count = function_table_stack(functions, profile, stack, ids, STACK_FUNCTIONS);

	for (size_t i = 0; i < count && i < STACK_FUNCTIONS; i++) {
		const struct function *function = function_table_get(functions, ids[i]);

		if (strstr(function->name, "wrlock"))
			return true;
		if (!function_is_outside(function) && !is_of_library(function))
			break;
	}
	return false;
}

char *lock_place_of_stack(char text[LOCK_PLACE_TEXT_SIZE], const struct function_table *functions,
			  const struct profile *profile, uint32_t stack)
{
	uint32_t ids[STACK_FUNCTIONS];
	size_t count = function_table_stack(functions, profile, stack, ids, STACK_FUNCTIONS);
	const struct function *inner = NULL, *outer = NULL;

	for (size_t i = 0; i < count && i < STACK_FUNCTIONS && !outer; i++) {
		const struct function *function = function_table_get(functions, ids[i]);

		if (function_is_outside(function) || is_of_library(function))
			continue;
		outer = inner ? function : NULL;
		inner = inner ? inner : function;
	}
	text[0] = '\0';
	if (outer)
		text_append(text, LOCK_PLACE_TEXT_SIZE, "%s > ", outer->name);
	if (inner)
		text_append(text, LOCK_PLACE_TEXT_SIZE, "%s", inner->name);
	return text;
}

static int compare_ns(const void *left, const void *right)
{
	const struct lock_share *a = left, *b = right;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static int compare_views(const void *left, const void *right)
{
	const struct lock_view *a = left, *b = right;

	if (a->lock->wait_ns != b->lock->wait_ns)
		return a->lock->wait_ns > b->lock->wait_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool is_same(const struct lock_share *a, const struct lock_share *b)
{
	if (a->state != b->state || a->function != b->function || a->leaf != b->leaf)
		return false;
	return a->function != LOCK_NO_FUNCTION || (a->pid == b->pid && !strcmp(a->comm, b->comm));
}

static void add_share(struct lock_share *shares, size_t *count, const struct lock_share *more)
{
	for (size_t i = 0; i < *count; i++) {
		if (is_same(&shares[i], more)) {
			shares[i].ns += more->ns;
			return;
		}
	}
	shares[(*count)++] = *more;
}

/* Room for the shares of a lock: as many as it has parts. */
static void place_shares(struct lock_views *views, const struct lock_list *list,
			 struct lock_view **by_number)
{
	struct lock_share *next = views->shares;

	for (size_t i = 0; i < views->count; i++)
		by_number[views->items[i].number] = &views->items[i];
	array_foreach(&list->parts, part) {
		struct lock_view *view = by_number[part->lock];

		if (view)
			(*(part->kind == PKBPF_LOCK_SITE ? &view->site_count
							 : &view->holder_count))++;
	}
	for (size_t i = 0; i < views->count; i++) {
		struct lock_view *view = &views->items[i];

		view->sites = next;
		view->holders = next + view->site_count;
		next = view->holders + view->holder_count;
		view->site_count = view->holder_count = 0;
	}
}

static void find_place(const struct function_table *functions, const struct profile *profile,
		       const struct lock_view *view, uint32_t stack, struct lock_share *share)
{
	if (stack == LOCK_NO_STACK)
		return;
	if (lock_is_of_kernel(view->lock))
		find_kernel_function(functions, profile, stack, share);
	else
		find_functions(functions, profile, stack, share);
}

static void add_site(struct lock_view *view, const struct lock_part *part,
		     const struct profile *profile, const struct function_table *functions,
		     struct lock_share *share)
{
	if (part->stack != LOCK_NO_STACK && is_of_writer(functions, profile, part->stack))
		view->write_ns += part->ns;
	share->leaf = LOCK_NO_FUNCTION;
	add_share(view->sites, &view->site_count, share);
}

static void add_parts(struct lock_view **by_number, const struct profile *profile,
		      const struct function_table *functions)
{
	const struct lock_list *list = profile_locks(profile);

	array_foreach(&list->parts, part) {
		struct lock_view *view = by_number[part->lock];
		struct lock_share share = {.function = LOCK_NO_FUNCTION,
					   .leaf = LOCK_NO_FUNCTION,
					   .state = part->state,
					   .pid = part->pid,
					   .comm = part->comm,
					   .ns = part->ns};

		if (!view)
			continue;
		find_place(functions, profile, view, part->stack, &share);
		/* A rwlock does not name its readers. */
		if (part->state == PKBPF_LOCK_UNKNOWN && view->lock->class == PKBPF_LOCK_RWLOCK)
			share.comm = "readers or unknown";
		if (part->kind == PKBPF_LOCK_SITE) {
			add_site(view, part, profile, functions, &share);
			continue;
		}
		view->held_ns += part->ns;
		add_share(view->holders, &view->holder_count, &share);
	}
}

static void add_lock(struct lock_views *views, const struct lock *lock, uint32_t number)
{
	if (lock->class == PKBPF_LOCK_SIGNAL) {
		views->signal_waits += lock->waits;
		views->signal_ns += lock->wait_ns;
		return;
	}
	if (!lock->waits && !lock->wait_ns)
		return;
	views->waits += lock->waits;
	views->wait_ns += lock->wait_ns;
	views->items[views->count++] = (struct lock_view){.lock = lock, .number = number};
}

int lock_views_make(struct lock_views *views, const struct profile *profile,
		    const struct function_table *functions)
{
	const struct lock_list *list = profile_locks(profile);
	struct lock_view **by_number = calloc(list->locks.count + 1, sizeof(struct lock_view *));

	*views = (struct lock_views){
		.items = calloc(list->locks.count + 1, sizeof(*views->items)),
		.shares = calloc(list->parts.count + 1, sizeof(*views->shares)),
	};
	if (!by_number || !views->items || !views->shares) {
		free(by_number);
		lock_views_done(views);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < list->locks.count; i++)
		add_lock(views, &list->locks.items[i], i);
	qsort(views->items, views->count, sizeof(*views->items), compare_views);
	place_shares(views, list, by_number);
	add_parts(by_number, profile, functions);
	for (size_t i = 0; i < views->count; i++) {
		struct lock_view *view = &views->items[i];

		qsort(view->sites, view->site_count, sizeof(*view->sites), compare_ns);
		qsort(view->holders, view->holder_count, sizeof(*view->holders), compare_ns);
	}
	free(by_number);
	return 0;
}

void lock_views_done(struct lock_views *views)
{
	free(views->items);
	free(views->shares);
	*views = (struct lock_views){0};
}

/* Functions of several stacks may be one. */
static bool is_named(const struct lock_view *view, size_t site)
{
	for (size_t i = 0; i < site; i++)
		if (view->sites[i].function == view->sites[site].function)
			return true;
	return view->sites[site].function == LOCK_NO_FUNCTION;
}

char *lock_view_name(char text[LOCK_NAME_TEXT_SIZE], const struct lock_view *view,
		     const struct function_table *functions)
{
	const struct lock *lock = view->lock;
	size_t named = 0;

	snprintf(text, LOCK_NAME_TEXT_SIZE, "%s", lock_class_name(lock->class));
	if (lock->class == PKBPF_LOCK_OTHERS)
		return text;
	if (lock->name[0])
		snprintf(text, LOCK_NAME_TEXT_SIZE, "%s (%s)", lock->name,
			 lock_class_name(lock->class));
	for (size_t i = 0; i < view->site_count && named < NAMED_SITES; i++) {
		if (is_named(view, i))
			continue;
		text_append(text, LOCK_NAME_TEXT_SIZE, "%s%s", named++ ? ", " : " in ",
			    function_table_get(functions, view->sites[i].function)->name);
	}
	return text;
}

const char *lock_view_held(const struct lock_view *view)
{
	return view->lock->class == PKBPF_LOCK_WORD ? "last taken by" : "held by";
}

static const char *state_of_holder(uint32_t state)
{
	if (state == PKBPF_LOCK_INVERTED)
		return "priority inversion: runqueue";
	return state == PKBPF_WAIT_NONE ? "on CPU" : wait_state_name((uint8_t)state);
}

char *lock_share_holder(char text[LOCK_HOLDER_TEXT_SIZE], const struct lock_share *share,
			const struct function_table *functions)
{
	const char *state = state_of_holder(share->state);

	if (share->state == PKBPF_LOCK_HAND_OVER)
		snprintf(text, LOCK_HOLDER_TEXT_SIZE, "hand-over");
	else if (share->state == PKBPF_LOCK_UNKNOWN)
		snprintf(text, LOCK_HOLDER_TEXT_SIZE, "[%s]",
			 share->comm[0] ? share->comm : "unknown");
	else if (share->function == LOCK_NO_FUNCTION)
		snprintf(text, LOCK_HOLDER_TEXT_SIZE, "%s (%s)",
			 share->comm[0] ? share->comm : "[unknown]", state);
	else if (share->leaf == LOCK_NO_FUNCTION)
		snprintf(text, LOCK_HOLDER_TEXT_SIZE, "%s (%s)",
			 function_table_get(functions, share->function)->name, state);
	else
		snprintf(text, LOCK_HOLDER_TEXT_SIZE, "%s (%s: %s)",
			 function_table_get(functions, share->function)->name, state,
			 function_table_get(functions, share->leaf)->name);
	return text;
}
