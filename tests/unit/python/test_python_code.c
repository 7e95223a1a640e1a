// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_code: records that BPF could not fill, of running interpreters, and
 * records of hostile programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>

#include "elf/elf_file.h"
#include "interpreters.h"
#include "python/python_code.h"
#include "python/python_image.h"

struct target {
	pid_t pid;
	uint64_t runtime; /* address of _PyRuntime */
	struct pkbpf_python_layout layout;
};

static bool look_at_file(struct target *target, const char *path, uint64_t start, uint64_t end,
			 uint64_t offset)
{
	struct python_image image;
	struct elf_file file;
	uint64_t bias;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = false;

	if (fd < 0)
		return false;
	if (!elf_file_open(&file, fd)) {
		found = !python_image_find(&file, path, &image) &&
			elf_segments_bias(&file.segments, start, end, offset, &bias);
		elf_file_done(&file);
	}
	close(fd);
	if (found) {
		target->runtime = bias + image.runtime;
		target->layout = image.layout;
	}
	return found;
}

static bool find_runtime(struct target *target)
{
	char path[64], line[4096], name[4096], flags[8];
	unsigned long start, end, offset;
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", target->pid);
	maps = fopen(path, "r");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &start, &end, flags, &offset,
			       name) == 5 &&
			name[0] == '/' && flags[2] == 'x' &&
			look_at_file(target, name, start, end, offset);
	if (maps)
		fclose(maps);
	return found;
}

static uint64_t word_at(const struct target *target, uint64_t address)
{
	uint64_t word = 0;
	struct iovec to = {&word, sizeof(word)}, from = {(void *)(uintptr_t)address, sizeof(word)};

	if (process_vm_readv(target->pid, &to, 1, &from, 1, 0) != sizeof(word))
		fail_msg("cannot read %#lx", (unsigned long)address);
	return word;
}

static uint64_t innermost_frame(const struct target *target)
{
	const struct pkbpf_python_layout *layout = &target->layout;
	uint64_t interpreter = word_at(target, target->runtime + layout->runtime_interpreters_head);
	uint64_t thread = word_at(target, interpreter + layout->interpreter_threads);
	uint64_t frame = word_at(target, thread + layout->thread_frame);

	assert_int_equal(word_at(target, thread + layout->thread_interpreter), interpreter);
	assert_int_equal(word_at(target, thread + layout->thread_next), 0);
	if (layout->chain == PKBPF_PYTHON_CFRAME || layout->chain == PKBPF_PYTHON_CFRAME_SHIM)
		frame = word_at(target, frame + layout->cframe_current);
	return frame;
}

/* Entry frames run nothing. */
static bool is_shim(const struct target *target, uint64_t frame)
{
	const struct pkbpf_python_layout *layout = &target->layout;

	return layout->chain >= PKBPF_PYTHON_CFRAME_SHIM &&
	       (word_at(target, frame + layout->frame_owner) & 0xff) >= 3;
}

static uint32_t instruction_of(const struct target *target, uint64_t frame, uint64_t code)
{
	const struct pkbpf_python_layout *layout = &target->layout;
	uint64_t word = word_at(target, frame + layout->frame_instruction);

	switch (layout->instruction) {
	case PKBPF_PYTHON_BYTES:
		return (uint32_t)word / 2;
	case PKBPF_PYTHON_UNITS:
		return (uint32_t)word;
	default:
		return (uint32_t)((word - code - layout->code_first_instruction) / 2);
	}
}

/* As BPF sends it when no string is in memory. */
static struct pkbpf_event_python_code empty_record(const struct target *target, uint64_t code)
{
	const struct pkbpf_python_layout *layout = &target->layout;
	uint64_t lines = word_at(target, code + layout->code_lines);

	return (struct pkbpf_event_python_code){
		.pid = (uint32_t)target->pid,
		.first_line = (uint32_t)word_at(target, code + layout->code_first_line),
		.code = code,
		.minor = layout->minor,
		.free_threaded = layout->free_threaded,
		.line_address = lines,
		.line_size = word_at(target, lines + layout->bytes_size),
	};
}

struct expected {
	unsigned long code;
	char name[1024], file[2048];
	unsigned int first_line, line;
};

/* Characters of the field, or its first 256 and an ellipsis. */
static void cut_end(char *text)
{
	size_t characters = 0;

	for (char *at = text; *at; at++) {
		if ((*at & 0xc0) != 0x80 && characters++ == 256) {
			strcpy(at, "…");
			return;
		}
	}
}

static void cut_start(char *text)
{
	size_t characters = 0;

	for (char *at = text; *at; at++)
		characters += (*at & 0xc0) != 0x80;
	if (characters <= 256)
		return;
	for (char *at = text; *at; at++) {
		if ((*at & 0xc0) != 0x80 && characters-- == 256) {
			memmove(text + 3, at, strlen(at) + 1);
			for (size_t i = 0; i < 3; i++)
				text[i] = "…"[i];
			return;
		}
	}
}

static bool read_expected(FILE *out, struct expected *expected)
{
	char line[4096];

	if (!fgets(line, sizeof(line), out) || !strcmp(line, "end\n"))
		return false;
	assert_int_equal(sscanf(line, "%lu\t%1023[^\t]\t%2047[^\t]\t%u\t%u", &expected->code,
				expected->name, expected->file, &expected->first_line,
				&expected->line),
			 5);
	cut_end(expected->name);
	cut_start(expected->file);
	return true;
}

