// SPDX-License-Identifier: BSD-2-Clause
/* Tables of names. A field that was renamed has several rows; a version has one of them. */
#include "hotspot/hotspot_wanted.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define FIELD(type, name, member)                                                                  \
	{                                                                                          \
		type, name, offsetof(struct hotspot_fields, member)                                \
	}
#define PLACE(type, name, member)                                                                  \
	{                                                                                          \
		type, name, offsetof(struct hotspot_layout, member)                                \
	}

const struct hotspot_wanted hotspot_wanted_fields[] = {
	FIELD("GenericGrowableArray", "_len", array_length), /* 8 to 15 */
	FIELD("GrowableArrayBase", "_len", array_length),
	FIELD("GrowableArray<int>", "_data", array_data),
	FIELD("CodeHeap", "_memory", heap_memory),
	FIELD("CodeHeap", "_segmap", heap_segment_map),
	FIELD("CodeHeap", "_log2_segment_size", heap_log2_segment_size),
	FIELD("VirtualSpace", "_low", space_low),
	FIELD("VirtualSpace", "_high", space_high),
	FIELD("VirtualSpace", "_high_boundary", space_high_boundary),
	FIELD("HeapBlock::Header", "_length", block_length),
	FIELD("HeapBlock::Header", "_used", block_used),
	FIELD("StubQueue", "_stub_buffer", queue_buffer),
	FIELD("StubQueue", "_queue_begin", queue_begin),
	FIELD("StubQueue", "_queue_end", queue_end),
	FIELD("InterpreterCodelet", "_size", codelet_size),
	FIELD("InterpreterCodelet", "_description", codelet_description),
	FIELD("InterpreterCodelet", "_bytecode", codelet_bytecode),
	FIELD("CodeBlob", "_name", blob_name),
	FIELD("CodeBlob", "_size", blob_size),
	FIELD("CodeBlob", "_frame_complete_offset", blob_frame_complete),
	FIELD("CodeBlob", "_frame_size", blob_frame_size),
	FIELD("CodeBlob", "_code_begin", blob_code_begin), /* 9 to 22 */
	FIELD("CodeBlob", "_code_end", blob_code_end),
	FIELD("CodeBlob", "_code_offset", blob_code_offset), /* 8, 23+ */
	FIELD("CodeBlob", "_data_offset", blob_data_offset),
	FIELD("CodeBlob", "_mutable_data", blob_mutable_data), /* 25+ */
	FIELD("CodeBlob", "_mutable_data_size", blob_mutable_size),
	FIELD("CodeBlob", "_relocation_size", blob_relocation_size),
	FIELD("nmethod", "_method", nmethod_method),
	FIELD("CompiledMethod", "_method", nmethod_method), /* 9 to 22 */
	FIELD("nmethod", "_compile_id", nmethod_compile_id),
	FIELD("nmethod", "_comp_level", nmethod_level),
	FIELD("nmethod", "_state", nmethod_state),
	FIELD("nmethod", "_entry_bci", nmethod_entry_bci),
	FIELD("nmethod", "_orig_pc_offset", nmethod_orig_pc),
	FIELD("nmethod", "_entry_point", nmethod_entry),
	FIELD("nmethod", "_entry_offset", nmethod_entry_offset), /* 23+ */
	FIELD("nmethod", "_verified_entry_point", nmethod_verified),
	FIELD("nmethod", "_verified_entry_offset", nmethod_verified_offset),
	FIELD("nmethod", "_osr_entry_point", nmethod_osr_entry),
	FIELD("CompiledMethod", "_deopt_handler_begin", nmethod_deopt),
	FIELD("CompiledMethod", "_deopt_mh_handler_begin", nmethod_deopt_mh),
	FIELD("nmethod", "_deoptimize_offset", nmethod_deopt_offset), /* 8 */
	FIELD("nmethod", "_deoptimize_mh_offset", nmethod_deopt_mh_offset),
	FIELD("nmethod", "_deopt_handler_offset", nmethod_deopt_offset), /* 23 to 25 */
	FIELD("nmethod", "_deopt_mh_handler_offset", nmethod_deopt_mh_offset),
	FIELD("nmethod", "_deopt_handler_entry_offset", nmethod_deopt_offset), /* 26 */
	FIELD("nmethod", "_scopes_pcs_offset", nmethod_pcs_offset),
	FIELD("CompiledMethod", "_scopes_data_begin", nmethod_scopes),
	FIELD("nmethod", "_scopes_data_offset", nmethod_scopes_offset),
	FIELD("nmethod", "_dependencies_offset", nmethod_dependencies_offset),
	FIELD("nmethod", "_metadata_offset", nmethod_metadata_offset),
	FIELD("nmethod", "_immutable_data", nmethod_immutable), /* 23+ */
	FIELD("nmethod", "_immutable_data_size", nmethod_immutable_size),
	FIELD("PcDesc", "_pc_offset", pc_offset),
	FIELD("PcDesc", "_scope_decode_offset", pc_scope),
	FIELD("Method", "_constMethod", method_const),
	FIELD("ConstMethod", "_constants", const_pool),
	FIELD("ConstMethod", "_code_size", const_code_size),
	FIELD("ConstMethod", "_name_index", const_name),
	FIELD("ConstMethod", "_signature_index", const_signature),
	FIELD("ConstMethod", "_flags", const_flags),
	FIELD("ConstMethod", "_flags._flags", const_flags), /* 21+ */
	FIELD("ConstMethod", "_method_idnum", const_idnum),
	FIELD("ConstantPool", "_pool_holder", pool_holder),
	FIELD("ConstantPool", "_source_file_name_index", pool_source_file), /* 15+ */
	FIELD("InstanceKlass", "_source_file_name_index", class_source_file),
	FIELD("Klass", "_name", klass_name),
	FIELD("Symbol", "_length", symbol_length),
	FIELD("Symbol", "_length_and_refcount", symbol_length_refcount), /* 12 to 14 */
	FIELD("Symbol", "_body", symbol_body),
	FIELD("Symbol", "_body[0]", symbol_body),
	FIELD("JDK_Version", "_major", version_major),
};
const size_t hotspot_wanted_field_count = ARRAY_SIZE(hotspot_wanted_fields);

