// SPDX-License-Identifier: BSD-2-Clause
/* Tests for hotspot/hotspot_process: blobs that come, go, move and lie, on paper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fake_jvm.h"

static const int32_t pcs[][2] = {{40, 1}, {60, 4}, {50, 9}, {1000, 1}, {90, 0}};
static const uint8_t scopes[] = {0, 1, 2, 3};
static const uint64_t metadata[] = {0x1000, 0x2000};
static const struct fake_debug debug = {pcs, ARRAY_SIZE(pcs), scopes, sizeof(scopes), metadata, 2};

struct watch {
	struct fake_jvm *fake;
	struct hotspot_process *process;
	uint64_t now_ns;
	size_t came, went;
	uint64_t last_new, last_gone; /* addresses */
	uint8_t first_code_byte;
};

static void on_new(void *context, struct hotspot_blob *blob)
{
	struct watch *watch = context;

	watch->came++;
	watch->last_new = blob->address;
	watch->first_code_byte = blob->code ? blob->code[0] : 0;
	blob->user = watch;
}

static void on_gone(void *context, struct hotspot_blob *blob)
{
	struct watch *watch = context;

	assert_ptr_equal(blob->user, watch);
	watch->went++;
	watch->last_gone = blob->address;
}

/* Later than anything that rests. */
static int look(struct watch *watch)
{
	const struct hotspot_process_ops ops = {on_new, on_gone, watch};

	watch->came = watch->went = 0;
	watch->now_ns += 100 * NS_PER_SECOND;
	return hotspot_process_look(watch->process, &ops, watch->now_ns);
}

static void begin(struct watch *watch, int version)
{
	struct fake_jvm *fake = fake_jvm_new(version);
	struct hotspot_memory memory = fake_memory(fake);

	*watch = (struct watch){.fake = fake};
	watch->process = hotspot_process_new(&fake->layout, FAKE_BIAS, &memory);
	assert_non_null(watch->process);
}

static void end(struct watch *watch)
{
	hotspot_process_free(watch->process);
	free(watch->fake);
}

static void check_method(const struct hotspot_blob *blob, uint64_t address)
{
	assert_int_equal(blob->kind, HOTSPOT_NMETHOD);
	assert_string_equal(blob->name, "nmethod");
	assert_int_equal(blob->method, 0x5000);
	assert_int_equal(blob->compile_id, 7);
	assert_int_equal(blob->level, 4);
	assert_int_equal(blob->frame_words, 6);
	assert_int_equal(blob->frame_complete, 12);
	assert_int_equal(blob->code_begin, address + FAKE_CODE);
	assert_int_equal(blob->code_end, address + FAKE_DATA);
	assert_int_equal(blob->entry, address + FAKE_CODE);
	assert_int_equal(blob->verified_entry, address + FAKE_CODE + 32);
	assert_int_equal(blob->osr_entry, 0);
	assert_int_equal(blob->deopt_handler, address + FAKE_CODE + 100);
	assert_false(blob->is_osr);
	/* ascending, and none outside the code */
	assert_int_equal(blob->pc_count, 3);
	assert_int_equal(blob->pcs[1].offset, 60);
	assert_int_equal(blob->pcs[1].scope, 4);
	assert_int_equal(blob->pcs[2].offset, 90);
	assert_int_equal(blob->scopes_size >= sizeof(scopes), 1);
	assert_memory_equal(blob->scopes, scopes, sizeof(scopes));
	assert_int_equal(blob->metadata_count, 2);
	assert_int_equal(blob->metadata[1], 0x2000);
}

static void check_listing(int version)
{
	struct watch watch;
	uint64_t method, stub;

	begin(&watch, version);
	method = fake_method(watch.fake, 0x5000, 7, &debug);
	fake_put(watch.fake, method + FAKE_CODE, 0x55, 1);
	stub = fake_blob(watch.fake, "StubRoutines (1)");
	assert_int_equal(look(&watch), 1);
	assert_int_equal(watch.came, 2);
	assert_int_equal(hotspot_process_blob_count(watch.process), 2);
	check_method(hotspot_process_blob(watch.process, 0), method);
	assert_null(hotspot_process_blob(watch.process, 0)->code);
	assert_int_equal(hotspot_process_blob(watch.process, 1)->kind, HOTSPOT_STUB_ROUTINES);
	assert_ptr_equal(hotspot_process_find(watch.process, stub + FAKE_CODE),
			 hotspot_process_blob(watch.process, 1));
	assert_null(hotspot_process_find(watch.process, FAKE_HEAP + 64 * FAKE_SEGMENT));
	assert_true(hotspot_process_is_code(watch.process, FAKE_HEAP + 64 * FAKE_SEGMENT));
	assert_false(hotspot_process_is_code(watch.process, FAKE_HEAP - 1));
	end(&watch);
}

