/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads records of code objects: name, file, line of each instruction. */
#ifndef PKBPF_PYTHON_PYTHON_CODE_H
#define PKBPF_PYTHON_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/python.h>

struct python_code {
	/* UTF-8, owned, never NULL: "?" when it could not be read; cut names end in "…", cut paths
	 * begin with it. Not escaped. */
	char *name; /* qualified, before 3.11 the plain one */
	char *file; /* whole path, "<string>", "<frozen importlib._bootstrap>" */
	uint32_t first_line;
	uint8_t minor;	/* of 3.minor, or PYTHON_LINES_RUNS */
	uint8_t *lines; /* owned; NULL: none */
	size_t line_bytes;
	bool lines_cut; /* the table was not read */
	/* Code of the interpreter's own: what an import runs before the module, and a piece that
	 * 3.13 and newer run below each __init__(), whose name and file are the same object. */
	bool is_glue;
};

/* Takes a record whose header has been checked; its contents are the target's: hostile. -EBADMSG,
 * -ENOMEM. */
int python_code_decode(const struct pkbpf_event_python_code *record, size_t size,
		       struct python_code *ret_code);
/* The end of a path that tells a file from others of the program: "app.py", "flask/__init__.py". */
const char *python_short_path(const char *path);
void python_code_done(struct python_code *code);
/* Code of Ruby has lines in runs, and no minor version. */
bool python_code_is_ruby(const struct python_code *code);

/* Line of an instruction, in units of two bytes from the first one (the value in a frame's word).
 * first_line beyond the table; 0: an instruction without a line, PKBPF_PYTHON_NO_INSTRUCTION, or
 * the table is not known. */
uint32_t python_code_line(const struct python_code *code, uint32_t instruction);

#endif