const struct hotspot_wanted hotspot_wanted_statics[] = {
	PLACE("CodeCache", "_heaps", heaps),
	PLACE("CodeCache", "_heap", one_heap), /* 8 */
	PLACE("AbstractInterpreter", "_code", interpreter),
	PLACE("Abstract_VM_Version", "_s_vm_release", vm_release),
	PLACE("JDK_Version", "_current", jdk_version), /* to 21 */
	PLACE("StubRoutines", "_call_stub_return_address", call_stub_return),
};
const size_t hotspot_wanted_static_count = ARRAY_SIZE(hotspot_wanted_statics);

const struct hotspot_wanted hotspot_wanted_sizes[] = {
	PLACE("HeapBlock", NULL, block_header_size),
	PLACE("CodeBlob", NULL, blob_struct_size),
	PLACE("nmethod", NULL, nmethod_struct_size),
	PLACE("CodeHeap", NULL, heap_struct_size),
	PLACE("InterpreterCodelet", NULL, codelet_struct_size),
	PLACE("PcDesc", NULL, pc_struct_size),
	PLACE("ConstMethod", NULL, const_struct_size),
	PLACE("ConstantPool", NULL, pool_struct_size),
};
const size_t hotspot_wanted_size_count = ARRAY_SIZE(hotspot_wanted_sizes);

bool hotspot_wants_type(const char *type)
{
	if (!strcmp(type, "StubRoutines"))
		return true;
	for (size_t i = 0; i < hotspot_wanted_field_count; i++)
		if (!strcmp(type, hotspot_wanted_fields[i].type))
			return true;
	for (size_t i = 0; i < hotspot_wanted_static_count; i++)
		if (!strcmp(type, hotspot_wanted_statics[i].type))
			return true;
	return false;
}

/* ---- what is missing ---- */

#define BOTH(member, other)                                                                        \
	offsetof(struct hotspot_fields, member), offsetof(struct hotspot_fields, other)
#define ONE(member) BOTH(member, member)

