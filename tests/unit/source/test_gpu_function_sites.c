// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/gpu_calls/gpu_functions and gpu_function_sites, on this program, which has some
 * functions of these names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "source/gpu_calls/gpu_functions.h"

static void variants_are_their_function(void **state)
{
	const struct gpu_function *memcpy_function = gpu_function_find("cudaMemcpy");

	assert_non_null(memcpy_function);
	assert_int_equal(memcpy_function->group, PKBPF_GPU_COPY);
	assert_ptr_equal(gpu_function_find("cudaMemcpy_ptds"), memcpy_function);
	assert_ptr_not_equal(gpu_function_find("cudaMemcpyAsync"), memcpy_function);
	assert_string_equal(gpu_function_find("cuMemAlloc_v2")->name, "cuMemAlloc");
	assert_string_equal(gpu_function_find("cuLaunchKernel_ptsz")->name, "cuLaunchKernel");
	assert_string_equal(gpu_function_find("cudaMemcpyAsync_ptsz")->name, "cudaMemcpyAsync");
	assert_string_equal(gpu_function_find("cuMemcpyDtoH_v2_ptds")->name, "cuMemcpyDtoH");
	assert_null(gpu_function_find("cudaMemcpyX"));
	assert_null(gpu_function_find("cudaMemcp"));
	assert_null(gpu_function_find("memcpy"));
	/* Other contexts of the process keep their memory. */
	assert_non_null(gpu_function_find("cudaDeviceReset"));
	assert_null(gpu_function_find("cuCtxDestroy_v2"));
	assert_null(gpu_function_find("hipCtxDestroy"));
	assert_null(gpu_function_find(""));
	(void)state;
}

static void inner_functions_have_the_name_of_the_exported_one(void **state)
{
	char name[24];

	assert_true(gpu_function_is_inner("_ZN3hip20hipStreamSynchronizeEP12ihipStream_t", name,
					  sizeof(name)));
	assert_string_equal(name, "hipStreamSynchronize");
	assert_true(gpu_function_is_inner("_ZN3hip13hipMemcpy_sptEPvPKvm13hipMemcpyKind", name,
					  sizeof(name)));
	assert_string_equal(name, "hipMemcpy_spt");
	/* Of a class in there; cut; longer than it may be; of another namespace. */
	assert_false(gpu_function_is_inner("_ZN3hip6Stream4waitEv", name, sizeof(name)));
	assert_false(gpu_function_is_inner("_ZN3hip20hipStreamSync", name, sizeof(name)));
	assert_false(
		gpu_function_is_inner("_ZN3hip24hipStreamSynchronize_abcE", name, sizeof(name)));
	assert_false(gpu_function_is_inner("_ZN3hip99999999999999999999hipE", name, sizeof(name)));
	assert_false(gpu_function_is_inner("_ZN3hip0E", name, sizeof(name)));
	assert_false(gpu_function_is_inner("_ZN3cub7hipFreeEPv", name, sizeof(name)));
	assert_false(gpu_function_is_inner("hipFree", name, sizeof(name)));
	(void)state;
}

/* What a site says of its function comes back. */
static void functions_fit_into_sites(void **state)
{
	const struct gpu_function *function;

	for (size_t i = 0; (function = gpu_function_at(i)); i++) {
		uint32_t pair = PKBPF_GPU_SITE(i, function->group, function->shape, function->way,
					       gpu_function_layer(function));

		assert_int_equal(PKBPF_GPU_CALL_OF(pair), i);
		assert_int_equal(PKBPF_GPU_GROUP_OF(pair), function->group);
		assert_int_equal(PKBPF_GPU_SHAPE_OF(pair), function->shape);
		assert_int_equal(PKBPF_GPU_WAY_OF(pair), function->way);
		assert_int_equal(PKBPF_GPU_LAYER_OF(pair), gpu_function_layer(function));
		assert_true(strlen(function->name) < PKBPF_GPU_FUNCTION_BYTES);
		assert_ptr_equal(gpu_function_named(function->name), function);
		/* What stands for calls that were not seen is no name of code. */
		assert_ptr_equal(gpu_function_find(function->name),
				 function->name[0] == '[' ? NULL : function);
	}
	(void)state;
}

static void some_variants_have_streams_of_threads(void **state)
{
	assert_true(gpu_function_is_per_thread("cudaLaunchKernel_ptsz"));
	assert_true(gpu_function_is_per_thread("hipLaunchKernel_spt"));
	assert_false(gpu_function_is_per_thread("cuLaunchKernel"));
	assert_false(gpu_function_is_per_thread("cuMemAlloc_v2"));
	assert_false(gpu_function_is_per_thread("_spt"));
	(void)state;
}

static void the_driver_is_a_layer_of_its_own(void **state)
{
	assert_int_equal(gpu_function_layer(gpu_function_find("cuLaunchKernel")), PKBPF_GPU_DRIVER);
	assert_int_equal(gpu_function_layer(gpu_function_find("cuMemRelease")), PKBPF_GPU_DRIVER);
	assert_int_equal(gpu_function_layer(gpu_function_find("cudaMalloc")), PKBPF_GPU_RUNTIME);
	assert_int_equal(gpu_function_layer(gpu_function_find("hipModuleLaunchKernel")),
			 PKBPF_GPU_RUNTIME);
	(void)state;
}

#if defined(__x86_64__)

static volatile int result;

int cuCtxSynchronize(void);
int cuLaunchCooperativeKernel(void);
int hipFreeAsync(int (*function)(int));

