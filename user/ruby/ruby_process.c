// SPDX-License-Identifier: BSD-2-Clause
/* Follows the main thread of a Ruby VM, its classes and its symbols, and checks each step. */
#include "ruby/ruby_process.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <pkbpf/unwind_state.h>

/* Thread-local variables of libraries that are loaded at the start lie below the thread pointer. */
#define BYTES_BELOW  4096
#define MOST_FRAMES  (1U << 17)
#define MOST_ENTRIES 64
#define MOST_IN_C    64
#define MOST_NAME    16

struct search {
	ruby_read_memory read;
	void *context;
	const struct pkbpf_ruby_layout *layout;
};

static bool read_word(const struct search *search, uint64_t address, uint64_t *ret_value)
{
	return !search->read(search->context, address, ret_value, sizeof(*ret_value));
}

/* Flags of an object; 0: it is none. */
static uint64_t flags_of(const struct search *search, uint64_t object)
{
	uint64_t flags;

	return object && !(object & 7) && read_word(search, object, &flags) ? flags : 0;
}

static bool is_text(const struct search *search, uint64_t object, const char *text)
{
	uint64_t flags = flags_of(search, object), length = PKBPF_RUBY_STRING_LENGTH(flags),
		 data = object + PKBPF_RUBY_STRING_TEXT;
	size_t size = strlen(text);
	char found[MOST_NAME];

	if (PKBPF_RUBY_TYPE(flags) != PKBPF_RUBY_STRING)
		return false;
	if (flags & PKBPF_RUBY_STRING_IS_FAR &&
	    (!read_word(search, object + PKBPF_RUBY_FAR_LENGTH, &length) ||
	     !read_word(search, object + PKBPF_RUBY_STRING_FAR, &data)))
		return false;
	return length == size && size <= sizeof(found) &&
	       !search->read(search->context, data, found, size) && !memcmp(found, text, size);
}

/* Calls is_wanted with each variable of a class, and returns the number of the first one's name; 0:
 * none. */
static uint64_t find_variable(const struct search *search, uint64_t class,
			      bool (*is_wanted)(const struct search *search, uint64_t value,
						uint64_t class),
			      uint64_t of)
{
	uint64_t table, bounds[3], entry[PKBPF_RUBY_ENTRY_WORDS];

	if (!read_word(search, class + search->layout->class_extension, &table) ||
	    !read_word(search, table + search->layout->extension_variables, &table) ||
	    search->read(search->context, table + PKBPF_RUBY_TABLE_START, bounds, sizeof(bounds)))
		return 0;
	for (uint64_t i = bounds[0]; i < bounds[1] && i - bounds[0] < MOST_ENTRIES; i++) {
		if (search->read(search->context, bounds[2] + i * sizeof(entry), entry,
				 sizeof(entry)))
			return 0;
		if (~entry[0] && is_wanted(search, entry[2], of))
			return entry[1];
	}
	return 0;
}

static bool is_name_of_object(const struct search *search, uint64_t value, uint64_t class)
{
	(void)class;
	return is_text(search, value, "Object");
}

static bool is_same(const struct search *search, uint64_t value, uint64_t class)
{
	(void)search;
	return value == class;
}

/* The names of the variables that have the name of a class, and the object of a singleton class:
 * those of Object are known. */
static int find_class_variables(const struct search *search, uint64_t variable,
				struct pkbpf_python_process *process)
{
	uint64_t object, singleton, flags;

	if (!read_word(search, variable, &object) || !object)
		return -EAGAIN;
	flags = flags_of(search, object);
	if (PKBPF_RUBY_TYPE(flags) != PKBPF_RUBY_CLASS ||
	    !read_word(search, object + 8, &singleton))
		return -EPROTO;
	flags = flags_of(search, singleton);
	if (PKBPF_RUBY_TYPE(flags) != PKBPF_RUBY_CLASS || !(flags & PKBPF_RUBY_IS_SINGLETON))
		return -EPROTO;
	process->ruby.path_id = find_variable(search, object, is_name_of_object, 0);
	process->ruby.attached_id = find_variable(search, singleton, is_same, object);
	return process->ruby.path_id && process->ruby.attached_id ? 0 : -EPROTO;
}