static void check_frame(const struct target *target, uint64_t frame,
			const struct expected *expected)
{
	uint64_t code = word_at(target, frame + target->layout.frame_code) & ~7ULL;
	struct pkbpf_event_python_code record = empty_record(target, code);
	struct python_code decoded;
	uint32_t instruction = instruction_of(target, frame, code);

	assert_int_equal(code, expected->code);
	assert_int_equal(python_code_decode(&record, sizeof(record), &decoded), 0);
	assert_string_equal(decoded.name, "?");
	assert_int_equal(python_code_complete(&record, &target->layout, &decoded), 0);
	assert_string_equal(decoded.name, expected->name);
	assert_string_equal(decoded.file, expected->file);
	assert_int_equal(decoded.first_line, expected->first_line);
	assert_int_equal(python_code_line(&decoded, instruction), expected->line);
	/* Another code object at this address: nothing of it is taken. */
	record.first_line++;
	assert_int_equal(python_code_complete(&record, &target->layout, &decoded), -ESTALE);
	assert_string_equal(decoded.name, expected->name);
	python_code_done(&decoded);
}

/* It sleeps as soon as it has said everything. */
static void wait_until_asleep(pid_t pid)
{
	char path[64], state = 'R';

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 1000 && state != 'S'; i++) {
		FILE *stat = fopen(path, "r");

		usleep(10 * 1000);
		if (!stat || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
			state = '?';
		if (stat)
			fclose(stat);
	}
	assert_int_equal(state, 'S');
}

static void check_frames(struct script *script, const char *interpreter)
{
	struct target target = {.pid = script->pid};
	struct expected expected;
	size_t count = 0;
	uint64_t frame = 0;

	while (read_expected(script->out, &expected)) {
		if (!count++) {
			wait_until_asleep(target.pid);
			assert_true(find_runtime(&target));
			frame = innermost_frame(&target);
		}
		while (is_shim(&target, frame))
			frame = word_at(&target, frame + target.layout.frame_previous);
		check_frame(&target, frame, &expected);
		frame = word_at(&target, frame + target.layout.frame_previous);
	}
	print_message("%s: 3.%u, %zu frames\n", interpreter, target.layout.minor, count);
	assert_true(count > 10);
}

static void frames_of_a_process_have_the_names_and_lines_it_says(void **state)
{
	struct interpreters interpreters;

	(void)state;
	interpreters_find(&interpreters);
	if (!interpreters.count)
		skip();
	for (size_t i = 0; i < interpreters.count; i++) {
		struct script script =
			script_start(interpreters.paths[i], TEST_DATA_DIR "/frames.py");

		check_frames(&script, interpreters.paths[i]);
		script_end(&script);
	}
	interpreters_done(&interpreters);
}

static void strings_of_records_become_utf8(void **state)
{
	static const uint8_t lines[] = {0x80, 0x00, 0xd9, 0x01, 0x02, 0x00, 0x00, 0x00};
	struct pkbpf_event_python_code *record = calloc(1, sizeof(*record) + sizeof(lines));
	struct python_code code;

	(void)state;
	assert_non_null(record);
	record->minor = 12;
	record->first_line = 10;
	record->line_bytes = 5;
	record->name = (struct pkbpf_python_string){
		.length = 300, .bytes = 3, .width = 1, .text = "Gr\xfc"};
	record->file = (struct pkbpf_python_string){
		.length = 4, .bytes = 4, .width = 2, .text = "\xe5\x65\x2c\x67"};
	memcpy(record->lines, lines, sizeof(lines));
	assert_int_equal(python_code_decode(record, sizeof(*record) + sizeof(lines), &code), 0);
	assert_string_equal(code.name, "Grü…");
	assert_string_equal(code.file, "…日本");
	assert_int_equal(python_code_line(&code, 0), 10);
	assert_int_equal(python_code_line(&code, 2), 11);
	assert_int_equal(python_code_line(&code, PKBPF_PYTHON_NO_INSTRUCTION), 10);
	python_code_done(&code);
	free(record);
}

static void rejects_records_that_say_more_than_they_have(void **state)
{
	struct pkbpf_event_python_code record = {.line_bytes = 1};
	struct python_code code;

	(void)state;
	assert_int_equal(python_code_decode(&record, sizeof(record), &code), -EBADMSG);
	record.line_bytes = PKBPF_PYTHON_LINE_BYTES + 1;
	assert_int_equal(python_code_decode(&record, 1 << 20, &code), -EBADMSG);
	assert_int_equal(python_code_decode(&record, 8, &code), -EBADMSG);
}

static void a_process_that_is_gone_is_an_error(void **state)
{
	struct pkbpf_event_python_code record = {.pid = INT32_MAX, .code = 4096};
	struct pkbpf_python_layout layout = {.code_name = 112, .code_file = 104, .code_lines = 120};
	struct python_code code;

	(void)state;
	assert_int_equal(python_code_decode(&record, sizeof(record), &code), 0);
	assert_int_equal(python_code_complete(&record, &layout, &code), -ESRCH);
	assert_string_equal(code.file, "?");
	python_code_done(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_a_process_have_the_names_and_lines_it_says),
		cmocka_unit_test(strings_of_records_become_utf8),
		cmocka_unit_test(rejects_records_that_say_more_than_they_have),
		cmocka_unit_test(a_process_that_is_gone_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
