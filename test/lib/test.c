#define _GNU_SOURCE
#include "test.h"

#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum { PATIENCE_MS = 10000 };

static struct {
    char path[64];
    int dir, before, fds;
} now = { .dir = -1 };

int
count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    if (!d)
        return -1;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

int
case_enter(void **state)
{
    const char *tmp = getenv("TMPDIR");

    (void)state;
    snprintf(now.path, sizeof now.path, "%s/cliq-case.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    now.before = open(".", O_PATH | O_CLOEXEC);
    if (!mkdtemp(now.path) || chdir(now.path) != 0)
        return -1;
    now.dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    setenv("HOME", now.path, 1);
    unsetenv("CLIQ_HOME");
    unsetenv("WARROOMS_DIR");
    unsetenv("POSIXLY_CORRECT");
    now.fds = count_fds();
    return now.dir < 0 ? -1 : 0;
}

int
case_leave(void **state)
{
    int left = count_fds() - now.fds;

    (void)state;
    sys = &sys_kernel;
    close(now.dir);
    if (fchdir(now.before) != 0)
        return -1;
    close(now.before);
    remove_tree(now.path);
    if (left != 0)
        fprintf(stderr, "%d descriptors were left open\n", left);
    return left;
}

int
here(void)
{
    return now.dir;
}

static void
put(const char *name, int flags, const void *p, size_t n)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

    if (fd < 0)
        fail_msg("open %s: %s", name, strerror(errno));
    for (size_t done = 0; done < n;) {
        ssize_t k = write(fd, (const char *)p + done, n - done);
        if (k <= 0)
            fail_msg("write %s: %s", name, strerror(errno));
        done += (size_t)k;
    }
    close(fd);
}

void
write_bytes(const char *name, const void *p, size_t n)
{
    put(name, O_TRUNC, p, n);
}

void
write_file(const char *name, const char *text)
{
    put(name, O_TRUNC, text, strlen(text));
}

void
append_file(const char *name, const char *text)
{
    put(name, O_APPEND, text, strlen(text));
}

char *
read_file(const char *name, size_t *len)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    size_t n = 0;

    if (fd < 0 || fstat(fd, &st) != 0)
        fail_msg("open %s: %s", name, strerror(errno));
    char *p = malloc((size_t)st.st_size + 1);
    assert_non_null(p);
    for (ssize_t k; n < (size_t)st.st_size; n += (size_t)k) {
        k = read(fd, p + n, (size_t)st.st_size - n);
        if (k <= 0)
            fail_msg("read %s: %s", name, strerror(errno));
    }
    p[n] = '\0';
    close(fd);
    if (len)
        *len = n;
    return p;
}

bool
file_exists(const char *name)
{
    struct stat st;

    return lstat(name, &st) == 0;
}

off_t
file_size(const char *name)
{
    struct stat st;

    return stat(name, &st) == 0 ? st.st_size : -1;
}

unsigned
file_mode(const char *name)
{
    struct stat st;

    return stat(name, &st) == 0 ? st.st_mode & 07777 : 0;
}

void
make_dirs(const char *path)
{
    char part[4096];

    snprintf(part, sizeof part, "%s", path);
    for (char *p = part + 1;; p++) {
        char c = *p;
        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            fail_msg("mkdir %s: %s", part, strerror(errno));
        *p = c;
        if (c == '\0')
            return;
    }
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void
remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void
empty_dir(void)
{
    int fd = dup(now.dir);
    DIR *d = fdopendir(fd);

    assert_non_null(d);
    assert_int_equal(fchdir(now.dir), 0);
    rewinddir(d);
    for (struct dirent *f; (f = readdir(d));)
        if (strcmp(f->d_name, ".") && strcmp(f->d_name, ".."))
            remove_tree(f->d_name);
    closedir(d);
}

size_t
count_files(const char *dir)
{
    DIR *d = opendir(dir);
    size_t n = 0;

    if (!d)
        fail_msg("open %s: %s", dir, strerror(errno));
    for (struct dirent *f; (f = readdir(d));)
        n += strcmp(f->d_name, ".") && strcmp(f->d_name, "..");
    closedir(d);
    return n;
}

bool
is_readable(int fd, int ms)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, ms) == 1;
}

void
wait_readable(int fd)
{
    if (!is_readable(fd, PATIENCE_MS))
        fail_msg("no data on descriptor %d", fd);
}

int
wait_child(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            fail_msg("wait for a child: %s", strerror(errno));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void
check_file(const char *name, const char *text, const char *file, int line)
{
    char *p = read_file(name, NULL);
    bool is_same = strcmp(p, text) == 0;

    if (!is_same)
        print_error("%s:%d: %s is\n%s\nbut should be\n%s\n", file, line, name, p, text);
    free(p);
    if (!is_same)
        fail_msg("%s has another content", name);
}

int64_t
test_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void
test_poll(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
}

bool
forbid_call(long nr, int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
