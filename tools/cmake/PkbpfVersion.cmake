# SPDX-License-Identifier: BSD-2-Clause
# pkbpf_name_version(<target>): gives a target the header build_version.h, which follows the commit: git adds a line to the log of HEAD
# with each.
function(pkbpf_name_version target)
	set(folder ${CMAKE_CURRENT_BINARY_DIR}/version)
	file(MAKE_DIRECTORY ${folder})
	set(depends ${PROJECT_SOURCE_DIR}/tools/version ${PROJECT_SOURCE_DIR}/CMakeLists.txt)
	execute_process(COMMAND git -c safe.directory=${PROJECT_SOURCE_DIR} -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
		OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status ERROR_QUIET)
	if(status EQUAL 0 AND EXISTS ${log})
		list(APPEND depends ${log})
	endif()
	add_custom_command(OUTPUT ${folder}/build_version.h
		COMMAND ${PROJECT_SOURCE_DIR}/tools/version --header ${folder}/build_version.h
		DEPENDS ${depends} COMMENT "version" VERBATIM)
	target_sources(${target} PRIVATE ${folder}/build_version.h)
	target_include_directories(${target} PRIVATE ${folder})
endfunction()
