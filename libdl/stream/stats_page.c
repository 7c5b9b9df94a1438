// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Stats pages: written by streams, read by "dlboost stats" and "top".  A page
 * is written in one call with a checksum, so a reader sees a whole one or tries
 * again; it is never mapped.  What stands in the folder is believed only after
 * every check of read_page(): a page is a small file that anybody who is the
 * same user may have put there.  A process that was killed leaves its page; it
 * is passed over (process and start time are compared) and swept by the next
 * stream.
 */
#include "stats_page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <dlboost/log.h>

#include "../base/base.h"
#include "siphash.h"

#define PAGE_MAGIC "dlbstat1"
#define PATH_BYTES 4096
#define READ_TRIES 4

static const uint8_t page_key[DLB_SIPHASH_KEY_BYTES] = { 's' };

/* As it stands in the file; same library and word size, or it is ignored */
struct page_record {
	char magic[8];
	uint32_t record_bytes;
	uint32_t pid;
	uint32_t stream_idx;
	uint32_t reserved;
	uint64_t pid_start;	/* /proc/PID/stat, field 22 */
	uint64_t updated_ns;	/* CLOCK_MONOTONIC */
	struct dlboost_stream_info info;
	struct dlboost_stream_stats stats;
	char dataset_path[1024];
	char recipe[1024];
	uint64_t checksum;	/* over all before it */
};

struct dlb_stats_page {
	int fd;
	char path[PATH_BYTES];
	atomic_flag is_busy;
	struct page_record record;
};

static uint64_t checksum_of(const struct page_record *record)
{
	return dlb_siphash_u64(page_key, record,
			       offsetof(struct page_record, checksum));
}

static int folder_path(char *buf, size_t buf_bytes)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int n;

	if (!runtime || runtime[0] != '/')
		return -ENOENT;
	n = snprintf(buf, buf_bytes, "%s/dlboost", runtime);
	return n < 0 || (size_t)n >= buf_bytes ? -ENAMETOOLONG : 0;
}

/* Our own folder, into which nobody else can write; a descriptor or an error */
static int open_folder(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022))
		return fd;
	close(fd);
	return -EACCES;
}

/* When a process started, in clock ticks since boot; 0 when there is none */
static uint64_t process_start(uint32_t pid)
{
	_cleanup_close_ int fd = -1;
	char path[32], text[1024];
	unsigned long long start;
	ssize_t len;
	char *p;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	p = strrchr(text, ')');	/* a name may hold anything */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p && sscanf(p, "%llu", &start) == 1 ? start : 0;
}

static bool parse_name(const char *name, uint32_t *pid, uint32_t *stream_idx)
{
	char back[32];

	if (sscanf(name, "%9u-%9u", pid, stream_idx) != 2 || !*pid)
		return false;
	snprintf(back, sizeof(back), "%u-%u", *pid, *stream_idx);
	return !strcmp(back, name);
}

static bool has_end(const char *text, size_t bytes)
{
	return memchr(text, '\0', bytes) != NULL;
}

static bool is_sane(const struct page_record *r, uint32_t pid,
		    uint32_t stream_idx)
{
	return !memcmp(r->magic, PAGE_MAGIC, sizeof(r->magic)) &&
	       r->record_bytes == sizeof(*r) && r->pid == pid &&
	       r->stream_idx == stream_idx && r->updated_ns <= dlb_now_ns() &&
	       has_end(r->dataset_path, sizeof(r->dataset_path)) &&
	       has_end(r->recipe, sizeof(r->recipe)) &&
	       has_end(r->info.dataset.fingerprint,
		       sizeof(r->info.dataset.fingerprint)) &&
	       r->stats.limit_stage <= DLBOOST_LIMIT_CONSUMER &&
	       isfinite(r->stats.limit_share) && r->stats.limit_share >= 0 &&
	       r->stats.limit_share <= 1;
}

/* 0 and a page to believe, or -ESRCH for one of a dead process, or an error */
static int read_page(int folder, const char *name, struct page_record *r)
{
	_cleanup_close_ int fd = -1;
	uint32_t pid, stream_idx;
	struct stat st;

	if (!parse_name(name, &pid, &stream_idx))
		return -EINVAL;
	fd = openat(folder, name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -EACCES;
	for (int i = 0; i < READ_TRIES; i++) {
		uint64_t start;

		if (pread(fd, r, sizeof(*r), 0) != (ssize_t)sizeof(*r) ||
		    r->checksum != checksum_of(r))
			continue;
		if (!is_sane(r, pid, stream_idx))
			return -EINVAL;
		start = process_start(pid);
		return start && start == r->pid_start ? 0 : -ESRCH;
	}
	/* Not even whole: dead if its process is */
	return process_start(pid) ? -EINVAL : -ESRCH;
}

static void sweep(int folder)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!dir) {
		if (copy >= 0)
			close(copy);
		return;
	}
	while ((entry = readdir(dir))) {
		struct page_record r;

		if (read_page(folder, entry->d_name, &r) == -ESRCH)
			unlinkat(folder, entry->d_name, 0);
	}
	closedir(dir);
}

