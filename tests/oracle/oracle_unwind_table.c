// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares the unwind tables of every ELF file of this machine with libdw, row by row, and their
 * packed form with the rows.
 *
 *	oracle_unwind_table [--jobs N] [--allow FILE] [--verbose] [FILE or FOLDER…]
 *
 * Exit status 1: a difference that the allow-list does not cover, or too little compared.
 */
#include <elfutils/libdw.h>
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <getopt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf/elf_program.h"
#include "allowances.h"
#include "cfi_evaluator.h"
#include "elf/go_table.h"
#include "elf_walk.h"
#include "go_switch_check.h"
#include "unwind/code/code_gaps.h"
#include "unwind/cfi/eh_frame.h"
#include "unwind/code/description_check.h"
#include "unwind/code/special_code.h"
#include "unwind/table/unwind_table.h"

/* Without --verbose. */
#define MAX_SHOWN_PER_FILE  5
#define RANDOM_PCS_PER_FILE 4000
/* Rows a rule cannot hold, in a whole system: the rest of the machine must be expressible. */
#define UNSUPPORTED_PER_MILLION 20

struct totals {
	bool is_verbose; /* set before the workers start */
	atomic_size_t next_file;
	atomic_ulong files, functions, rows, differences, allowed, unsupported, lookups,
		kept_unknown, /* registers that a rule does not follow */
		from_code,    /* described functions whose rows come from their instructions */
		go_switches;  /* rows of Go code on another stack */
};

struct row {
	uint32_t offset;
	struct pkbpf_unwind_rule rule;
};

struct file_check {
	const char *path;
	struct totals *totals;
	const struct eh_frame *frame;
	const struct elf_file *image;
	Dwarf_CFI *eh_cfi;
	Dwarf_CFI *debug_cfi;
	bool is_go;
	struct row *rows;
	size_t row_count;
	size_t row_capacity;
	struct row *code_rows; /* of all code that is read: without functions, or badly described */
	size_t code_row_count;
	bool *is_read; /* of each function: its rows come from its instructions */
	unsigned long differences;
	unsigned long shown;
};

static void collect_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct file_check *check = context;

	if (check->row_count == check->row_capacity) {
		check->row_capacity = check->row_capacity ? check->row_capacity * 2 : 64;
		check->rows = realloc(check->rows, check->row_capacity * sizeof(*check->rows));
		if (!check->rows)
			err(1, "rows");
	}
	check->rows[check->row_count].offset = offset;
	check->rows[check->row_count++].rule = *rule;
}

static void print_rule(const struct pkbpf_unwind_rule *rule)
{
	printf(" rule cfa %u%+d aux %u fp %u%+d ra %u%+d", rule->cfa, rule->cfa_offset, rule->aux,
	       rule->fp, rule->fp_offset, rule->ra, rule->ra_offset);
}

static void report(struct file_check *check, uint64_t address, const char *what,
		   const struct pkbpf_unwind_rule *rule)
{
	check->differences++;
	if (check->shown++ >= MAX_SHOWN_PER_FILE && !check->totals->is_verbose)
		return;
	printf("%s: 0x%lx: %s", check->path, address, what);
	if (rule)
		print_rule(rule);
	printf("\n");
}

static bool same(enum outcome left, uint64_t left_value, enum outcome right, uint64_t right_value)
{
	return left == right && (left != OUTCOME_VALUE || left_value == right_value);
}

