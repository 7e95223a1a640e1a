// SPDX-License-Identifier: BSD-2-Clause
/* Python frames find their place between native frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pkbpf/python.h>

#include "base/array.h"
#include "paper_process.h"
#include "unwind/python_merge.h"

#define ANCHOR(address)	    pkbpf_python_anchor_word(address)
#define PYTHON(number)	    pkbpf_python_word(0x7f0000000000 + (number)*16, number)
#define STACK_OF(frame)	    (STACK + 24 * (uint64_t)(frame))
#define NATIVE(frame)	    (CODE + 0x100 * ((uint64_t)(frame) + 1))
#define WALK(paper, python) walk_with(paper, python, ARRAY_SIZE(python))

/* Five native frames of 24 bytes each, from the leaf on. */
static struct paper five_frames(void)
{
	struct paper paper = {.rule = {.cfa = PKBPF_CFA_SP, .cfa_offset = 24, RA_AT_8}};

	for (size_t i = 0; i < 4; i++)
		paper.stack[3 * i + 2] = NATIVE(i + 1);
	return paper;
}

static struct unwind_walk_result walk_in(struct paper *paper, const uint64_t *python, size_t count,
					 const struct pkbpf_python_process *interpreter)
{
	const uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = NATIVE(0)};
	struct unwind_walk_options options = {
		.exact = true,
		.python = python,
		.python_count = count,
		.interpreter = interpreter,
	};

	return unwind_walk(&paper_ops, paper, regs, &options, paper->ips, 16);
}

static struct unwind_walk_result walk_with(struct paper *paper, const uint64_t *python,
					   size_t count)
{
	return walk_in(paper, python, count, NULL);
}

static void assert_stack(const struct paper *paper, const struct unwind_walk_result *result,
			 const uint64_t *expected, size_t count)
{
	assert_int_equal(result->depth, count);
	assert_memory_equal(paper->ips, expected, count * sizeof(*expected));
}

static void a_run_stands_behind_the_native_frame_that_encloses_its_anchor(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(STACK_OF(1) + 8), PYTHON(1), PYTHON(2),
				   ANCHOR(STACK_OF(3)), PYTHON(3)};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), PYTHON(1), PYTHON(2),
				     NATIVE(2), NATIVE(3), PYTHON(3), NATIVE(4)};
	struct unwind_walk_result result = WALK(&paper, python);

	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

static void the_leaf_may_be_the_loop(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(STACK), PYTHON(1)};
	const uint64_t expected[] = {NATIVE(0), PYTHON(1), NATIVE(1),
				     NATIVE(2), NATIVE(3), NATIVE(4)};
	struct unwind_walk_result result = WALK(&paper, python);

	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

/* Frame pointers may lead past frames. */
static void runs_whose_frame_was_skipped_follow_one_by_one(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(STACK_OF(0)), PYTHON(1), ANCHOR(STACK_OF(0) + 8),
				   PYTHON(2)};
	const uint64_t expected[] = {NATIVE(0), PYTHON(1), NATIVE(1), PYTHON(2),
				     NATIVE(2), NATIVE(3), NATIVE(4)};
	struct unwind_walk_result result = WALK(&paper, python);

	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

static void an_empty_run_leaves_the_native_frame_alone(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(STACK_OF(1)), ANCHOR(STACK_OF(2)), PYTHON(1)};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), NATIVE(2),
				     PYTHON(1), NATIVE(3), NATIVE(4)};
	struct unwind_walk_result result = WALK(&paper, python);

	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

static void python_frames_above_the_cut_of_the_native_stack_follow_a_mark(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(STACK_OF(1)),	      PYTHON(1),
				   ANCHOR(STACK_OF(4)),	      PYTHON(2),
				   ANCHOR(STACK + (1 << 16)), PYTHON(3)};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), PYTHON(1),
				     NATIVE(2), 0x1234,	   PKBPF_PYTHON_CUT_WORD,
				     PYTHON(2), PYTHON(3)};
	struct unwind_walk_result result;

	paper.stack[8] = 0x1234; /* the caller is in no mapping */
	result = WALK(&paper, python);
	assert_int_equal(result.end, PKBPF_END_NO_MAPPING);
	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

