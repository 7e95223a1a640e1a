# SPDX-License-Identifier: BSD-2-Clause
# libiberty (the demanglers of binutils) comes without a pkg-config file: this makes the imported
# target pkbpf_iberty, whose users write #include <libiberty/demangle.h> on every distribution.

find_library(PKBPF_IBERTY_LIBRARY NAMES iberty iberty_pic)
find_path(PKBPF_IBERTY_INCLUDE NAMES libiberty/demangle.h)
if(NOT PKBPF_IBERTY_INCLUDE)
	# Some distributions put the header at the top of the include folder: forward to it.
	find_path(PKBPF_IBERTY_FLAT_INCLUDE NAMES demangle.h)
	if(PKBPF_IBERTY_FLAT_INCLUDE)
		set(PKBPF_IBERTY_INCLUDE ${PROJECT_BINARY_DIR}/iberty CACHE PATH "" FORCE)
		file(WRITE ${PKBPF_IBERTY_INCLUDE}/libiberty/demangle.h
			"#include \"${PKBPF_IBERTY_FLAT_INCLUDE}/demangle.h\"\n")
	endif()
endif()
if(NOT PKBPF_IBERTY_LIBRARY OR NOT PKBPF_IBERTY_INCLUDE)
	message(FATAL_ERROR "libiberty not found: install libiberty-dev (Debian, Ubuntu), "
		"binutils-devel (Fedora, openSUSE), binutils (Arch) or binutils-dev (Alpine)")
endif()

add_library(pkbpf_iberty STATIC IMPORTED GLOBAL)
set_target_properties(pkbpf_iberty PROPERTIES
	IMPORTED_LOCATION ${PKBPF_IBERTY_LIBRARY}
	INTERFACE_INCLUDE_DIRECTORIES ${PKBPF_IBERTY_INCLUDE})
