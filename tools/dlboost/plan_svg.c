// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The timeline of a plan as a picture for people: a lane for each stream and
 * link, one below the other for ddp and for the best policy, on one scale.
 */
#include <string.h>

#include "plan_report.h"

#define WIDTH 1600
#define LEFT 130
#define RIGHT 30
#define LANE 34
#define LANE_GAP 6
#define TITLE 46
#define FOOT 60
/* A label stands where this many pixels are there for it */
#define LABEL_WIDTH 22

struct drawing {
	FILE *file;
	const struct plan_report *report;
	uint64_t scale_ns;
	unsigned int y;
};

static const char *const colours[] = {
	"#4c78a8", "#72b7b2", "#eeca3b", "#54a24b", "#9d755d",
};
#define LINK_COLOUR "#e45756"
#define LOCAL_COLOUR "#f2a2a3"

static double at(const struct drawing *d, uint64_t ns)
{
	return LEFT + (double)ns / (double)d->scale_ns *
	       (WIDTH - LEFT - RIGHT);
}

static void print_xml(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", file);
		else if (*text == '&')
			fputs("&amp;", file);
		else if (*text == '>')
			fputs("&gt;", file);
		else if ((unsigned char)*text >= 0x20)
			fputc(*text, file);
	}
}

static void draw_lane(const struct drawing *d, const char *name,
		      unsigned int idx)
{
	fprintf(d->file, "<text x=\"8\" y=\"%u\">%s", d->y + LANE / 2 + 5,
		name);
	if (idx)
		fprintf(d->file, " %u", idx);
	fprintf(d->file, "</text>\n<rect x=\"%d\" y=\"%u\" width=\"%d\" "
		"height=\"%d\" fill=\"#f4f4f4\"/>\n", LEFT, d->y,
		WIDTH - LEFT - RIGHT, LANE);
}

/* The title is what a browser shows under the pointer */
static void draw_box(const struct drawing *d, uint64_t start_ns,
		     uint64_t end_ns, const char *colour, const char *kind,
		     const char *name, unsigned int number)
{
	double x = at(d, start_ns), width = at(d, end_ns) - x;

	fprintf(d->file, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" "
		"fill=\"%s\"><title>%s ", x, d->y, width < 0.3 ? 0.3 : width,
		LANE, colour, kind);
	print_xml(d->file, name);
	fprintf(d->file, " %.3f-%.3f ms</title></rect>\n",
		(double)start_ns / 1e6, (double)end_ns / 1e6);
	if (width >= LABEL_WIDTH)
		fprintf(d->file, "<text x=\"%.2f\" y=\"%u\" class=\"n\">%u"
			"</text>\n", x + width / 2, d->y + LANE / 2 + 4,
			number);
}

static void draw_streams(struct drawing *d, const struct plan_graph *graphs,
			 const struct dlboost_plan_view *view)
{
	static const char *const kinds[] = { "dX", "dW", "update", "forward",
					     "release" };

	for (uint32_t s = 0; s < d->report->attr.nr_streams; s++) {
		draw_lane(d, "stream", s);
		for (uint32_t i = 0; i < view->nr_items; i++) {
			const struct dlboost_plan_item *item = &view->items[i];

			if (item->stream != s ||
			    item->kind == DLBOOST_PLAN_RELEASE)
				continue;
			draw_box(d, item->start_ns, item->end_ns,
				 colours[item->kind], kinds[item->kind],
				 graphs[item->graph].layers[item->layer].name,
				 item->layer);
		}
		d->y += LANE + LANE_GAP;
	}
}

static void draw_links(struct drawing *d, const struct plan_graph *graphs,
		       const struct dlboost_plan_view *view)
{
	bool has_local = view->nr_messages && view->messages[0].local_end_ns >
						view->messages[0].local_start_ns;

	for (int is_last = !has_local; view->nr_messages && is_last < 2;
	     is_last++) {
		draw_lane(d, is_last ? "link" : "local link", 0);
		for (uint32_t m = 0; m < view->nr_messages; m++) {
			const struct dlboost_plan_message *message =
				&view->messages[m];
			uint32_t layer =
				view->slices[message->first_slice].layer;

			draw_box(d, is_last ? message->start_ns :
					      message->local_start_ns,
				 is_last ? message->end_ns :
					   message->local_end_ns,
				 is_last ? LINK_COLOUR : LOCAL_COLOUR, "reduce",
				 graphs[message->graph].layers[layer].name,
				 layer);
		}
		d->y += LANE + LANE_GAP;
	}
}

static void draw_mark(const struct drawing *d, unsigned int top, uint64_t ns,
		      const char *colour, const char *dashes)
{
	fprintf(d->file, "<line x1=\"%.2f\" x2=\"%.2f\" y1=\"%u\" y2=\"%u\" "
		"stroke=\"%s\" stroke-dasharray=\"%s\"/>\n", at(d, ns),
		at(d, ns), top - 6, d->y, colour, dashes);
}