/* NULL: equal. */
static const char *compare(const struct file_check *check, const struct pkbpf_unwind_rule *rule,
			   Dwarf_Frame *frame, uint64_t address)
{
	struct test_registers registers;
	struct caller expected;
	struct caller actual;

	for (unsigned int i = 0; i < TEST_PC; i++)
		registers.values[i] = test_memory_read(i * 8 + address * 131);
	registers.values[TEST_PC] = address;
	caller_from_libdw(frame, &registers, &expected);
	if (rule->cfa == PKBPF_CFA_END)
		return expected.ra_outcome == OUTCOME_UNDEFINED ? NULL
								: "END but a return address exists";
	if (expected.ra_outcome == OUTCOME_UNDEFINED)
		return "no END but no return address exists";
	if (rule->cfa == PKBPF_CFA_NONE)
		return "NONE inside a function";
	if (rule->cfa == PKBPF_CFA_UNSUPPORTED) {
		check->totals->unsupported++;
		return expected.is_simple ? "UNSUPPORTED but simple" : NULL;
	}
	caller_from_rule(rule, &registers, &actual);
	/* A rule's CFA is the caller's stack pointer, also where a program says that the two are
	 * not the same. */
	if (expected.sp_outcome == OUTCOME_VALUE && expected.sp == expected.cfa &&
	    !same(actual.cfa_outcome, actual.cfa, expected.cfa_outcome, expected.cfa))
		return "CFA differs";
	if (!same(actual.ra_outcome, actual.ra, expected.ra_outcome, expected.ra))
		return "return address differs";
	if (!same(actual.sp_outcome, actual.sp, expected.sp_outcome, expected.sp))
		return "stack pointer differs";
	/* Go's tables do not say where its functions save the frame pointer; the rule does. */
	if (!check->is_go && !same(actual.fp_outcome, actual.fp, expected.fp_outcome, expected.fp))
		return "frame pointer differs";
	for (size_t i = 0; !eh_frame_machine(check->frame)->has_link_register && !check->is_go &&
			   i < PKBPF_KEPT_REGISTERS;
	     i++) {
		if (expected.kept_outcome[i] != OUTCOME_VALUE)
			continue;
		if (actual.kept_outcome[i] == OUTCOME_UNKNOWN)
			check->totals->kept_unknown++;
		else if (!same(actual.kept_outcome[i], actual.kept[i], expected.kept_outcome[i],
			       expected.kept[i]))
			return "register that is kept for the caller differs";
	}
	return NULL;
}

static Dwarf_Frame *ask_libdw(const struct file_check *check, uint64_t address)
{
	Dwarf_Frame *frame;

	if (check->eh_cfi && dwarf_cfi_addrframe(check->eh_cfi, address, &frame) == 0)
		return frame;
	if (check->debug_cfi && dwarf_cfi_addrframe(check->debug_cfi, address, &frame) == 0)
		return frame;
	return NULL;
}

/* Go's table is compared with the .debug_frame of the same program, where there is one, as far as
 * the two speak of the same: not the functions that switch stacks or begin one. */
static bool has_go_oracle(const struct file_check *check, size_t index)
{
	uint64_t start =
		eh_frame_text_start(check->frame) + eh_frame_function(check->frame, index)->start;
	Dwarf_Frame *frame;

	if (check->rows[0].rule.cfa != PKBPF_CFA_SP || !check->debug_cfi ||
	    dwarf_cfi_addrframe(check->debug_cfi, start, &frame) != 0)
		return false;
	free(frame);
	return true;
}

/* Returns where libdw's row ends. */
static uint64_t compare_row(struct file_check *check, size_t index, uint64_t address,
			    Dwarf_Frame *frame, const struct pkbpf_unwind_rule *rule)
{
	uint64_t function =
		eh_frame_text_start(check->frame) + eh_frame_function(check->frame, index)->start;
	Dwarf_Addr start, end;
	const char *what;
	bool is_signal;

	dwarf_frame_info(frame, &start, &end, &is_signal);
	if (eh_frame_source(check->frame, index) == EH_FRAME_GO && is_go_switch(rule)) {
		what = go_switch_check(check->image, check->debug_cfi, function, address, rule);
		check->totals->go_switches++;
	} else {
		what = compare(check, rule, frame, address);
	}
	/* Ordinary code may have the mark, too; its rows are compared as any other's. */
	if (!is_signal && rule->cfa == PKBPF_CFA_SIGNAL)
		what = "signal frame on one side only";
	if (what)
		report(check, address, what, rule);
	check->totals->rows++;
	return end;
}

