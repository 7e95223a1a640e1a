// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/jit/hotspot_place and hotspot_code: names of code on paper, now and before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_jvm.h"
#include <pkbpf/hotspot.h>

#include "base/clock.h"
#include "symbol/jit/hotspot_code.h"
#include "symbol/jit/hotspot_place.h"

struct scene {
	struct fake_jvm *fake;
	struct hotspot_code code;
	struct hotspot_place_names names;
	uint64_t pool, now_ns;
};

static void begin(struct scene *scene)
{
	struct hotspot_memory memory;

	*scene = (struct scene){.fake = fake_jvm_new(25), .now_ns = NS_PER_SECOND};
	memory = fake_memory(scene->fake);
	scene->code.process = hotspot_process_new(&scene->fake->layout, FAKE_BIAS, &memory);
	scene->names.strings = string_pool_new();
	scene->names.max_bytes = 1000;
	scene->pool = fake_class(scene->fake, "shop/Cart", "Cart.java");
}

static void end(struct scene *scene)
{
	hotspot_code_done(&scene->code);
	string_pool_free(scene->names.strings);
	free(scene->fake);
}

static void look(struct scene *scene)
{
	scene->now_ns += 2 * NS_PER_SECOND;
	assert_true(hotspot_code_look(&scene->code, scene->now_ns) >= 0);
}

/* "first" at bytecode 0, with "second" inlined into it at its bytecode 2; both in Cart. */
static uint64_t add_compiled(struct scene *scene, const char *second_class)
{
	static const uint8_t lines[] = {0 << 3 | 5, 1 << 3 | 1, 0};
	uint64_t pool = second_class ? fake_class(scene->fake, second_class, NULL) : scene->pool;
	const uint64_t metadata[] = {
		fake_java(scene->fake, scene->pool, 7, "first", lines, sizeof(lines)),
		fake_java(scene->fake, pool, 8, "second", lines, sizeof(lines))};
	static const int32_t pcs[][2] = {{40, 1}, {60, 4}};
	/* bytes are numbers + 1: scope at 1 is {0, 1, 0 + 1}; scope at 4 is {1, 2, 2 + 1} */
	static const uint8_t scopes[] = {1, 1, 2, 2, 2, 3, 4};
	const struct fake_debug debug = {pcs, 2, scopes, sizeof(scopes), metadata, 2};

	return fake_method(scene->fake, metadata[0], 1, &debug);
}

static struct hotspot_place name(struct scene *scene, uint64_t address)
{
	struct hotspot_place place = {.address = address};
	const struct hotspot_blob *blob = hotspot_code_at(&scene->code, address, UINT64_MAX);

	assert_non_null(blob);
	hotspot_place_name(&place, &scene->names, scene->code.process, blob, 0, true);
	return place;
}

static void test_inlined(void **state)
{
	struct scene scene;
	struct hotspot_place place;
	uint64_t blob;

	(void)state;
	begin(&scene);
	blob = add_compiled(&scene, NULL);
	look(&scene);
	place = name(&scene, blob + FAKE_CODE + 59);
	assert_int_equal(place.state, HOTSPOT_PLACE_NAMED);
	assert_int_equal(place.line_count, 2);
	assert_string_equal(place.lines[0].function, "shop.Cart.second");
	assert_string_equal(place.lines[0].file, "Cart.java");
	assert_int_equal(place.lines[0].line, 6);
	assert_true(place.lines[0].inlined);
	assert_string_equal(place.lines[1].function, "shop.Cart.first");
	assert_int_equal(place.lines[1].line, 5);
	assert_false(place.lines[1].inlined);
	hotspot_place_done(&place);
	place = name(&scene, blob + FAKE_CODE + 20);
	assert_int_equal(place.line_count, 1);
	assert_string_equal(place.lines[0].function, "shop.Cart.first");
	hotspot_place_done(&place);
	end(&scene);
}

static void test_glue_is_left_out(void **state)
{
	struct scene scene;
	struct hotspot_place place;
	uint64_t blob, adapter;

	(void)state;
	begin(&scene);
	blob = add_compiled(&scene, "Shop$$Lambda+0x00007f01");
	adapter = fake_blob(scene.fake, "I2C/C2I adapters");
	look(&scene);
	place = name(&scene, blob + FAKE_CODE + 59);
	assert_int_equal(place.line_count, 1);
	assert_string_equal(place.lines[0].function, "shop.Cart.first");
	assert_false(place.lines[0].inlined);
	assert_false(place.is_glue);
	hotspot_place_done(&place);
	place = name(&scene, adapter + FAKE_CODE);
	assert_true(place.is_glue);
	hotspot_place_done(&place);
	end(&scene);
}

