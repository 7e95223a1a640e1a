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
#include <stddef.h>
#include <stdint.h>

#include "hotspot/hotspot_image.h"
#include "hotspot/hotspot_memory.h"

#define HOTSPOT_MAX_ENTRIES 16384
#define HOTSPOT_MAX_STRING  256
#define HOTSPOT_MAX_OFFSET  8192 /* of a field; structures are smaller */
/* Entry points of stub routines that are kept. */
#define HOTSPOT_MAX_STUBS 320

/* A member of a structure; width 0: this version does not have it. */
struct hotspot_field {
	uint16_t offset;
	uint8_t width; /* 1, 2, 4 or 8 bytes; of others, 8 */
	bool is_signed;
};

/* Fields that differ by version come as pointer and as offset; one of them is known. */
struct hotspot_layout {
	uint8_t java;	  /* 8, 11, 17, 25; 0: not known */
	char version[64]; /* "17.0.15"; "" not known; hostile */
	/* the smallest value of a byte in compressed streams: 0, or 1 since 20 */
	uint8_t unsigned5_minimum;
	/* of the interpreter's frame, in bytes from its frame pointer */
	int16_t frame_sender_sp, frame_method, frame_bytecode;

	/* addresses of static variables, minus the load bias of the file; 0: there is none */
	uint64_t heaps;		   /* CodeCache::_heaps, a GrowableArray<CodeHeap*>* */
	uint64_t one_heap;	   /* CodeCache::_heap, a CodeHeap* (8) */
	uint64_t interpreter;	   /* AbstractInterpreter::_code, a StubQueue* */
	uint64_t vm_release;	   /* Abstract_VM_Version::_s_vm_release, a string */
	uint64_t jdk_version;	   /* JDK_Version::_current */
	uint64_t call_stub_return; /* StubRoutines::_call_stub_return_address, an address */
	uint16_t stub_count;
	uint64_t stubs[HOTSPOT_MAX_STUBS]; /* StubRoutines::*, each the address of an entry point */

	struct hotspot_fields {
		struct hotspot_field array_length, array_data;
		struct hotspot_field heap_memory, heap_segment_map, heap_log2_segment_size;
		struct hotspot_field space_low, space_high, space_high_boundary;
		struct hotspot_field block_length, block_used;
		struct hotspot_field queue_buffer, queue_begin, queue_end;
		struct hotspot_field codelet_size, codelet_description, codelet_bytecode;
		struct hotspot_field blob_name, blob_size, blob_frame_complete, blob_frame_size;
		struct hotspot_field blob_code_begin, blob_code_end, blob_code_offset,
			blob_data_offset, blob_mutable_data, blob_mutable_size,
			blob_relocation_size;
		struct hotspot_field nmethod_method, nmethod_compile_id, nmethod_level,
			nmethod_state, nmethod_entry_bci, nmethod_orig_pc;
		struct hotspot_field nmethod_entry, nmethod_entry_offset, nmethod_verified,
			nmethod_verified_offset, nmethod_osr_entry;
		struct hotspot_field nmethod_deopt, nmethod_deopt_offset, nmethod_deopt_mh,
			nmethod_deopt_mh_offset;
		struct hotspot_field nmethod_pcs_offset, nmethod_scopes, nmethod_scopes_offset,
			nmethod_dependencies_offset, nmethod_metadata_offset, nmethod_immutable,
			nmethod_immutable_size;
		struct hotspot_field pc_offset, pc_scope;
		struct hotspot_field method_const;
		struct hotspot_field const_pool, const_code_size, const_name, const_signature,
			const_flags, const_idnum;
		struct hotspot_field pool_holder, pool_source_file, class_source_file;
		struct hotspot_field klass_name, symbol_length, symbol_length_refcount, symbol_body;
		struct hotspot_field version_major;
	} at;

	/* sizes of structures */
	uint16_t block_header_size, blob_struct_size, nmethod_struct_size, heap_struct_size,
		codelet_struct_size, pc_struct_size, const_struct_size, pool_struct_size;
	uint32_t const_has_lines; /* in const_flags: a line table follows the bytecodes */

	/* what was not found: "nmethod::_method"; "": the version is known */
	char missing[96];
};

/*
 * Reads the description through a process that has loaded the file at load bias `bias`. -ENOTSUP:
 * a version that is not known, ret_layout->missing names what it lacks; -EBADMSG: no such tables,
 * as in a process that has not relocated its data yet; or an error of reading. One owner thread.
 */
int hotspot_layout_read(const struct hotspot_memory *memory, const struct hotspot_image *image,
			uint64_t bias, struct hotspot_layout *ret_layout);

/* The value of a member in the bytes of its structure, of `size`; 0: outside, or not known. */
uint64_t hotspot_field_get(const void *bytes, size_t size, struct hotspot_field field);

#endif
