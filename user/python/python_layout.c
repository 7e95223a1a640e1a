// SPDX-License-Identifier: BSD-2-Clause
/* The offsets of CPython's structures, by version or as the interpreter says. */
#include "python/python_layout.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

#define NO 0 /* this version has no such field */
#if defined(__aarch64__)
/* Two mutexes that lie before it are 8 bytes longer than elsewhere. */
#define CURRENT(offset) ((offset) + 16)
#else
#define CURRENT(offset) (offset)
#endif

/* Builds without the GIL have another object header and other locks: rows of their own. */
static const struct pkbpf_python_layout table[] = {
#define ROW(minor_, free_, chain_, instruction_, ...)                                              \
	{                                                                                          \
		.minor = (minor_), .free_threaded = (free_), .chain = (chain_),                    \
		.instruction = (instruction_), .thread_next = 8, .thread_interpreter = 16,         \
		__VA_ARGS__                                                                        \
	}
#define RUNTIME(head, current)                                                                     \
	.runtime_interpreters_head = (head), .runtime_tstate_current = (current)
#define INTERPRETER(next, threads) .interpreter_next = (next), .interpreter_threads = (threads)
#define THREAD(frame, cframe, base, id)                                                            \
	.thread_frame = (frame), .thread_cframe = (cframe), .thread_base_frame = (base),           \
	.thread_id = (id)
#define CFRAME(current, previous) .cframe_current = (current), .cframe_previous = (previous)
#define FRAME(previous, code, instruction, owner, entry, tlbc, size)                               \
	.frame_previous = (previous), .frame_code = (code), .frame_instruction = (instruction),    \
	.frame_owner = (owner), .frame_is_entry = (entry), .frame_tlbc = (tlbc),                   \
	.frame_size = (size)
#define CODE(instructions, line, version, file, size)                                              \
	.code_first_instruction = (instructions), .code_first_line = (line),                       \
	.code_version = (version), .code_file = (file), .code_name = (file) + 8,                   \
	.code_size = (size)
#define NAMES(qualified, lines) .code_qualified_name = (qualified), .code_lines = (lines)
/* The members of str and bytes begin behind the object header. */
#define STRINGS(header, ascii, other, kind_bit)                                                    \
	.string_length = (header), .string_hash = (header) + 8, .string_state = (header) + 16,     \
	.string_ascii_data = (ascii), .string_data = (other), .string_kind_bit = (kind_bit),       \
	.bytes_size = (header), .bytes_data = (header) + 16
	ROW(8, false, PKBPF_PYTHON_OBJECTS, PKBPF_PYTHON_BYTES, RUNTIME(32, CURRENT(1368)),
	    INTERPRETER(0, 8), THREAD(24, NO, NO, 176), CFRAME(NO, NO),
	    FRAME(24, 32, 104, NO, NO, NO, 368), CODE(48, 40, NO, 104, 176), NAMES(NO, 120),
	    STRINGS(16, 48, 72, 2)),
	ROW(9, false, PKBPF_PYTHON_OBJECTS, PKBPF_PYTHON_BYTES, RUNTIME(32, CURRENT(568)),
	    INTERPRETER(0, 8), THREAD(24, NO, NO, 176), CFRAME(NO, NO),
	    FRAME(24, 32, 104, NO, NO, NO, 368), CODE(48, 40, NO, 104, 176), NAMES(NO, 120),
	    STRINGS(16, 48, 72, 2)),
	ROW(10, false, PKBPF_PYTHON_OBJECTS_CFRAME, PKBPF_PYTHON_UNITS, RUNTIME(32, CURRENT(568)),
	    INTERPRETER(0, 8), THREAD(24, 48, NO, 176), CFRAME(NO, 8),
	    FRAME(24, 32, 96, NO, NO, NO, 360), CODE(48, 40, NO, 104, 176), NAMES(NO, 120),
	    STRINGS(16, 48, 72, 2)),
	ROW(11, false, PKBPF_PYTHON_CFRAME, PKBPF_PYTHON_ADDRESS, RUNTIME(40, CURRENT(576)),
	    INTERPRETER(0, 16), THREAD(56, NO, NO, 152), CFRAME(8, 16),
	    FRAME(48, 32, 56, 69, 68, NO, 80), CODE(184, 72, NO, 112, 192), NAMES(128, 136),
	    STRINGS(16, 48, 72, 2)),
	ROW(12, false, PKBPF_PYTHON_CFRAME_SHIM, PKBPF_PYTHON_ADDRESS, RUNTIME(40, NO),
	    INTERPRETER(0, 72), THREAD(56, NO, NO, 136), CFRAME(0, 8),
	    FRAME(8, 0, 56, 70, NO, NO, 80), CODE(192, 68, 92, 112, 200), NAMES(128, 136),
	    STRINGS(16, 40, 56, 2)),
	ROW(13, false, PKBPF_PYTHON_SHIM, PKBPF_PYTHON_ADDRESS, RUNTIME(632, NO),
	    INTERPRETER(7264, 7344), THREAD(72, NO, NO, 152), CFRAME(NO, NO),
	    FRAME(8, 0, 56, 70, NO, NO, 80), CODE(200, 68, 92, 112, 208), NAMES(128, 136),
	    STRINGS(16, 40, 56, 2)),
	ROW(13, true, PKBPF_PYTHON_SHIM, PKBPF_PYTHON_ADDRESS, RUNTIME(632, NO),
	    INTERPRETER(7264, 7344), THREAD(72, NO, NO, 152), CFRAME(NO, NO),
	    FRAME(8, 0, 56, 70, NO, NO, 80), CODE(216, 84, 108, 128, 224), NAMES(144, 152),
	    STRINGS(32, 56, 72, 2)),
	ROW(14, false, PKBPF_PYTHON_SHIM, PKBPF_PYTHON_ADDRESS, RUNTIME(808, NO),
	    INTERPRETER(7272, 7344), THREAD(72, NO, NO, 152), CFRAME(NO, NO),
	    FRAME(8, 0, 56, 74, NO, NO, 88), CODE(208, 68, 92, 112, 216), NAMES(128, 136),
	    STRINGS(16, 40, 56, 2)),
	ROW(14, true, PKBPF_PYTHON_SHIM, PKBPF_PYTHON_ADDRESS, RUNTIME(808, NO),
	    INTERPRETER(7272, 7344), THREAD(72, NO, NO, 152), CFRAME(NO, NO),
	    FRAME(8, 0, 56, 78, NO, 72, 88), CODE(232, 84, 108, 128, 240), NAMES(144, 152),
	    STRINGS(32, 56, 72, 8)),
	ROW(15, false, PKBPF_PYTHON_SHIM, PKBPF_PYTHON_ADDRESS, RUNTIME(936, NO),
	    INTERPRETER(7264, 7336), THREAD(72, NO, 80, 176), CFRAME(NO, NO),
	    FRAME(8, 0, 56, 74, NO, NO, 88), CODE(208, 68, 92, 112, 216), NAMES(128, 136),
	    STRINGS(16, 40, 56, 2)),
	ROW(15, true, PKBPF_PYTHON_SHIM, PKBPF_PYTHON_ADDRESS, RUNTIME(936, NO),
	    INTERPRETER(7264, 7336), THREAD(72, NO, 80, 176), CFRAME(NO, NO),
	    FRAME(8, 0, 56, 78, NO, 72, 88), CODE(232, 84, 108, 128, 240), NAMES(144, 152),
	    STRINGS(32, 56, 72, 8)),
};

