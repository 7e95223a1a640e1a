// SPDX-License-Identifier: BSD-2-Clause
// Tests that names keep their telling part in the room of a frame.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "export/graph/frame_label.h"

static void assert_label(const char *name, size_t columns, const char *expected)
{
	char label[256];

	assert_string_equal(frame_label(label, sizeof(label), name, columns), expected);
}

static void a_name_that_fits_is_shown_whole(void **state)
{
	assert_label("main", 4, "main");
	assert_label("std::map<int, long>::find(int const&)", 40,
		     "std::map<int, long>::find(int const&)");
}

static void a_frame_too_narrow_for_a_hint_has_no_label(void **state)
{
	assert_label("main", 3, "");
	assert_label("main", 0, "");
}

static void arguments_and_template_parameters_go_first(void **state)
{
	assert_label("std::map<int, std::vector<long> >::find(int const&)", 20, "std::map::find");
	assert_label("ns::run(char*, void (*)(int))", 10, "ns::run");
}

static void an_arrow_inside_parameters_closes_nothing(void **state)
{
	assert_label("apply<fn(u8) -> u16>::call_it", 20, "apply::call_it");
}

static void what_begins_a_name_or_belongs_to_it_is_no_parameter(void **state)
{
	assert_label("(anonymous namespace)::work(int, int, int)", 30,
		     "(anonymous namespace)::work");
	assert_label("<T as Trait>::method_of_it", 20, "\u2026method_of_it");
	assert_label("Value::operator<(Value const&, int)", 20, "Value::operator<");
	assert_label("Value::operator()(Value const&, int)", 20, "Value::operator()");
	assert_label("my_operator<long long>::run", 20, "my_operator::run");
}

static void a_name_of_python_loses_its_file_first(void **state)
{
	assert_label("dumps (__init__.py)", 19, "dumps (__init__.py)");
	assert_label("dumps (__init__.py)", 12, "dumps");
	assert_label("Thread._bootstrap (threading.py)", 14, "\u2026_bootstrap");
	assert_label("<module> (work.py)", 10, "<module>");
	assert_label("operator new (unsigned long", 16, "operator new (u\u2026");
}

static void parameters_that_never_close_are_kept(void **state)
{
	assert_label("broken<int, long, char", 10, "broken<in\u2026");
}

static void a_qualified_name_keeps_its_end(void **state)
{
	assert_label("executor::Parser::Execute", 18, "\u2026Parser::Execute");
	assert_label("executor::Parser::Execute", 10, "\u2026Execute");
	assert_label("encoding/json.Marshal", 13, "\u2026json.Marshal");
	assert_label("account_lines.isra.0", 10, "account_l\u2026");
}

static void the_name_of_a_file_keeps_its_beginning(void **state)
{
	assert_label("libpython3.11.so.1.0", 10, "libpython\u2026");
	assert_label("zlib.cpython-311-x86_64-linux-gnu.so", 34,
		     "zlib.cpython-311-x86_64-linux-gnu\u2026");
	assert_label("encoder.py", 6, "encod\u2026");
	/* Others that begin alike are parts as any. */
	assert_label("numpy.sort", 6, "\u2026sort");
	assert_label("module.so_much", 9, "\u2026so_much");
}

static void a_name_without_parts_keeps_its_beginning(void **state)
{
	assert_label("heap_hot_search_buffer", 10, "heap_hot_\u2026");
}

static void characters_are_counted_not_bytes(void **state)
{
	assert_label("gr\u00fc\u00dfe_an_alle", 8, "gr\u00fc\u00dfe_a\u2026");
	assert_label("gr\u00fc\u00dfe", 5, "gr\u00fc\u00dfe");
}

static void a_long_name_stays_in_its_buffer(void **state)
{
	char name[10000], label[64];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	frame_label(label, sizeof(label), name, 5000);
	assert_int_equal(strlen(label), sizeof(label) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_that_fits_is_shown_whole),
		cmocka_unit_test(a_frame_too_narrow_for_a_hint_has_no_label),
		cmocka_unit_test(arguments_and_template_parameters_go_first),
		cmocka_unit_test(an_arrow_inside_parameters_closes_nothing),
		cmocka_unit_test(what_begins_a_name_or_belongs_to_it_is_no_parameter),
		cmocka_unit_test(a_name_of_python_loses_its_file_first),
		cmocka_unit_test(parameters_that_never_close_are_kept),
		cmocka_unit_test(a_qualified_name_keeps_its_end),
		cmocka_unit_test(the_name_of_a_file_keeps_its_beginning),
		cmocka_unit_test(a_name_without_parts_keeps_its_beginning),
		cmocka_unit_test(characters_are_counted_not_bytes),
		cmocka_unit_test(a_long_name_stays_in_its_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
