// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Figures with units, as plan's options take them: whole numbers, or up to three
 * places behind the point.  Knows no option.
 */
#include <string.h>

#include "plan_report.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* "1.5" to 1500 and the rest of the text; NULL when it is no such number */
static const char *parse_thousandths(const char *text, uint64_t *out)
{
	uint64_t value = 0, scale = 1000;
	const char *digits = text;

	for (; *text >= '0' && *text <= '9'; text++) {
		if (value > UINT64_MAX / 100000)
			return NULL;
		value = 10 * value + (uint64_t)(*text - '0');
	}
	if (text == digits)
		return NULL;
	if (*text == '.') {
		text++;
		for (; *text >= '0' && *text <= '9' && scale > 1; text++) {
			value = 10 * value + (uint64_t)(*text - '0');
			scale /= 10;
		}
	}
	if (value > UINT64_MAX / scale)
		return NULL;
	*out = value * scale;
	return text;
}

static bool parse_unit(const char *text, const struct unit *units, size_t nr,
		       uint64_t *out)
{
	uint64_t thousandths;
	const char *name = parse_thousandths(text, &thousandths);

	for (size_t i = 0; name && i < nr; i++) {
		unsigned __int128 value;

		if (strcmp(name, units[i].name))
			continue;
		value = (unsigned __int128)thousandths * units[i].factor / 1000;
		if (value > INT64_MAX)
			return false;
		*out = (uint64_t)value;
		return true;
	}
	return false;
}

bool plan_parse_rate(const char *text, uint64_t *bits_per_s)
{
	static const struct unit units[] = {
		{ "bit", 1 }, { "kbit", 1000 }, { "Mbit", 1000000 },
		{ "Gbit", 1000000000 }, { "Tbit", 1000000000000 },
		{ "B", 8 }, { "kB", 8000 }, { "MB", 8000000 },
		{ "GB", 8000000000 }, { "TB", 8000000000000 },
	};
	char name[64];
	size_t len = strlen(text);

	/* "10Gbit/s" is "10Gbit" */
	if (len >= sizeof(name))
		return false;
	memcpy(name, text, len + 1);
	if (len > 2 && !strcmp(name + len - 2, "/s"))
		name[len - 2] = '\0';
	return parse_unit(name, units, ARRAY_SIZE(units), bits_per_s) &&
	       *bits_per_s;
}

bool plan_parse_time(const char *text, uint64_t *ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 },
	};

	return parse_unit(text, units, ARRAY_SIZE(units), ns);
}

bool plan_parse_bytes(const char *text, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "", 1 }, { "B", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 },
		{ "GiB", 1 << 30 }, { "kB", 1000 }, { "MB", 1000000 },
		{ "GB", 1000000000 },
	};

	return parse_unit(text, units, ARRAY_SIZE(units), bytes) && *bytes;
}