/* Rows end where either side says so: a change that only one side sees cannot hide. */
static void check_function(struct file_check *check, size_t index)
{
	const struct fde *fde = eh_frame_function(check->frame, index);
	uint64_t text_start = eh_frame_text_start(check->frame);
	uint64_t end = (uint64_t)fde->start + fde->size;
	bool is_go = eh_frame_source(check->frame, index) == EH_FRAME_GO;
	uint64_t at = fde->start;
	size_t row = 0;

	check->row_count = 0;
	eh_frame_run(check->frame, index, collect_row, check);
	if (check->row_count == 0 || check->rows[0].offset != fde->start) {
		report(check, text_start + at, "no row at the start of a function", NULL);
		return;
	}
	if (is_go && !has_go_oracle(check, index))
		return;
	/* Trampolines start one byte early, where the file has no function. */
	if (eh_frame_is_signal(check->frame, index))
		at++;
	while (at < end) {
		Dwarf_Frame *frame = ask_libdw(check, text_start + at);
		uint64_t next = end;
		uint64_t row_end;

		/* Go counts the padding to a function. */
		if (!frame && is_go)
			return;
		if (!frame) {
			report(check, text_start + at, "libdw finds nothing", NULL);
			return;
		}
		while (row + 1 < check->row_count && check->rows[row + 1].offset <= at)
			row++;
		row_end = compare_row(check, index, text_start + at, frame, &check->rows[row].rule);
		free(frame);
		if (row_end - text_start < next)
			next = row_end - text_start;
		if (row + 1 < check->row_count && check->rows[row + 1].offset < next)
			next = check->rows[row + 1].offset;
		/* A PLT rule depends on the address itself: try four entries of it. */
		if (check->rows[row].rule.cfa == PKBPF_CFA_PLT && at < fde->start + 64 &&
		    at + 1 < end)
			next = at + 1;
		if (next <= at) {
			report(check, text_start + at, "libdw's row does not advance", NULL);
			return;
		}
		at = next;
	}
}

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return (uint32_t)(*state >> 33);
}

static bool is_special(const struct special_code_list *special, uint32_t offset)
{
	for (size_t i = 0; i < special->count; i++)
		if (offset >= special->items[i].start &&
		    offset - special->items[i].start < special->items[i].size)
			return true;
	return false;
}

