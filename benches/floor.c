/* The least that any program does for the same job: what `benches/compare.py` compares with.
 *
 *   floor read DIR       list DIR and read DIR/NAME/SKILL.md whole, for each NAME
 *   floor copy FROM TO   copy a tree: list, read and write every file
 *   floor stat DIR       list a tree and look at every file
 *   floor json FILE...   read each file whole and walk through its JSON
 *
 * Nothing is kept and nothing is examined. One thread. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char buffer[1 << 16];
static long files;
static long long bytes;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static DIR *list(int parent, const char *name) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) fail(name);
    return dir;
}

static int hidden(const char *name) {
    return name[0] == '.';
}

static void read_skills(const char *path) {
    DIR *dir = list(AT_FDCWD, path);
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        char file[NAME_MAX + sizeof "/SKILL.md"];
        if (hidden(entry->d_name)) continue;
        snprintf(file, sizeof file, "%s/SKILL.md", entry->d_name);
        int fd = openat(dirfd(dir), file, O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        ssize_t count;
        while ((count = read(fd, buffer, sizeof buffer)) > 0) bytes += count;
        close(fd);
        files++;
    }
    closedir(dir);
}

static void copy_file(int from, int to, const char *name) {
    struct stat info;
    int in = openat(from, name, O_RDONLY | O_CLOEXEC);
    if (in < 0 || fstat(in, &info) != 0) fail(name);
    int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, info.st_mode & 0777);
    if (out < 0) fail(name);
    ssize_t count;
    while ((count = read(in, buffer, sizeof buffer)) > 0) {
        if (write(out, buffer, count) != count) fail(name);
        bytes += count;
    }
    close(in);
    close(out);
    files++;
}

static void copy(int from_parent, const char *from, int to_parent, const char *to) {
    if (mkdirat(to_parent, to, 0777) != 0) fail(to);
    DIR *in = list(from_parent, from), *out = list(to_parent, to);
    struct dirent *entry;
    while ((entry = readdir(in))) {
        if (hidden(entry->d_name)) continue;
        if (entry->d_type == DT_DIR)
            copy(dirfd(in), entry->d_name, dirfd(out), entry->d_name);
        else
            copy_file(dirfd(in), dirfd(out), entry->d_name);
    }
    closedir(in);
    closedir(out);
}

static void look(int parent, const char *path) {
    DIR *dir = list(parent, path);
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        struct stat info;
        if (hidden(entry->d_name)) continue;
        if (entry->d_type == DT_DIR) {
            look(dirfd(dir), entry->d_name);
        } else {
            if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) fail(entry->d_name);
            bytes += info.st_size;
            files++;
        }
    }
    closedir(dir);
}

static const char *at;

static void space(void) {
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') at++;
}

static void text(void) {
    if (*at++ != '"') fail("JSON");
    for (; *at != '"'; at++) {
        if (*at == '\\') at++;
        if (!*at) fail("JSON");
    }
    at++;
}

/* The files are written by skillpm: what is wrong in them need not be told exactly, and they are not deep. */
static void value(void) {
    space();
    if (*at == '"') {
        text();
    } else if (*at == '{' || *at == '[') {
        int is_object = *at == '{';
        for (at++, space(); *at != (is_object ? '}' : ']'); space()) {
            if (is_object) {
                text();
                space();
                if (*at++ != ':') fail("JSON");
            }
            value();
            space();
            if (*at == ',') at++;
            space();
        }
        at++;
    } else {
        const char *start = at;
        while (*at && strchr("+-.0123456789Eaeflnrstu", *at)) at++;
        if (at == start) fail("JSON");
    }
}

static void walk(const char *file) {
    struct stat info;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) fail(file);
    char *content = malloc(info.st_size + 1);
    ssize_t count, size = 0;
    while (size < info.st_size && (count = read(fd, content + size, info.st_size - size)) > 0) size += count;
    content[size] = 0;
    close(fd);
    at = content;
    value();
    free(content);
    files++;
    bytes += size;
}

int main(int count, char **arguments) {
    if (count == 3 && !strcmp(arguments[1], "read")) {
        read_skills(arguments[2]);
    } else if (count == 4 && !strcmp(arguments[1], "copy")) {
        copy(AT_FDCWD, arguments[2], AT_FDCWD, arguments[3]);
    } else if (count == 3 && !strcmp(arguments[1], "stat")) {
        look(AT_FDCWD, arguments[2]);
    } else if (count > 2 && !strcmp(arguments[1], "json")) {
        for (int n = 2; n < count; n++) walk(arguments[n]);
    } else {
        fputs("usage: floor read DIR | floor copy FROM TO | floor stat DIR | floor json FILE...\n", stderr);
        return 2;
    }
    printf("%ld files, %lld bytes\n", files, bytes);
    return 0;
}
