# SPDX-License-Identifier: BSD-2-Clause
# Run by CPack on the tree that becomes the package: texts are packed as Debian wants them, without the time of the build.
file(GLOB papers
	"${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/man/man*/*.[0-9]"
	"${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/*/changelog")
execute_process(COMMAND gzip -9nf ${papers} COMMAND_ERROR_IS_FATAL ANY)