/* One of two places has to be known. */
static const struct needed {
	uint16_t place, or_place;
	const char *name;
} needed[] = {
	{ONE(heap_memory), "CodeHeap::_memory"},
	{ONE(heap_segment_map), "CodeHeap::_segmap"},
	{ONE(heap_log2_segment_size), "CodeHeap::_log2_segment_size"},
	{ONE(space_low), "VirtualSpace::_low"},
	{ONE(space_high), "VirtualSpace::_high"},
	{ONE(space_high_boundary), "VirtualSpace::_high_boundary"},
	{ONE(block_length), "HeapBlock::Header::_length"},
	{ONE(block_used), "HeapBlock::Header::_used"},
	{ONE(blob_name), "CodeBlob::_name"},
	{ONE(blob_size), "CodeBlob::_size"},
	{ONE(blob_frame_complete), "CodeBlob::_frame_complete_offset"},
	{ONE(blob_frame_size), "CodeBlob::_frame_size"},
	{BOTH(blob_code_begin, blob_code_offset), "CodeBlob::_code_begin"},
	{BOTH(blob_code_end, blob_data_offset), "CodeBlob::_code_end"},
	{ONE(nmethod_method), "nmethod::_method"},
	{ONE(nmethod_compile_id), "nmethod::_compile_id"},
	{ONE(nmethod_level), "nmethod::_comp_level"},
	{ONE(nmethod_state), "nmethod::_state"},
	{BOTH(nmethod_entry, nmethod_entry_offset), "nmethod::_entry_point"},
	{BOTH(nmethod_verified, nmethod_verified_offset), "nmethod::_verified_entry_point"},
	{BOTH(nmethod_deopt, nmethod_deopt_offset), "nmethod::_deopt_handler_begin"},
	{ONE(nmethod_pcs_offset), "nmethod::_scopes_pcs_offset"},
	{BOTH(nmethod_scopes, nmethod_scopes_offset), "nmethod::_scopes_data_offset"},
	{BOTH(nmethod_dependencies_offset, nmethod_immutable), "nmethod::_dependencies_offset"},
	{BOTH(nmethod_metadata_offset, blob_mutable_data), "nmethod::_metadata_offset"},
	{ONE(pc_offset), "PcDesc::_pc_offset"},
	{ONE(pc_scope), "PcDesc::_scope_decode_offset"},
	{ONE(method_const), "Method::_constMethod"},
	{ONE(const_pool), "ConstMethod::_constants"},
	{ONE(const_code_size), "ConstMethod::_code_size"},
	{ONE(const_name), "ConstMethod::_name_index"},
	{ONE(const_signature), "ConstMethod::_signature_index"},
	{ONE(const_flags), "ConstMethod::_flags"},
	{ONE(pool_holder), "ConstantPool::_pool_holder"},
	{BOTH(pool_source_file, class_source_file), "ConstantPool::_source_file_name_index"},
	{ONE(klass_name), "Klass::_name"},
	{BOTH(symbol_length, symbol_length_refcount), "Symbol::_length"},
	{ONE(symbol_body), "Symbol::_body"},
};

static bool is_known(const struct hotspot_fields *fields, uint16_t place)
{
	struct hotspot_field field;

	memcpy(&field, (const char *)fields + place, sizeof(field));
	return field.width != 0;
}

static const char *missing_field(const struct hotspot_fields *fields)
{
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!is_known(fields, needed[i].place) && !is_known(fields, needed[i].or_place))
			return needed[i].name;
	return NULL;
}

static const char *missing_size(const struct hotspot_layout *layout)
{
	for (size_t i = 0; i < hotspot_wanted_size_count; i++) {
		uint16_t size;

		memcpy(&size, (const char *)layout + hotspot_wanted_sizes[i].place, sizeof(size));
		if (!size)
			return hotspot_wanted_sizes[i].type;
	}
	return NULL;
}

static const char *first_missing(const struct hotspot_layout *layout)
{
	const struct hotspot_fields *at = &layout->at;

	if (!layout->one_heap && (!layout->heaps || !at->array_length.width))
		return "CodeCache::_heaps";
	if (!layout->one_heap && !at->array_data.width)
		return "GrowableArray::_data";
	if (!layout->interpreter || !at->queue_buffer.width || !at->queue_end.width)
		return "AbstractInterpreter::_code";
	if (at->nmethod_immutable.width && !at->nmethod_immutable_size.width)
		return "nmethod::_immutable_data_size";
	if (at->blob_mutable_data.width &&
	    (!at->blob_mutable_size.width || !at->blob_relocation_size.width))
		return "CodeBlob::_mutable_data_size";
	if (!layout->const_has_lines)
		return "ConstMethod::_has_linenumber_table";
	if (!layout->java)
		return "Abstract_VM_Version::_s_vm_release";
	return missing_field(at);
}

void hotspot_wanted_missing(struct hotspot_layout *layout)
{
	const char *missing = first_missing(layout);

	if (!missing)
		missing = missing_size(layout);
	snprintf(layout->missing, sizeof(layout->missing), "%s", missing ? missing : "");
}
