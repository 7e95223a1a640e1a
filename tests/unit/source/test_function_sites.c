// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/regions/function_sites: the exits of a function, also those in its cold part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_recipe.h"
#include "temp_tree.h"
#include "elf/elf_file.h"
#include "instruction/function_exits.h"
#include "source/regions/function_match.h"
#include "source/regions/function_sites.h"

#if defined(__x86_64__)

#define ADDRESS	     ELF_RECIPE_TEXT_ADDRESS
#define HOT_BYTES    0x0a
#define COLD_ADDRESS (ADDRESS + 0x20)

/* push %rbx; test %edi,%edi; je cold; pop %rbx; ret; and 32 bytes behind the first: pop %rbx; ret;
 * jmp hot */
static const uint8_t text[64] = {
	[0x00] = 0x53, 0x85, 0xff, 0x0f,	  0x84, 0x17, 0x00,
	0x00,	       0x00, 0xc3, [0x20] = 0x5b, 0xc3, 0xeb, 0xdc,
};

static struct temp_tree tree;
static struct elf_file file;
static int fd;

static int start(void **state)
{
	const struct elf_recipe recipe = {
		.entry = ADDRESS, .text = text, .text_size = sizeof(text)};
	size_t size;
	uint8_t *bytes = elf_recipe_make(&recipe, &size);

	temp_tree_init(&tree);
	temp_tree_file_bytes(&tree, "a", bytes, size);
	free(bytes);
	fd = open(temp_tree_path(&tree, "a"), O_RDONLY | O_CLOEXEC);
	return elf_file_open(&file, fd);
}

static int stop(void **state)
{
	elf_file_done(&file);
	close(fd);
	temp_tree_done(&tree);
	return 0;
}

/* The sites of the function when its file has this cold part. */
static void find(struct cold_part cold, struct region_sites *sites)
{
	struct matched_functions matches = {.cold = {&cold, 1, 1}};
	const struct matched_function matched = {.address = ADDRESS, .size = HOT_BYTES};
	const struct function_code code = {.file = &file,
					   .matches = &matches,
					   .matched = &matched,
					   .name = "function()",
					   .offset = ELF_RECIPE_TEXT_OFFSET,
					   .pair = 7};
	struct function_probes *probes = malloc(sizeof(*probes));

	assert_non_null(probes);
	function_probes_find(text, HOT_BYTES, probes);
	assert_true(function_probes_has_entry(probes));
	*sites = (struct region_sites){0};
	assert_int_equal(function_sites_find(&code, probes, sites), 0);
	free(probes);
	assert_true(sites->items.count > 0);
	assert_int_equal(sites->items.items[0].description.role, PKBPF_SITE_CALL);
	assert_string_equal(sites->items.items[0].description.name, "function()");
}

static const struct region_site *exit_at(const struct region_sites *sites, uint64_t offset)
{
	for (size_t i = 1; i < sites->items.count; i++)
		if (sites->items.items[i].offset == ELF_RECIPE_TEXT_OFFSET + offset)
			return &sites->items.items[i];
	return NULL;
}

static void exits_of_the_cold_part_are_those_of_the_function(void **state)
{
	const struct region_site *cold_exit;
	struct region_sites sites;

	find((struct cold_part){COLD_ADDRESS, 4}, &sites);
	/* The return, and that of the cold part, whose jump leads back. */
	assert_int_equal(sites.items.count, 3);
	assert_non_null(exit_at(&sites, 0x09));
	cold_exit = exit_at(&sites, 0x21);
	assert_non_null(cold_exit);
	assert_int_equal(cold_exit->description.role, PKBPF_SITE_RETURN);
	assert_int_equal(cold_exit->description.pair, 7);
	assert_int_equal(cold_exit->description.condition, PKBPF_EXIT_ALWAYS);
	assert_int_equal(cold_exit->description.from_start, 0x21);
	assert_int_equal(cold_exit->description.function_size, HOT_BYTES);
	region_sites_done(&sites);
}

static void a_jump_to_another_function_is_an_exit(void **state)
{
	const struct region_site *jump;
	struct region_sites sites;

	find((struct cold_part){COLD_ADDRESS + 0x10, 4}, &sites);
	assert_int_equal(sites.items.count, 3);
	jump = exit_at(&sites, 0x03);
	assert_non_null(jump);
	assert_int_not_equal(jump->description.condition, PKBPF_EXIT_ALWAYS);
	assert_non_null(exit_at(&sites, 0x09));
	region_sites_done(&sites);
}

/* A symbol may say anything of its size: no memory is asked for it, and the functions of the file
 * are watched all the same. */
static void a_cold_part_that_cannot_be_is_none(void **state)
{
	static const uint64_t sizes[] = {1 << 20, 1ULL << 40, UINT64_MAX - COLD_ADDRESS,
					 UINT64_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct region_sites sites;

		find((struct cold_part){COLD_ADDRESS, sizes[i]}, &sites);
		assert_int_equal(sites.items.count, 3);
		assert_non_null(exit_at(&sites, 0x03));
		assert_null(exit_at(&sites, 0x21));
		region_sites_done(&sites);
	}
}

#else

static void only_x86_has_probes_on_exits(void **state)
{
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test_setup_teardown(exits_of_the_cold_part_are_those_of_the_function,
						start, stop),
		cmocka_unit_test_setup_teardown(a_jump_to_another_function_is_an_exit, start, stop),
		cmocka_unit_test_setup_teardown(a_cold_part_that_cannot_be_is_none, start, stop),
#else
		cmocka_unit_test(only_x86_has_probes_on_exits),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
