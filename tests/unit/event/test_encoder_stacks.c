// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/encoder: records that carry stacks, and the buffer they fill. */
#include <errno.h>

#include "base/array.h"
#include "encoder_fixture.h"

static const uint64_t kernel_ips[] = {0xffffffff81000001, 0xffffffff81000002};
static const uint64_t user_ips[] = {0x401000, 0x402000, 0x403000};

static struct sample_view sample_in_system_call(void)
{
	return (struct sample_view){
		.time_ns = 123456789,
		.pid = 100,
		.tid = 101,
		.cpu = 7,
		.kind = PKBPF_PROFILE_OFFCPU,
		.user_end = PKBPF_END_ZERO_RA,
		.state = 2,
		.after_syscall = true,
		.cgroup_id = 0x1122334455667788,
		.count = 3,
		.weight = 4567,
		.comm = "worker-with-16ch",
		.kernel_ips = kernel_ips,
		.kernel_count = ARRAY_SIZE(kernel_ips),
		.user_ips = user_ips,
		.user_count = ARRAY_SIZE(user_ips),
		.guessed_count = 1,
	};
}

static void assert_same_sample(const struct sample_view *sample, const struct sample_view *expected)
{
	assert_int_equal(sample->time_ns, expected->time_ns);
	assert_int_equal(sample->pid, expected->pid);
	assert_int_equal(sample->tid, expected->tid);
	assert_int_equal(sample->cpu, expected->cpu);
	assert_int_equal(sample->kind, expected->kind);
	assert_int_equal(sample->user_end, expected->user_end);
	assert_int_equal(sample->state, expected->state);
	assert_int_equal(sample->after_syscall, expected->after_syscall);
	assert_int_equal(sample->cgroup_id, expected->cgroup_id);
	assert_int_equal(sample->count, expected->count);
	assert_int_equal(sample->weight, expected->weight);
	assert_string_equal(sample->comm, expected->comm);
	assert_int_equal(sample->guessed_count, expected->guessed_count);
	assert_int_equal(sample->kernel_count, expected->kernel_count);
	assert_memory_equal(sample->kernel_ips, expected->kernel_ips, expected->kernel_count * 8);
	assert_int_equal(sample->user_count, expected->user_count);
	if (expected->user_count)
		assert_memory_equal(sample->user_ips, expected->user_ips, expected->user_count * 8);
}

static void check_sample(void *context, const struct sample_view *sample)
{
	struct sample_view expected = sample_in_system_call();

	assert_same_sample(sample, &expected);
	++*(int *)context;
}

static void sample_survives_the_round_trip(void **state)
{
	static const struct event_sink_ops ops = {.on_sample = check_sample};
	struct sample_view sample = sample_in_system_call();
	int calls = 0;

	assert_int_equal(event_encode_sample(*state, &sample), 0);
	decode_one(*state, &ops, &calls);
	assert_int_equal(calls, 1);
}

static void check_deepest(void *context, const struct sample_view *sample)
{
	assert_int_equal(sample->kernel_count, PKBPF_MAX_KERNEL_FRAMES);
	assert_int_equal(sample->user_count, PKBPF_MAX_USER_FRAMES);
	assert_int_equal(sample->kernel_ips[PKBPF_MAX_KERNEL_FRAMES - 1], PKBPF_MAX_KERNEL_FRAMES);
	assert_int_equal(sample->user_ips[0], 1);
	assert_int_equal(sample->user_ips[PKBPF_MAX_USER_FRAMES - 1], PKBPF_MAX_USER_FRAMES);
	++*(int *)context;
}

static void deepest_stacks_fit_and_deeper_ones_are_refused(void **state)
{
	static const struct event_sink_ops ops = {.on_sample = check_deepest};
	static uint64_t ips[PKBPF_MAX_USER_FRAMES + 1];
	struct event_buffer *buffer = *state;
	struct sample_view sample = {
		.kernel_ips = ips,
		.kernel_count = PKBPF_MAX_KERNEL_FRAMES,
		.user_ips = ips,
		.user_count = PKBPF_MAX_USER_FRAMES,
	};
	int calls = 0;
	size_t size;

	for (size_t i = 0; i < ARRAY_SIZE(ips); i++)
		ips[i] = i + 1;
	assert_int_equal(event_encode_sample(buffer, &sample), 0);
	decode_one(buffer, &ops, &calls);
	assert_int_equal(calls, 1);
	size = buffer->size;
	sample.user_count++;
	assert_int_equal(event_encode_sample(buffer, &sample), -EINVAL);
	sample.user_count = 0;
	sample.kernel_count++;
	assert_int_equal(event_encode_sample(buffer, &sample), -EINVAL);
	assert_int_equal(buffer->size, size);
}

static uint8_t stack_bytes[EVENT_MAX_RAW_STACK_SIZE + 8];
static uint64_t registers[PKBPF_REGS];

