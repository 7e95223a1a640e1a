# SPDX-License-Identifier: BSD-2-Clause
# bpf/*.bpf.c -> one object per file -> one linked object -> one skeleton header.

find_program(PKBPF_CLANG REQUIRED
	NAMES clang clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
find_program(PKBPF_BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin /usr/local/sbin REQUIRED)

# pkbpf_bpf_flags(<ret>): how every BPF source is compiled.
function(pkbpf_bpf_flags ret)
	if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
		set(arch x86)
	elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
		set(arch arm64)
	else()
		message(FATAL_ERROR "pkbpf has no BPF code for ${CMAKE_SYSTEM_PROCESSOR}; "
			"x86_64 and aarch64 are supported")
	endif()
	# Programs and callbacks have their contexts given, used or not.
	# -mcpu=v3 (32-bit jumps and ALU) is understood by every kernel since 5.1.
	set(flags -target bpf -mcpu=v3 -g -O2 -std=gnu11 -D__TARGET_ARCH_${arch}
		-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
		-Wall -Wextra -Wshadow -Wno-unused-parameter -Wno-missing-declarations -Wno-gnu-variable-sized-type-not-at-end
		-I${PROJECT_SOURCE_DIR}/vmlinux -I${PROJECT_SOURCE_DIR}/include
		-isystem ${LIBBPF_INCLUDEDIR})
	# <asm/…> of Debian and its children lives in a per-architecture folder that clang searches for
	# the host's target only.
	if(CMAKE_LIBRARY_ARCHITECTURE AND EXISTS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/asm)
		list(APPEND flags -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
	endif()
	if(PKBPF_WERROR)
		list(APPEND flags -Werror)
	endif()
	set(${ret} ${flags} PARENT_SCOPE)
endfunction()

# pkbpf_add_bpf_skeleton(<target> <name> SOURCES file…): INTERFACE library <target> whose users may
# include "<name>.skel.h". Works without BTF on the building machine: types come from vmlinux/.
function(pkbpf_add_bpf_skeleton target name)
	cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
	add_library(${target} INTERFACE)
	target_link_libraries(${target} INTERFACE PkgConfig::LIBBPF PkgConfig::LIBELF PkgConfig::ZLIB)
	if(NOT ARG_SOURCES)
		return()
	endif()
	pkbpf_bpf_flags(flags)
	set(objects)
	foreach(source IN LISTS ARG_SOURCES)
		get_filename_component(stem ${source} NAME_WLE)
		set(object ${CMAKE_CURRENT_BINARY_DIR}/${stem}.o)
		add_custom_command(OUTPUT ${object}
			COMMAND ${PKBPF_CLANG} ${flags} -MD -MF ${object}.d -MT ${object}
				-c ${source} -o ${object}
			DEPENDS ${source} DEPFILE ${object}.d
			COMMENT "BPF ${stem}" VERBATIM)
		list(APPEND objects ${object})
	endforeach()
	set(linked ${CMAKE_CURRENT_BINARY_DIR}/${name}.linked.o)
	set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/${name}.skel.h)
	add_custom_command(OUTPUT ${linked}
		COMMAND ${PKBPF_BPFTOOL} gen object ${linked} ${objects}
		DEPENDS ${objects} COMMENT "BPF link ${name}" VERBATIM)
	# Written under another name first: a failed bpftool must not leave an empty header behind.
	add_custom_command(OUTPUT ${skeleton}
		COMMAND ${PKBPF_BPFTOOL} gen skeleton ${linked} name ${name}_bpf > ${skeleton}.tmp
		COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.tmp ${skeleton}
		DEPENDS ${linked} COMMENT "BPF skeleton ${name}" VERBATIM)
	add_custom_target(${target}_header DEPENDS ${skeleton})
	add_dependencies(${target} ${target}_header)
	target_include_directories(${target} SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
