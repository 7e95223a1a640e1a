// SPDX-License-Identifier: BSD-2-Clause
/* Searches the memory around each thread pointer for the address of the thread's state. */
#include "python/python_slots.h"

#include <errno.h>
#include <string.h>

#include "pkbpf/unwind_state.h"

/* Around the thread pointer: thread-local variables below (x86-64), the C library's control block
 * above. */
#define BYTES_BELOW	  8192
#define BYTES_ABOVE	  2304
#define WORDS		  ((BYTES_BELOW + BYTES_ABOVE) / 8)
#define MOST_THREADS	  64
#define MOST_INTERPRETERS 64

struct thread_state {
	uint64_t address, thread_pointer;
};

struct search {
	python_read_memory read;
	void *context;
	struct thread_state threads[MOST_THREADS];
	size_t count;
	bool hit[WORDS]; /* so far, in all threads */
};

static bool read_word(const struct search *search, uint64_t address, uint64_t *ret_value)
{
	return !search->read(search->context, address, ret_value, sizeof(*ret_value));
}

bool python_runtime_is_used(python_read_memory read, void *context, uint64_t runtime,
			    const struct pkbpf_python_layout *layout)
{
	uint64_t head;

	return !read(context, runtime + layout->runtime_interpreters_head, &head, sizeof(head)) &&
	       head;
}

static void list_threads(struct search *search, uint64_t interpreter,
			 const struct pkbpf_python_layout *layout)
{
	uint64_t thread, id;

	if (!read_word(search, interpreter + layout->interpreter_threads, &thread))
		return;
	while (thread && search->count < MOST_THREADS) {
		if (!read_word(search, thread + layout->thread_id, &id))
			return;
		if (id)
			search->threads[search->count++] = (struct thread_state){thread, id};
		if (!read_word(search, thread + layout->thread_next, &thread))
			return;
	}
}

static void list_all_threads(struct search *search, uint64_t runtime,
			     const struct pkbpf_python_layout *layout)
{
	uint64_t interpreter;

	if (!read_word(search, runtime + layout->runtime_interpreters_head, &interpreter))
		return;
	for (int i = 0; i < MOST_INTERPRETERS && interpreter; i++) {
		list_threads(search, interpreter, layout);
		if (!read_word(search, interpreter + layout->interpreter_next, &interpreter))
			return;
	}
}

/* A thread of several interpreters has several states; one of them is in the slot. */
static bool is_state_of(const struct search *search, uint64_t value, uint64_t thread_pointer)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->threads[i].address == value &&
		    search->threads[i].thread_pointer == thread_pointer)
			return true;
	return false;
}

/* false: not the memory of a thread. */
static bool look_at_thread(struct search *search, uint64_t thread_pointer)
{
	uint64_t words[WORDS];
	size_t above = BYTES_BELOW / 8, first = 0;

	if (search->read(search->context, thread_pointer - BYTES_BELOW, words, sizeof(words))) {
		first = above;
		if (search->read(search->context, thread_pointer, words + above, BYTES_ABOVE))
			return false;
	}
	/* The control block begins with its own address (musl), or has it as third word (glibc). */
	if (words[above] != thread_pointer && words[above + 2] != thread_pointer)
		return false;
	for (size_t i = 0; i < WORDS; i++)
		search->hit[i] &= i >= first && is_state_of(search, words[i], thread_pointer);
	return true;
}

size_t python_slots_find(python_read_memory read, void *context, uint64_t runtime,
			 const struct pkbpf_python_layout *layout,
			 int32_t ret_slots[PKBPF_PYTHON_SLOTS])
{
	struct search search = {.read = read, .context = context};
	size_t above = BYTES_BELOW / 8, found = 0, seen = 0;

	memset(ret_slots, 0, PKBPF_PYTHON_SLOTS * sizeof(*ret_slots));
	/* On arm64 the distance between a thread's id and its thread pointer is not known here. */
	if (PKBPF_UNWIND_ARM64)
		return 0;
	list_all_threads(&search, runtime, layout);
	memset(search.hit, true, sizeof(search.hit));
	for (size_t i = 0; i < search.count; i++)
		seen += look_at_thread(&search, search.threads[i].thread_pointer);
	if (!seen)
		return 0;
	/* Below the thread pointer lies the stack of other threads, where the address may be in the
	 * same variables of the same functions. So the control block first, then what is nearest
	 * to the thread pointer. */
	for (size_t i = above + 1; i < WORDS && found < PKBPF_PYTHON_SLOTS; i++)
		if (search.hit[i])
			ret_slots[found++] = (int32_t)((i - above) * 8);
	for (size_t i = above; i-- > 0 && found < PKBPF_PYTHON_SLOTS;)
		if (search.hit[i])
			ret_slots[found++] = -(int32_t)((above - i) * 8);
	return found;
}
