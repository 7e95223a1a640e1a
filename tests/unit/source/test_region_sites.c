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

int nvtxRangePushA(const char *message);
int nvtxDomainRangePushEx(const void *domain, const void *attributes);
int nvtxRangePop(void);

/* Functions of NVTX 2, as its library has them. */
__attribute__((noinline)) int nvtxRangePushA(const char *message)
{
	result = !message;
	return result;
}

__attribute__((noinline)) int nvtxDomainRangePushEx(const void *domain, const void *attributes)
{
	result = domain == attributes;
	return result;
}

__attribute__((noinline)) int nvtxRangePop(void)
{
	return ++result;
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

/* Probes of a program, as <sys/sdt.h> writes them: `at` is a label. */
#define NOTE(name, at)                                                                             \
	".pushsection .note.stapsdt,\"\",\"note\"\n"                                               \
	".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                                              \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n"                                                \
	"993: .8byte " at "\n.8byte _.stapsdt.base\n.8byte 0\n"                                    \
	".asciz \"unit_shop\"\n.asciz \"" name "\"\n.asciz \"8@%rdi -4@%esi\"\n"                   \
	"994: .balign 4\n.popsection\n"

/* A nop, which is a probe; one of five bytes; and a byte of another instruction. */
__asm__(".pushsection .text\n"
	".globl region_sites_probed\n"
	".type region_sites_probed, @function\n"
	"region_sites_probed:\n"
	".cfi_startproc\n"
	"980: nop\n"
	"981: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	"982: movl $0x90909090, %eax\n"
	"983: nop\n"
	"\tret\n"
	".cfi_endproc\n"
	".size region_sites_probed, . - region_sites_probed\n" NOTE("begin", "980b")
		NOTE("wide", "981b") NOTE("inside", "982b + 2")
			NOTE("end", "983b") ".popsection\n");
int region_sites_probed(int value);

static void probes_of_a_program_begin_and_end_a_region(void **state)
{
	static const struct {
		uint8_t id;
		uint32_t begin, end;
	} rows[] = {{USDT_THREAD, PKBPF_SITE_ENTER, PKBPF_SITE_LEAVE},
		    {0, PKBPF_SITE_BEGIN, PKBPF_SITE_END},
		    {1, PKBPF_SITE_BEGIN, PKBPF_SITE_END}};

	region_sites_probed(0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct usdt_pair all[] = {{.region = "other",
					   .provider = "unit_shop",
					   .begin = "no",
					   .ends = {"none"}},
					  {.region = "order",
					   .provider = "unit_shop",
					   .begin = "begin",
					   .ends = {"end"},
					   .id = rows[i].id}};
		struct region_pairs pairs = {.items = {all, 2, 2}};
		const struct region_site *begin, *end;
		struct region_sites sites;

		find(&pairs, "/bin/unit_source", &sites);
		begin = site_of(&sites, rows[i].begin);
		end = site_of(&sites, rows[i].end);
		assert_non_null(begin);
		assert_non_null(end);
		assert_int_equal(end->offset - begin->offset, 1 + 5 + 5);
		assert_int_equal(begin->description.pair, 2);
		assert_int_equal(end->description.pair, 2);
		assert_string_equal(begin->description.name, "order");
		assert_string_equal(end->description.name, "order");
		assert_int_equal(sites.refused, 0);
		if (rows[i].id != USDT_THREAD) {
			assert_int_equal(begin->description.id.kind, PKBPF_OPERAND_REGISTER);
			assert_int_equal(begin->description.id.size, rows[i].id ? 4 : 8);
			assert_int_equal(end->description.id.word, begin->description.id.word);
		}
		region_sites_done(&sites);
	}
}

static void probes_on_other_instructions_are_refused(void **state)
{
	static const char *const ends[] = {"wide", "inside"};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct usdt_pair pair = {.region = "order",
					 .provider = "unit_shop",
					 .begin = "begin",
					 .ends = {ends[i]},
					 .id = USDT_THREAD};
		struct region_sites sites;

		find_pair(&pair, "/bin/unit_source", &sites);
		assert_non_null(site_of(&sites, PKBPF_SITE_ENTER));
		assert_null(site_of(&sites, PKBPF_SITE_LEAVE));
		assert_int_equal(sites.refused, 1);
		region_sites_done(&sites);
	}
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

/* By its file's name alone, also where a package has changed it. A pair that no option names. */
static void functions_of_nvtx_mark_regions_that_nest(void **state)
{
	static const char *const paths[] = {"/usr/lib/libnvToolsExt.so.1",
					    "/opt/torch/lib/libnvToolsExt-847d78f2.so.1"};
	struct usdt_pair pair = {
		.region = "other", .provider = "unit_shop", .begin = "no", .ends = {"none"}};

	nvtxRangePushA("step");
	nvtxDomainRangePushEx(NULL, "attributes");
	nvtxRangePop();
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct pkbpf_span_site *found[3];
		struct region_sites sites;
		size_t count = 0;

		find_pair(&pair, paths[i], &sites);
		array_foreach(&sites.items, site) {
			if (site->role != REGION_SITE)
				continue;
			assert_true(count < ARRAY_SIZE(found));
			assert_true(site->is_stepped != site->is_emulated);
			found[count++] = &site->description;
		}
		assert_int_equal(count, 3);
		assert_int_equal(found[0]->role, PKBPF_SITE_ENTER);
		assert_int_equal(found[0]->value.word, offsetof(struct user_regs_struct, rdi) / 8);
		assert_false(found[0]->value_is_record);
		assert_int_equal(found[1]->role, PKBPF_SITE_ENTER);
		assert_int_equal(found[1]->value.word, offsetof(struct user_regs_struct, rsi) / 8);
		assert_true(found[1]->value_is_record);
		assert_int_equal(found[2]->role, PKBPF_SITE_LEAVE);
		for (size_t j = 0; j < count; j++) {
			assert_int_equal(found[j]->pair, 2);
			assert_true(found[j]->nests);
			assert_string_equal(found[j]->name, "nvtx");
		}
		region_sites_done(&sites);
	}
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stub_has_its_site_and_the_semaphore),
#if defined(__x86_64__)
		cmocka_unit_test(probes_of_a_program_begin_and_end_a_region),
		cmocka_unit_test(probes_on_other_instructions_are_refused),
		cmocka_unit_test(calls_of_two_functions_begin_and_end_a_region),
		cmocka_unit_test(functions_of_other_files_are_left_alone),
		cmocka_unit_test(functions_of_nvtx_mark_regions_that_nest),
		cmocka_unit_test(arguments_are_read_where_callers_put_them),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