static bool read_element(const struct search *search, uint64_t array, uint64_t index,
			 uint64_t *ret_value)
{
	uint64_t flags = flags_of(search, array), data = array + PKBPF_RUBY_ARRAY_NEAR;

	if (PKBPF_RUBY_TYPE(flags) != PKBPF_RUBY_ARRAY)
		return false;
	if (!(flags & PKBPF_RUBY_ARRAY_IS_NEAR) &&
	    !read_word(search, array + PKBPF_RUBY_ARRAY_FAR, &data))
		return false;
	return read_word(search, data + 8 * index, ret_value);
}

/* Whether the array leads from the number of an operator to its character. */
static bool are_names(const struct search *search, uint64_t array)
{
	uint64_t page, name;

	return read_element(search, array, 0, &page) &&
	       read_element(search, page, '+' * PKBPF_RUBY_NAME_WORDS, &name) &&
	       is_text(search, name, "+") &&
	       read_element(search, page, '<' * PKBPF_RUBY_NAME_WORDS, &name) &&
	       is_text(search, name, "<");
}

/* The table of names has no symbol: it is searched among the initialized variables. */
static int find_names(const struct search *search, const struct ruby_image *image, uint64_t bias,
		      struct pkbpf_python_process *process)
{
	uint64_t words[512];

	for (uint64_t at = 0; at < image->data_size; at += sizeof(words)) {
		uint64_t start = image->data_start + bias + at, left = image->data_size - at;
		size_t size = left < sizeof(words) ? (size_t)left & ~7UL : sizeof(words);

		if (!size || search->read(search->context, start, words, size))
			return -EAGAIN;
		for (size_t i = 0; i < size / 8; i++) {
			if (words[i] & 7 || words[i] < 4096 || !are_names(search, words[i]))
				continue;
			process->ruby.symbols = start + 8 * i - search->layout->symbols_ids;
			return 0;
		}
	}
	return -EPROTO;
}

static int read_frame(const struct search *search, uint64_t frame,
		      uint64_t ids[PKBPF_RUBY_FRAME_WORDS], uint64_t *ret_flags)
{
	if (search->read(search->context, frame, ids, PKBPF_RUBY_FRAME_WORDS * sizeof(ids[0])) ||
	    !read_word(search, ids[PKBPF_RUBY_FRAME_ENVIRONMENT], ret_flags))
		return -EAGAIN;
	return 0;
}

static int check_iseq(const struct search *search, uint64_t iseq)
{
	uint64_t flags = flags_of(search, iseq), body, label;

	if (PKBPF_RUBY_TYPE(flags) != PKBPF_RUBY_INTERNAL ||
	    PKBPF_RUBY_KIND(flags) != PKBPF_RUBY_ISEQ ||
	    !read_word(search, iseq + search->layout->iseq_body, &body) ||
	    !read_word(search, body + search->layout->body_label, &label))
		return -EPROTO;
	flags = flags_of(search, label);
	return PKBPF_RUBY_TYPE(flags) == PKBPF_RUBY_STRING ? 0 : -EPROTO;
}

/* Goes inward from the frame below the dummy to the first one with an iseq: where a fiber's block
 * is in C, the outermost ones have none. */
static int check_code(const struct search *search, uint64_t innermost, uint64_t outermost)
{
	uint64_t ids[PKBPF_RUBY_FRAME_WORDS], flags, magic, frame = outermost;

	for (size_t i = 0; i < MOST_IN_C && frame >= innermost; i++) {
		if (read_frame(search, frame, ids, &flags))
			return -EAGAIN;
		magic = flags & PKBPF_RUBY_MAGIC;
		if (frame == outermost && magic == PKBPF_RUBY_C_FUNCTION)
			return -EAGAIN; /* the program has not begun */
		if (magic == PKBPF_RUBY_DUMMY)
			return -EAGAIN;
		if (magic != PKBPF_RUBY_C_FUNCTION && magic != PKBPF_RUBY_C_BLOCK)
			return check_iseq(search, ids[PKBPF_RUBY_FRAME_ISEQ]);
		frame -= search->layout->frame_size;
	}
	return -EAGAIN;
}

