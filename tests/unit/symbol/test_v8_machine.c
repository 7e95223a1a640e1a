// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/jit/v8_machine: names of frames while the heap changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fake_v8.h"
#include "symbol/jit/v8_budget.h"
#include "symbol/jit/v8_machine.h"

struct program {
	struct fake_v8 *fake;
	struct string_pool *strings;
	struct v8_names names;
	struct v8_machine *machine;
	uint64_t script, outer, inner;
	uint64_t now_ns;
};

static const struct fake_v8_function
	outer_function = {.name = "outer", .literal = 1, .unique = 11, .end = 50},
	inner_function = {.name = "inner", .literal = 2, .unique = 12, .start = 2, .end = 20};

static void start(struct program *program, uint32_t major, uint32_t minor)
{
	struct v8_bytecode_sizes sizes = {0};
	struct v8_memory memory;

	program->now_ns = NS_PER_SECOND;
	program->fake = fake_v8_new(major, minor);
	program->strings = string_pool_new();
	program->names = (struct v8_names){program->strings, 0, 1 << 20, 0};
	memory = fake_v8_memory(program->fake);
	program->machine = v8_machine_new(&memory, program->fake->layout, &sizes, &program->names);
	program->script = fake_v8_script(program->fake, 7, "file:///srv/a.js", "x\ny\nz\n");
	program->outer = fake_v8_function(program->fake, program->script, &outer_function);
	program->inner = fake_v8_function(program->fake, program->script, &inner_function);
}

static void stop(struct program *program)
{
	v8_machine_free(program->machine);
	string_pool_free(program->strings);
	free(program->fake);
}

static void set_string(struct pkbpf_v8_string *string, const char *text)
{
	string->width = 1;
	string->length = (uint32_t)strlen(text);
	string->bytes = (uint16_t)strlen(text);
	memcpy(string->text, text, strlen(text));
}

/* What the kernel side sends of a function. */
static struct pkbpf_event_v8_function record_of(const struct program *program, uint64_t shared,
						const struct fake_v8_function *wanted)
{
	struct pkbpf_event_v8_function record = {
		.script_id = 7,
		.shared = shared - 1,
		.identity = program->fake->layout->kernel.has_unique
				    ? wanted->unique
				    : pkbpf_v8_identity(7, wanted->literal),
		.script = program->script,
		.start = wanted->start,
		.end = wanted->end,
		.source_length = 6,
	};

	set_string(&record.name, wanted->name);
	set_string(&record.path, "file:///srv/a.js");
	return record;
}

static void note(struct program *program, uint64_t shared, const struct fake_v8_function *wanted)
{
	struct pkbpf_event_v8_function record = record_of(program, shared, wanted);

	v8_machine_note(program->machine, &record, program->now_ns);
}

/* A frame of `wanted`, whose SharedFunctionInfo was at `shared`. pc 0: interpreted. */
static struct v8_site site_of(const struct program *program, uint64_t shared,
			      const struct fake_v8_function *wanted, uint32_t offset, uint64_t pc)
{
	uint64_t identity = program->fake->layout->kernel.has_unique
				    ? wanted->unique
				    : pkbpf_v8_identity(7, wanted->literal);

	return (struct v8_site){
		.words = {pkbpf_v8_first_word(shared - 1, offset),
			  pkbpf_v8_second_word(identity, offset)},
		.pc = pc,
	};
}

static const struct v8_place *find(struct program *program, struct v8_site site)
{
	uint32_t number = v8_machine_find(program->machine, &site, true, program->now_ns);

	return number == UINT32_MAX ? NULL : v8_machine_place(program->machine, number);
}

static void test_interpreted(void **state)
{
	const struct fake_v8_entry entry = {0, fake_v8_raw_position(4, 0)};
	const struct v8_place *place;
	struct program program;
	struct v8_site site;

	(void)state;
	start(&program, 11, 3);
	fake_v8_bytecode(program.fake, program.inner, "abc", 3,
			 fake_v8_positions(program.fake, &entry, 1));
	site = site_of(&program, program.inner, &inner_function, 2, 0);
	assert_null(find(&program, site));
	note(&program, program.inner, &inner_function);
	place = find(&program, site);
	assert_int_equal(place->line_count, 1);
	assert_string_equal(place->lines[0].function, "inner (a.js:2)");
	assert_string_equal(place->lines[0].file, "file:///srv/a.js");
	assert_int_equal(place->lines[0].line, 3);
	/* without an offset no line */
	site = site_of(&program, program.inner, &inner_function, PKBPF_V8_NO_OFFSET, 0);
	place = find(&program, site);
	assert_int_equal(place->lines[0].line, 0);
	assert_null(place->lines[0].file);
	stop(&program);
}

