/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses to names. A frame_location says where an instruction is, independent of any process's
 * life time; a symbolizer turns it into names or the reason why there is none. Symbolizers form a
 * chain: each handles the kinds of location it knows. One owner thread; nothing is loaded before
 * the first resolve that needs it.
 */
#ifndef PKBPF_SYMBOL_SYMBOLIZER_H
#define PKBPF_SYMBOL_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/process_table.h"

enum frame_space {		     /* numbers are in recordings: for good */
		   FRAME_KERNEL = 0, /* address = kernel address; object unused */
		   FRAME_FILE = 1,   /* object = mapped_file id; address = offset in the file */
		   /* object = process incarnation id; address = virtual address in it (JIT code) */
		   FRAME_ANONYMOUS = 2,
		   FRAME_UNMAPPED = 3, /* object = process incarnation id; address belongs to no
					  known mapping */
		   /* not an address: address = enum pkbpf_stack_end, why the stack ends here */
		   FRAME_TRUNCATED = 4,
		   /* not an address: object = number of the function (python_functions.h);
		      address = line, 0 unknown */
		   FRAME_PYTHON = 5,
		   /* not an address: object = number of the region around the stack, at its root;
		      named when it is made */
		   FRAME_REGION = 6,
		   /* not an address: object = number of the peer that the stack is about, as its
		      leaf; named when it is made */
		   FRAME_PEER = 7,
};

/* Which frames of a language a native frame has around it. One that calls Python functions may be
 * called by them too. */
enum frame_neighbours {
	FRAME_ALONE, /* none */
	FRAME_CALLED_BY_PYTHON,
	FRAME_CALLS_PYTHON,
	FRAME_AMONG_JAVASCRIPT, /* its stack has functions with names */
};

struct frame_location {
	enum frame_space space;
	uint32_t object;
	uint64_t address;
	/* Look up address - 1: the instruction before a return address is the call. */
	bool is_return_address;
	/* enum frame_neighbours, of a native frame: some functions are glue among these only */
	uint8_t neighbours;
	/* FRAME_ANONYMOUS: which code was there when it was sampled, as code_history_at() has it;
	 * 0: what is there now */
	uint32_t code;
};

/* Numbers are in recordings: for good. */
enum symbol_result {
	SYMBOL_FOUND = 0,
	SYMBOL_UNMAPPED = 1,	     /* in no mapping */
	SYMBOL_NO_FILE = 2,	     /* it could not be opened (gone, replaced, no permission) */
	SYMBOL_NOT_ELF = 3,	     /* the file is not an ELF file we can read */
	SYMBOL_STRIPPED = 4,	     /* no symbol table, no debug file */
	SYMBOL_NOT_IN_TABLE = 5,     /* has symbols, none covers the address */
	SYMBOL_NO_PERF_MAP = 6,	     /* generated code without a perf map */
	SYMBOL_NO_KALLSYMS = 7,	     /* kernel symbols hidden (kptr_restrict) */
	SYMBOL_PERF_MAP_GONE = 8,    /* the process ended before its perf map was read */
	SYMBOL_PERF_MAP_REFUSED = 9, /* no regular file of its user's */
	SYMBOL_OTHERS_PERF_MAP = 10, /* of another program that had the pid */
	SYMBOL_NAME_DROPPED = 11,    /* to save memory or time */
	SYMBOL_PENDING = 12,	     /* ask again later; in no recording */
	SYMBOL_READ_ERROR = 13,	     /* it is there, and could not be read */
	SYMBOL_TABLE_REFUSED = 14,   /* a symbol table is too large, damaged or packed unknown */
	SYMBOL_DEBUG_LIMIT = 15,     /* its debug file was not opened: too many are */
	SYMBOL_NO_MEMORY = 16,
	SYMBOL_NOT_LISTED = 17,	 /* Java code that was gone before it was looked for */
	SYMBOL_METHOD_GONE = 18, /* the names of a Java method could not be read any more */
	SYMBOL_RESULT_COUNT,
};

/* What an error (negative errno) of opening or reading a file means for its addresses. */
enum symbol_result symbol_result_of_error(int err);
const char *symbol_result_text(enum symbol_result result); /* "stripped: no symbol table", … */

struct symbol_line { /* one function at the location; inlined ones come with their caller */
	const char *function; /* demangled; of Python: qualified, without its file */
	const char *file;     /* NULL unknown */
	uint32_t line;	      /* 0 unknown */
	bool inlined;	      /* this function was inlined into the next one in the list */
};

enum { SYMBOL_IS_KERNEL = 1, SYMBOL_IS_JIT = 2, SYMBOL_IS_PYTHON = 4 };
/* Left out of stacks: it only leads from one Python function to the next. */
#define SYMBOL_IS_GLUE 8
#define SYMBOL_IS_RUBY 16 /* beside SYMBOL_IS_PYTHON: of that interpreter */