/* The outermost frame is a dummy without code, the next one runs a file or a block: they do not
 * change while the thread lives. */
static int check_frames(const struct search *search, uint64_t context)
{
	uint64_t words[4], end, frame, ids[PKBPF_RUBY_FRAME_WORDS], flags;

	if (search->read(search->context, context, words, sizeof(words)))
		return -EAGAIN;
	if (!words[0] || !words[2])
		return -EAGAIN;
	end = words[0] + 8 * words[1];
	frame = words[PKBPF_RUBY_CONTEXT_FRAME / 8];
	if (words[1] > PKBPF_RUBY_MAX_STACK || frame - words[0] >= 8 * words[1] ||
	    (end - frame) % search->layout->frame_size ||
	    (end - frame) / search->layout->frame_size > MOST_FRAMES)
		return -EPROTO;
	if (end - frame < 2 * search->layout->frame_size)
		return -EAGAIN;
	if (read_frame(search, end - search->layout->frame_size, ids, &flags))
		return -EAGAIN;
	if (!(flags & PKBPF_RUBY_IS_LOCAL) || (flags & PKBPF_RUBY_MAGIC) != PKBPF_RUBY_DUMMY)
		return -EPROTO;
	return check_code(search, frame, end - 2 * search->layout->frame_size);
}

/* The thread-local variable that has the context of the running code. */
static int find_slot(const struct search *search, uint64_t thread, uint64_t context,
		     struct pkbpf_python_process *process)
{
	uint64_t pointer, words[BYTES_BELOW / 8], own[3];
	size_t first = 0;

	if (!read_word(search, thread + search->layout->thread_id, &pointer))
		return -EAGAIN;
	/* glibc and musl begin the thread's block with its own address. */
	if (search->read(search->context, pointer, own, sizeof(own)))
		return -EPROTO;
	if (own[0] != pointer && own[2] != pointer)
		return -EPROTO;
	while (search->read(search->context, pointer - BYTES_BELOW + 8 * first, words + first,
			    BYTES_BELOW - 8 * first)) {
		first += 64; /* that part is not mapped */
		if (first >= BYTES_BELOW / 8)
			return -EAGAIN;
	}
	for (size_t i = BYTES_BELOW / 8; i-- > first;) {
		if (words[i] != context)
			continue;
		process->slots[0] = (int32_t)(8 * i) - BYTES_BELOW;
		return 0;
	}
	return -ENOENT; /* the variable of a library that was loaded later lies elsewhere */
}

int ruby_process_find(ruby_read_memory read, void *context, const struct ruby_image *image,
		      uint64_t bias, struct pkbpf_python_process *process)
{
	struct search search = {read, context, &image->layout};
	uint64_t vm, thread, running;
	int err;

	process->slots[0] = 0;
	process->loop[1].start = image->loop_start + bias;
	process->loop[1].size = image->loop_size;
	/* On arm64 the distance between a thread's id and its thread pointer is not known here. */
	if (PKBPF_UNWIND_ARM64)
		return -EAGAIN;
	if (!read_word(&search, image->vm + bias, &vm) || !vm ||
	    !read_word(&search, vm + image->layout.vm_main_thread, &thread) || !thread ||
	    !read_word(&search, thread + image->layout.thread_context, &running) || !running)
		return -EAGAIN;
	err = check_frames(&search, running);
	err = err ? err : find_class_variables(&search, image->object + bias, process);
	err = err ? err : find_names(&search, image, bias, process);
	return err ? err : find_slot(&search, thread, running, process);
}
