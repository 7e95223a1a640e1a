# SPDX-License-Identifier: BSD-2-Clause
# pkbpf_embed(<file>…): text files as strings of the program. "graph/flame.js" becomes `flame_js` in
# "embedded/flame.js.h".
target_include_directories(pkbpf_options INTERFACE ${PROJECT_BINARY_DIR}/generated)

function(pkbpf_embed)
	foreach(file ${ARGN})
		get_filename_component(name ${file} NAME)
		string(MAKE_C_IDENTIFIER ${name} symbol)
		set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
		file(READ ${file} bytes HEX)
		string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
		string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
		file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/embedded/${name}.h
			CONTENT "static const char ${symbol}[] = {\n@bytes@0};\n" @ONLY)
	endforeach()
endfunction()
