/* Preloaded into teeline by the tests: holds or slows what it writes to its store, steps its wall clock, and counts its
   allocations. Everything else is as without it. The test and this share one page of 64-bit numbers. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The order is that of `Control` in disturbed.rs. */
enum { CLOCK_SECONDS, HOLD_SYNCS, HOLD_WRITES, SYNC_US, WRITE_US, SYNCS, WRITES, ALLOCATIONS, COUNTING, NUMBERS };

static volatile int64_t *control;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TEELINE_TEST_CONTROL");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *page = mmap(NULL, NUMBERS * sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED) control = page;
}

static int is_of_the_store(int fd) {
    char name[64], target[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, target, sizeof target - 1);
    if (length < 0) return 0;
    target[length] = 0;
    return strstr(target, "/teeline.db") != NULL;
}

static void disturb(int fd, int hold, int us, int count) {
    if (!control || (!control[hold] && !control[us])) return;
    int before = errno;
    if (is_of_the_store(fd)) {
        __atomic_fetch_add(&control[count], 1, __ATOMIC_SEQ_CST);
        if (control[us]) usleep(control[us]);
        while (control[hold]) usleep(1000);
    }
    errno = before;
}

int fsync(int fd) {
    disturb(fd, HOLD_SYNCS, SYNC_US, SYNCS);
    return syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    disturb(fd, HOLD_SYNCS, SYNC_US, SYNCS);
    return syscall(SYS_fdatasync, fd);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    disturb(fd, HOLD_WRITES, WRITE_US, WRITES);
    return syscall(SYS_write, fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    disturb(fd, HOLD_WRITES, WRITE_US, WRITES);
    return syscall(SYS_pwrite64, fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    disturb(fd, HOLD_WRITES, WRITE_US, WRITES);
    return syscall(SYS_pwrite64, fd, bytes, length, at);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && control && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += control[CLOCK_SECONDS];
    return result;
}

/* Those of the runtime's threads, which move the apps' bytes: what the recorder's own threads need is its affair. */
static void count(void) {
    if (!control || !control[COUNTING]) return;
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    if (strncmp(name, "tokio", 5) == 0) __atomic_fetch_add(&control[ALLOCATIONS], 1, __ATOMIC_RELAXED);
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count();
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **place, size_t alignment, size_t size) {
    count();
    *place = __libc_memalign(alignment, size);
    return *place ? 0 : ENOMEM;
}
