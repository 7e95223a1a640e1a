// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares the length of every instruction in some ELF files with what objdump says.
 *
 *	oracle_x86_instruction [FILE…]
 *
 * Exit status 1: too many differences, or nothing compared; 77: there is no objdump.
 */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instruction/x86_instruction.h"

#define SKIPPED	  77
#define NOT_FOUND 127
#define MAX_SHOWN 10
/*
 * Hand-written assembly (libcrypto's) keeps constants in the text, of which objdump makes
 * instructions that no processor would run, and does it in its own way: one in so many may differ.
 */
#define MAX_DIFFERENCES_ONE_IN 20000

struct line {
	uint8_t bytes[64]; /* zero behind the instruction */
	size_t size;
	const char *text;
};

struct counts {
	unsigned long files, compared, differences, failures;
};

static int digit(char character)
{
	if (!isxdigit((unsigned char)character))
		return -1;
	return isdigit((unsigned char)character) ? character - '0'
						 : tolower((unsigned char)character) - 'a' + 10;
}

/* " ADDRESS:\tBYTE BYTE …  \tTEXT\n". The tab ends the bytes: "add" and "cs" begin like more of
 * them. */
static bool parse_line(const char *from, struct line *line)
{
	const char *at = strchr(from, ':');

	memset(line, 0, sizeof(*line));
	if (from[0] != ' ' || !at || at[1] != '\t')
		return false;
	for (at += 2; *at && *at != '\t' && *at != '\n'; at++) {
		if (*at == ' ')
			continue;
		if (digit(at[0]) < 0 || digit(at[1]) < 0 || line->size == sizeof(line->bytes))
			return false;
		line->bytes[line->size++] = (uint8_t)(digit(at[0]) << 4 | digit(at[1]));
		at++;
	}
	line->text = *at == '\t' ? at + 1 : at;
	return line->size > 0;
}

static bool is_prefix(const char *word, size_t size)
{
	static const char *const prefixes[] = {
		"addr32", "bnd", "cs",	 "data16", "ds", "es",	    "fs",	"gs",
		"lock",	  "rep", "repz", "repnz",  "ss", "notrack", "xacquire", "xrelease"};

	if (size >= 3 && memcmp(word, "rex", 3) == 0)
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strlen(prefixes[i]) == size && memcmp(word, prefixes[i], size) == 0)
			return true;
	return false;
}

static bool is_only_prefixes(const char *text)
{
	for (;;) {
		size_t size;

		text += strspn(text, " \t\n");
		size = strcspn(text, " \t\n");
		if (size == 0)
			return true;
		if (!is_prefix(text, size))
			return false;
		text += size;
	}
}

/* Data, what objdump knows no instruction for, and what it joins or takes apart. */
static bool is_comparable(const struct line *line)
{
	if (strstr(line->text, "(bad)") || line->text[0] == '.')
		return false;
	/* FSTCW and the like are FWAIT and another instruction. */
	if (line->bytes[0] == 0x9b && line->size > 1)
		return false;
	return !is_only_prefixes(line->text);
}

static void compare(const char *path, const char *text, struct counts *counts)
{
	struct x86_instruction instruction;
	struct line line;

	if (!parse_line(text, &line) || !is_comparable(&line))
		return;
	/* With bytes behind it: an instruction that is taken for a longer one has a length too. */
	x86_decode(line.bytes, sizeof(line.bytes), &instruction);
	counts->compared++;
	if (instruction.size == line.size)
		return;
	if (counts->differences++ < MAX_SHOWN)
		printf("%s: %u bytes, objdump: %zu: %s", path, instruction.size, line.size, text);
}

/* No shell, so that names may be any. */
static FILE *start_objdump(const char *path, pid_t *ret_child)
{
	int ends[2];

	if (pipe(ends) < 0)
		err(2, "pipe");
	fflush(stdout);
	*ret_child = fork();
	if (*ret_child < 0)
		err(2, "fork");
	if (*ret_child == 0) {
		if (dup2(ends[1], STDOUT_FILENO) < 0 || setenv("LC_ALL", "C", 1) < 0)
			_exit(2);
		close(ends[0]);
		close(ends[1]);
		execlp("objdump", "objdump", "-d", "-w", "--", path, NULL);
		_exit(errno == ENOENT ? NOT_FOUND : 2);
	}
	close(ends[1]);
	return fdopen(ends[0], "r");
}

static void check_file(const char *path, struct counts *totals)
{
	struct counts counts = {0};
	char *text = NULL;
	size_t capacity = 0;
	pid_t child;
	int status;
	FILE *file = start_objdump(path, &child);

	if (!file)
		err(2, "%s", path);
	while (getline(&text, &capacity, file) > 0)
		compare(path, text, &counts);
	free(text);
	fclose(file);
	if (waitpid(child, &status, 0) < 0)
		err(2, "waitpid");
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		errx(SKIPPED, "objdump is not installed");
	printf("%s: %lu instructions, %lu differences\n", path, counts.compared,
	       counts.differences);
	if (status != 0 || counts.compared == 0 ||
	    counts.differences > counts.compared / MAX_DIFFERENCES_ONE_IN)
		totals->failures++;
	totals->files++;
	totals->compared += counts.compared;
	totals->differences += counts.differences;
}

static void check_default_files(struct counts *totals)
{
	static const char *const names[] = {"libc.so.6",    "libcrypto.so.3", "libstdc++.so.6",
					    "libgmp.so.10", "libm.so.6",      "libx264.so.164"};
	char path[PATH_MAX];
	ssize_t size;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%s", names[i]);
		if (access(path, R_OK) == 0)
			check_file(path, totals);
	}
	/* The link itself would be objdump's own there. */
	size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (size > 0) {
		path[size] = '\0';
		check_file(path, totals);
	}
}

int main(int argc, char **argv)
{
	struct counts totals = {0};

	for (int i = 1; i < argc; i++)
		check_file(argv[i], &totals);
	if (argc == 1)
		check_default_files(&totals);
	printf("%lu files, %lu instructions, %lu differences, %lu files failed\n", totals.files,
	       totals.compared, totals.differences, totals.failures);
	return totals.failures || totals.compared == 0 ? 1 : 0;
}
