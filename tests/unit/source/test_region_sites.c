// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/regions/region_sites, on this program: the stubs of pkbpf.h, and functions whose
 * calls begin and end a region. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/user.h>
#include <unistd.h>

#include <pkbpf/pkbpf.h>
#include <pkbpf/span.h>

#include "base/array.h"
#include "source/regions/region_sites.h"

int region_sites_first(int value);
int region_sites_last(int value);

static volatile int result;

/* Neither is inlined, and both begin with instructions that can be probed. */
__attribute__((noinline)) int region_sites_first(int value)
{
	result = value;
	return value + 1;
}

__attribute__((noinline)) int region_sites_last(int value)
{
	result = value;
	return value - 1;
}

static void find(const struct region_pairs *pairs, const char *path, struct region_sites *sites)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_file file;

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&file, fd), 0);
	*sites = (struct region_sites){0};
	assert_int_equal(region_sites_find(&file, path, pairs, sites), 0);
	elf_file_done(&file);
	close(fd);
}

/* Their notes are in each file that includes the header and marks something. */
static void each_stub_has_its_site_and_the_semaphore(void **state)
{
	struct region_pairs none = {0};
	size_t found[REGION_ROLES] = {0};
	struct region_sites sites;

	pkbpf_enter("region", 1);
	pkbpf_items(1);
	pkbpf_leave();
	pkbpf_begin("request", 7, 1);
	pkbpf_end(7);
	find(&none, "/bin/unit_source", &sites);
	array_foreach(&sites.items, site) {
		found[site->role]++;
		assert_true(site->offset > 0);
		assert_true(site->semaphore_offset > 0);
	}
	for (int role = REGION_ENTER; role <= REGION_END; role++)
		assert_true(found[role] > 0);
	assert_int_equal(found[REGION_PYTHON] + found[REGION_SITE] + found[REGION_FUNCTION], 0);
	assert_int_equal(sites.refused + sites.refused_functions, 0);
	region_sites_done(&sites);
}

#if defined(__x86_64__)

static const struct region_site *site_of(const struct region_sites *sites, uint32_t role)
{
	const struct region_site *found = NULL;

	array_foreach(&sites->items, site) {
		if (site->role != REGION_SITE || site->description.role != role)
			continue;
		assert_null(found);
		found = site;
	}
	return found;
}

static void find_pair(struct usdt_pair *pair, const char *path, struct region_sites *sites)
{
	struct region_pairs pairs = {.items = {pair, 1, 1}};

	region_sites_first(1);
	region_sites_last(1);
	find(&pairs, path, sites);
}

static void calls_of_two_functions_begin_and_end_a_region(void **state)
{
	struct usdt_pair pair = {.region = "step",
				 .begin = "region_sites_first",
				 .ends = {"region_sites_last"},
				 .id = USDT_THREAD,
				 .of_functions = true};
	const struct region_site *begin, *end;
	struct region_sites sites;

	find_pair(&pair, "/bin/unit_source", &sites);
	begin = site_of(&sites, PKBPF_SITE_ENTER);
	end = site_of(&sites, PKBPF_SITE_LEAVE);
	assert_non_null(begin);
	assert_non_null(end);
	assert_true(begin->offset != end->offset);
	assert_int_equal(begin->description.pair, 1);
	assert_string_equal(begin->description.name, "step");
	assert_string_equal(end->description.name, "step");
	assert_null(site_of(&sites, PKBPF_SITE_BEGIN));
	region_sites_done(&sites);
}

/* Those of another library, or of no library where one is meant, are not looked for. */
static void functions_of_other_files_are_left_alone(void **state)
{
	struct usdt_pair pair = {.region = "step",
				 .provider = "libother",
				 .begin = "region_sites_first",
				 .ends = {"region_sites_last"},
				 .id = USDT_THREAD,
				 .of_functions = true};
	struct region_sites sites;

	find_pair(&pair, "/bin/unit_source", &sites);
	assert_null(site_of(&sites, PKBPF_SITE_ENTER));
	region_sites_done(&sites);
	find_pair(&pair, "/lib/libother.so.1", &sites);
	assert_non_null(site_of(&sites, PKBPF_SITE_ENTER));
	region_sites_done(&sites);
	pair.provider = NULL;
	find_pair(&pair, "/lib/libother.so.1", &sites);
	assert_null(site_of(&sites, PKBPF_SITE_ENTER));
	region_sites_done(&sites);
}

/* rdi, rsi, rdx, rcx, r8, r9 in struct pt_regs. */
static void arguments_are_read_where_callers_put_them(void **state)
{
	static const size_t offsets[] = {
		offsetof(struct user_regs_struct, rdi), offsetof(struct user_regs_struct, rsi),
		offsetof(struct user_regs_struct, rdx), offsetof(struct user_regs_struct, rcx),
		offsetof(struct user_regs_struct, r8),	offsetof(struct user_regs_struct, r9)};

	for (uint8_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct usdt_pair pair = {.region = "step",
					 .begin = "region_sites_first",
					 .ends = {"region_sites_last"},
					 .id = i,
					 .of_functions = true};
		const struct region_site *begin, *end;
		struct region_sites sites;

		find_pair(&pair, "/bin/unit_source", &sites);
		begin = site_of(&sites, PKBPF_SITE_BEGIN);
		end = site_of(&sites, PKBPF_SITE_END);
		assert_non_null(begin);
		assert_non_null(end);
		assert_int_equal(begin->description.id.kind, PKBPF_OPERAND_REGISTER);
		assert_int_equal(begin->description.id.size, 8);
		assert_int_equal(begin->description.id.word, offsets[i] / 8);
		assert_int_equal(end->description.id.word, offsets[i] / 8);
		region_sites_done(&sites);
	}
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stub_has_its_site_and_the_semaphore),
#if defined(__x86_64__)
		cmocka_unit_test(calls_of_two_functions_begin_and_end_a_region),
		cmocka_unit_test(functions_of_other_files_are_left_alone),
		cmocka_unit_test(arguments_are_read_where_callers_put_them),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