static void test_listing_17(void **state)
{
	(void)state;
	check_listing(17);
}

static void test_listing_25(void **state)
{
	(void)state;
	check_listing(25);
}

/* Two looks for what was new, then a few bytes each. */
static void test_no_change_is_cheap(void **state)
{
	struct watch watch;

	(void)state;
	begin(&watch, 17);
	fake_method(watch.fake, 0x5000, 7, &debug);
	assert_int_equal(look(&watch), 1);
	assert_int_equal(look(&watch), 0);
	watch.fake->reads = 0;
	assert_int_equal(look(&watch), 0);
	assert_true(watch.fake->reads <= 5);
	end(&watch);
}

static void test_gone_and_new(void **state)
{
	struct watch watch;
	uint64_t first, second;

	(void)state;
	begin(&watch, 25);
	first = fake_method(watch.fake, 0x5000, 7, &debug);
	second = fake_method(watch.fake, 0x6000, 8, &debug);
	look(&watch);
	look(&watch);
	fake_free_block(watch.fake, first);
	assert_int_equal(look(&watch), 1);
	assert_int_equal(watch.went, 1);
	assert_int_equal(watch.last_gone, first);
	assert_int_equal(hotspot_process_blob_count(watch.process), 1);
	/* the place of the other is taken by another method, of the same size */
	fake_method_fields(watch.fake, second, 0x7000, 9, &debug);
	fake_touch_heap(watch.fake);
	assert_int_equal(look(&watch), 1);
	assert_int_equal(watch.came, 1);
	assert_int_equal(watch.went, 1);
	assert_int_equal(hotspot_process_blob(watch.process, 0)->method, 0x7000);
	end(&watch);
}

static void test_half_written(void **state)
{
	struct watch watch;
	uint64_t method;

	(void)state;
	begin(&watch, 17);
	method = fake_method(watch.fake, 0x5000, 7, &debug);
	/* not installed yet */
	fake_set(watch.fake, method, watch.fake->layout.at.nmethod_state, 0xff);
	assert_int_equal(look(&watch), 0);
	assert_int_equal(watch.came, 0);
	fake_set(watch.fake, method, watch.fake->layout.at.nmethod_state, 0);
	assert_int_equal(look(&watch), 1);
	assert_int_equal(watch.came, 1);
	/* its code was not all there when it was read first */
	fake_put(watch.fake, method + FAKE_CODE + 3, 0x90, 1);
	assert_int_equal(look(&watch), 1);
	assert_int_equal(watch.came, 1);
	assert_int_equal(watch.went, 1);
	/* calls that are patched later are no reason */
	fake_put(watch.fake, method + FAKE_CODE + 3, 0xe8, 1);
	fake_touch_heap(watch.fake);
	assert_int_equal(look(&watch), 0);
	end(&watch);
}

static void test_rest(void **state)
{
	struct watch watch;
	const struct hotspot_process_ops ops = {on_new, on_gone, &watch};

	(void)state;
	begin(&watch, 17);
	fake_method(watch.fake, 0x5000, 7, &debug);
	assert_int_equal(look(&watch), 1);
	fake_method(watch.fake, 0x6000, 8, &debug);
	watch.came = 0;
	/* right behind a look with changes there is none */
	assert_int_equal(hotspot_process_look(watch.process, &ops, watch.now_ns), 0);
	assert_int_equal(watch.came, 0);
	assert_int_equal(look(&watch), 1);
	assert_int_equal(watch.came, 1);
	end(&watch);
}

static void test_lies(void **state)
{
	struct watch watch;
	const struct hotspot_fields *at;
	uint64_t blob;

	(void)state;
	begin(&watch, 17);
	at = &watch.fake->layout.at;
	/* code that ends behind the block; a block that ends behind the heap; a size below that of
	 * the structure */
	blob = fake_method(watch.fake, 0x5000, 7, &debug);
	fake_set(watch.fake, blob, at->blob_code_end, blob + 100000);
	blob = fake_method(watch.fake, 0x5000, 8, &debug);
	fake_set(watch.fake, blob - 16, at->block_length, 1000000);
	blob = fake_method(watch.fake, 0x5000, 9, &debug);
	fake_set(watch.fake, blob, at->blob_size, 3);
	/* scopes that end before they begin */
	blob = fake_method(watch.fake, 0x5000, 10, &debug);
	fake_set(watch.fake, blob, at->nmethod_scopes, 8);
	/* an entry outside, a frame without end, and others that are as they should be */
	blob = fake_method(watch.fake, 0x5000, 11, &debug);
	fake_set(watch.fake, blob, at->nmethod_entry, 5);
	fake_set(watch.fake, blob, at->blob_frame_size, 0x7fffffff);
	assert_int_equal(look(&watch), 1);
	assert_int_equal(hotspot_process_blob_count(watch.process), 1);
	assert_int_equal(hotspot_process_blob(watch.process, 0)->compile_id, 11);
	assert_int_equal(hotspot_process_blob(watch.process, 0)->entry, 0);
	assert_int_equal(hotspot_process_blob(watch.process, 0)->frame_words, 0);
	end(&watch);
}

