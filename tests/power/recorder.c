/* Records what a process writes below one folder, and what it syncs, so that a power cut can be played after it.
 *
 * Loaded with LD_PRELOAD. Nothing is recorded until power_begin(folder, log). Each record is one append to the
 * log: a head, a path (two for a rename, with a NUL between), data. A write is recorded when it is done, a sync
 * with the number of records that there were when it began: only those are surely on the disk after it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 65536

struct head {
    uint8_t kind;
    uint64_t inode, offset, path_length, data_length;
} __attribute__((packed));

enum { NOT_OURS, A_FILE, A_FOLDER };

static char folder[PATH_MAX];
static size_t folder_length;
static int log_file = -1;
static uint64_t records;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint8_t kind;
    uint64_t inode;
} files[FILES];

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static void record(uint8_t kind, uint64_t inode, uint64_t offset, const char *path, size_t path_length,
                   const void *data, size_t data_length) {
    struct head head = {kind, inode, offset, path_length, data_length};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)path, path_length}, {(void *)data, data_length}};
    static ssize_t (*real)(int, const struct iovec *, int);
    if (!real) real = dlsym(RTLD_NEXT, "writev");
    pthread_mutex_lock(&lock);
    records++;
    if (real(log_file, parts, 3) < 0) abort();
    pthread_mutex_unlock(&lock);
}

static const char *below(const char *path) {
    static __thread char whole[PATH_MAX];
    if (log_file < 0 || !path) return NULL;
    if (path[0] != '/') {
        if (!getcwd(whole, sizeof whole)) return NULL;
        strncat(whole, "/", sizeof whole - strlen(whole) - 1);
        strncat(whole, path, sizeof whole - strlen(whole) - 1);
    } else {
        snprintf(whole, sizeof whole, "%s", path);
    }
    if (strncmp(whole, folder, folder_length)) return NULL;
    if (whole[folder_length] == '\0') return "";
    return whole[folder_length] == '/' ? whole + folder_length + 1 : NULL;
}

void power_begin(const char *path, const char *log) {
    snprintf(folder, sizeof folder, "%s", path);
    folder_length = strlen(folder);
    log_file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_file < 0) abort();
}

static int is_there(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0;
}

static void opened(int file, const char *path, int flags, int was_there) {
    int before = errno;
    const char *name = below(path);
    struct stat found;
    if (name && file >= 0 && file < FILES && fstat(file, &found) == 0) {
        files[file].kind = S_ISDIR(found.st_mode) ? A_FOLDER : A_FILE;
        files[file].inode = found.st_ino;
        if (!was_there) record('c', found.st_ino, 0, name, strlen(name), NULL, 0);
        else if (flags & O_TRUNC) record('t', found.st_ino, 0, NULL, 0, NULL, 0);
    }
    errno = before;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | __O_TMPFILE)) { \
            va_list more; \
            va_start(more, flags); \
            mode = va_arg(more, mode_t); \
            va_end(more); \
        } \
        int was_there = log_file < 0 || !(flags & O_CREAT) || is_there(path); \
        int file = real(path, flags, mode); \
        opened(file, path, flags, was_there); \
        return file; \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int at, const char *path, int flags, ...) { \
        REAL(name); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | __O_TMPFILE)) { \
            va_list more; \
            va_start(more, flags); \
            mode = va_arg(more, mode_t); \
            va_end(more); \
        } \
        int was_there = log_file < 0 || !(flags & O_CREAT) || is_there(path); \
        int file = real(at, path, flags, mode); \
        if (at == AT_FDCWD || path[0] == '/') opened(file, path, flags, was_there); \
        return file; \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int file) {
    REAL(close);
    if (file >= 0 && file < FILES) files[file].kind = NOT_OURS;
    return real(file);
}

static int is_ours(int file, int kind) {
    return log_file >= 0 && file >= 0 && file < FILES && files[file].kind == kind;
}

static void wrote(int file, const void *data, ssize_t length, uint64_t offset) {
    int before = errno;
    if (length > 0) record('w', files[file].inode, offset, NULL, 0, data, length);
    errno = before;
}

ssize_t write(int file, const void *data, size_t length) {
    REAL(write);
    ssize_t done = real(file, data, length);
    if (is_ours(file, A_FILE)) wrote(file, data, done, lseek(file, 0, SEEK_CUR) - done);
    return done;
}

ssize_t pwrite(int file, const void *data, size_t length, off_t offset) {
    REAL(pwrite);
    ssize_t done = real(file, data, length, offset);
    if (is_ours(file, A_FILE)) wrote(file, data, done, offset);
    return done;
}

ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
    REAL(pwrite64);
    ssize_t done = real(file, data, length, offset);
    if (is_ours(file, A_FILE)) wrote(file, data, done, offset);
    return done;
}

int ftruncate(int file, off_t length) {
    REAL(ftruncate);
    int done = real(file, length);
    if (!done && is_ours(file, A_FILE)) record('t', files[file].inode, length, NULL, 0, NULL, 0);
    return done;
}

int ftruncate64(int file, off64_t length) {
    REAL(ftruncate64);
    int done = real(file, length);
    if (!done && is_ours(file, A_FILE)) record('t', files[file].inode, length, NULL, 0, NULL, 0);
    return done;
}

static void synced(int file, uint64_t before) {
    if (is_ours(file, A_FILE)) record('s', files[file].inode, before, NULL, 0, NULL, 0);
    else if (is_ours(file, A_FOLDER)) record('d', files[file].inode, before, NULL, 0, NULL, 0);
}

int fsync(int file) {
    REAL(fsync);
    uint64_t before = records;
    int done = real(file);
    if (!done) synced(file, before);
    return done;
}

int fdatasync(int file) {
    REAL(fdatasync);
    uint64_t before = records;
    int done = real(file);
    if (!done) synced(file, before);
    return done;
}

static void renamed(const char *from, const char *to) {
    char both[2 * PATH_MAX + 1];
    const char *name = below(from);
    if (!name) return;
    size_t length = snprintf(both, PATH_MAX, "%s", name);
    name = below(to);
    if (!name) return;
    length += 1 + snprintf(both + length + 1, PATH_MAX, "%s", name);
    record('r', 0, 0, both, length, NULL, 0);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    int done = real(from, to);
    if (!done) renamed(from, to);
    return done;
}

int renameat(int at, const char *from, int at2, const char *to) {
    REAL(renameat);
    int done = real(at, from, at2, to);
    if (!done && at == AT_FDCWD && at2 == AT_FDCWD) renamed(from, to);
    return done;
}

static void removed(const char *path) {
    const char *name = below(path);
    if (name) record('u', 0, 0, name, strlen(name), NULL, 0);
}

int unlink(const char *path) {
    REAL(unlink);
    int done = real(path);
    if (!done) removed(path);
    return done;
}

int unlinkat(int at, const char *path, int flags) {
    REAL(unlinkat);
    int done = real(at, path, flags);
    if (!done && at == AT_FDCWD) removed(path);
    return done;
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    int done = real(path, mode);
    const char *name = done ? NULL : below(path);
    if (name && *name) record('m', 0, 0, name, strlen(name), NULL, 0);
    return done;
}
