// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The golden table: finds it, reads it line by line, and holds the engine and
 * the recipe's draws against it.  The table's form is told in its README.rst.
 */
#include "selftest.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <string.h>

#include "progress.h"

#define NR_COLUMNS 6

/* One line of the table, split in place */
struct table_row {
	char *picture;
	char *recipe;
	char *geometry;
	char *draw;
	char *bytes;
	char *sha256;
};

/* @folder/@below, if a table is in it */
static char *with_table(const char *folder, const char *below)
{
	char *path = NULL, *table = NULL, *joined = NULL;

	if (asprintf(&joined, "%s%s", folder, below) < 0)
		return NULL;
	path = realpath(joined, NULL);
	free(joined);
	if (!path)
		return NULL;
	if (asprintf(&table, "%s/table.tsv", path) >= 0 &&
	    !access(table, R_OK)) {
		free(table);
		return path;
	}
	free(table);
	free(path);
	return NULL;
}

/* Beside an installed command, or above one in a build folder */
static char *find_near_program(void)
{
	char program[TOOL_PATH_BYTES];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *folder, *found;

	if (len <= 0)
		return NULL;
	program[len] = '\0';
	folder = dirname(program);
	found = with_table(folder, "/../share/dlboost/golden");
	for (int up = 0; !found && up < 4; up++) {
		folder = dirname(folder);
		found = with_table(folder, "/tests/golden");
	}
	return found;
}

char *selftest_find_golden(void)
{
	const char *given = getenv("DLBOOST_GOLDEN_DIR");

	return given ? with_table(given, "") : find_near_program();
}

static bool split_row(char *line, struct table_row *row)
{
	char **columns[NR_COLUMNS] = { &row->picture, &row->recipe,
				       &row->geometry, &row->draw, &row->bytes,
				       &row->sha256 };

	for (int i = 0; i < NR_COLUMNS; i++) {
		*columns[i] = strsep(&line, "\t");
		if (!*columns[i])
			return false;
	}
	row->sha256[strcspn(row->sha256, "\r\n")] = '\0';
	return true;
}

static bool parse_geometry(const char *text, struct dlboost_geometry *g)
{
	return sscanf(text, "%" SCNu32 ",%" SCNu32 ",%" SCNu32 ",%" SCNu32
		      ",%" SCNu32 ",%" SCNu32 ",%" SCNd32 ",%" SCNd32
		      ",%" SCNu32 ",%" SCNu32 ",%" SCNu32,
		      &g->crop_x, &g->crop_y, &g->crop_w, &g->crop_h,
		      &g->resize_w, &g->resize_h, &g->window_x, &g->window_y,
		      &g->window_w, &g->window_h, &g->flip) == 11;
}

/* Does the recipe draw this geometry? */
static bool check_draw(const struct table_row *row,
		       const struct file_buffer *picture,
		       const struct dlboost_geometry *wanted)
{
	struct dlboost_geometry drawn = { 0 };
	struct dlboost_recipe *recipe;
	struct dlboost_image_info info;
	uint64_t seed, sample;
	uint32_t epoch, width, height;
	bool is_turned;
	int ret;

	if (sscanf(row->draw, "%" SCNu64 ",%" SCNu32 ",%" SCNu64, &seed, &epoch,
		   &sample) != 3 ||
	    dlboost_probe(picture->bytes, picture->len_bytes, NULL, &info,
			  NULL) ||
	    dlboost_recipe_parse(row->recipe, NULL, 0, &recipe))
		return false;
	is_turned = info.orientation >= 5 &&
		    strstr(dlboost_recipe_canonical(recipe), "orient=exif");
	width = is_turned ? info.height : info.width;
	height = is_turned ? info.width : info.height;
	ret = dlboost_recipe_draw(recipe, width, height, seed, epoch, sample,
				  &drawn);
	dlboost_recipe_destroy(recipe);
	return !ret && !memcmp(&drawn, wanted, sizeof(drawn));
}

static void run_row(struct selftest *t, const struct table_row *row,
		    const struct file_buffer *picture)
{
	struct dlboost_geometry geometry;
	char *what = NULL;
	struct selftest_case c = {
		.bytes = picture->bytes, .nr_bytes = picture->len_bytes,
		.recipe = row->recipe, .geometry = &geometry,
		.sha256 = row->sha256,
		.expected_bytes = strtoull(row->bytes, NULL, 10),
	};

	if (asprintf(&what, "%s %s %s", row->picture, row->recipe,
		     row->geometry) < 0)
		what = NULL;
	c.what = what ? what : row->picture;
	if (!parse_geometry(row->geometry, &geometry))
		selftest_fail(t, c.what, "malformed geometry in the table");
	else if (strcmp(row->draw, "-") && !check_draw(row, picture, &geometry))
		selftest_fail(t, c.what, "draw %s gives another geometry",
			      row->draw);
	else
		selftest_run_case(t, &c);
	free(what);
}

static int read_picture(const char *folder, const char *name,
			struct file_buffer *picture)
{
	char *path = NULL;
	int ret;

	if (asprintf(&path, "%s/pictures/%s", folder, name) < 0)
		return -ENOMEM;
	ret = file_buffer_read(picture, path, 0, -1, SIZE_MAX);
	free(path);
	return ret;
}

static void run_table(struct selftest *t, const char *folder, FILE *table)
{
	struct progress_state progress = { .has_bad = true };
	struct file_buffer picture = { 0 };
	char last[256] = "", *line = NULL;
	size_t cap = 0;

	progress_start(t->ctx, "cases", true);
	while (getline(&line, &cap, table) > 0 && !signals_caught()) {
		struct table_row row;
		int ret = 0;

		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (!split_row(line, &row)) {
			selftest_fail(t, "table.tsv", "malformed line");
			continue;
		}
		if (strcmp(last, row.picture))
			ret = read_picture(folder, row.picture, &picture);
		snprintf(last, sizeof(last), "%s", ret ? "" : row.picture);
		if (ret)
			selftest_fail(t, row.picture, "%s", strerror(-ret));
		else
			run_row(t, &row, &picture);
		progress.done++;
		progress.nr_bad = t->nr_failed;
		progress_update(&progress);
	}
	progress_stop();
	free(line);
	free(picture.bytes);
}

int selftest_golden(struct selftest *t, const char *folder)
{
	char *path = NULL;
	FILE *table;

	if (asprintf(&path, "%s/table.tsv", folder) < 0)
		return TOOL_FAILED;
	table = fopen(path, "re");
	if (!table) {
		msg_error("%s: %s", path, strerror(errno));
		free(path);
		return exit_from_error(errno);
	}
	run_table(t, folder, table);
	fclose(table);
	free(path);
	return TOOL_DONE;
}