static uint64_t make_code(struct program *program)
{
	const struct fake_v8_entry entries[] = {{0, fake_v8_raw_position(2, 0)},
						{20, fake_v8_raw_position(4, 1)}};
	uint64_t object;

	return fake_v8_code(program->fake, 12, 100,
			    fake_v8_deopt(program->fake, program->outer, program->inner, 3),
			    fake_v8_positions(program->fake, entries, 2), &object);
}

static void check_inlined(uint32_t major, uint32_t minor)
{
	const struct v8_place *place;
	struct program program;
	struct v8_site site;
	uint64_t code;

	start(&program, major, minor);
	code = make_code(&program);
	note(&program, program.outer, &outer_function);
	site = site_of(&program, program.outer, &outer_function, PKBPF_V8_NO_OFFSET, code + 30);
	place = find(&program, site);
	assert_int_equal(place->line_count, 2);
	assert_string_equal(place->lines[0].function, "inner (a.js:2)");
	assert_true(place->lines[0].inlined);
	assert_int_equal(place->lines[0].line, 3);
	assert_string_equal(place->lines[1].function, "outer (a.js:1)");
	assert_false(place->lines[1].inlined);
	assert_int_equal(place->lines[1].line, 2);
	/* A leaf of another function is entering this one, or leaves it. A caller is not. */
	note(&program, program.inner, &inner_function);
	site = site_of(&program, program.inner, &inner_function, PKBPF_V8_NO_OFFSET, code + 3);
	place = find(&program, site);
	assert_int_equal(place->line_count, 1);
	assert_string_equal(place->lines[0].function, "inner (a.js:2)");
	site.is_leaf = true;
	place = find(&program, site);
	assert_int_equal(place->line_count, 2);
	assert_string_equal(place->lines[0].function, "outer (a.js:1)");
	assert_string_equal(place->lines[1].function, "inner (a.js:2)");
	stop(&program);
}

/* Of a chain only what is outside of the function that cannot be read: the inner one was not called
 * by the outer one. */
static void test_unreadable_function_in_a_chain(void **state)
{
	const struct fake_v8_entry entries[] = {{0, fake_v8_raw_position(2, 0)},
						{20, fake_v8_raw_position(4, 1)}};
	const uint64_t inlined[] = {fake_v8_raw_position(3, 2), 0, fake_v8_raw_position(2, 0), 1};
	uint64_t items[12] = {0}, literals[2], object, code;
	const struct v8_layout *layout;
	const struct v8_place *place;
	struct program program;

	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		start(&program, 11, 3);
		layout = program.fake->layout;
		literals[0] = program.inner;
		literals[1] = broken ? fake_v8_string(program.fake, "none") : program.outer;
		items[layout->deopt_literals] = fake_v8_array(program.fake, literals, 2);
		items[layout->deopt_shared] = program.outer;
		items[layout->deopt_positions] =
			fake_v8_bytes(program.fake, inlined, sizeof(inlined));
		code = fake_v8_code(program.fake, 12, 100, fake_v8_array(program.fake, items, 12),
				    fake_v8_positions(program.fake, entries, 2), &object);
		note(&program, program.outer, &outer_function);
		place = find(&program, site_of(&program, program.outer, &outer_function,
					       PKBPF_V8_NO_OFFSET, code + 30));
		assert_int_equal(place->line_count, broken ? 1 : 3);
		assert_string_equal(place->lines[0].function,
				    broken ? "outer (a.js:1)" : "inner (a.js:2)");
		assert_string_equal(place->lines[place->line_count - 1].function, "outer (a.js:1)");
		assert_int_equal(place->lines[place->line_count - 1].line, 2);
		stop(&program);
	}
}

