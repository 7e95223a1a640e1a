/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where one build of HotSpot (libjvm.so) keeps its structures, by its own description
 * (gHotSpotVMStructs and the like, src/hotspot/share/runtime/vmStructs.cpp). The values are in the
 * memory of a process that has loaded it; they are the same in all of them.
 *
 * Bounds: HOTSPOT_MAX_ENTRIES entries of each table, strings of HOTSPOT_MAX_STRING bytes. Nothing
 * is guessed: a field that a version of HotSpot does not describe makes the version unknown.
 */
#ifndef PKBPF_HOTSPOT_HOTSPOT_LAYOUT_H
#define PKBPF_HOTSPOT_HOTSPOT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "hotspot/hotspot_image.h"
#include "hotspot/hotspot_memory.h"

#define HOTSPOT_MAX_ENTRIES 16384
#define HOTSPOT_MAX_STRING  256
/* Entry points of stub routines that are kept. */
#define HOTSPOT_MAX_STUBS 320

/* Offsets in structures, sizes and numbers. Names are those of HotSpot. Since 23 offsets within a
 * CodeBlob replace pointers; `has_*` below say which it is. */
struct hotspot_layout {
	uint8_t java;	  /* 8, 9, 11, 17, 25; 0: not known */
	char version[64]; /* "17.0.15", of the running process; "" not known */
	char vendor[96];  /* "OpenJDK 64-Bit Server VM", … */

	/* as they differ by version */
	bool has_one_heap;	   /* 8: CodeCache::_heap */
	bool has_blob_offsets;	   /* 8, 23+: _code_offset, … instead of _code_begin, … */
	bool has_immutable_data;   /* 23+: PcDescs and scopes are outside the block */
	bool has_mutable_data;	   /* 25+: metadata is outside the block */
	uint8_t unsigned5_minimum; /* 0, or 1 since 20 */
	uint8_t state_not_entrant;
	/* of the interpreter's frame, in bytes from its frame pointer */
	int16_t frame_sender_sp, frame_method, frame_bytecode;

	/* addresses of static variables, minus the load bias of the file */
	uint64_t heaps;	      /* CodeCache::_heaps (GrowableArray *) or _heap (CodeHeap *) */
	uint64_t interpreter; /* AbstractInterpreter::_code (StubQueue *) */
	uint64_t stubs[HOTSPOT_MAX_STUBS]; /* StubRoutines::* (address): entry points */
	uint16_t stub_count;
	uint64_t java_version; /* of Abstract_VM_Version::_s_vm_release and its like; 0: none */
	uint64_t narrow_klass_base, narrow_klass_shift; /* 0: none */

	struct hotspot_offsets {
		uint16_t array_length, array_data;
		uint16_t heap_memory, heap_segment_map, heap_log2_segment_size, heap_size;
		uint16_t space_low, space_high, space_high_boundary;
		uint16_t block_header, header_length, header_used, block_size;
		uint16_t queue_buffer, queue_begin, queue_end, queue_limit;
		uint16_t codelet_size, codelet_description, codelet_bytecode, codelet_struct_size;
		uint16_t blob_name, blob_size, blob_header_size, blob_code_begin, blob_code_end,
			blob_content_begin, blob_data_end, blob_frame_complete, blob_frame_size,
			blob_kind, blob_mutable_data, blob_relocation_size;
		uint16_t nmethod_method, nmethod_compile_id, nmethod_level, nmethod_state,
			nmethod_entry, nmethod_verified_entry, nmethod_osr_entry, nmethod_entry_bci,
			nmethod_deopt, nmethod_deopt_mh, nmethod_exception, nmethod_stub,
			nmethod_orig_pc, nmethod_size;
		uint16_t nmethod_immutable_data, nmethod_immutable_size, nmethod_metadata,
			nmethod_scopes_begin, nmethod_scopes_pcs, nmethod_scopes_pcs_end,
			nmethod_dependencies;
		uint16_t pc_pc, pc_scope, pc_size;
		uint16_t method_const, method_flags, method_idnum;
		uint16_t const_constants, const_code_size, const_name, const_signature, const_flags,
			const_idnum, const_size;
		uint16_t pool_holder, pool_source_file, pool_size;
		uint16_t klass_name, class_source_file;
		uint16_t symbol_length, symbol_body;
	} at;
	uint8_t symbol_length_bytes;
	uint32_t const_has_lines;  /* flag of ConstMethod: a line table follows the bytecodes */
	uint32_t method_is_hidden; /* flag of method_flags or const_flags; 0: not known */

	/* what was not found; "": the version is known */
	char missing[96];
};

/*
 * Reads the description through a process that has loaded the file at load bias `bias`. -ENOTSUP:
 * a version that is not known, ret_layout->missing names what it lacks; or an error of reading: the
 * process has ended, or has not relocated its data yet. One owner thread.
 */
int hotspot_layout_read(const struct hotspot_memory *memory, const struct hotspot_image *image,
			uint64_t bias, struct hotspot_layout *ret_layout);

#endif
