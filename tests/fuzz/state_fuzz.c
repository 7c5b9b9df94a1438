// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * State documents are hostile input: whatever is read must be written and read
 * back the same, and nothing may go wrong with what is refused.  Each input is
 * tried as it is and with its checksum put right, since no fuzzer guesses that.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_text(const char *text)
{
	char error[512] = "", again[DLB_STATE_MAX_BYTES];
	struct dlb_state state, same, merged;
	const char *texts[] = { text, text };
	uint64_t repeated;

	if (dlb_state_parse(text, &state, error, sizeof(error))) {
		if (!error[0])
			abort();
		return;
	}
	if (dlb_state_format(&state, again, sizeof(again)) > sizeof(again) ||
	    dlb_state_parse(again, &same, NULL, 0) ||
	    memcmp(&state, &same, sizeof(state)))
		abort();
	if (dlb_state_merge(texts, 1, false, &merged, &repeated, NULL, 0) ||
	    merged.position != state.position || repeated)
		abort();
	/* The same rank twice */
	if (!dlb_state_merge(texts, 2, true, &merged, &repeated, NULL, 0))
		abort();
}

/* FNV-1a, Documentation/order.rst */
static void seal(char *text, size_t text_bytes)
{
	char *last = strstr(text, "checksum: ");
	uint64_t sum = 0xcbf29ce484222325u;

	if (!last)
		last = text + strlen(text);
	for (const char *p = text; p < last; p++)
		sum = (sum ^ (uint8_t)*p) * 0x100000001b3u;
	snprintf(last, text_bytes - (size_t)(last - text),
		 "checksum: %016llx\n", (unsigned long long)sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of the exact size, so that a read past the NUL is seen */
	char *exact = malloc(size + 1), *sealed = malloc(size + 64);

	if (!exact || !sealed)
		abort();
	memcpy(exact, data, size);
	exact[size] = '\0';
	try_text(exact);
	memcpy(sealed, exact, size + 1);
	seal(sealed, size + 64);
	try_text(sealed);
	free(exact);
	free(sealed);
	return 0;
}