static void frames_end_at_the_limit_of_the_stack(void **state)
{
	const uint64_t words[] = {ANCHOR(STACK), PYTHON(1), PYTHON(2),
				  PYTHON(3),	 PYTHON(4), ANCHOR(STACK + (1 << 16)),
				  PYTHON(5)};
	uint64_t ips[] = {NATIVE(0), 0, 0, 7};
	struct python_merge_stack stack = {.ips = ips, .depth = 1, .limit = 3};
	struct python_merge merge;

	python_merge_init(&merge, words, ARRAY_SIZE(words));
	python_merge_push(&merge, STACK + 8, &stack);
	assert_int_equal(stack.depth, 3);
	assert_int_equal(ips[2], PYTHON(2));
	assert_int_equal(ips[3], 7);
	python_merge_push_rest(&merge, NULL, true, &stack);
	assert_int_equal(stack.depth, 3);
	assert_int_equal(ips[3], 7);
}

static void an_anchor_elsewhere_is_never_enclosed(void **state)
{
	struct paper paper = five_frames();
	const uint64_t far[] = {ANCHOR(STACK - PKBPF_PYTHON_REACH_BYTES - 4096), PYTHON(1)};
	const uint64_t none[] = {ANCHOR(0), PYTHON(1)};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), NATIVE(2),
				     NATIVE(3), NATIVE(4), PKBPF_PYTHON_CUT_WORD,
				     PYTHON(1)};
	struct unwind_walk_result result = WALK(&paper, far);

	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
	result = WALK(&paper, none);
	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

static void more_frames_than_there_is_room_for_are_left_out(void **state)
{
	struct paper paper = five_frames();
	uint64_t python[32] = {ANCHOR(STACK)};

	for (size_t i = 1; i < ARRAY_SIZE(python); i++)
		python[i] = PYTHON(i);
	assert_int_equal(WALK(&paper, python).depth, ARRAY_SIZE(paper.ips));
	assert_int_equal(paper.ips[15], PYTHON(15));
}

static void a_run_of_which_frames_are_missing_is_the_last(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(STACK_OF(1)), PYTHON(1),
				   ANCHOR(STACK_OF(2)), PYTHON(2),
				   PYTHON(3),		PKBPF_PYTHON_CUT_WORD | PKBPF_END_FAULT_RA};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), PYTHON(1),
				     NATIVE(2), PYTHON(2), PYTHON(3)};
	struct unwind_walk_result result = WALK(&paper, python);

	assert_int_equal(result.end, PKBPF_END_FAULT_RA);
	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

static void frames_of_several_interpreters_take_turns(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(STACK_OF(1)),
				   PYTHON(1),
				   ANCHOR(STACK_OF(3)),
				   PYTHON(2),
				   ANCHOR(STACK_OF(2)) | PKBPF_PYTHON_OTHER_CHAIN,
				   PYTHON(3)};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), PYTHON(1), NATIVE(2),
				     PYTHON(3), NATIVE(3), PYTHON(2), NATIVE(4)};
	struct unwind_walk_result result = WALK(&paper, python);

	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

/* The loop has the code of frame 1; its seldom used part that of frame 4. */
static const struct pkbpf_python_process without_anchors = {
	.loop = {{NATIVE(1) - 8, 16}, {NATIVE(4) - 8, 16}},
};

static void frames_without_anchors_stand_behind_the_frames_of_the_loop(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(0), PYTHON(1), PYTHON(2)};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), PYTHON(1), NATIVE(2),
				     NATIVE(3), NATIVE(4), PYTHON(2)};
	struct unwind_walk_result result =
		walk_in(&paper, python, ARRAY_SIZE(python), &without_anchors);

	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