static void fill_record(struct page_record *r,
			const struct dlboost_stream_info *info,
			const char *dataset_path, const char *recipe)
{
	static atomic_uint next_idx;

	memcpy(r->magic, PAGE_MAGIC, sizeof(r->magic));
	r->record_bytes = sizeof(*r);
	r->pid = (uint32_t)getpid();
	r->pid_start = process_start(r->pid);
	r->stream_idx = atomic_fetch_add(&next_idx, 1) % 1000000000u;
	r->info = *info;
	dlb_sentence(r->dataset_path, sizeof(r->dataset_path), "%s",
		     dataset_path);
	dlb_sentence(r->recipe, sizeof(r->recipe), "%s", recipe);
}

struct dlb_stats_page *
dlb_stats_page_create(const struct dlboost_stream_info *info,
		      const char *dataset_path, const char *recipe)
{
	_cleanup_close_ int folder = -1;
	char where[PATH_BYTES - 32];
	struct dlb_stats_page *page;

	if (folder_path(where, sizeof(where)))
		return NULL;
	if (mkdir(where, 0700) && errno != EEXIST)
		return NULL;
	folder = open_folder(where);
	if (folder < 0)
		return NULL;
	sweep(folder);
	page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	atomic_flag_clear(&page->is_busy);
	fill_record(&page->record, info, dataset_path, recipe);
	snprintf(page->path, sizeof(page->path), "%s/%u-%u", where,
		 page->record.pid, page->record.stream_idx);
	page->fd = open(page->path,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	if (page->fd < 0) {
		dlb_log(DLBOOST_LOG_INFO, "stats page %s: %s", page->path,
			strerror(errno));
		free(page);
		return NULL;
	}
	dlb_stats_page_write(page, &(struct dlboost_stream_stats){ 0 },
			     dlb_now_ns());
	return page;
}

void dlb_stats_page_write(struct dlb_stats_page *page,
			  const struct dlboost_stream_stats *stats,
			  uint64_t now_ns)
{
	if (atomic_flag_test_and_set(&page->is_busy))
		return;
	page->record.stats = *stats;
	page->record.updated_ns = now_ns;
	page->record.checksum = checksum_of(&page->record);
	/* A full disk costs the page an update and nothing else */
	if (pwrite(page->fd, &page->record, sizeof(page->record), 0) !=
	    (ssize_t)sizeof(page->record))
		dlb_log(DLBOOST_LOG_DEBUG, "stats page %s: not written",
			page->path);
	atomic_flag_clear(&page->is_busy);
}

void dlb_stats_page_destroy(struct dlb_stats_page *page)
{
	if (!page)
		return;
	unlink(page->path);
	close(page->fd);
	free(page);
}

static void record_to_page(const struct page_record *r,
			   struct dlboost_stats_page *out)
{
	uint64_t now_ns = dlb_now_ns();

	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->pid = r->pid;
	out->stream_idx = r->stream_idx;
	out->info = r->info;
	out->stats = r->stats;
	out->age_ns = now_ns > r->updated_ns ? now_ns - r->updated_ns : 0;
	memcpy(out->dataset_path, r->dataset_path, sizeof(out->dataset_path));
	memcpy(out->recipe, r->recipe, sizeof(out->recipe));
}

DLB_EXPORT int
dlboost_stats_pages(int (*visit)(void *arg,
				 const struct dlboost_stats_page *page),
		    void *arg)
{
	char where[PATH_BYTES];
	struct dirent *entry;
	int folder, nr = 0;
	DIR *dir;

	if (folder_path(where, sizeof(where)))
		return 0;
	folder = open_folder(where);
	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	dir = fdopendir(folder);
	if (!dir) {
		close(folder);
		return -ENOMEM;
	}
	while ((entry = readdir(dir))) {
		struct dlboost_stats_page page;
		struct page_record r;

		if (read_page(folder, entry->d_name, &r))
			continue;
		record_to_page(&r, &page);
		nr++;
		if (visit(arg, &page))
			break;
	}
	closedir(dir);
	return nr;
}
