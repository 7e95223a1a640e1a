# SPDX-License-Identifier: BSD-2-Clause
# PKBPF_STATIC: pkbpf as one file that needs no library of the machine it runs on, linked from the distribution's archives.
option(PKBPF_STATIC "link pkbpf into one file that needs no library" OFF)

if(PKBPF_STATIC)
	# What find_library() and pkg-config's modules find from here on.
	set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
	add_compile_definitions(PKBPF_STATIC)
endif()

# pkbpf_archive_needs(<imported target> <name>…): archives that an archive needs, which pkg-config names for shared libraries
# only in part.
function(pkbpf_archive_needs target)
	if(NOT PKBPF_STATIC)
		return()
	endif()
	foreach(name ${ARGN})
		find_library(PKBPF_ARCHIVE_${name} NAMES ${name} REQUIRED)
		target_link_libraries(${target} INTERFACE ${PKBPF_ARCHIVE_${name}})
	endforeach()
endfunction()

function(pkbpf_link_statically target)
	# -s: names of functions are a third of the file.
	target_link_options(${target} PRIVATE -static-pie -Wl,--gc-sections -Wl,--build-id=sha1 -s)
endfunction()

# libmicrohttpd is built with TLS, which pkbpf never asks it for, and that TLS needs libraries of which there are no archives:
# a library of functions that end the program, one for each that the archive asks for.
function(pkbpf_add_gnutls_stubs target)
	find_library(PKBPF_ARCHIVE_microhttpd NAMES microhttpd REQUIRED)
	execute_process(COMMAND ${CMAKE_NM} --undefined-only --format=posix ${PKBPF_ARCHIVE_microhttpd}
		OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
	string(REGEX MATCHALL "gnutls_[A-Za-z0-9_]+" symbols "${symbols}")
	list(REMOVE_DUPLICATES symbols)
	set(text "#include <stdlib.h>\n")
	foreach(symbol IN LISTS symbols)
		if(symbol MATCHES "^gnutls_(malloc|calloc|realloc)$")
			string(APPEND text "void *(*${symbol})(size_t) = malloc;\n")
		elseif(symbol STREQUAL "gnutls_free")
			string(APPEND text "void (*gnutls_free)(void *) = free;\n")
		elseif(symbol STREQUAL "gnutls_global_init")
			string(APPEND text "int gnutls_global_init(void);\nint gnutls_global_init(void) { return 0; }\n")
		elseif(symbol STREQUAL "gnutls_global_deinit")
			string(APPEND text "void gnutls_global_deinit(void);\nvoid gnutls_global_deinit(void) {}\n")
		else()
			string(APPEND text "void ${symbol}(void);\nvoid ${symbol}(void) { abort(); }\n")
		endif()
	endforeach()
	file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/gnutls_stubs.c CONTENT "${text}" @ONLY)
	add_library(pkbpf_gnutls_stubs STATIC ${PROJECT_BINARY_DIR}/generated/gnutls_stubs.c)
	target_link_libraries(${target} INTERFACE pkbpf_gnutls_stubs)
endfunction()

# Descriptions of terminals, for roots that have none: ncurses takes one from the variable TERMINFO. terminals.inc: rows of a
# table, name and description.
function(pkbpf_describe_terminals)
	find_program(PKBPF_INFOCMP infocmp REQUIRED)
	set(rows "")
	foreach(name xterm xterm-256color screen screen-256color tmux tmux-256color linux vt100 vt220)
		execute_process(COMMAND ${PKBPF_INFOCMP} -0 -Q2 ${name} OUTPUT_VARIABLE description COMMAND_ERROR_IS_FATAL ANY)
		string(REGEX MATCH "b64:[^\n]+" description "${description}")
		string(APPEND rows "{\"${name}\", \"${description}\"},\n")
	endforeach()
	file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/embedded/terminals.inc CONTENT "${rows}" @ONLY)
endfunction()