static const struct pkbpf_unwind_rule *find_code_rule(const struct file_check *check,
						      uint64_t offset)
{
	static const struct pkbpf_unwind_rule none = {.cfa = PKBPF_CFA_NONE};
	size_t low = 0, high = check->code_row_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (check->code_rows[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &check->code_rows[low - 1].rule : &none;
}

/* A description that is true moves the CFA away from the stack pointer where that is pushed to, and
 * does not count from a frame pointer that is the caller's. */
static bool is_false_at_push(const struct file_check *check, uint64_t address)
{
	struct test_registers registers = {.values = {[TEST_SP] = 1U << 20, [TEST_FP] = 1U << 21}};
	struct caller callers[2];

	for (size_t i = 0; i < 2; i++) {
		Dwarf_Frame *frame = ask_libdw(check, address + i);

		if (!frame)
			return false;
		caller_from_libdw(frame, &registers, &callers[i]);
		free(frame);
	}
	return callers[0].cfa_outcome == OUTCOME_VALUE && callers[1].cfa_outcome == OUTCOME_VALUE &&
	       callers[0].cfa == callers[1].cfa;
}

/* push %rbp; mov %rsp,%rbp, of which the description does not know. */
static bool is_badly_described(const struct file_check *check, const struct fde *fde)
{
	uint64_t address = eh_frame_text_start(check->frame) + fde->start;
	uint8_t *code = malloc(fde->size);
	bool found = false;

	if (!code || elf_file_read_address(check->image, address, code, fde->size))
		errx(1, "%s: 0x%lx: code cannot be read", check->path, address);
	for (size_t i = 0; i + 4 <= fde->size && !found; i++)
		found = (memcmp(code + i, "\x55\x48\x89\xe5", 4) == 0 ||
			 memcmp(code + i, "\x55\x48\x8b\xec", 4) == 0) &&
			is_false_at_push(check, address + i);
	free(code);
	return found;
}

static void collect_function(struct file_check *check, struct code_gaps *gaps, size_t index)
{
	const struct fde *fde = eh_frame_function(check->frame, index);

	check->is_read[index] = description_misses_frames(gaps, check->frame, index);
	if (!check->is_read[index])
		return;
	check->totals->from_code++;
	if (!is_badly_described(check, fde))
		report(check, eh_frame_text_start(check->frame) + fde->start,
		       "a description is not believed, but nothing is wrong with it", NULL);
	code_gaps_run_text(gaps, fde->start, fde->start + fde->size, collect_row, check);
}

/* In the order in which the table takes them, since only so many bytes are looked at. */
static void collect_code(struct file_check *check)
{
	static const struct pkbpf_unwind_rule none = {.cfa = PKBPF_CFA_NONE};
	struct code_gaps *gaps = code_gaps_new(check->image, eh_frame_text_start(check->frame),
					       eh_frame_text_size(check->frame), false);
	size_t count = eh_frame_count(check->frame);
	size_t capacity = check->row_capacity;
	struct row *rows = check->rows;
	uint64_t covered = 0;

	check->is_read = calloc(count, sizeof(*check->is_read));
	if (!check->is_read)
		err(1, "functions");
	check->rows = NULL;
	check->row_count = check->row_capacity = 0;
	for (size_t i = 0; i <= count; i++) {
		const struct fde *fde = i < count ? eh_frame_function(check->frame, i) : NULL;
		uint64_t end = fde ? fde->start : eh_frame_text_size(check->frame);

		collect_row(check, (uint32_t)covered, &none);
		if (gaps && (!fde || end > covered + 15))
			code_gaps_run(gaps, (uint32_t)covered, (uint32_t)end, collect_row, check);
		if (fde)
			collect_function(check, gaps, i);
		covered = fde ? (uint64_t)fde->start + fde->size : end;
	}
	code_gaps_free(gaps);
	check->code_rows = check->rows;
	check->code_row_count = check->row_count;
	check->rows = rows;
	check->row_capacity = capacity;
}

/* The packed table must say what the rows say; behind a function it has the last rule in padding,
 * or what is read from the instructions there. */
static void check_lookup(struct file_check *check, const struct unwind_table *table,
			 const struct rule_set *rules, const struct special_code_list *special,
			 size_t index, uint64_t offset)
{
	static const struct pkbpf_unwind_rule none = {.cfa = PKBPF_CFA_NONE};
	const struct fde *fde = eh_frame_function(check->frame, index);
	const struct pkbpf_unwind_rule *expected = &none;
	const struct pkbpf_unwind_rule *actual;
	uint64_t address = eh_frame_text_start(check->frame) + offset;
	uint64_t end = (uint64_t)fde->start + fde->size;
	uint64_t next = index + 1 < eh_frame_count(check->frame)
				? eh_frame_function(check->frame, index + 1)->start
				: UINT64_MAX;

	if (is_special(special, (uint32_t)offset) || offset >= next)
		return;
	check->row_count = 0;
	if (!check->is_read[index] && (offset < end || next - end <= 15))
		eh_frame_run(check->frame, index, collect_row, check);
	else
		expected = find_code_rule(check, offset);
	if (check->row_count > 0)
		for (size_t i = 0; i < check->row_count && check->rows[i].offset <= offset; i++)
			expected = &check->rows[i].rule;
	actual = unwind_table_lookup(table, rules, address);
	check->totals->lookups++;
	if (memcmp(actual, expected, sizeof(*actual)) != 0)
		report(check, address, "packed look-up differs from the row", actual);
}

static void check_packing(struct file_check *check)
{
	struct rule_set *rules = rule_set_new();
	struct special_code_list special = {0};
	struct unwind_table *table;
	uint64_t state = eh_frame_count(check->frame);

	if (unwind_table_build(check->image, false, rules, &table, NULL) < 0) {
		report(check, 0, "no table although there are functions", NULL);
		rule_set_free(rules);
		return;
	}
	special_code_find(check->image, check->frame, &special);
	collect_code(check);
	for (unsigned int i = 0; i < RANDOM_PCS_PER_FILE; i++) {
		size_t index = next_random(&state) % eh_frame_count(check->frame);
		const struct fde *fde = eh_frame_function(check->frame, index);

		/* Some bytes behind the function too. */
		check_lookup(check, table, rules, &special, index,
			     fde->start + next_random(&state) % ((uint64_t)fde->size + 24));
		check_lookup(check, table, rules, &special, index, fde->start);
		check_lookup(check, table, rules, &special, index,
			     (uint64_t)fde->start + fde->size - 1);
	}
	free(special.items);
	free(check->code_rows);
	free(check->is_read);
	unwind_table_free(table);
	rule_set_free(rules);
}

static void check_file(const char *path, const struct allowances *allowances, struct totals *totals)
{
	struct file_check check = {.path = path, .totals = totals};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct eh_frame *frame = NULL;
	struct elf_file *image = NULL;
	Dwarf *dwarf;
	Elf *elf;

	if (fd < 0 || elf_program_open(fd, &image) < 0 || eh_frame_load(image, &frame, NULL) < 0 ||
	    eh_frame_count(frame) == 0)
		goto out;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	check.frame = frame;
	check.image = image;
	check.eh_cfi = dwarf_getcfi_elf(elf);
	check.debug_cfi = dwarf ? dwarf_getcfi(dwarf) : NULL;
	check.is_go = go_table_is_expected(image);
	for (size_t i = 0; i < eh_frame_count(frame); i++)
		check_function(&check, i);
	check_packing(&check);
	totals->files++;
	totals->functions += eh_frame_count(frame);
	if (check.differences && check.differences <= allowances_find(allowances, path)) {
		printf("%s: these %lu differences are allowed\n", path, check.differences);
		totals->allowed += check.differences;
	} else {
		totals->differences += check.differences;
	}
	if (check.eh_cfi)
		dwarf_cfi_end(check.eh_cfi);
	dwarf_end(dwarf);
	elf_end(elf);
	free(check.rows);
out:
	eh_frame_free(frame);
	elf_program_free(image);
	if (fd >= 0)
		close(fd);
}

static void run_worker(const struct elf_walk *walk, const struct allowances *allowances,
		       struct totals *totals)
{
	size_t index;

	elf_version(EV_CURRENT);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((index = totals->next_file++) < walk->count)
		check_file(walk->paths[index], allowances, totals);
	fflush(stdout);
	_exit(0);
}

static bool run_workers(const struct elf_walk *walk, const struct allowances *allowances,
			struct totals *totals, unsigned int jobs)
{
	bool succeeded = true;
	int status;

	for (unsigned int i = 0; i < jobs; i++) {
		pid_t child = fork();

		if (child < 0)
			err(2, "fork");
		if (child == 0)
			run_worker(walk, allowances, totals);
	}
	while (wait(&status) > 0)
		if (status != 0)
			succeeded = false;
	return succeeded;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"jobs", required_argument, NULL, 'j'},
		{"allow", required_argument, NULL, 'a'},
		{"verbose", no_argument, NULL, 'v'},
		{0},
	};
	static struct allowances allowances;
	unsigned int jobs = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	struct elf_walk walk = {0};
	struct totals *totals;
	bool succeeded, is_verbose = false;
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'j')
			jobs = (unsigned int)atoi(optarg);
		else if (option == 'a')
			allowances_read(&allowances, optarg);
		else if (option == 'v')
			is_verbose = true;
		else
			return 2;
	}
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (totals == MAP_FAILED)
		err(2, "mmap");
	totals->is_verbose = is_verbose;
	if (optind == argc) {
		elf_walk_add(&walk, "/usr");
		elf_walk_add(&walk, "/lib");
		elf_walk_thin(&walk);
	}
	for (int i = optind; i < argc; i++)
		elf_walk_add(&walk, argv[i]);
	elf_walk_sort(&walk);
	succeeded = run_workers(&walk, &allowances, totals, jobs ? jobs : 1);
	printf("%lu files, %lu functions, %lu rows compared, %lu unsupported, %lu kept registers "
	       "not followed, %lu functions read from their code, %lu rows of Go on other stacks, "
	       "%lu allowed, "
	       "%lu differences; %lu packed look-ups\n",
	       totals->files, totals->functions, totals->rows, totals->unsupported,
	       totals->kept_unknown, totals->from_code, totals->go_switches, totals->allowed,
	       totals->differences, totals->lookups);
	if (!succeeded)
		errx(1, "a worker failed");
	if (totals->rows == 0)
		errx(1, "nothing was compared");
	if (totals->unsupported * 1000000 > totals->rows * UNSUPPORTED_PER_MILLION &&
	    totals->unsupported > 200)
		errx(1, "too many unsupported rows");
	return totals->differences ? 1 : 0;
}