static bool is_release(uint32_t version)
{
	/* 0xMMmmppRS: R is 0xa to 0xc before the first release of a minor version. */
	return version >> 24 == 3 && ((version & 0xffff) == 0 || (version >> 4 & 0xf) >= 0xc);
}

static unsigned int minor_of(uint32_t version)
{
	return version >> 16 & 0xff;
}

bool python_layout_of(uint32_t version, bool free_threaded, struct pkbpf_python_layout *ret_layout)
{
	for (size_t i = 0; i < ARRAY_SIZE(table) && is_release(version); i++) {
		if (table[i].minor == minor_of(version) &&
		    table[i].free_threaded == free_threaded) {
			*ret_layout = table[i];
			return true;
		}
	}
	return false;
}

/* Number of words in each group of _Py_DebugOffsets, and where in theirs those are that not all
 * versions have (0: not this one). */
struct groups {
	uint8_t runtime, interpreter, thread, error_item, frame, code;
	uint8_t code_generation, thread_base_frame, thread_id, frame_tlbc, code_tlbc;
};

#define OLDEST_GROUPS 13 /* minor version */
static const struct groups shapes[] = {
	{3, 13, 9, 0, 6, 10, 0, 0, 5, 0, 0},
	{3, 16, 9, 0, 8, 11, 14, 0, 5, 7, 10},
	{3, 16, 16, 1, 8, 11, 14, 5, 8, 7, 10},
};
#define NEWEST_GROUPS (OLDEST_GROUPS + ARRAY_SIZE(shapes) - 1)

#define HEADER_WORDS 3 /* cookie, version, free-threaded */
#define MAX_WORDS    (HEADER_WORDS + 3 + 16 + 16 + 1 + 8 + 11)

/* The first word of a group is the size of the structure, the others are offsets in it. */
struct group {
	const uint64_t *words;
	bool wrong; /* an offset does not lie inside the structure */
};

static struct group next_group(const uint64_t **at, uint8_t words, uint64_t least, uint64_t most)
{
	struct group group = {.words = *at};

