# SPDX-License-Identifier: BSD-2-Clause
# How every target of this project is declared: one place for warnings, sanitizers and include paths.

add_library(pkbpf_options INTERFACE)
target_compile_options(pkbpf_options INTERFACE
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
	-Wformat=2 -Wundef -Wvla -Wwrite-strings
	-fno-common -fno-strict-aliasing -fstack-protector-strong)
target_compile_definitions(pkbpf_options INTERFACE _GNU_SOURCE PKBPF_VERSION="${PROJECT_VERSION}")
target_include_directories(pkbpf_options INTERFACE
	${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/user)
if(PKBPF_WERROR)
	target_compile_options(pkbpf_options INTERFACE -Werror)
endif()
if(CMAKE_BUILD_TYPE MATCHES "^Rel")
	# The same bytes from a clone at another place.
	target_compile_options(pkbpf_options INTERFACE
		-ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=.)
endif()
if(PKBPF_STATIC)
	# What is used of archives only.
	target_compile_options(pkbpf_options INTERFACE -ffunction-sections -fdata-sections)
endif()
if(PKBPF_FUZZ)
	# Coverage feedback: without it libFuzzer mutates blindly.
	target_compile_options(pkbpf_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(PKBPF_SANITIZE)
	target_compile_options(pkbpf_options INTERFACE
		-fsanitize=${PKBPF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(pkbpf_options INTERFACE -fsanitize=${PKBPF_SANITIZE})
endif()

# pkbpf_add_library(<folder> [DEPENDS lib…]): one static library per folder of user/, made from all
# .c files in it and its sub-folders. DEPENDS names only what the layering in the architecture allows.
function(pkbpf_add_library folder)
	cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
	file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
	if(NOT sources)
		# A folder may hold nothing but headers.
		add_library(pkbpf_${folder} INTERFACE)
		target_link_libraries(pkbpf_${folder} INTERFACE pkbpf_options ${ARG_DEPENDS})
		return()
	endif()
	add_library(pkbpf_${folder} STATIC ${sources})
	target_link_libraries(pkbpf_${folder} PUBLIC pkbpf_options ${ARG_DEPENDS})
endfunction()
