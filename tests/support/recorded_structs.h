/* SPDX-License-Identifier: BSD-2-Clause */
/* What OpenJDK 17.0.15 (Debian) and 25.0.3 (Temurin) say of themselves on x86-64: the part of their
 * vmStructs that is wanted, read from processes that ran. */
#ifndef PKBPF_TESTS_SUPPORT_RECORDED_STRUCTS_H
#define PKBPF_TESTS_SUPPORT_RECORDED_STRUCTS_H

#include <stdint.h>

struct recorded_struct {
	const char *type, *field, *declaration;
	int32_t is_static;
	uint64_t offset; /* of static variables: where the fake one has them */
};

struct recorded_size {
	const char *type;
	uint64_t size;
};

static const struct recorded_struct recorded_structs_17[] = {
	{"ConstantPool", "_pool_holder", "InstanceKlass*", 0, 24},
	{"ConstantPool", "_source_file_name_index", "u2", 0, 54},
	{"Klass", "_name", "Symbol*", 0, 24},
	{"Method", "_constMethod", "ConstMethod*", 0, 8},
	{"ConstMethod", "_constants", "ConstantPool*", 0, 8},
	{"ConstMethod", "_flags", "u2", 0, 28},
	{"ConstMethod", "_code_size", "u2", 0, 32},
	{"ConstMethod", "_name_index", "u2", 0, 34},
	{"ConstMethod", "_signature_index", "u2", 0, 36},
	{"ConstMethod", "_method_idnum", "u2", 0, 38},
	{"Symbol", "_length", "u2", 0, 4},
	{"Symbol", "_body", "", 0, 6},
	{"Symbol", "_body[0]", "u1", 0, 6},
	{"VirtualSpace", "_high_boundary", "char*", 0, 8},
	{"VirtualSpace", "_low", "char*", 0, 16},
	{"VirtualSpace", "_high", "char*", 0, 24},
	{"GrowableArrayBase", "_len", "int", 0, 0},
	{"GrowableArray<int>", "_data", "int*", 0, 8},
	{"CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 1, 0x100},
	{"CodeHeap", "_memory", "VirtualSpace", 0, 8},
	{"CodeHeap", "_segmap", "VirtualSpace", 0, 120},
	{"CodeHeap", "_log2_segment_size", "int", 0, 256},
	{"HeapBlock::Header", "_length", "size_t", 0, 0},
	{"HeapBlock::Header", "_used", "bool", 0, 8},
	{"AbstractInterpreter", "_code", "StubQueue*", 1, 0x108},
	{"StubQueue", "_stub_buffer", "address", 0, 8},
	{"StubQueue", "_queue_begin", "int", 0, 24},
	{"StubQueue", "_queue_end", "int", 0, 28},
	{"InterpreterCodelet", "_size", "int", 0, 8},
	{"InterpreterCodelet", "_description", "const char*", 0, 0},
	{"InterpreterCodelet", "_bytecode", "Bytecodes::Code", 0, 12},
	{"StubRoutines", "_verify_oop_count", "jint", 1, 0x110},
	{"StubRoutines", "_call_stub_return_address", "address", 1, 0x118},
	{"StubRoutines", "_aescrypt_encryptBlock", "address", 1, 0x130},
	{"PcDesc", "_pc_offset", "int", 0, 0},
	{"PcDesc", "_scope_decode_offset", "int", 0, 4},
	{"CodeBlob", "_name", "const char*", 0, 96},
	{"CodeBlob", "_size", "int", 0, 12},
	{"CodeBlob", "_frame_complete_offset", "int", 0, 20},
	{"CodeBlob", "_data_offset", "int", 0, 24},
	{"CodeBlob", "_frame_size", "int", 0, 28},
	{"CodeBlob", "_code_begin", "address", 0, 32},
	{"CodeBlob", "_code_end", "address", 0, 40},
	{"CompiledMethod", "_method", "Method*", 0, 112},
	{"CompiledMethod", "_scopes_data_begin", "address", 0, 120},
	{"CompiledMethod", "_deopt_handler_begin", "address", 0, 128},
	{"CompiledMethod", "_deopt_mh_handler_begin", "address", 0, 136},
	{"nmethod", "_entry_bci", "int", 0, 192},
	{"nmethod", "_state", "volatile signed char", 0, 315},
	{"nmethod", "_orig_pc_offset", "int", 0, 300},
	{"nmethod", "_metadata_offset", "int", 0, 260},
	{"nmethod", "_scopes_pcs_offset", "int", 0, 268},
	{"nmethod", "_dependencies_offset", "int", 0, 272},
	{"nmethod", "_entry_point", "address", 0, 216},
	{"nmethod", "_verified_entry_point", "address", 0, 224},
	{"nmethod", "_osr_entry_point", "address", 0, 232},
	{"nmethod", "_compile_id", "int", 0, 304},
	{"nmethod", "_comp_level", "int", 0, 308},
	{"Abstract_VM_Version", "_s_vm_release", "const char*", 1, 0x120},
	{"JDK_Version", "_current", "JDK_Version", 1, 0x128},
	{"JDK_Version", "_major", "unsigned char", 0, 0},
};

static const struct recorded_size recorded_sizes_17[] = {
	{"ConstantPool", 72}, {"ConstMethod", 48}, {"InterpreterCodelet", 16}, {"CodeHeap", 344},
	{"HeapBlock", 16},    {"CodeBlob", 104},   {"nmethod", 352},	       {"PcDesc", 16},
};

static const struct recorded_struct recorded_structs_25[] = {
	{"ConstantPool", "_pool_holder", "InstanceKlass*", 0, 24},
	{"ConstantPool", "_source_file_name_index", "u2", 0, 54},
	{"Klass", "_name", "Symbol*", 0, 24},
	{"Method", "_constMethod", "ConstMethod*", 0, 8},
	{"ConstMethod", "_constants", "ConstantPool*", 0, 8},
	{"ConstMethod", "_flags._flags", "u4", 0, 28},
	{"ConstMethod", "_code_size", "u2", 0, 34},
	{"ConstMethod", "_name_index", "u2", 0, 36},
	{"ConstMethod", "_signature_index", "u2", 0, 38},
	{"ConstMethod", "_method_idnum", "u2", 0, 40},
	{"Symbol", "_length", "u2", 0, 4},
	{"Symbol", "_body", "", 0, 6},
	{"Symbol", "_body[0]", "u1", 0, 6},
	{"VirtualSpace", "_high_boundary", "char*", 0, 8},
	{"VirtualSpace", "_low", "char*", 0, 16},
	{"VirtualSpace", "_high", "char*", 0, 24},
	{"GrowableArrayBase", "_len", "int", 0, 0},
	{"GrowableArray<int>", "_data", "int*", 0, 8},
	{"CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 1, 0x100},
	{"CodeHeap", "_memory", "VirtualSpace", 0, 0},
	{"CodeHeap", "_segmap", "VirtualSpace", 0, 112},
	{"CodeHeap", "_log2_segment_size", "int", 0, 248},
	{"HeapBlock::Header", "_length", "uint32_t", 0, 0},
	{"HeapBlock::Header", "_used", "bool", 0, 4},
	{"AbstractInterpreter", "_code", "StubQueue*", 1, 0x108},
	{"StubQueue", "_stub_buffer", "address", 0, 8},
	{"StubQueue", "_queue_begin", "int", 0, 24},
	{"StubQueue", "_queue_end", "int", 0, 28},
	{"InterpreterCodelet", "_size", "int", 0, 8},
	{"InterpreterCodelet", "_description", "const char*", 0, 0},
	{"InterpreterCodelet", "_bytecode", "Bytecodes::Code", 0, 12},
	{"StubRoutines", "_call_stub_return_address", "address", 1, 0x110},
	{"PcDesc", "_pc_offset", "int", 0, 0},
	{"PcDesc", "_scope_decode_offset", "int", 0, 4},
	{"CodeBlob", "_name", "const char*", 0, 8},
	{"CodeBlob", "_size", "int", 0, 24},
	{"CodeBlob", "_relocation_size", "int", 0, 28},
	{"CodeBlob", "_code_offset", "int", 0, 36},
	{"CodeBlob", "_frame_complete_offset", "int16_t", 0, 54},
	{"CodeBlob", "_data_offset", "int", 0, 40},
	{"CodeBlob", "_frame_size", "int", 0, 44},
	{"CodeBlob", "_mutable_data", "address", 0, 16},
	{"CodeBlob", "_mutable_data_size", "int", 0, 48},
	{"nmethod", "_method", "Method*", 0, 80},
	{"nmethod", "_entry_bci", "int", 0, 156},
	{"nmethod", "_state", "volatile signed char", 0, 219},
	{"nmethod", "_deopt_handler_offset", "int", 0, 176},
	{"nmethod", "_deopt_mh_handler_offset", "int", 0, 180},
	{"nmethod", "_orig_pc_offset", "int", 0, 208},
	{"nmethod", "_scopes_pcs_offset", "int", 0, 196},
	{"nmethod", "_scopes_data_offset", "int", 0, 200},
	{"nmethod", "_entry_offset", "u2", 0, 152},
	{"nmethod", "_verified_entry_offset", "u2", 0, 154},
	{"nmethod", "_osr_entry_point", "address", 0, 144},
	{"nmethod", "_immutable_data", "address", 0, 96},
	{"nmethod", "_immutable_data_size", "int", 0, 160},
	{"nmethod", "_compile_id", "int", 0, 212},
	{"nmethod", "_comp_level", "CompLevel", 0, 216},
	{"Abstract_VM_Version", "_s_vm_release", "const char*", 1, 0x118},
};

static const struct recorded_size recorded_sizes_25[] = {
	{"ConstantPool", 72}, {"ConstMethod", 56}, {"InterpreterCodelet", 16}, {"CodeHeap", 336},
	{"HeapBlock", 8},     {"CodeBlob", 64},	   {"nmethod", 224},	       {"PcDesc", 16},
};

#endif