static void test_other_code(void **state)
{
	struct scene scene;
	struct hotspot_place place;
	uint64_t interpreter, stub;

	(void)state;
	begin(&scene);
	interpreter = fake_blob(scene.fake, "Interpreter");
	stub = fake_blob(scene.fake, "SafepointBlob");
	look(&scene);
	place = name(&scene, interpreter + FAKE_CODE);
	assert_string_equal(place.lines[0].function, "[interpreter]");
	assert_false(place.is_glue);
	hotspot_place_done(&place);
	place = name(&scene, stub + FAKE_CODE);
	assert_string_equal(place.lines[0].function, "[SafepointBlob]");
	hotspot_place_done(&place);
	end(&scene);
}

static void test_interpreted(void **state)
{
	static const uint8_t lines[] = {0 << 3 | 5, 3 << 3 | 2, 0};
	struct scene scene;
	struct hotspot_place place = {0};
	uint64_t method, bytecodes;

	(void)state;
	begin(&scene);
	method = fake_java(scene.fake, scene.pool, 7, "run", lines, sizeof(lines));
	memcpy(&bytecodes,
	       scene.fake->bytes + (method - FAKE_BIAS) + scene.fake->layout.at.method_const.offset,
	       8);
	bytecodes += scene.fake->layout.const_struct_size;
	hotspot_place_name_interpreted(&place, &scene.names, scene.code.process,
				       pkbpf_hotspot_word(method, bytecodes + 9), true, true);
	assert_int_equal(place.state, HOTSPOT_PLACE_NAMED);
	assert_string_equal(place.lines[0].function, "shop.Cart.run");
	assert_string_equal(place.lines[0].file, "Cart.java");
	assert_int_equal(place.lines[0].line, 7);
	assert_false(place.lines[0].inlined);
	hotspot_place_done(&place);
	/* behind the bytecodes of the method: no line, and no file without one */
	hotspot_place_name_interpreted(&place, &scene.names, scene.code.process,
				       pkbpf_hotspot_word(method, bytecodes + 40), true, true);
	assert_string_equal(place.lines[0].function, "shop.Cart.run");
	assert_int_equal(place.lines[0].line, 0);
	assert_null(place.lines[0].file);
	hotspot_place_done(&place);
	hotspot_place_name_interpreted(&place, &scene.names, scene.code.process,
				       pkbpf_hotspot_word(0x5000, 0), true, true);
	assert_int_equal(place.state, HOTSPOT_PLACE_UNNAMED);
	assert_int_equal(place.reason, SYMBOL_METHOD_GONE);
	hotspot_place_done(&place);
	end(&scene);
}

static void test_no_names(void **state)
{
	struct scene scene;
	struct hotspot_place place;
	const struct fake_debug debug = {0};
	uint64_t blob, gone;

	(void)state;
	begin(&scene);
	blob = add_compiled(&scene, NULL);
	gone = fake_method(scene.fake, 0x5000, 2, &debug);
	look(&scene);
	/* its class was unloaded */
	place = name(&scene, gone + FAKE_CODE);
	assert_int_equal(place.state, HOTSPOT_PLACE_UNNAMED);
	assert_int_equal(place.reason, SYMBOL_METHOD_GONE);
	hotspot_place_done(&place);
	/* no room */
	scene.names.max_bytes = 0;
	place = name(&scene, blob + FAKE_CODE);
	assert_int_equal(place.state, HOTSPOT_PLACE_UNNAMED);
	assert_int_equal(place.reason, SYMBOL_NAME_DROPPED);
	assert_int_equal(scene.names.dropped, 1);
	hotspot_place_done(&place);
	end(&scene);
}

/* A sample reads what lay there when it was taken. */
static void test_code_over_time(void **state)
{
	struct scene scene;
	const struct fake_debug debug = {0};
	uint64_t blob, address, first_ns;

	(void)state;
	begin(&scene);
	blob = fake_method(scene.fake, 0x5000, 1, &debug);
	address = blob + FAKE_CODE;
	look(&scene);
	look(&scene);
	first_ns = scene.now_ns;
	fake_method_fields(scene.fake, blob, 0x6000, 2, &debug);
	fake_touch_heap(scene.fake);
	look(&scene);
	assert_int_equal(hotspot_code_at(&scene.code, address, first_ns - 1)->method, 0x5000);
	assert_int_equal(hotspot_code_at(&scene.code, address, scene.now_ns)->method, 0x6000);
	assert_null(hotspot_code_at(&scene.code, address + 0x5000, scene.now_ns));
	/* what went long ago is forgotten */
	scene.now_ns += HOTSPOT_CODE_KEPT_NS;
	look(&scene);
	assert_null(hotspot_code_at(&scene.code, address, first_ns - 1));
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inlined),	    cmocka_unit_test(test_glue_is_left_out),
		cmocka_unit_test(test_other_code),  cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_interpreted), cmocka_unit_test(test_code_over_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