static void test_inlined(void **state)
{
	(void)state;
	check_inlined(10, 2);
	check_inlined(11, 3);
	check_inlined(12, 4);
	check_inlined(13, 6);
}

/* What is at the address now is another function: nothing is read of it. */
static void test_collected(void **state)
{
	const struct fake_v8_function other = {.name = "other", .literal = 1, .unique = 11};
	const struct v8_place *place;
	struct program program;
	struct v8_site site;
	uint64_t code;

	(void)state;
	start(&program, 11, 3);
	code = make_code(&program);
	note(&program, program.outer, &outer_function);
	fake_v8_word(program.fake, program.outer, program.fake->layout->kernel.shared_name,
		     fake_v8_scope(program.fake, &other));
	site = site_of(&program, program.outer, &outer_function, PKBPF_V8_NO_OFFSET, code + 30);
	place = find(&program, site);
	assert_int_equal(place->line_count, 1);
	assert_string_equal(place->lines[0].function, "outer (a.js:1)");
	assert_int_equal(place->lines[0].line, 0);
	/* The kernel side has seen the other one. */
	note(&program, program.outer, &other);
	place = find(&program, site);
	assert_string_equal(place->lines[place->line_count - 1].function, "other (a.js:1)");
	stop(&program);
}

static void test_ended(void **state)
{
	const struct v8_place *place;
	struct program program;

	(void)state;
	start(&program, 11, 3);
	program.fake->is_gone = true;
	note(&program, program.inner, &inner_function);
	place = find(&program, site_of(&program, program.inner, &inner_function, 2, 0));
	assert_string_equal(place->lines[0].function, "inner (a.js)");
	/* another identity at its address */
	assert_null(find(&program, site_of(&program, program.inner, &outer_function, 2, 0)));
	stop(&program);
}

/* A source that is just moved is read again; one of another length is another. */
static void test_late_source(void **state)
{
	const struct v8_place *place;
	struct program program;
	struct v8_site site;
	uint64_t source;

	(void)state;
	start(&program, 11, 3);
	source = fake_v8_string(program.fake, "x\ny\nz\n");
	fake_v8_word(program.fake, program.script, 8, fake_v8_string(program.fake, "x\n"));
	site = site_of(&program, program.inner, &inner_function, PKBPF_V8_NO_OFFSET, 0);
	note(&program, program.inner, &inner_function);
	place = find(&program, site);
	assert_string_equal(place->lines[0].function, "inner (a.js)");
	fake_v8_word(program.fake, program.script, 8, source);
	note(&program, program.inner, &inner_function);
	place = find(&program, site);
	assert_string_equal(place->lines[0].function, "inner (a.js:2)");
	stop(&program);
}

/* Strings that are made of others are left to the reader. */
static void test_made_strings(void **state)
{
	struct pkbpf_event_v8_function record;
	const struct v8_place *place;
	struct program program;

	(void)state;
	start(&program, 11, 3);
	record = record_of(&program, program.outer, &outer_function);
	record.name = record.path = (struct pkbpf_v8_string){.reference = program.outer};
	v8_machine_note(program.machine, &record, program.now_ns);
	place = find(&program,
		     site_of(&program, program.outer, &outer_function, PKBPF_V8_NO_OFFSET, 0));
	assert_string_equal(place->lines[0].function, "outer (a.js:1)");
	stop(&program);
}

static void test_no_room(void **state)
{
	struct program program;

	(void)state;
	start(&program, 11, 3);
	program.names.max_bytes = 4;
	note(&program, program.outer, &outer_function);
	assert_null(find(&program, site_of(&program, program.outer, &outer_function, 0, 0)));
	assert_true(program.names.dropped > 0);
	assert_null(v8_machine_place(program.machine, 0));
	stop(&program);
}

/* V8 moves what describes functions. A record that comes again, or from a new address, takes no
 * room. */
