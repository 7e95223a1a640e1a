/* SPDX-License-Identifier: BSD-2-Clause */
/* A Ruby process on paper: a VM with its main thread, two frames, Object, and names of operators.
 */
#ifndef PKBPF_TESTS_SUPPORT_FAKE_RUBY_H
#define PKBPF_TESTS_SUPPORT_FAKE_RUBY_H

#include <errno.h>
#include <string.h>

#include "ruby/ruby_layout.h"
#include "ruby/ruby_process.h"

#define FAKE_RUBY_BASE	0x200000000000ULL
#define FAKE_RUBY_BYTES 65536U
/* Where its parts are, as offsets. */
enum {
	FAKE_RUBY_VM_VARIABLE = 0x100,
	FAKE_RUBY_OBJECT_VARIABLE = 0x108,
	FAKE_RUBY_DATA = 0x200, /* .data: the table of names is in it */
	FAKE_RUBY_SYMBOLS = 0x240,
	FAKE_RUBY_VM = 0x400,
	FAKE_RUBY_THREAD = 0x500,
	FAKE_RUBY_CONTEXT = 0x600,
	FAKE_RUBY_OBJECT = 0x700,
	FAKE_RUBY_SINGLETON = 0x740,
	FAKE_RUBY_EXTENSION = 0x780, /* of Object, then of its singleton class */
	FAKE_RUBY_TABLE = 0x800,     /* likewise */
	FAKE_RUBY_ENTRIES = 0x900,
	FAKE_RUBY_STRINGS = 0xa00,
	FAKE_RUBY_PAGES = 0xb00,
	FAKE_RUBY_PAGE = 0xb40,
	FAKE_RUBY_NAMES = 0xc00, /* elements of the page */
	FAKE_RUBY_ISEQ = 0x1400,
	FAKE_RUBY_BODY = 0x1440,
	FAKE_RUBY_STACK = 0x2000,
	FAKE_RUBY_STACK_WORDS = 512,
	FAKE_RUBY_THREAD_POINTER = 0x8000,
	FAKE_RUBY_SLOT = -0x48,
};
#define FAKE_RUBY_PATH_ID     0x5551
#define FAKE_RUBY_ATTACHED_ID 0x6661

struct fake_ruby {
	uint8_t bytes[FAKE_RUBY_BYTES];
	struct ruby_image image;
};

static inline int fake_ruby_read(void *context, uint64_t address, void *buffer, size_t size)
{
	const struct fake_ruby *fake = context;

	if (address < FAKE_RUBY_BASE || address - FAKE_RUBY_BASE > FAKE_RUBY_BYTES ||
	    size > FAKE_RUBY_BYTES - (address - FAKE_RUBY_BASE))
		return -EFAULT;
	memcpy(buffer, fake->bytes + (address - FAKE_RUBY_BASE), size);
	return 0;
}

static inline void fake_ruby_put(struct fake_ruby *fake, int64_t at, uint64_t value)
{
	memcpy(fake->bytes + at, &value, sizeof(value));
}

/* A word that leads to another part. */
static inline void fake_ruby_point(struct fake_ruby *fake, int64_t at, uint64_t to)
{
	fake_ruby_put(fake, at, FAKE_RUBY_BASE + to);
}

static inline void fake_ruby_string(struct fake_ruby *fake, int64_t at, const char *text)
{
	fake_ruby_put(fake, at, PKBPF_RUBY_STRING | strlen(text) << 14);
	memcpy(fake->bytes + at + PKBPF_RUBY_STRING_TEXT, text, strlen(text) + 1);
}

/* A class with one variable. */
static inline void fake_ruby_class(struct fake_ruby *fake, int64_t class, unsigned int number,
				   uint64_t flags, uint64_t id, uint64_t value)
{
	const struct pkbpf_ruby_layout *layout = &fake->image.layout;
	int64_t extension = FAKE_RUBY_EXTENSION + 64 * number,
		table = FAKE_RUBY_TABLE + 64 * number, entry = FAKE_RUBY_ENTRIES + 64 * number;

	fake_ruby_put(fake, class, PKBPF_RUBY_CLASS | flags);
	fake_ruby_point(fake, class + layout->class_extension, (uint64_t)extension);
	fake_ruby_point(fake, extension + layout->extension_variables, (uint64_t)table);
	fake_ruby_put(fake, table + PKBPF_RUBY_TABLE_START, 0);
	fake_ruby_put(fake, table + PKBPF_RUBY_TABLE_BOUND, 2);
	fake_ruby_point(fake, table + PKBPF_RUBY_TABLE_ENTRIES, (uint64_t)entry);
	/* The first entry was deleted. */
	fake_ruby_put(fake, entry, ~0ULL);
	fake_ruby_put(fake, entry + 8, 0x7771);
	fake_ruby_point(fake, entry + 16, value);
	fake_ruby_put(fake, entry + 24, 1);
	fake_ruby_put(fake, entry + 32, id);
	fake_ruby_point(fake, entry + 40, value);
}