	group.wrong = group.words[0] < least || group.words[0] > most;
	*at += words;
	return group;
}

static uint16_t field(struct group *group, unsigned int word, uint64_t bytes)
{
	uint64_t offset = group->words[word];

	group->wrong |= offset > UINT16_MAX || offset + bytes > group->words[0];
	return (uint16_t)offset;
}

static bool take_interpreter(struct group *runtime, struct group *interpreter,
			     const struct groups *shape, struct pkbpf_python_layout *layout)
{
	layout->runtime_interpreters_head = field(runtime, 2, 16);
	layout->interpreter_next = field(interpreter, 2, 8);
	layout->interpreter_threads = field(interpreter, 3, 8);
	if (shape->code_generation && interpreter->words[shape->code_generation] <= UINT16_MAX)
		layout->interpreter_code_generation = field(interpreter, shape->code_generation, 8);
	return !runtime->wrong && !interpreter->wrong;
}

static bool take_thread(struct group *thread, const struct groups *shape,
			struct pkbpf_python_layout *layout)
{
	layout->thread_next = field(thread, 2, 8);
	layout->thread_interpreter = field(thread, 3, 8);
	layout->thread_frame = field(thread, 4, 8);
	layout->thread_id = field(thread, shape->thread_id, 8);
	if (shape->thread_base_frame)
		layout->thread_base_frame = field(thread, shape->thread_base_frame, 8);
	return !thread->wrong;
}

static bool take_frame(struct group *frame, const struct groups *shape,
		       struct pkbpf_python_layout *layout)
{
	layout->frame_size = (uint16_t)frame->words[0];
	layout->frame_previous = field(frame, 1, 8);
	layout->frame_code = field(frame, 2, 8);
	layout->frame_instruction = field(frame, 3, 8);
	layout->frame_owner = field(frame, 5, 1);
	if (shape->frame_tlbc && layout->free_threaded)
		layout->frame_tlbc = field(frame, shape->frame_tlbc, 4);
	return !frame->wrong;
}

static bool take_code(struct group *code, const struct groups *shape,
		      struct pkbpf_python_layout *layout)
{
	layout->code_size = (uint16_t)code->words[0];
	layout->code_file = field(code, 1, 8);
	layout->code_name = field(code, 2, 8);
	layout->code_qualified_name = field(code, 3, 8);
	layout->code_lines = field(code, 4, 8);
	layout->code_first_line = field(code, 5, 4);
	/* Not published; in all versions that publish anything it lies here. */
	layout->code_version = (uint16_t)(layout->code_first_line + 24);
	layout->code_first_instruction = field(code, 9, 0);
	if (shape->code_tlbc && layout->free_threaded)
		layout->code_tlbc = field(code, shape->code_tlbc, 8);
	return !code->wrong && layout->code_version + 4U <= layout->code_size;
}

static bool take_groups(const uint64_t *words, const struct groups *shape,
			struct pkbpf_python_layout *layout)
{
	struct group runtime = next_group(&words, shape->runtime, 600, 8 << 20);
	struct group interpreter = next_group(&words, shape->interpreter, 7000, 8 << 20);
	struct group thread = next_group(&words, shape->thread, 250, 2000);
	struct group frame, code;

	words += shape->error_item;
	frame = next_group(&words, shape->frame, 64, 128);
	code = next_group(&words, shape->code, 150, 400);
	return take_interpreter(&runtime, &interpreter, shape, layout) &&
	       take_thread(&thread, shape, layout) && take_frame(&frame, shape, layout) &&
	       take_code(&code, shape, layout);
}

int python_layout_read(const void *offsets, size_t size, struct pkbpf_python_layout *ret_layout)
{
	uint64_t words[MAX_WORDS] = {0};
	struct pkbpf_python_layout layout;
	unsigned int minor, known;

	if (size < HEADER_WORDS * sizeof(words[0]) ||
	    memcmp(offsets, PYTHON_DEBUG_COOKIE, sizeof(words[0])) != 0)
		return -EBADMSG;
	memcpy(words, offsets, size < sizeof(words) ? size : sizeof(words));
	minor = minor_of((uint32_t)words[1]);
	known = minor < NEWEST_GROUPS ? minor : NEWEST_GROUPS;
	if (words[1] > UINT32_MAX || words[2] > 1 || !is_release((uint32_t)words[1]) ||
	    minor < OLDEST_GROUPS ||
	    !python_layout_of(PYTHON_VERSION(known), words[2] != 0, &layout) ||
	    !take_groups(words + HEADER_WORDS, &shapes[known - OLDEST_GROUPS], &layout))
		return -ENOTSUP;
	layout.minor = (uint8_t)minor;
	*ret_layout = layout;
	return 0;
}
