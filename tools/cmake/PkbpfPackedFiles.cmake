# SPDX-License-Identifier: BSD-2-Clause
# pkbpf_pack_files(<target> <file>…): what `pkbpf unpack` writes, as part of a program; cli/packed_files.h.
function(pkbpf_pack_files target)
	set(symbols "")
	set(rows "")
	set(number 0)
	foreach(file ${ARGN})
		get_filename_component(name ${file} NAME)
		string(APPEND symbols "PACK(packed_${number}, \"${file}\");\n")
		string(APPEND rows "\t{\"${name}\", packed_${number}_begin, packed_${number}_end},\n")
		math(EXPR number "${number} + 1")
	endforeach()
	set(source ${PROJECT_BINARY_DIR}/generated/packed_files.c)
	file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"cli/packed_files.h\"

#define PACK(symbol, path) \\
	__asm__(\".pushsection .rodata\\n\" \".hidden \" #symbol \"_begin, \" #symbol \"_end\\n\" \\
		\".globl \" #symbol \"_begin, \" #symbol \"_end\\n\" #symbol \"_begin:\\n\" \\
		\".incbin \\\"\" path \"\\\"\\n\" #symbol \"_end:\\n\" \".popsection\\n\"); \\
	extern const char symbol##_begin[] __attribute__((visibility(\"hidden\"))); \\
	extern const char symbol##_end[] __attribute__((visibility(\"hidden\")))

${symbols}
const struct packed_file packed_files[] = {
${rows}	{0}};
" @ONLY)
	set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${ARGN}")
	target_sources(${target} PRIVATE ${source})
endfunction()
