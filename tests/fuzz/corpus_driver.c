// SPDX-License-Identifier: BSD-2-Clause
/* Runs a fuzz target over the files of its corpus folder, so that every input that once mattered is
 * a test. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size;

	if (!file)
		return -errno;
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	/* An exact-size heap copy lets AddressSanitizer see a read one byte past the input. */
	if (size >= 0)
		data = malloc(size ? (size_t)size : 1);
	if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) {
		fclose(file);
		free(data);
		return -EIO;
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	size_t count = 0;

	for (int i = 1; i < argc; i++) {
		struct dirent *entry;
		DIR *dir = opendir(argv[i]);

		if (!dir) {
			fprintf(stderr, "cannot open corpus %s: %s\n", argv[i], strerror(errno));
			return 1;
		}
		while ((entry = readdir(dir))) {
			char path[4096];

			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
			if (run_file(path) < 0) {
				fprintf(stderr, "cannot read %s\n", path);
				return 1;
			}
			count++;
		}
		closedir(dir);
	}
	if (count == 0) {
		fprintf(stderr, "no corpus file found: an empty corpus tests nothing\n");
		return 1;
	}
	printf("%zu inputs passed\n", count);
	return 0;
}
