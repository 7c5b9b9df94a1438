// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The header of a JPEG from SOI to the end of SOS, for our own decoder.
 *
 * It takes only what ordinary encoders write; at anything else it says
 * -EOPNOTSUPP and libjpeg-turbo decodes the picture.  So it need not judge:
 * what libjpeg would warn of (garbage between segments, an Adobe transform
 * nobody knows, JFIF 2) or refuse must not pass here, the rest may.
 *
 * Allocates nothing; @head points into the file.  No lock.
 * ITU-T T.81, annex B; the guess of the colour form is libjpeg's.
 */
#include "jpeg_head.h"

#include <errno.h>
#include <string.h>

enum {
	M_SOF0 = 0xc0,
	M_SOF1 = 0xc1,
	M_DHT = 0xc4,
	M_SOI = 0xd8,
	M_SOS = 0xda,
	M_DQT = 0xdb,
	M_DRI = 0xdd,
	M_APP0 = 0xe0,
	M_APP14 = 0xee,
	M_APP15 = 0xef,
	M_COM = 0xfe,
};

#define MAX_SIDE 65500u			/* libjpeg's JPEG_MAX_DIMENSION */
#define MAX_MCU_BLOCKS 10u
#define MAX_DC_SIZE 15u

const uint8_t dlb_zigzag[DLB_BLOCK_COEFS] = {
	0,  1,	8,  16, 9,  2,	3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,	7,  14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

struct segment {
	const uint8_t *p;		/* behind the length */
	size_t len;
};

/* What is known before SOS ties it together */
struct header {
	struct dlb_jpeg_head *head;
	const uint8_t *quant[DLB_NR_TABLES];	/* behind Pq and Tq */
	bool is_quant_wide[DLB_NR_TABLES];
	uint8_t quant_table[DLB_MAX_COMPONENTS];
	uint8_t adobe_transform;
	bool has_sof, has_jfif, has_adobe;
};

static uint32_t be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static int head_dqt(struct header *h, struct segment s)
{
	while (s.len) {
		bool is_wide = s.p[0] >> 4;
		size_t bytes = 1 + DLB_BLOCK_COEFS * (is_wide ? 2u : 1u);
		uint8_t idx = s.p[0] & 15;

		if (s.p[0] >> 4 > 1 || idx >= DLB_NR_TABLES || bytes > s.len)
			return -EOPNOTSUPP;
		h->quant[idx] = s.p + 1;
		h->is_quant_wide[idx] = is_wide;
		s.p += bytes;
		s.len -= bytes;
	}
	return 0;
}

static int head_dht(struct header *h, struct segment s)
{
	while (s.len > DLB_HUFF_COUNTS) {
		uint8_t class = s.p[0] >> 4, idx = s.p[0] & 15;
		size_t count = 0;

		for (int i = 1; i <= DLB_HUFF_COUNTS; i++)
			count += s.p[i];
		s.len -= 1 + DLB_HUFF_COUNTS;
		if (class > 1 || idx >= DLB_NR_TABLES || count > 256 ||
		    count > s.len)
			return -EOPNOTSUPP;
		if (class)
			h->head->ac[idx] = s.p + 1;
		else
			h->head->dc[idx] = s.p + 1;
		s.p += 1 + DLB_HUFF_COUNTS + count;
		s.len -= count;
	}
	return s.len ? -EOPNOTSUPP : 0;
}

static int head_dri(struct header *h, struct segment s)
{
	if (s.len != 2)
		return -EOPNOTSUPP;
	h->head->restart_interval = be16(s.p);
	return 0;
}

static int head_app0(struct header *h, struct segment s)
{
	if (s.len < 14 || memcmp(s.p, "JFIF", 5))
		return 0;
	h->has_jfif = true;
	return s.p[5] == 1 ? 0 : -EOPNOTSUPP;
}

static int head_app14(struct header *h, struct segment s)
{
	if (s.len < 12 || memcmp(s.p, "Adobe", 5))
		return 0;
	h->has_adobe = true;
	h->adobe_transform = s.p[11];
	return 0;
}

/* A component alone is one block a MCU, whatever its factors */
static void frame_normalise(struct dlb_frame *f)
{
	if (f->nr_components == 1)
		f->component[0].h = f->component[0].v = 1;
	f->h_max = f->v_max = 1;
	for (uint32_t i = 0; i < f->nr_components; i++) {
		if (f->component[i].h > f->h_max)
			f->h_max = f->component[i].h;
		if (f->component[i].v > f->v_max)
			f->v_max = f->component[i].v;
	}
}

static uint32_t div_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

static int frame_layout(struct dlb_frame *f)
{
	uint32_t mcu_blocks = 0;

	frame_normalise(f);
	f->mcu_cols = div_up(f->width, 8 * f->h_max);
	f->mcu_rows = div_up(f->height, 8 * f->v_max);
	for (uint32_t i = 0; i < f->nr_components; i++) {
		struct dlb_component *c = &f->component[i];

		if (f->h_max % c->h || f->v_max % c->v)
			return -EOPNOTSUPP;
		c->width = div_up(f->width * c->h, f->h_max);
		c->height = div_up(f->height * c->v, f->v_max);
		c->mcu_row_blocks = f->mcu_cols * c->h;
		mcu_blocks += c->h * c->v;
	}
	return mcu_blocks > MAX_MCU_BLOCKS ? -EOPNOTSUPP : 0;
}

static int head_sof(struct header *h, struct segment s)
{
	struct dlb_frame *f = &h->head->frame;

	if (h->has_sof || s.len < 6 || s.p[0] != 8)
		return -EOPNOTSUPP;
	h->has_sof = true;
	f->height = be16(s.p + 1);
	f->width = be16(s.p + 3);
	f->nr_components = s.p[5];
	if (!f->width || !f->height || f->width > MAX_SIDE ||
	    f->height > MAX_SIDE ||
	    (f->nr_components != 1 && f->nr_components != 3 &&
	     f->nr_components != 4) ||
	    s.len != 6 + 3 * (size_t)f->nr_components)
		return -EOPNOTSUPP;
	for (uint32_t i = 0; i < f->nr_components; i++) {
		const uint8_t *p = s.p + 6 + 3 * i;
		struct dlb_component *c = &f->component[i];

		c->id = p[0];
		c->h = p[1] >> 4;
		c->v = p[1] & 15;
		h->quant_table[i] = p[2];
		if (!c->h || c->h > 4 || !c->v || c->v > 4 ||
		    p[2] >= DLB_NR_TABLES)
			return -EOPNOTSUPP;
		for (uint32_t j = 0; j < i; j++)
			if (f->component[j].id == c->id)
				return -EOPNOTSUPP;
	}
	return frame_layout(f);
}

/* libjpeg's default_decompress_parms() */
static int head_colour(struct header *h)
{
	struct dlb_frame *f = &h->head->frame;
	const struct dlb_component *c = f->component;

	if (f->nr_components == 1)
		return 0;
	if (f->nr_components == 4)
		return !h->has_adobe || h->adobe_transform == 0 ||
		       h->adobe_transform == 2 ? 0 : -EOPNOTSUPP;
	if (h->has_jfif)
		return 0;
	if (h->has_adobe) {
		f->is_rgb = h->adobe_transform == 0;
		return h->adobe_transform < 2 ? 0 : -EOPNOTSUPP;
	}
	f->is_rgb = c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B';
	return 0;
}

static int head_quant(struct header *h)
{
	for (uint32_t i = 0; i < h->head->frame.nr_components; i++) {
		uint16_t *out = h->head->frame.component[i].quant;
		const uint8_t *p = h->quant[h->quant_table[i]];
		bool is_wide = h->is_quant_wide[h->quant_table[i]];

		if (!p)
			return -EOPNOTSUPP;
		for (uint32_t k = 0; k < DLB_BLOCK_COEFS; k++)
			out[dlb_zigzag[k]] = (uint16_t)(is_wide ?
							be16(p + 2 * k) : p[k]);
	}
	return 0;
}

/* A prefix code, none of it all ones, of valid symbols: libjpeg's conditions */
static bool huff_spec_is_good(const uint8_t *spec, bool is_dc)
{
	uint32_t code = 0, nr = 0;

	if (!spec)
		return false;
	for (uint32_t len = 1; len <= DLB_HUFF_COUNTS; len++) {
		code += spec[len - 1];
		nr += spec[len - 1];
		if (spec[len - 1] && code >= 1u << len)
			return false;
		code <<= 1;
	}
	for (uint32_t i = 0; is_dc && i < nr; i++)
		if (spec[DLB_HUFF_COUNTS + i] > MAX_DC_SIZE)
			return false;
	return true;
}

static int head_sos(struct header *h, struct segment s)
{
	struct dlb_jpeg_head *head = h->head;
	const struct dlb_frame *f = &head->frame;
	uint32_t nr = f->nr_components;
	const uint8_t *p = s.p + 1;

	if (!h->has_sof || s.len != 4 + 2 * (size_t)nr || s.p[0] != nr)
		return -EOPNOTSUPP;
	for (uint32_t i = 0; i < nr; i++, p += 2) {
		uint8_t dc = p[1] >> 4, ac = p[1] & 15;

		if (p[0] != f->component[i].id || dc >= DLB_NR_TABLES ||
		    ac >= DLB_NR_TABLES ||
		    !huff_spec_is_good(head->dc[dc], true) ||
		    !huff_spec_is_good(head->ac[ac], false))
			return -EOPNOTSUPP;
		head->dc_table[i] = dc;
		head->ac_table[i] = ac;
	}
	if (p[0] != 0 || p[1] != DLB_BLOCK_COEFS - 1 || p[2] != 0)
		return -EOPNOTSUPP;
	return head_quant(h) ? -EOPNOTSUPP : head_colour(h);
}

static int head_segment(struct header *h, uint8_t marker, struct segment s)
{
	switch (marker) {
	case M_SOF0:
	case M_SOF1:
		return head_sof(h, s);
	case M_DHT:
		return head_dht(h, s);
	case M_DQT:
		return head_dqt(h, s);
	case M_DRI:
		return head_dri(h, s);
	case M_SOS:
		return head_sos(h, s);
	case M_APP0:
		return head_app0(h, s);
	case M_APP14:
		return head_app14(h, s);
	default:
		if (marker == M_COM || (marker > M_APP0 && marker <= M_APP15))
			return 0;
		return -EOPNOTSUPP;
	}
}

int dlb_jpeg_head_parse(struct dlb_jpeg_head *head, const uint8_t *bytes,
			size_t len_bytes)
{
	struct header h = { .head = head };
	uint8_t marker = 0;
	size_t at = 2;

	memset(head, 0, sizeof(*head));
	if (len_bytes < 2 || bytes[0] != 0xff || bytes[1] != M_SOI)
		return -EOPNOTSUPP;
	while (marker != M_SOS) {
		size_t len;

		if (len_bytes - at < 4 || bytes[at] != 0xff)
			return -EOPNOTSUPP;
		marker = bytes[at + 1];
		if (marker == 0xff) {
			at++;
			continue;
		}
		at += 2;
		len = be16(bytes + at);
		if (len < 2 || len > len_bytes - at ||
		    head_segment(&h, marker, (struct segment){
			    bytes + at + 2, len - 2 }))
			return -EOPNOTSUPP;
		at += len;
	}
	head->scan_at = at;
	return 0;
}