static void test_moved(void **state)
{
	struct pkbpf_event_v8_function record;
	struct program program;
	uint64_t moved;

	(void)state;
	start(&program, 11, 3);
	for (int i = 0; i < 3; i++)
		note(&program, program.inner, &inner_function);
	moved = fake_v8_function(program.fake, program.script, &inner_function);
	note(&program, moved, &inner_function);
	assert_int_equal(v8_machine_function_count(program.machine), 1);
	assert_string_equal(
		find(&program, site_of(&program, moved, &inner_function, PKBPF_V8_NO_OFFSET, 0))
			->lines[0]
			.function,
		"inner (a.js:2)");
	note(&program, program.outer, &outer_function);
	assert_int_equal(v8_machine_function_count(program.machine), 2);
	/* A record without a path is of the script at its address. */
	record = record_of(&program, moved, &inner_function);
	record.path = (struct pkbpf_v8_string){0};
	program.fake->is_gone = true;
	v8_machine_note(program.machine, &record, program.now_ns);
	assert_int_equal(v8_machine_function_count(program.machine), 2);
	stop(&program);
}

/* A worker that has ended had the same function. */
static void test_worker(void **state)
{
	const struct v8_place *place;
	struct program program;
	struct v8_site site;
	uint64_t code, of_worker;

	(void)state;
	start(&program, 11, 3);
	code = make_code(&program);
	of_worker = fake_v8_function(program.fake, program.script, &outer_function);
	note(&program, program.outer, &outer_function);
	note(&program, of_worker, &outer_function);
	assert_int_equal(v8_machine_function_count(program.machine), 1);
	fake_v8_word(program.fake, of_worker, program.fake->layout->kernel.shared_name, 0);
	site = site_of(&program, program.outer, &outer_function, PKBPF_V8_NO_OFFSET, code + 30);
	place = find(&program, site);
	assert_int_equal(place->line_count, 2);
	stop(&program);
}

/* Without room for the new name, the old one is not the name of what has its address. */
static void test_no_room_for_another(void **state)
{
	const struct fake_v8_function other = {.name = "other", .literal = 1, .unique = 11};
	struct v8_site site;
	struct program program;

	(void)state;
	start(&program, 11, 3);
	note(&program, program.outer, &outer_function);
	site = site_of(&program, program.outer, &outer_function, PKBPF_V8_NO_OFFSET, 0);
	assert_non_null(find(&program, site));
	program.names.max_bytes = program.names.bytes;
	note(&program, program.outer, &other);
	assert_null(find(&program, site));
	stop(&program);
}

/* Other code in the memory of code that was thrown away. */
static void test_other_code(void **state)
{
	const struct v8_place *place;
	struct program program;
	struct v8_site site;
	uint64_t code;

	(void)state;
	start(&program, 10, 2);
	code = make_code(&program);
	note(&program, program.outer, &outer_function);
	site = site_of(&program, program.outer, &outer_function, PKBPF_V8_NO_OFFSET, code + 30);
	place = find(&program, site);
	assert_int_equal(place->line_count, 2);
	fake_v8_u32(program.fake, code - program.fake->layout->inline_start + 1,
		    program.fake->layout->code_size, 96);
	fake_v8_word(program.fake, code - program.fake->layout->inline_start + 1,
		     program.fake->layout->code_positions,
		     fake_v8_positions(program.fake,
				       &(struct fake_v8_entry){0, fake_v8_raw_position(2, 0)}, 1));
	place = find(&program, site);
	assert_int_equal(place->line_count, 1);
	stop(&program);
}

/* A string that cannot be read is no anonymous function. */
static void test_unreadable_name(void **state)
{
	struct pkbpf_event_v8_function record;
	const struct v8_place *place;
	struct program program;

	(void)state;
	start(&program, 11, 3);
	record = record_of(&program, program.outer, &outer_function);
	record.name = record.path = (struct pkbpf_v8_string){.reference = program.outer};
	program.fake->is_gone = true;
	v8_machine_note(program.machine, &record, program.now_ns);
	place = find(&program,
		     site_of(&program, program.outer, &outer_function, PKBPF_V8_NO_OFFSET, 0));
	assert_string_equal(place->lines[0].function, "(name unreadable)");
	assert_null(place->lines[0].file);
	assert_int_equal(program.names.dropped, 1);
	/* without a reference it has none */
	record = record_of(&program, program.inner, &inner_function);
	record.name = (struct pkbpf_v8_string){0};
	v8_machine_note(program.machine, &record, program.now_ns);
	place = find(&program,
		     site_of(&program, program.inner, &inner_function, PKBPF_V8_NO_OFFSET, 0));
	assert_string_equal(place->lines[0].function, "(anonymous) (a.js)");
	assert_int_equal(program.names.dropped, 1);
	stop(&program);
}

