// SPDX-License-Identifier: BSD-2-Clause
#include "cli/version_text.h"

#include "build_version.h"
#include "capture/kernel/libbpf_log.h"

#ifdef PKBPF_STATIC
#define BUILD "one static file"
#define HTTPS "mbedTLS"
#else
#define BUILD "dynamic"
#define HTTPS "libcurl, where it is installed"
#endif

#ifdef __SANITIZE_ADDRESS__
#define SANITIZERS ", with sanitizers"
#else
#define SANITIZERS ""
#endif

#if defined(__x86_64__)
#define ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define ARCHITECTURE "arm64"
#else
#define ARCHITECTURE "another architecture"
#endif

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

void version_print(FILE *out)
{
	fprintf(out, "pkbpf %s\n", PKBPF_BUILD_VERSION);
	fprintf(out, "build: %s for Linux on %s, by %s%s\n", BUILD, ARCHITECTURE, COMPILER,
		SANITIZERS);
	fprintf(out, "libbpf: %s; https: %s\n", libbpf_version_name(), HTTPS);
	fputs("licence: BSD-2-Clause; BPF programs: GPL-2.0-only OR BSD-2-Clause\n", out);
}
