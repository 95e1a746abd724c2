/*
 * bench - functions shared by the benchmarks: clock, medians, child processes, output rows.
 *
 * A benchmark measures a number and its peer's, in turns, in the working
 * directory (bench/run gives it an empty one on the disk of the source tree). It
 * prints rows and notes, which bench/run formats as a table:
 *
 *     row<TAB>work<TAB>ours<TAB>peer<TAB>ratio<TAB>reach<TAB>ok or MISS
 *     note<TAB>text
 *
 * Every failure prints a message and exits with 1.
 */
#ifndef CLIQ_BENCH_BENCH_H
#define CLIQ_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Call it first: checks that there are `want` arguments, and ends the program after TIME_LIMIT_S.
 * Its children then find their pipes closed and end too. */
enum { TIME_LIMIT_S = 120 };
void begin(int argc, int want, const char *usage);

/* Prints the message, with errno's text if errno is set, and exits. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

int64_t now_ns(void); /* CLOCK_MONOTONIC */

/* Both sort v. */
double median(double *v, size_t n);
double percentile(double *v, size_t n, double p);

enum reach { AT_LEAST, AT_MOST };

/* Prints a row. `ratio` is compared with `limit`, both in `unit` ("x", "ms"). */
void row(const char *work, const char *ours, const char *peer, double ratio, enum reach reach,
         double limit, const char *unit);
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Formats into one of 8 static buffers. */
const char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Starts argv with standard output `out` (-1: /dev/null). */
pid_t start(char *const argv[], int out);
/* Waits for a child; an exit code other than 0 ends the benchmark. */
void finish(pid_t pid, const char *name);

/* Creates or truncates a file for appending. */
int open_new(const char *name);
/* The number of '\n' in a file. */
uint64_t count_lines(const char *name);

/* Transfer exactly n bytes, or end the benchmark. */
void read_all(int fd, void *to, size_t n);
void write_all(int fd, const void *from, size_t n);

/* The line of the append benchmarks: a JSON object, LINE_SIZE bytes with '\n'. */
enum { LINE_SIZE = 256 };
void fill_line(char line[LINE_SIZE]);

#endif