/* Two ways out, without what sanitizers add to them. */
__attribute__((noinline, naked)) int cuCtxSynchronize(void)
{
	__asm__("push %rbx\n\tpop %rbx\n\txor %eax, %eax\n\ttest %edi, %edi\n\tje 1f\n\t"
		"mov $1, %eax\n\tret\n1:\n\tret");
}

__attribute__((noinline)) int cuLaunchCooperativeKernel(void)
{
	result = 3;
	return result + 7;
}

/* It ends in a jump to another function: its result is not known. */
__attribute__((noinline, naked)) int hipFreeAsync(int (*function)(int))
{
	__asm__("push %rbx\n\tpop %rbx\n\tjmp cuLaunchCooperativeKernel");
}

/* This one ends in a jump to its inner function, which returns: that one has the probes. */
int hipCtxSynchronize(int value);
int hip_inner(int value) __asm__("_ZN3hip17hipCtxSynchronizeEi");
__attribute__((noinline, naked)) int hipCtxSynchronize(int value)
{
	__asm__("push %rbx\n\tpop %rbx\n\tjmp _ZN3hip17hipCtxSynchronizeEi");
}

__attribute__((noinline, naked)) int hip_inner(int value)
{
	__asm__("push %rbx\n\tpop %rbx\n\txor %eax, %eax\n\tret");
}

/* This one returns after its call: its inner function has none. */
int hipFree(int value);
int hip_inner_free(int value) __asm__("_ZN3hip7hipFreeEi");
__attribute__((noinline, naked)) int hipFree(int value)
{
	__asm__("push %rbx\n\tcall _ZN3hip7hipFreeEi\n\tpop %rbx\n\tret");
}

__attribute__((noinline, naked)) int hip_inner_free(int value)
{
	__asm__("push %rbx\n\tpop %rbx\n\txor %eax, %eax\n\tret");
}

/* The library alone calls this one. */
int hip_inner_malloc(int value) __asm__("_ZN3hip9hipMallocEi");
__attribute__((noinline, naked)) int hip_inner_malloc(int value)
{
	__asm__("push %rbx\n\tpop %rbx\n\txor %eax, %eax\n\tret");
}

static size_t count_of(const struct gpu_function_sites *sites, const char *name, uint32_t role)
{
	const struct gpu_function *function = gpu_function_find(name);
	size_t count = 0;

	array_foreach(&sites->sites.items, site)
		count += gpu_function_at(PKBPF_GPU_CALL_OF(site->description.pair)) == function &&
			 site->description.role == role;
	return count;
}

static void each_function_has_its_places(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct gpu_function_sites sites;
	struct elf_file file;

	assert_true(fd >= 0);
	assert_true(cuCtxSynchronize() + cuLaunchCooperativeKernel() + hipFreeAsync(NULL) > 0);
	assert_int_equal(hipCtxSynchronize(0) + hipFree(0) + hip_inner_malloc(0), 0);
	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_int_equal(gpu_function_sites_find(&file, false, &sites), 0);
	assert_int_equal(sites.count, 5);
	assert_int_equal(sites.refused, 0);
	assert_int_equal(count_of(&sites, "cuCtxSynchronize", PKBPF_SITE_CALL), 1);
	assert_int_equal(count_of(&sites, "cuCtxSynchronize", PKBPF_SITE_RETURN), 2);
	/* Launches have a probe at their entry only. */
	assert_int_equal(count_of(&sites, "cuLaunchCooperativeKernel", PKBPF_SITE_COUNT), 1);
	assert_int_equal(count_of(&sites, "cuLaunchCooperativeKernel", PKBPF_SITE_RETURN), 0);
	assert_int_equal(count_of(&sites, "hipFreeAsync", PKBPF_SITE_COUNT), 1);
	assert_int_equal(count_of(&sites, "hipCtxSynchronize", PKBPF_SITE_CALL), 1);
	assert_int_equal(count_of(&sites, "hipCtxSynchronize", PKBPF_SITE_RETURN), 1);
	assert_int_equal(count_of(&sites, "hipFree", PKBPF_SITE_CALL), 1);
	assert_int_equal(count_of(&sites, "hipFree", PKBPF_SITE_RETURN), 1);
	assert_int_equal(count_of(&sites, "hipMalloc", PKBPF_SITE_CALL), 0);
	assert_int_equal(sites.unmeasured, 1);
	assert_string_equal(sites.unmeasured_names, "hipFreeAsync");
	gpu_function_sites_done(&sites);
	elf_file_done(&file);
	close(fd);
	(void)state;
}

#else

static void each_function_has_its_places(void **state)
{
	(void)state;
	skip();
}

#endif

/* A library of others. */
static void other_files_have_none(void **state)
{
	struct gpu_function_sites sites;
	struct elf_file file;
	int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		skip();
	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_int_equal(gpu_function_sites_find(&file, false, &sites), 0);
	assert_int_equal(sites.count + sites.refused, 0);
	assert_int_equal(sites.sites.items.count, 0);
	elf_file_done(&file);
	close(fd);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variants_are_their_function),
		cmocka_unit_test(inner_functions_have_the_name_of_the_exported_one),
		cmocka_unit_test(functions_fit_into_sites),
		cmocka_unit_test(the_driver_is_a_layer_of_its_own),
		cmocka_unit_test(some_variants_have_streams_of_threads),
		cmocka_unit_test(each_function_has_its_places),
		cmocka_unit_test(other_files_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