static inline void fake_ruby_names(struct fake_ruby *fake)
{
	fake_ruby_put(fake, FAKE_RUBY_DATA, 8);
	fake_ruby_point(fake, FAKE_RUBY_DATA + 8, FAKE_RUBY_OBJECT);
	fake_ruby_point(fake, FAKE_RUBY_SYMBOLS + fake->image.layout.symbols_ids, FAKE_RUBY_PAGES);
	fake_ruby_put(fake, FAKE_RUBY_PAGES, PKBPF_RUBY_ARRAY | PKBPF_RUBY_ARRAY_IS_NEAR);
	fake_ruby_point(fake, FAKE_RUBY_PAGES + PKBPF_RUBY_ARRAY_NEAR, FAKE_RUBY_PAGE);
	fake_ruby_put(fake, FAKE_RUBY_PAGE, PKBPF_RUBY_ARRAY);
	fake_ruby_point(fake, FAKE_RUBY_PAGE + PKBPF_RUBY_ARRAY_FAR, FAKE_RUBY_NAMES);
	fake_ruby_point(fake, FAKE_RUBY_NAMES + '+' * 16, FAKE_RUBY_STRINGS + 64);
	fake_ruby_point(fake, FAKE_RUBY_NAMES + '<' * 16, FAKE_RUBY_STRINGS + 128);
	fake_ruby_string(fake, FAKE_RUBY_STRINGS + 64, "+");
	fake_ruby_string(fake, FAKE_RUBY_STRINGS + 128, "<");
}

/* A frame, the number-th from the outermost, whose environment is a word of its own. */
static inline int64_t fake_ruby_frame(struct fake_ruby *fake, unsigned int number, uint64_t flags)
{
	int64_t end = FAKE_RUBY_STACK + 8 * FAKE_RUBY_STACK_WORDS,
		at = end - (int64_t)number * fake->image.layout.frame_size,
		environment = FAKE_RUBY_STACK + 32 * (int64_t)number;

	fake_ruby_point(fake, at + 8 * PKBPF_RUBY_FRAME_ISEQ, FAKE_RUBY_ISEQ);
	fake_ruby_point(fake, at + 8 * PKBPF_RUBY_FRAME_ENVIRONMENT, (uint64_t)environment);
	fake_ruby_put(fake, environment, flags);
	return at;
}

static inline void fake_ruby_frames(struct fake_ruby *fake)
{
	const struct pkbpf_ruby_layout *layout = &fake->image.layout;
	int64_t frame;

	fake_ruby_frame(fake, 1, PKBPF_RUBY_DUMMY | PKBPF_RUBY_IS_FINISH | PKBPF_RUBY_IS_LOCAL);
	frame = fake_ruby_frame(fake, 2, 0x77770001 | PKBPF_RUBY_IS_FINISH);
	fake_ruby_point(fake, FAKE_RUBY_CONTEXT + PKBPF_RUBY_CONTEXT_STACK, FAKE_RUBY_STACK);
	fake_ruby_put(fake, FAKE_RUBY_CONTEXT + PKBPF_RUBY_CONTEXT_SIZE, FAKE_RUBY_STACK_WORDS);
	fake_ruby_point(fake, FAKE_RUBY_CONTEXT + PKBPF_RUBY_CONTEXT_FRAME, (uint64_t)frame);
	fake_ruby_put(fake, FAKE_RUBY_ISEQ, PKBPF_RUBY_INTERNAL | PKBPF_RUBY_ISEQ << 12);
	fake_ruby_point(fake, FAKE_RUBY_ISEQ + layout->iseq_body, FAKE_RUBY_BODY);
	fake_ruby_point(fake, FAKE_RUBY_BODY + layout->body_label, FAKE_RUBY_STRINGS + 192);
	fake_ruby_string(fake, FAKE_RUBY_STRINGS + 192, "<main>");
}

/* Of a version that is known. */
static inline void fake_ruby_init(struct fake_ruby *fake, unsigned int minor)
{
	struct ruby_image *image = &fake->image;

	memset(fake, 0, sizeof(*fake));
	ruby_layout_of(3, minor, &image->layout);
	image->vm = FAKE_RUBY_VM_VARIABLE;
	image->object = FAKE_RUBY_OBJECT_VARIABLE;
	image->loop_start = 0x123450;
	image->loop_size = 0x800;
	image->data_start = FAKE_RUBY_DATA;
	image->data_size = 0x100;
	fake_ruby_point(fake, FAKE_RUBY_VM_VARIABLE, FAKE_RUBY_VM);
	fake_ruby_point(fake, FAKE_RUBY_VM + image->layout.vm_main_thread, FAKE_RUBY_THREAD);
	fake_ruby_point(fake, FAKE_RUBY_THREAD + image->layout.thread_context, FAKE_RUBY_CONTEXT);
	fake_ruby_point(fake, FAKE_RUBY_THREAD + image->layout.thread_id, FAKE_RUBY_THREAD_POINTER);
	fake_ruby_point(fake, FAKE_RUBY_THREAD_POINTER + 16, FAKE_RUBY_THREAD_POINTER);
	fake_ruby_point(fake, FAKE_RUBY_THREAD_POINTER + FAKE_RUBY_SLOT, FAKE_RUBY_CONTEXT);
	fake_ruby_point(fake, FAKE_RUBY_OBJECT_VARIABLE, FAKE_RUBY_OBJECT);
	fake_ruby_string(fake, FAKE_RUBY_STRINGS, "Object");
	fake_ruby_class(fake, FAKE_RUBY_OBJECT, 0, 0, FAKE_RUBY_PATH_ID, FAKE_RUBY_STRINGS);
	fake_ruby_point(fake, FAKE_RUBY_OBJECT + 8, FAKE_RUBY_SINGLETON);
	fake_ruby_class(fake, FAKE_RUBY_SINGLETON, 1, PKBPF_RUBY_IS_SINGLETON,
			FAKE_RUBY_ATTACHED_ID, FAKE_RUBY_OBJECT);
	fake_ruby_names(fake);
	fake_ruby_frames(fake);
}

#endif
