/* SPDX-License-Identifier: BSD-2-Clause */
/* One piece of code in the code heaps of a HotSpot JVM: a CodeBlob, copied. */
#ifndef PKBPF_HOTSPOT_HOTSPOT_BLOB_H
#define PKBPF_HOTSPOT_HOTSPOT_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOTSPOT_MAX_CODE_BYTES	   (2U << 20) /* of a block; of larger ones there is no copy */
#define HOTSPOT_MAX_FRAME_WORDS	   (1U << 20)
#define HOTSPOT_MAX_METADATA_BYTES (4U << 20) /* PcDescs, scopes and metadata of a method */

enum hotspot_kind {
	HOTSPOT_NMETHOD,	    /* compiled method */
	HOTSPOT_NATIVE_WRAPPER,	    /* "native nmethod": calls a JNI method */
	HOTSPOT_INTERPRETER,	    /* codelets: hotspot_process_codelets() */
	HOTSPOT_VTABLE,		    /* "vtable chunks" */
	HOTSPOT_ADAPTER,	    /* "I2C/C2I adapters", "adapters" */
	HOTSPOT_METHOD_HANDLES,	    /* "MethodHandles adapters" */
	HOTSPOT_SAFEPOINT,	    /* "SafepointBlob" */
	HOTSPOT_DEOPTIMIZATION,	    /* "DeoptimizationBlob" */
	HOTSPOT_UNCOMMON_TRAP,	    /* "UncommonTrapBlob" */
	HOTSPOT_EXCEPTION,	    /* "ExceptionBlob" */
	HOTSPOT_STUB_ROUTINES,	    /* "StubRoutines (…)", "… Stubs (…)" */
	HOTSPOT_SIGNATURE_HANDLERS, /* "native signature handlers" */
	HOTSPOT_OTHER,		    /* RuntimeStubs and others: `frame_words` decides */
	HOTSPOT_KIND_COUNT,
};

/* Debug information of one address of a compiled method (PcDesc): there its frame is the one of
 * the body. */
struct hotspot_pc {
	uint32_t offset; /* from code_begin; ascending */
	int32_t scope;	 /* where in `scopes`; 0: none */
};

/* All addresses are of the process; those of entries are in [code_begin, code_end], 0: none. */
struct hotspot_blob {
	uint64_t serial;     /* no two blobs of a process have the same */
	uint64_t start, end; /* the block in the heap: what it covers */
	uint64_t address;    /* of its CodeBlob structure */
	uint64_t code_begin, code_end;
	enum hotspot_kind kind;
	char name[64]; /* as HotSpot names it; hostile */
	uint32_t
		frame_words; /* _frame_size: with return address and saved frame pointer; 0: none */
	uint32_t frame_complete; /* offset from code_begin; UINT32_MAX: never */

	/* of compiled methods and native wrappers */
	uint64_t method; /* Method* */
	uint64_t entry, verified_entry, osr_entry;
	uint64_t deopt_handler, deopt_mh_handler;
	uint32_t orig_pc_offset; /* from the stack pointer of the body; where a deoptimized frame
				    keeps its return address */
	uint32_t compile_id;
	uint8_t level; /* 1 to 3: C1, 4: C2 */
	bool is_osr;
	bool is_not_entrant; /* when it was copied: its verified entry may have a jump written over
			      */

	/* Valid until it is gone. Sorted; none is outside the code. */
	const struct hotspot_pc *pcs;
	size_t pc_count;
	const uint8_t *scopes;
	size_t scopes_size;
	const uint64_t *metadata; /* Method* and Klass*, by number - 1 */
	size_t metadata_count;

	/* code_end - code_begin bytes; valid only while new_blob() is called. NULL: it is larger
	 * than HOTSPOT_MAX_CODE_BYTES. */
	const uint8_t *code;

	void *user; /* of the owner of the process; NULL at first */
};

/* A copy with its debug information, without code. NULL: out of memory. */
struct hotspot_blob *hotspot_blob_copy(const struct hotspot_blob *blob);
void hotspot_blob_free(struct hotspot_blob *blob); /* a copy; NULL is none */

#endif