static void check_raw(void *context, const struct raw_stack_view *raw)
{
	struct sample_view expected = sample_in_system_call();

	if (!raw->check)
		expected.user_count = expected.guessed_count = 0;
	assert_same_sample(&raw->sample, &expected);
	assert_int_equal(raw->check, raw->stack_size == 8);
	assert_int_equal(raw->cut, raw->stack_size != 512);
	assert_int_equal(raw->stack_id, raw->stack_size == 512 ? 77 : 0);
	assert_int_equal(raw->holes, raw->stack_size == 512 ? 0 : 0x8000000000000002);
	assert_memory_equal(raw->regs, registers, sizeof(registers));
	assert_int_equal(raw->stack_start, 0x7ffc00001000);
	assert_int_equal(raw->stack_size, *(size_t *)context);
	assert_memory_equal(raw->stack, stack_bytes, raw->stack_size);
	*(size_t *)context = SIZE_MAX;
}

static void raw_stack_survives_the_round_trip_up_to_its_limit(void **state)
{
	static const struct event_sink_ops ops = {.on_raw_stack = check_raw};
	static const size_t sizes[] = {0, 8, 512, EVENT_MAX_RAW_STACK_SIZE};
	struct raw_stack_view raw = {
		.sample = sample_in_system_call(),
		.regs = registers,
		.stack_start = 0x7ffc00001000,
		.stack = stack_bytes,
	};

	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		registers[i] = i * 0x0101010101010101;
	for (size_t i = 0; i < sizeof(stack_bytes); i++)
		stack_bytes[i] = (uint8_t)(i * 7);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t seen = sizes[i];

		raw.stack_size = sizes[i];
		raw.cut = sizes[i] != 512;
		raw.stack_id = sizes[i] == 512 ? 77 : 0;
		raw.holes = sizes[i] == 512 ? 0 : 0x8000000000000002;
		raw.check = sizes[i] == 8;
		raw.sample = sample_in_system_call();
		if (!raw.check)
			raw.sample.user_count = raw.sample.guessed_count = 0;
		event_buffer_clear(*state);
		assert_int_equal(event_encode_raw_stack(*state, &raw), 0);
		decode_one(*state, &ops, &seen);
		assert_true(seen == SIZE_MAX);
	}
	event_buffer_clear(*state);
	raw.stack_size = EVENT_MAX_RAW_STACK_SIZE + 8;
	assert_int_equal(event_encode_raw_stack(*state, &raw), -EINVAL);
	raw.stack_size = 12;
	assert_int_equal(event_encode_raw_stack(*state, &raw), -EINVAL);
	raw.stack_size = 8;
	raw.stack_start = UINT64_MAX - 4;
	assert_int_equal(event_encode_raw_stack(*state, &raw), -EINVAL);
	assert_int_equal(((struct event_buffer *)*state)->size, 0);
}

static void check_stack(void *context, const struct stack_view *stack)
{
	assert_int_equal(stack->stack_id, 99);
	assert_int_equal(stack->pid, 12);
	assert_int_equal(stack->user_end, PKBPF_END_FAULT_RA);
	assert_int_equal(stack->guessed_count, 2);
	assert_int_equal(stack->kernel_count, 2);
	assert_int_equal(stack->user_count, 3);
	assert_memory_equal(stack->kernel_ips, kernel_ips, sizeof(kernel_ips));
	assert_memory_equal(stack->user_ips, user_ips, sizeof(user_ips));
	++*(int *)context;
}

static void stack_survives_the_round_trip(void **state)
{
	static const struct event_sink_ops ops = {.on_stack = check_stack};
	struct stack_view stack = {
		.stack_id = 99,
		.pid = 12,
		.user_end = PKBPF_END_FAULT_RA,
		.kernel_ips = kernel_ips,
		.kernel_count = 2,
		.user_ips = user_ips,
		.user_count = 3,
		.guessed_count = 2,
	};
	int calls = 0;

	assert_int_equal(event_encode_stack(*state, 1, &stack), 0);
	decode_one(*state, &ops, &calls);
	assert_int_equal(calls, 1);
	stack.guessed_count = 4;
	assert_int_equal(event_encode_stack(*state, 1, &stack), -EINVAL);
}

static void count_sample(void *context, const struct sample_view *sample)
{
	*(uint64_t *)context += sample->weight;
}

static void buffer_grows_over_many_records_and_keeps_memory_when_cleared(void **state)
{
	static const struct event_sink_ops ops = {.on_sample = count_sample};
	struct event_buffer *buffer = *state;
	struct sample_view sample = sample_in_system_call();
	uint64_t sum = 0;
	struct event_sink sink = {&ops, &sum};
	size_t offset = 0, capacity;

	for (uint64_t i = 1; i <= 1000; i++) {
		sample.weight = i;
		assert_int_equal(event_encode_sample(buffer, &sample), 0);
	}
	while (offset < buffer->size) {
		int size = event_decode(buffer->data + offset, buffer->size - offset, &sink);

		assert_true(size > 0);
		offset += (size_t)size;
	}
	assert_int_equal(sum, 500500);
	capacity = buffer->capacity;
	event_buffer_clear(buffer);
	assert_int_equal(buffer->size, 0);
	assert_int_equal(buffer->capacity, capacity);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENCODER_TEST(sample_survives_the_round_trip),
		ENCODER_TEST(deepest_stacks_fit_and_deeper_ones_are_refused),
		ENCODER_TEST(raw_stack_survives_the_round_trip_up_to_its_limit),
		ENCODER_TEST(stack_survives_the_round_trip),
		ENCODER_TEST(buffer_grows_over_many_records_and_keeps_memory_when_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
