// SPDX-License-Identifier: BSD-2-Clause
/* Tests for live/sampler_check: into which commands the sampler can be loaded. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temp_tree.h"
#include "live/sampler_check.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static struct temp_tree tree;

static int start(void **state)
{
	temp_tree_init(&tree);
	return 0;
}

static int stop(void **state)
{
	temp_tree_done(&tree);
	return 0;
}

/* A program of two segments, the second of which names a loader or not. */
static const char *make_program(const char *name, uint16_t machine, uint8_t class, bool has_loader)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
	} program = {
		.header = {.e_machine = machine,
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2},
		.segments = {{.p_type = PT_LOAD}, {.p_type = has_loader ? PT_INTERP : PT_NOTE}},
	};

	memcpy(program.header.e_ident, ELFMAG, SELFMAG);
	program.header.e_ident[EI_CLASS] = class;
	temp_tree_file_bytes(&tree, name, &program, sizeof(program));
	assert_int_equal(chmod(temp_tree_path(&tree, name), 0755), 0);
	return temp_tree_path(&tree, name);
}

static void a_program_with_a_loader_takes_it(void **state)
{
	assert_null(sampler_check_command(make_program("a", MACHINE, ELFCLASS64, true)));
	assert_null(sampler_check_command("/proc/self/exe"));
}

static void others_have_their_reason(void **state)
{
	assert_non_null(strstr(sampler_check_command(make_program("a", MACHINE, ELFCLASS64, false)),
			       "static"));
	assert_non_null(strstr(sampler_check_command(make_program("b", MACHINE, ELFCLASS32, true)),
			       "32 bits"));
	assert_non_null(strstr(sampler_check_command(make_program("c", EM_PPC64, ELFCLASS64, true)),
			       "another processor"));
}

static void a_program_of_another_user_is_left_alone(void **state)
{
	const char *path = make_program("a", MACHINE, ELFCLASS64, true);

	/* Its owner's rights are those that it has anyway. */
	assert_int_equal(chmod(path, 04755), 0);
	assert_null(sampler_check_command(path));
	if (geteuid() || chown(path, 1, 1) || chmod(path, 04755))
		skip();
	assert_non_null(strstr(sampler_check_command(path), "rights of another user"));
	assert_int_equal(chmod(path, 02755), 0);
	assert_non_null(strstr(sampler_check_command(path), "rights of another user"));
	assert_int_equal(chmod(path, 0755), 0);
	assert_null(sampler_check_command(path));
}

static void of_a_script_the_interpreter_counts(void **state)
{
	char text[PATH_MAX + 16];

	snprintf(text, sizeof(text), "#! %s -x\n",
		 make_program("static", MACHINE, ELFCLASS64, false));
	temp_tree_file(&tree, "script", text);
	assert_non_null(strstr(sampler_check_command(temp_tree_path(&tree, "script")), "static"));
	temp_tree_file(&tree, "script", "#!/proc/self/exe\n");
	assert_null(sampler_check_command(temp_tree_path(&tree, "script")));
	temp_tree_file(&tree, "text", "true\n");
	assert_null(sampler_check_command(temp_tree_path(&tree, "text")));
}

static void names_are_looked_up_in_the_path(void **state)
{
	char *before = strdup(getenv("PATH") ? getenv("PATH") : ""), path[2 * PATH_MAX],
	     here[PATH_MAX];

	make_program("first/tool", MACHINE, ELFCLASS64, false);
	make_program("second/tool", MACHINE, ELFCLASS64, true);
	make_program("second/other", MACHINE, ELFCLASS64, true);
	snprintf(path, sizeof(path), "/nowhere:%s:%s", temp_tree_path(&tree, "first"),
		 temp_tree_path(&tree, "second"));
	setenv("PATH", path, 1);
	assert_non_null(sampler_check_command("tool"));
	assert_null(sampler_check_command("other"));
	assert_null(sampler_check_command("missing"));
	/* An empty element is the current folder. */
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(temp_tree_path(&tree, "first")), 0);
	setenv("PATH", "/nowhere::/nowhere", 1);
	assert_non_null(sampler_check_command("tool"));
	assert_int_equal(chdir(here), 0);
	setenv("PATH", before, 1);
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_program_with_a_loader_takes_it, start, stop),
		cmocka_unit_test_setup_teardown(others_have_their_reason, start, stop),
		cmocka_unit_test_setup_teardown(a_program_of_another_user_is_left_alone, start,
						stop),
		cmocka_unit_test_setup_teardown(of_a_script_the_interpreter_counts, start, stop),
		cmocka_unit_test_setup_teardown(names_are_looked_up_in_the_path, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
