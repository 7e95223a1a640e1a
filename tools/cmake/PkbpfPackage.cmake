# SPDX-License-Identifier: BSD-2-Clause
# The Debian package: what `cmake --install` installs, with the libraries it depends on. tools/package makes it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pkbpf)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler of processes: CPU, waits, block I/O and page faults")
set(CPACK_PACKAGE_DESCRIPTION
"Shows where running programs spend their time, down to the function: on a
CPU, waiting, in block I/O, or in page faults; and what they used of the
machine, and what limits them.
.
It uses perf events and eBPF, unwinds stacks of programs without frame
pointers, and needs no change to the programs it profiles. Reports are text,
JSON, flame graphs, pages for a browser, and profiles for pprof and others.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
	OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/tools/debian/prepare.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS TRUE)
# Opened when --debuginfod is given.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS libdebuginfod1)
file(STRINGS ${PROJECT_SOURCE_DIR}/tools/debian/changelog maintainer REGEX "^ -- " LIMIT_COUNT 1)
string(REGEX REPLACE "^ -- (.*>)  .*" "\\1" CPACK_DEBIAN_PACKAGE_MAINTAINER "${maintainer}")
set(CPACK_PACKAGE_CONTACT "${CPACK_DEBIAN_PACKAGE_MAINTAINER}")
include(CPack)
