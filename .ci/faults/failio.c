/* Stands between the JVM and the C library, and lets calls on the files of one directory fail. Which
   ones, a page of memory says that the test has mapped too, so that one JVM goes through thousands of
   faults. Preloaded: LD_PRELOAD=failio.so WAYMARK_FAIL_UNDER=directory WAYMARK_FAIL_CONTROL=file. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The order is known to FailingCalls.java. */
enum kind {
  OPEN, CREATE, READ, WRITE, TRUNCATE, ALLOCATE, PUNCH, SYNC, MSYNC, MAP, RENAME, UNLINK, MKDIR, LOCK,
  LIST, STAT, CLOSE
};

enum mode { ONCE, SAME_KIND, ALL_KINDS };

/* The page; its layout is known to FailingCalls.java. */
struct control {
  int64_t armed;
  int64_t fail_at;          /* the n-th call of the masked kinds, from 1 */
  int64_t mode;
  int64_t error;
  int64_t calls;            /* of the masked kinds, since armed */
  int64_t failures;
  int64_t kinds;            /* mask */
  int64_t failed_kind;
  int64_t unsupported;      /* mask of kinds that the file system lacks */
  int64_t lies_about_blocks;
  int64_t bytes_read;
  int64_t spare[5];
  int64_t count[32];        /* calls by kind, armed or not */
};

#define MAX_FDS 65536

static struct control *control;
static char directory[PATH_MAX];
static size_t directory_length;
static char ours[MAX_FDS];

#define REAL(name) ((__typeof__(&name))real(#name))

static void *(*true_dlsym)(void *, const char *);

static void *real(const char *name) {
  return true_dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void start(void) {
  true_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (!true_dlsym) true_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  if (!true_dlsym) true_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
  const char *under = getenv("WAYMARK_FAIL_UNDER");
  const char *file = getenv("WAYMARK_FAIL_CONTROL");
  if (!true_dlsym || !under || !file) return;
  if (!realpath(under, directory)) return;
  directory_length = strlen(directory);
  int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *page = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (page != MAP_FAILED) control = page;
}

static int is_our_path(const char *path) {
  if (!control || !path) return 0;
  int fd;
  if (sscanf(path, "/proc/self/fd/%d", &fd) == 1) return fd >= 0 && fd < MAX_FDS && ours[fd];
  return !strncmp(path, directory, directory_length)
      && (path[directory_length] == '/' || path[directory_length] == 0);
}

static int is_our_fd(int fd) {
  return control && fd >= 0 && fd < MAX_FDS && ours[fd];
}

static int remember(int fd) {
  if (fd >= 0 && fd < MAX_FDS) ours[fd] = 1;
  return fd;
}

/* Whether this call is to fail; then errno is set. */
static int fails(enum kind kind) {
  __atomic_add_fetch(&control->count[kind], 1, __ATOMIC_SEQ_CST);
  if (control->unsupported >> kind & 1) {
    errno = kind == LOCK ? ENOLCK : kind == MAP ? ENODEV : EOPNOTSUPP;
    return 1;
  }
  if (!__atomic_load_n(&control->armed, __ATOMIC_SEQ_CST) || !(control->kinds >> kind & 1)) return 0;
  int64_t number = __atomic_add_fetch(&control->calls, 1, __ATOMIC_SEQ_CST);
  int failing = 0;
  if (number == control->fail_at) {
    control->failed_kind = kind;
    failing = 1;
  } else if (number > control->fail_at) {
    failing = control->mode == ALL_KINDS
        || (control->mode == SAME_KIND && control->failed_kind == kind);
  }
  if (failing) {
    __atomic_add_fetch(&control->failures, 1, __ATOMIC_SEQ_CST);
    errno = (int)control->error;
  }
  return failing;
}

static int open_as(int (*call)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  if (!is_our_path(path)) return call(path, flags, mode);
  if (fails(flags & O_CREAT ? CREATE : OPEN)) return -1;
  return remember(call(path, flags, mode));
}

#define OPEN_AS(name)                                        \
  int name(const char *path, int flags, ...) {               \
    va_list rest;                                            \
    va_start(rest, flags);                                   \
    mode_t mode = va_arg(rest, mode_t);                      \
    va_end(rest);                                            \
    return open_as(REAL(name), path, flags, mode);           \
  }
OPEN_AS(open)
OPEN_AS(open64)

int close(int fd) {
  if (!is_our_fd(fd)) return REAL(close)(fd);
  ours[fd] = 0;
  int failing = fails(CLOSE);
  int failure = errno;
  int result = REAL(close)(fd);
  if (failing) errno = failure;
  return failing ? -1 : result;
}

static ssize_t counted(ssize_t bytes) {
  if (bytes > 0) __atomic_add_fetch(&control->bytes_read, bytes, __ATOMIC_SEQ_CST);
  return bytes;
}

#define READING(name, declared, passed)                      \
  ssize_t name declared {                                    \
    if (!is_our_fd(fd)) return REAL(name) passed;            \
    return fails(READ) ? -1 : counted(REAL(name) passed);    \
  }
READING(read, (int fd, void *bytes, size_t length), (fd, bytes, length))
READING(pread, (int fd, void *bytes, size_t length, off_t at), (fd, bytes, length, at))
READING(pread64, (int fd, void *bytes, size_t length, off64_t at), (fd, bytes, length, at))
READING(readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))