/* With a barrier: the moment all reductions are over */
static uint64_t barrier_ns(const struct dlboost_plan_view *view)
{
	uint64_t ns = 0;

	for (uint32_t m = 0; view->has_barrier && m < view->nr_messages; m++)
		if (view->messages[m].end_ns > ns)
			ns = view->messages[m].end_ns;
	return ns;
}

static void draw_row(struct drawing *d, const struct plan_row *row,
		     unsigned int idx)
{
	const struct dlboost_plan_view *view = plan_row_view(row, idx);
	const struct plan_graph *graphs = d->report->graphs + idx;
	unsigned int top;

	fprintf(d->file, "<text x=\"8\" y=\"%u\" class=\"t\">%s",
		d->y + 28, dlboost_plan_policy_name(row->policy));
	fputs(", ", d->file);
	print_xml(d->file, row->nr_plans == 1 && d->report->nr_graphs > 1 ?
		  "all graphs" : graphs->name);
	fprintf(d->file, ": period %.3f ms, bound %.3f ms (%s), peak %.2f GiB"
		"</text>\n", (double)view->period_ns / 1e6,
		(double)view->bound.period_ns / 1e6,
		plan_limit_name(view->bound.limit),
		(double)view->peak_bytes / (1 << 30));
	d->y += TITLE;
	top = d->y;
	draw_streams(d, graphs, view);
	draw_links(d, graphs, view);
	draw_mark(d, top, view->bound.period_ns, "#000", "2 3");
	draw_mark(d, top, view->period_ns, "#000", "none");
	if (barrier_ns(view))
		draw_mark(d, top, barrier_ns(view), LINK_COLOUR, "6 3");
}

static void draw_legend(const struct drawing *d)
{
	static const char *const names[] = { "dX", "dW", "update", "forward" };
	unsigned int x = LEFT;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++, x += 110)
		fprintf(d->file, "<rect x=\"%u\" y=\"%u\" width=\"14\" height=\"14\" "
			"fill=\"%s\"/><text x=\"%u\" y=\"%u\">%s</text>\n", x,
			d->y + 14, colours[i], x + 20, d->y + 26, names[i]);
	fprintf(d->file, "<rect x=\"%u\" y=\"%u\" width=\"14\" height=\"14\" "
		"fill=\"%s\"/><text x=\"%u\" y=\"%u\">reduction</text>\n"
		"<text x=\"%u\" y=\"%u\">dotted: bound; line: end of the step; "
		"dashed: barrier; numbers: layers</text>\n", x, d->y + 14,
		LINK_COLOUR, x + 20, d->y + 26, x + 120, d->y + 26);
}

/* ddp first, then the best of the others; all of them when few were asked for */
static bool is_drawn(const struct plan_report *report,
		     const struct plan_row *row)
{
	return report->nr_rows <= 2 || row->policy == DLBOOST_PLAN_DDP ||
	       row == plan_report_best(report);
}

static void draw_all(struct drawing *d)
{
	const struct plan_report *report = d->report;

	for (unsigned int i = 0; i < report->nr_rows; i++)
		if (is_drawn(report, &report->rows[i]))
			for (unsigned int j = 0; j < report->rows[i].nr_plans;
			     j++)
				draw_row(d, &report->rows[i], j);
	draw_legend(d);
}

static void find_scale(struct drawing *d)
{
	const struct plan_report *report = d->report;

	d->scale_ns = 1;
	for (unsigned int i = 0; i < report->nr_rows; i++)
		for (unsigned int j = 0; j < report->rows[i].nr_plans; j++) {
			const struct dlboost_plan_view *view =
				plan_row_view(&report->rows[i], j);

			if (is_drawn(report, &report->rows[i]) &&
			    view->period_ns > d->scale_ns)
				d->scale_ns = view->period_ns;
		}
}

int plan_svg_write(const struct plan_report *report, const char *path)
{
	struct drawing d = { .report = report };
	char *body = NULL, *head = NULL;
	size_t body_bytes = 0;
	int ret = -1;

	d.file = open_memstream(&body, &body_bytes);
	if (d.file) {
		find_scale(&d);
		draw_all(&d);
		if (fclose(d.file) || asprintf(&head,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
			"height=\"%u\" font-family=\"sans-serif\" font-size=\"14\">\n"
			"<style>.n{font-size:10px;fill:#fff;text-anchor:middle}"
			".t{font-size:17px}</style>\n"
			"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
			WIDTH, d.y + FOOT) < 0)
			head = NULL;
	}
	if (head) {
		const struct file_part parts[] = {
			{ head, strlen(head) }, { body, body_bytes },
			{ "</svg>\n", 7 },
		};

		ret = file_write_parts(path, parts, ARRAY_SIZE(parts));
		if (ret)
			msg_error("%s: %s", path, strerror(-ret));
	} else {
		msg_error("out of memory");
	}
	free(head);
	free(body);
	return ret ? exit_from_error(ret) : TOOL_DONE;
}