static void test_no_heap(void **state)
{
	struct watch watch;

	(void)state;
	begin(&watch, 17);
	fake_put(watch.fake, watch.fake->heap + watch.fake->layout.at.heap_log2_segment_size.offset,
		 40, 4);
	assert_int_equal(look(&watch), -EBADMSG);
	fake_put(watch.fake, FAKE_BIAS + watch.fake->layout.heaps, 0, 8);
	assert_int_equal(look(&watch), -EBADMSG);
	fake_put(watch.fake, FAKE_BIAS + watch.fake->layout.heaps, 8, 8);
	assert_int_equal(look(&watch), -EFAULT);
	end(&watch);
}

/* A begins in every segment: blocks do not overlap. */
static void test_overlapping_blocks(void **state)
{
	struct watch watch;
	uint64_t inner;

	(void)state;
	begin(&watch, 17);
	fake_method(watch.fake, 0x5000, 7, &debug);
	inner = FAKE_HEAP + 8 * FAKE_SEGMENT;
	fake_set(watch.fake, inner, watch.fake->layout.at.block_length, 4);
	fake_set(watch.fake, inner, watch.fake->layout.at.block_used, 1);
	inner += watch.fake->layout.block_header_size;
	fake_set(watch.fake, inner, watch.fake->layout.at.blob_name, fake_string(watch.fake, "x"));
	fake_set(watch.fake, inner, watch.fake->layout.at.blob_size, 4 * FAKE_SEGMENT - 16);
	fake_set(watch.fake, inner, watch.fake->layout.at.blob_code_begin, inner + 300);
	fake_set(watch.fake, inner, watch.fake->layout.at.blob_code_end, inner + 400);
	memset(watch.fake->bytes + (watch.fake->map - FAKE_BIAS), 0, FAKE_HEAP_SEGMENTS);
	look(&watch);
	assert_int_equal(hotspot_process_blob_count(watch.process), 1);
	end(&watch);
}

/* The same size at the same place: only the header tells, which not every look reads. */
static void test_replaced_between_checks(void **state)
{
	struct watch watch;
	struct hotspot_process_ops ops = {on_new, on_gone, &watch};
	uint64_t method;

	(void)state;
	begin(&watch, 17);
	method = fake_method(watch.fake, 0x5000, 7, &debug);
	look(&watch);
	look(&watch);
	fake_touch_heap(watch.fake);
	look(&watch);
	fake_set(watch.fake, method, watch.fake->layout.at.nmethod_compile_id, 8);
	fake_touch_heap(watch.fake);
	assert_int_equal(
		hotspot_process_look(watch.process, &ops, hotspot_process_next_look(watch.process)),
		0);
	/* Nothing has changed since. */
	assert_int_equal(look(&watch), 1);
	assert_int_equal(watch.went, 1);
	assert_int_equal(hotspot_process_blob(watch.process, 0)->compile_id, 8);
	end(&watch);
}

/* ---- more code than one look reads ---- */

#define LARGE_BLOCKS   30
#define LARGE_SEGMENTS 12288
#define LARGE_BYTES    ((uint64_t)LARGE_SEGMENTS * FAKE_SEGMENT)
#define LARGE_HEAP     (FAKE_BIAS + (1ULL << 32))
#define LARGE_MAP      (FAKE_BIAS + (1ULL << 33))
#define LARGE_HEAD     1024U

struct large {
	struct fake_jvm *fake;
	uint8_t head[LARGE_HEAD]; /* the beginning of each block; zeros follow */
};

static int read_large(void *context, uint64_t address, void *buffer, size_t size)
{
	const struct large *large = context;
	uint8_t *bytes = buffer;

	if (address < LARGE_HEAP)
		return fake_read(large->fake, address, buffer, size);
	memset(bytes, 0, size);
	for (size_t i = 0; i < size && address >= LARGE_MAP; i++)
		bytes[i] = (address - LARGE_MAP + i) % LARGE_SEGMENTS != 0;
	if (address < LARGE_MAP && (address - LARGE_HEAP) % LARGE_BYTES == 0)
		memcpy(bytes, large->head, size < LARGE_HEAD ? size : LARGE_HEAD);
	return 0;
}