/* Memory in which each word looks like the header of code costs a second's budget, once. */
static void test_budget(void **state)
{
	const struct v8_place *place;
	struct program program;
	struct v8_site site;
	uint64_t object, pc = FAKE_V8_BASE + FAKE_V8_BYTES - 4096;
	size_t reads;

	(void)state;
	start(&program, 11, 3);
	note(&program, program.outer, &outer_function);
	fake_v8_code(program.fake, 12, 16, 0, 0, &object);
	for (size_t at = program.fake->used; at < FAKE_V8_BYTES; at += 8)
		memcpy(program.fake->bytes + at, &object, 8);
	site = site_of(&program, program.outer, &outer_function, PKBPF_V8_NO_OFFSET, pc);
	program.fake->reads = 0;
	for (int i = 0; i < 3; i++) {
		site.pc = pc - 8 * (uint64_t)i;
		place = find(&program, site);
		assert_string_equal(place->lines[0].function, "outer (a.js:1)");
		assert_int_equal(place->lines[0].line, 0);
		assert_true(program.fake->reads <= V8_BUDGET_BYTES / V8_BUDGET_CALL_BYTES);
	}
	assert_int_equal(program.names.dropped, 3);
	/* the next second */
	reads = program.fake->reads;
	program.now_ns += NS_PER_SECOND;
	find(&program, site_of(&program, program.inner, &inner_function, 0, 0));
	find(&program, site);
	assert_true(program.fake->reads > reads);
	stop(&program);
}

/* Where no code is, it is not searched for with each sample. */
static void test_no_code(void **state)
{
	struct program program;
	struct v8_site site;
	size_t first, later;

	(void)state;
	start(&program, 11, 3);
	note(&program, program.outer, &outer_function);
	site = site_of(&program, program.outer, &outer_function, PKBPF_V8_NO_OFFSET,
		       FAKE_V8_BASE + FAKE_V8_BYTES - 4096);
	program.fake->reads = 0;
	assert_non_null(find(&program, site));
	first = program.fake->reads;
	assert_non_null(find(&program, site));
	later = program.fake->reads - first;
	assert_true(later < first / 4);
	program.now_ns += NS_PER_SECOND;
	program.fake->reads = 0;
	assert_non_null(find(&program, site));
	assert_true(program.fake->reads > later + first / 4);
	assert_int_equal(program.names.dropped, 0);
	stop(&program);
}

/* Beyond the limit of lines no source is read. */
static void test_line_limit(void **state)
{
	enum { LINES = 1 << 20, SCRIPTS = V8_MACHINE_MAX_LINES / LINES };
	struct program program;
	struct pkbpf_event_v8_function record;
	uint64_t source;

	(void)state;
	start(&program, 11, 3);
	source = fake_v8_object(program.fake, FAKE_V8_ONE_BYTE, 16 + LINES);
	fake_v8_u32(program.fake, source, 12, LINES);
	memset(program.fake->bytes + (source - 1 - FAKE_V8_BASE) + 16, '\n', LINES);
	record = record_of(&program, program.outer, &outer_function);
	record.source_length = LINES;
	for (int i = 0; i <= SCRIPTS; i++) {
		assert_int_equal(program.names.dropped, 0);
		record.script = fake_v8_script(program.fake, 100 + i, "a.js", "");
		record.script_id = 100 + i;
		fake_v8_word(program.fake, record.script, 8, source);
		program.fake->read_bytes = 0;
		v8_machine_note(program.machine, &record, program.now_ns);
		if (i < SCRIPTS)
			assert_true(program.fake->read_bytes > LINES);
	}
	assert_true(program.fake->read_bytes < LINES);
	assert_int_equal(program.names.dropped, 1);
	stop(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpreted),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_unreadable_function_in_a_chain),
		cmocka_unit_test(test_collected),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_late_source),
		cmocka_unit_test(test_made_strings),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_other_code),
		cmocka_unit_test(test_no_room_for_another),
		cmocka_unit_test(test_worker),
		cmocka_unit_test(test_unreadable_name),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_no_code),
		cmocka_unit_test(test_line_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