#define ON_FD(result, name, kind, declared, passed)          \
  result name declared {                                     \
    if (is_our_fd(fd) && fails(kind)) return -1;             \
    return REAL(name) passed;                                \
  }
ON_FD(ssize_t, write, WRITE, (int fd, const void *bytes, size_t length), (fd, bytes, length))
ON_FD(ssize_t, pwrite, WRITE, (int fd, const void *bytes, size_t length, off_t at), (fd, bytes, length, at))
ON_FD(ssize_t, pwrite64, WRITE, (int fd, const void *bytes, size_t length, off64_t at),
      (fd, bytes, length, at))
ON_FD(ssize_t, writev, WRITE, (int fd, const struct iovec *parts, int count), (fd, parts, count))
ON_FD(int, ftruncate, TRUNCATE, (int fd, off_t length), (fd, length))
ON_FD(int, ftruncate64, TRUNCATE, (int fd, off64_t length), (fd, length))
ON_FD(int, fsync, SYNC, (int fd), (fd))
ON_FD(int, fdatasync, SYNC, (int fd), (fd))
ON_FD(int, fallocate, mode & FALLOC_FL_PUNCH_HOLE ? PUNCH : ALLOCATE, (int fd, int mode, off_t at, off_t length),
      (fd, mode, at, length))

#define ON_PATH(result, failed, name, kind, declared, passed) \
  result name declared {                                      \
    if (is_our_path(path) && fails(kind)) return failed;      \
    return REAL(name) passed;                                 \
  }
ON_PATH(int, -1, rename, RENAME, (const char *path, const char *to), (path, to))
ON_PATH(int, -1, unlink, UNLINK, (const char *path), (path))
ON_PATH(int, -1, rmdir, UNLINK, (const char *path), (path))
ON_PATH(int, -1, mkdir, MKDIR, (const char *path, mode_t mode), (path, mode))
ON_PATH(DIR *, NULL, opendir, LIST, (const char *path), (path))

/* A file that is not there is no failure of the device, and asked for often. */
#define STATTING(name, type, declared, passed, is_ours)      \
  int name declared {                                        \
    if (!(is_ours)) return REAL(name) passed;                \
    if (fails(STAT)) return -1;                              \
    int result = REAL(name) passed;                          \
    if (control->lies_about_blocks) found->st_blocks = 0;    \
    return result;                                           \
  }
STATTING(stat, struct stat, (const char *path, struct stat *found), (path, found), is_our_path(path))
STATTING(lstat, struct stat, (const char *path, struct stat *found), (path, found), is_our_path(path))
STATTING(fstat, struct stat, (int fd, struct stat *found), (fd, found), is_our_fd(fd))
STATTING(stat64, struct stat64, (const char *path, struct stat64 *found), (path, found), is_our_path(path))
STATTING(lstat64, struct stat64, (const char *path, struct stat64 *found), (path, found), is_our_path(path))
STATTING(fstat64, struct stat64, (int fd, struct stat64 *found), (fd, found), is_our_fd(fd))

/* The engine counts blocks by the system call itself; nothing else of it comes this way. */
static long count_blocks(long number, long fd, long path, long found, long flags) {
  if (!is_our_fd((int)fd)) return syscall(number, fd, path, found, flags);
  if (fails(STAT)) return -1;
  long result = syscall(number, fd, path, found, flags);
  if (control->lies_about_blocks && result == 0) ((struct stat *)found)->st_blocks = 0;
  return result;
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
  if (!is_our_fd(fd)) return REAL(mmap64)(at, length, protection, flags, fd, offset);
  if (fails(MAP)) return MAP_FAILED;
  return REAL(mmap64)(at, length, protection, flags, fd, offset);
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
  return mmap64(at, length, protection, flags, fd, offset);
}

/* The engine synchronises no other maps than those of its files. */
int msync(void *at, size_t length, int flags) {
  if (control && fails(MSYNC)) return -1;
  return REAL(msync)(at, length, flags);
}

static int fcntl_as(int (*call)(int, int, ...), int fd, int command, void *argument) {
  int locking = command == F_SETLK || command == F_SETLKW || command == F_SETLK64 || command == F_SETLKW64;
  /* Giving a lock back is no affair of the device. */
  if (locking && is_our_fd(fd) && ((struct flock *)argument)->l_type != F_UNLCK && fails(LOCK)) return -1;
  return call(fd, command, argument);
}

#define FCNTL_AS(name)                                       \
  int name(int fd, int command, ...) {                       \
    va_list rest;                                            \
    va_start(rest, command);                                 \
    void *argument = va_arg(rest, void *);                   \
    va_end(rest);                                            \
    return fcntl_as(REAL(name), fd, command, argument);      \
  }
FCNTL_AS(fcntl)
FCNTL_AS(fcntl64)

/* The engine and the JDK look some calls up by name, in the C library itself. */
void *dlsym(void *library, const char *name) {
  if (!true_dlsym) start();
  if (control) {
    if (!strcmp(name, "fallocate")) return (void *)fallocate;
    if (!strcmp(name, "ftruncate")) return (void *)ftruncate;
    if (!strcmp(name, "msync")) return (void *)msync;
    if (!strcmp(name, "syscall")) return (void *)count_blocks;
  }
  return true_dlsym(library, name);
}