static void the_innermost_activation_may_have_no_frame(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(0), PYTHON(2)};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), NATIVE(2),
				     NATIVE(3), NATIVE(4), PYTHON(2)};
	struct unwind_walk_result result =
		walk_in(&paper, python, ARRAY_SIZE(python), &without_anchors);

	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

static void more_frames_than_activations_in_a_complete_stack_are_not_placed(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(0), PYTHON(1), PYTHON(2), PYTHON(3)};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), NATIVE(2),
				     NATIVE(3), NATIVE(4), PKBPF_PYTHON_CUT_WORD,
				     PYTHON(1), PYTHON(2), PYTHON(3)};
	struct unwind_walk_result result =
		walk_in(&paper, python, ARRAY_SIZE(python), &without_anchors);

	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

static void outer_frames_of_a_truncated_stack_follow_a_mark(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(0), PYTHON(1), PYTHON(2)};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), PYTHON(1),
				     NATIVE(2), 0x1234,	   PKBPF_PYTHON_CUT_WORD,
				     PYTHON(2)};
	struct unwind_walk_result result;

	paper.stack[8] = 0x1234; /* the caller is in no mapping */
	result = walk_in(&paper, python, ARRAY_SIZE(python), &without_anchors);
	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

static void innermost_frames_without_anchors_stay_where_there_is_no_room_for_all(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(0), PYTHON(1), PYTHON(2), PYTHON(3)};
	const uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = NATIVE(0)};
	const struct unwind_walk_options options = {
		.exact = true,
		.python = python,
		.python_count = ARRAY_SIZE(python),
		.interpreter = &without_anchors,
	};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), PYTHON(1), NATIVE(2), NATIVE(3)};

	for (size_t limit = 5; limit <= 6; limit++) {
		struct unwind_walk_result result =
			unwind_walk(&paper_ops, &paper, regs, &options, paper.ips, limit);

		assert_int_equal(result.end, PKBPF_END_MAX_DEPTH);
		assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
	}
}

static void innermost_frames_without_anchors_stay_where_others_are_missing(void **state)
{
	struct paper paper = five_frames();
	const uint64_t python[] = {ANCHOR(0), PYTHON(1),
				   PKBPF_PYTHON_CUT_WORD | PKBPF_END_FAULT_RA};
	const uint64_t expected[] = {NATIVE(0), NATIVE(1), PYTHON(1), NATIVE(2), NATIVE(3)};
	struct unwind_walk_result result =
		walk_in(&paper, python, ARRAY_SIZE(python), &without_anchors);

	assert_int_equal(result.end, PKBPF_END_FAULT_RA);
	assert_stack(&paper, &result, expected, ARRAY_SIZE(expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_stands_behind_the_native_frame_that_encloses_its_anchor),
		cmocka_unit_test(the_leaf_may_be_the_loop),
		cmocka_unit_test(runs_whose_frame_was_skipped_follow_one_by_one),
		cmocka_unit_test(an_empty_run_leaves_the_native_frame_alone),
		cmocka_unit_test(python_frames_above_the_cut_of_the_native_stack_follow_a_mark),
		cmocka_unit_test(frames_end_at_the_limit_of_the_stack),
		cmocka_unit_test(an_anchor_elsewhere_is_never_enclosed),
		cmocka_unit_test(more_frames_than_there_is_room_for_are_left_out),
		cmocka_unit_test(frames_of_several_interpreters_take_turns),
		cmocka_unit_test(frames_without_anchors_stand_behind_the_frames_of_the_loop),
		cmocka_unit_test(the_innermost_activation_may_have_no_frame),
		cmocka_unit_test(more_frames_than_activations_in_a_complete_stack_are_not_placed),
		cmocka_unit_test(a_run_of_which_frames_are_missing_is_the_last),
		cmocka_unit_test(
			innermost_frames_without_anchors_stay_where_there_is_no_room_for_all),
		cmocka_unit_test(innermost_frames_without_anchors_stay_where_others_are_missing),
		cmocka_unit_test(outer_frames_of_a_truncated_stack_follow_a_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
