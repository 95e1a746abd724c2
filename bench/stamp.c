/*
 * bench/stamp - an agent that only records its start and end time.
 *
 * Appends "START END\n" to the file $STAMPS, in monotonic nanoseconds: START is its first
 * action, END is just before its terminal line. So END of one phase and START of the next give
 * the orchestrator's time. Uses no code of cliq; built as bench/least is.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The string after `key`. cliq writes compact JSON, and these strings have no quotes. */
static char *
find(const char *message, const char *key)
{
    const char *at = strstr(message, key);

    return at ? strndup(at + strlen(key), strcspn(at + strlen(key), "\"")) : NULL;
}

int
main(void)
{
    int64_t start = now_ns();
    static const char done[] = "{\"version\":1,\"type\":\"phase\",\"status\":\"complete\"}\n";
    static char message[65536], path[4096], line[64];
    ssize_t n = read(STDIN_FILENO, message, sizeof message - 1);
    char *dir = n > 0 ? find(message, "\"signal_dir\":\"") : NULL;
    char *phase = n > 0 ? find(message, "\"phase\":\"") : NULL;
    const char *stamps = getenv("STAMPS");

    if (!dir || !phase || !stamps)
        return 1;
    snprintf(path, sizeof path, "%s/%s.jsonl", dir, phase);
    int to = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int file = open(stamps, O_WRONLY | O_CREAT | O_APPEND, 0600);
    n = snprintf(line, sizeof line, "%jd %jd\n", (intmax_t)start, (intmax_t)now_ns());
    return file < 0 || to < 0 || write(file, line, (size_t)n) != n ||
           write(to, done, sizeof done - 1) != sizeof done - 1;
}