struct symbol {
	enum symbol_result result;
	uint32_t flags;
	/* base name: "libc.so.6", "kernel", "[vdso]"; NULL when there is none */
	const char *module;
	const char *build_id;	 /* of the module, lower-case hex; NULL: none, or not known */
	uint64_t module_address; /* ELF address in the module, for "[libfoo.so+0x1234]" */
	/* start of the unresolved function it lies in, as linked; 0: not known */
	uint64_t function_address;
	/* innermost inlined function first, the real function last */
	const struct symbol_line *lines;
	size_t line_count; /* 0 unless FOUND */
};

struct debuginfod;
struct readers;
struct symbolizer;
struct symbol_notes;
struct code_history;
struct python_functions;

struct symbolizer_ops {
	const char *name;
	/* true: this symbolizer is responsible for the location and has filled *ret_symbol. */
	bool (*resolve)(struct symbolizer *symbolizer, const struct frame_location *location,
			struct symbol *ret_symbol);
	/* NULL: has no use for it. */
	void (*prepare)(struct symbolizer *symbolizer, const struct frame_location *locations,
			size_t count);
	/* NULL: knows nothing by the ids of files. */
	void (*forget_files)(struct symbolizer *symbolizer, const bool *is_used, size_t count);
	/* Adds what people should know; NULL: nothing. */
	void (*tell)(struct symbolizer *symbolizer, struct symbol_notes *notes);
	void (*free)(struct symbolizer *symbolizer);
};

struct symbolizer { /* embedded first in each implementation */
	const struct symbolizer_ops *ops;
};

/* Asks a running kernel for the symbol at an address: "symbol+0xoffset/0xsize [module]", or the
 * bare address where it knows none, as its printk does for %pS. false: it cannot be asked. */
struct kernel_namer {
	bool (*name)(void *context, uint64_t address, char *text, size_t size);
	void *context;
};

struct symbolizer_options {
	bool inlines; /* expand inlined functions (needs DWARF in the file itself, or `lines`) */
	bool lines;   /* file:line (needs DWARF) */
	const char *kallsyms_path;	  /* "/proc/kallsyms"; tests give a file */
	struct kernel_namer kernel_namer; /* asked instead of reading kallsyms; .name NULL: none */
	const char *root;		  /* "" or a test folder that holds proc/ */
	const char *debug_dir;		  /* "/usr/lib/debug" */
	/* The user behind sudo (0: none): perf maps of processes that exited are believed from
	 * root, ourselves and this user, for nobody knows any more whose process it was. */
	uint32_t user_uid;
	struct debuginfod *debuginfod; /* borrowed; NULL: no servers are asked */
	/* Read mapped files; borrowed, outlive the chain. NULL, or with debuginfod: that is done
	 * here. */
	struct readers *readers;
};

/* The usual chain: kernel, ELF (with vdso), perf map, and one that says UNMAPPED. Borrows
 * processes. */
struct symbolizer *symbolizer_chain_new(const struct symbolizer_options *options,
					struct process_table *processes);

/* Names found from now on have neither lines nor inlined functions, whose tables take memory; those
 * that were read are given back with their files. NULL is none. */
void symbolizer_chain_leave_lines(struct symbolizer *chain);

/* Distinct strings of mapped files that are kept; beyond a limit they are given up when files are
 * forgotten. */
size_t symbolizer_chain_strings(const struct symbolizer *chain);
void symbolizer_chain_limit_strings(struct symbolizer *chain, size_t count);

/* Who has to be told of samples in generated code, of such a chain. Borrowed. */
struct code_history *symbolizer_chain_code_history(struct symbolizer *chain);
/* The functions that Python frames refer to, of such a chain. Borrowed. */
struct python_functions *symbolizer_chain_python(struct symbolizer *chain);

/* What is resolved next, ordered by object: that takes less than to find one after the other. What
 * was prepared before and not asked for is dropped. */
void symbolizer_prepare(struct symbolizer *symbolizer, const struct frame_location *locations,
			size_t count);
/* Strings and lines of *ret_symbol live until the symbolizer is called again. */
void symbolizer_resolve(struct symbolizer *symbolizer, const struct frame_location *location,
			struct symbol *ret_symbol);
/* Forgets what it has read of mapped files, but of those that are used, by id, of `count`: other
 * ids are about to be given to other files. */
void symbolizer_forget_files(struct symbolizer *symbolizer, const bool *is_used, size_t count);
/* What people should know about the names so far. */
void symbolizer_tell(struct symbolizer *symbolizer, struct symbol_notes *notes);
void symbolizer_free(struct symbolizer *symbolizer);

#endif
