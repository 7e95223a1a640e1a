// SPDX-License-Identifier: BSD-2-Clause
/* Tests for ruby/ruby_process: what is found in the memory of a process, and which is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "fake_ruby.h"

static int find(struct fake_ruby *fake, struct pkbpf_python_process *ret_process)
{
	*ret_process = (struct pkbpf_python_process){0};
	return ruby_process_find(fake_ruby_read, fake, &fake->image, FAKE_RUBY_BASE, ret_process);
}

static void finds_slot_names_and_variables(void **state)
{
	static struct fake_ruby fake;
	struct pkbpf_python_process process;

	(void)state;
	fake_ruby_init(&fake, 1);
	assert_int_equal(find(&fake, &process), 0);
	assert_int_equal(process.slots[0], FAKE_RUBY_SLOT);
	assert_int_equal(process.loop[0].size, 0);
	assert_int_equal(process.loop[1].start, FAKE_RUBY_BASE + 0x123450);
	assert_int_equal(process.loop[1].size, 0x800);
	assert_int_equal(process.ruby.symbols, FAKE_RUBY_BASE + FAKE_RUBY_SYMBOLS);
	assert_int_equal(process.ruby.path_id, FAKE_RUBY_PATH_ID);
	assert_int_equal(process.ruby.attached_id, FAKE_RUBY_ATTACHED_ID);
}

static void waits_for_an_interpreter_that_starts(void **state)
{
	static struct fake_ruby fake;
	struct pkbpf_python_process process;
	const struct pkbpf_ruby_layout *layout = &fake.image.layout;

	(void)state;
	fake_ruby_init(&fake, 1);
	fake_ruby_put(&fake, FAKE_RUBY_VM_VARIABLE, 0);
	assert_int_equal(find(&fake, &process), -EAGAIN);
	fake_ruby_init(&fake, 1);
	fake_ruby_put(&fake, FAKE_RUBY_THREAD + layout->thread_context, 0);
	assert_int_equal(find(&fake, &process), -EAGAIN);
	fake_ruby_init(&fake, 1);
	fake_ruby_put(&fake, FAKE_RUBY_OBJECT_VARIABLE, 0);
	assert_int_equal(find(&fake, &process), -EAGAIN);
	/* The dummy alone, then C functions that load what the program needs. */
	fake_ruby_init(&fake, 1);
	fake_ruby_point(&fake, FAKE_RUBY_CONTEXT + PKBPF_RUBY_CONTEXT_FRAME,
			FAKE_RUBY_STACK + 8 * FAKE_RUBY_STACK_WORDS - layout->frame_size);
	assert_int_equal(find(&fake, &process), -EAGAIN);
	fake_ruby_init(&fake, 1);
	fake_ruby_frame(&fake, 2, PKBPF_RUBY_C_FUNCTION);
	assert_int_equal(find(&fake, &process), -EAGAIN);
	/* The variable lies elsewhere. */
	fake_ruby_init(&fake, 1);
	fake_ruby_put(&fake, FAKE_RUBY_THREAD_POINTER + FAKE_RUBY_SLOT, 1);
	assert_int_equal(find(&fake, &process), -ENOENT);
	assert_int_equal(process.slots[0], 0);
}

/* A fiber's block in C: its outermost frame has an ifunc. */
static void looks_inward_from_blocks_in_c(void **state)
{
	static struct fake_ruby fake;
	struct pkbpf_python_process process;
	int64_t frame;

	(void)state;
	fake_ruby_init(&fake, 1);
	frame = fake_ruby_frame(&fake, 2, PKBPF_RUBY_C_BLOCK);
	fake_ruby_put(&fake, frame + 8 * PKBPF_RUBY_FRAME_ISEQ, FAKE_RUBY_BASE);
	assert_int_equal(find(&fake, &process), -EAGAIN);
	frame = fake_ruby_frame(&fake, 3, PKBPF_RUBY_C_FUNCTION);
	fake_ruby_put(&fake, frame + 8 * PKBPF_RUBY_FRAME_ISEQ, 0);
	fake_ruby_point(&fake, FAKE_RUBY_CONTEXT + PKBPF_RUBY_CONTEXT_FRAME, (uint64_t)frame);
	assert_int_equal(find(&fake, &process), -EAGAIN);
	frame = fake_ruby_frame(&fake, 4, 0x22220001);
	fake_ruby_point(&fake, FAKE_RUBY_CONTEXT + PKBPF_RUBY_CONTEXT_FRAME, (uint64_t)frame);
	assert_int_equal(find(&fake, &process), 0);
	assert_int_equal(process.slots[0], FAKE_RUBY_SLOT);
	fake_ruby_put(&fake, frame + 8 * PKBPF_RUBY_FRAME_ISEQ, FAKE_RUBY_BASE);
	assert_int_equal(find(&fake, &process), -EPROTO);
}

/* What another version might have at these places. */
static void refuses_memory_of_another_layout(void **state)
{
	static const struct {
		int64_t at;
		uint64_t value;
	} cases[] = {
		{FAKE_RUBY_CONTEXT + PKBPF_RUBY_CONTEXT_SIZE, PKBPF_RUBY_MAX_STACK + 1},
		{FAKE_RUBY_CONTEXT + PKBPF_RUBY_CONTEXT_FRAME, FAKE_RUBY_BASE},
		{FAKE_RUBY_CONTEXT + PKBPF_RUBY_CONTEXT_FRAME,
		 FAKE_RUBY_BASE + FAKE_RUBY_STACK + 8 * FAKE_RUBY_STACK_WORDS - 120},
		{FAKE_RUBY_STACK + 32, 0x11110001 | PKBPF_RUBY_IS_LOCAL},
		{FAKE_RUBY_STACK + 32, PKBPF_RUBY_DUMMY},
		{FAKE_RUBY_ISEQ, PKBPF_RUBY_STRING},
		{FAKE_RUBY_ISEQ, PKBPF_RUBY_INTERNAL | PKBPF_RUBY_METHOD << 12},
		{FAKE_RUBY_STRINGS + 192, PKBPF_RUBY_ARRAY},
		{FAKE_RUBY_OBJECT, PKBPF_RUBY_MODULE},
		{FAKE_RUBY_SINGLETON, PKBPF_RUBY_CLASS},
		{FAKE_RUBY_STRINGS + PKBPF_RUBY_STRING_TEXT, 0x7463656a624fULL + 1},
		{FAKE_RUBY_ENTRIES + 64 + 40, FAKE_RUBY_BASE},
		{FAKE_RUBY_PAGE, PKBPF_RUBY_STRING},
		{FAKE_RUBY_STRINGS + 64, PKBPF_RUBY_STRING | 2 << 14},
		{FAKE_RUBY_THREAD_POINTER + 16, 0},
	};
	static struct fake_ruby fake;
	struct pkbpf_python_process process;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_ruby_init(&fake, 1);
		fake_ruby_put(&fake, cases[i].at, cases[i].value);
		if (find(&fake, &process) != -EPROTO)
			fail_msg("case %zu is taken", i);
		assert_int_equal(process.slots[0], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_slot_names_and_variables),
		cmocka_unit_test(waits_for_an_interpreter_that_starts),
		cmocka_unit_test(looks_inward_from_blocks_in_c),
		cmocka_unit_test(refuses_memory_of_another_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
