/* SPDX-License-Identifier: MIT
 * A bare tree-sitter parse of one file as Python: what the whole run of graphlint is compared with. Prints how many
 * bytes were parsed: all, or those within the limit of seconds (a raw log is no Python, and recovery is slow). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_python(void);

static char *read_file(const char *path, long *size)
{
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) != 0 || (*size = ftell(f)) < 0)
		return NULL;
	rewind(f);
	char *text = malloc((size_t)*size + 1);
	if (text && fread(text, 1, (size_t)*size, f) != (size_t)*size)
		return NULL;
	fclose(f);
	return text;
}

typedef struct Progress {
	const char *text;
	long size;
	uint32_t reached;
	clock_t end;
} Progress;

static const char *chunk(void *payload, uint32_t at, TSPoint point, uint32_t *n)
{
	const Progress *p = payload;
	(void)point;
	*n = at < (uint32_t)p->size ? (uint32_t)p->size - at : 0;
	return p->text + (at < (uint32_t)p->size ? at : (uint32_t)p->size);
}

static bool out_of_time(TSParseState *state)
{
	Progress *p = state->payload;
	if (state->current_byte_offset > p->reached)
		p->reached = state->current_byte_offset;
	return clock() > p->end;
}

int main(int argc, char **argv)
{
	Progress p = {0};
	char *text = argc == 3 ? read_file(argv[1], &p.size) : NULL;
	TSParser *parser = ts_parser_new();
	if (!text || !ts_parser_set_language(parser, tree_sitter_python())) {
		fprintf(stderr, "usage: bench_parse FILE SECONDS\n");
		return 2;
	}
	p.text = text;
	p.end = clock() + (clock_t)(strtod(argv[2], NULL) * CLOCKS_PER_SEC);
	TSInput input = {.payload = &p, .read = chunk, .encoding = TSInputEncodingUTF8};
	TSParseOptions options = {.payload = &p, .progress_callback = out_of_time};
	TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, options);
	printf("%ld\n", tree ? p.size : (long)p.reached);
	ts_tree_delete(tree);
	ts_parser_delete(parser);
	free(text);
	return 0;
}