static void large_init(struct large *large, struct fake_jvm *fake)
{
	const struct hotspot_fields *at = &fake->layout.at;
	uint64_t blob = fake_blob(fake, "StubRoutines (1)"), block;

	block = blob - fake->layout.block_header_size;
	fake_set(fake, block, at->block_length, LARGE_SEGMENTS);
	fake_set(fake, blob, at->blob_size, LARGE_BYTES - 64);
	memcpy(large->head, fake->bytes + (block - FAKE_BIAS), LARGE_HEAD);
	fake_space(fake, fake->heap, at->heap_memory, LARGE_HEAP, LARGE_BLOCKS * LARGE_BYTES);
	fake_space(fake, fake->heap, at->heap_segment_map, LARGE_MAP,
		   (uint64_t)LARGE_BLOCKS * LARGE_SEGMENTS);
	large->fake = fake;
}

/* What the first look leaves over is as old as what it lists: samples of before have names. */
static void test_more_than_one_look_reads(void **state)
{
	struct watch watch;
	struct large large;
	struct hotspot_memory memory = {read_large, &large};

	(void)state;
	begin(&watch, 25);
	large_init(&large, watch.fake);
	hotspot_process_free(watch.process);
	watch.process = hotspot_process_new(&watch.fake->layout, FAKE_BIAS, &memory);
	assert_int_equal(look(&watch), 1);
	assert_in_range(watch.came, 1, LARGE_BLOCKS - 1);
	assert_int_equal(hotspot_process_looked_ns(watch.process), 0);
	assert_int_equal(look(&watch), 1);
	assert_int_equal(hotspot_process_blob_count(watch.process), LARGE_BLOCKS);
	assert_int_equal(hotspot_process_looked_ns(watch.process), watch.now_ns);
	assert_int_equal(hotspot_process_dropped(watch.process), 0);
	/* What was read once is read again. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(look(&watch), 0);
	watch.fake->reads = 0;
	assert_int_equal(look(&watch), 0);
	assert_true(watch.fake->reads <= 5);
	end(&watch);
}

static void test_copies(void **state)
{
	struct watch watch;
	struct hotspot_blob *copy;
	uint64_t method;

	(void)state;
	begin(&watch, 25);
	method = fake_method(watch.fake, 0x5000, 7, &debug);
	look(&watch);
	copy = hotspot_blob_copy(hotspot_process_blob(watch.process, 0));
	assert_non_null(copy);
	end(&watch);
	check_method(copy, method);
	hotspot_blob_free(copy);
	hotspot_blob_free(NULL);
}

static void test_codelets(void **state)
{
	struct watch watch;
	struct hotspot_codelet codelets[4];
	const struct hotspot_fields *at;
	uint64_t queue, codelet = FAKE_HEAP + 0x1000;

	(void)state;
	begin(&watch, 17);
	at = &watch.fake->layout.at;
	memcpy(&queue, watch.fake->bytes + watch.fake->layout.interpreter, 8);
	fake_set(watch.fake, queue, at->queue_buffer, codelet);
	fake_set(watch.fake, queue, at->queue_end, 0x300);
	for (uint64_t i = 0; i < 2; i++) {
		fake_set(watch.fake, codelet + i * 0x100, at->codelet_size, 0x100);
		fake_set(watch.fake, codelet + i * 0x100, at->codelet_bytecode, i ? 182 : -1U);
		fake_set(watch.fake, codelet + i * 0x100, at->codelet_description,
			 fake_string(watch.fake, i ? "invokevirtual" : "return entry points"));
	}
	/* the third has no size */
	assert_int_equal(hotspot_process_codelets(watch.process, codelets, 4), 2);
	assert_string_equal(codelets[1].description, "invokevirtual");
	assert_int_equal(codelets[0].bytecode, -1);
	assert_int_equal(codelets[1].bytecode, 182);
	assert_int_equal(codelets[0].code_begin, codelet + 32);
	assert_int_equal(codelets[0].code_end, codelet + 0x100);
	assert_int_equal(hotspot_process_codelets(watch.process, codelets, 1), 1);
	fake_set(watch.fake, queue, at->queue_end, UINT32_MAX);
	assert_int_equal(hotspot_process_codelets(watch.process, codelets, 4), 0);
	end(&watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listing_17),
		cmocka_unit_test(test_listing_25),
		cmocka_unit_test(test_no_change_is_cheap),
		cmocka_unit_test(test_gone_and_new),
		cmocka_unit_test(test_half_written),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_no_heap),
		cmocka_unit_test(test_overlapping_blocks),
		cmocka_unit_test(test_replaced_between_checks),
		cmocka_unit_test(test_more_than_one_look_reads),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_codelets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
