// SPDX-License-Identifier: BSD-2-Clause
/* Which functions wait for a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "rows/gpu_call.h"

static bool waits(const char *name, const char *module)
{
	return gpu_call_waits(
		&(struct function){.name = name, .module = module, .file = "", .path = ""});
}

static void knows_calls_that_wait(void **state)
{
	assert_true(waits("cudaStreamSynchronize", "libcudart.so.12"));
	assert_true(waits("cudaStreamSynchronize_ptsz", "train"));
	assert_true(waits("cudaMemcpy", "libcudart.so.12"));
	assert_true(waits("cuCtxSynchronize", "libcuda.so.1"));
	assert_true(waits("cuMemcpyDtoH_v2", "libcuda.so.550.54"));
	assert_true(waits("hipDeviceSynchronize", "libamdhip64.so.6"));
	assert_true(waits("hip::hipStreamSynchronize", "libamdhip64.so.6"));
	assert_true(waits("hip::hipStreamSynchronize_spt(ihipStream_t*)", "libamdhip64.so.6"));
	assert_true(waits("hip::hipMemcpy(void*, void const*)", "libamdhip64.so.6"));
	(void)state;
}

static bool is(bool (*is_it)(const struct function *function), const char *name, const char *module)
{
	return is_it(&(struct function){.name = name, .module = module, .file = "", .path = ""});
}

/* A copy waits, but what a CPU does there is copying. */
static void only_calls_that_do_nothing_else_spin(void **state)
{
	assert_true(is(gpu_call_spins, "cudaDeviceSynchronize", "train"));
	assert_true(is(gpu_call_spins, "cuCtxSynchronize", "libcuda.so.1"));
	assert_false(is(gpu_call_spins, "cudaMemcpy", "libcudart.so.12"));
	assert_false(is(gpu_call_spins, "hipMemcpy", "libamdhip64.so.6"));
	assert_false(is(gpu_call_spins, "cuMemcpyDtoH_v2", "libcuda.so.1"));
	(void)state;
}

static void knows_launches(void **state)
{
	assert_true(is(gpu_call_launches, "cudaLaunchKernel", "train"));
	assert_true(is(gpu_call_launches, "cudaLaunchKernelExC_ptsz", "train"));
	assert_true(is(gpu_call_launches, "cuLaunchKernel", "libcuda.so.1"));
	assert_true(is(gpu_call_launches, "hipModuleLaunchKernel", "libamdhip64.so.6"));
	assert_false(is(gpu_call_launches, "cuLaunchKernel", "game"));
	assert_false(is(gpu_call_launches, "cudaStreamSynchronize", "train"));
	assert_false(gpu_call_waits(&(struct function){
		.name = "cudaLaunchKernel", .module = "train", .file = "", .path = ""}));
	(void)state;
}

static void leaves_others_alone(void **state)
{
	assert_false(waits("cudaMemcpyAsync", "libcudart.so.12"));
	assert_false(waits("cudaLaunchKernel", "libcudart.so.12"));
	assert_false(waits("cuCtxSynchronize", "game"));
	assert_false(waits("hipMemcpy", "libother.so"));
	assert_false(waits("hip::hipMemcpyAsync(void*)", "libamdhip64.so.6"));
	assert_false(waits("hip::hipStreamSynchronize_common(ihipStream_t*)", "libamdhip64.so.6"));
	assert_false(waits("hip::", "libamdhip64.so.6"));
	assert_false(waits("compute", "train"));
	assert_false(waits("", ""));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_calls_that_wait),
		cmocka_unit_test(only_calls_that_do_nothing_else_spin),
		cmocka_unit_test(knows_launches),
		cmocka_unit_test(leaves_others_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
