/*
 * bench - what the programs in this directory share: a clock, medians, starting
 * programs, and the row that each number ends in.
 *
 * A program measures one number beside its peer, in turns, in the working
 * directory it is started in (bench/run gives it an empty one on the disk of
 * the source tree). It prints rows and notes, which bench/run makes a table of:
 *
 *     row<TAB>work<TAB>ours<TAB>peer<TAB>ratio<TAB>reach<TAB>ok or MISS
 *     note<TAB>text
 *
 * Nothing here can be recovered from: what fails says so and exits with 1.
 */
#ifndef CLIQ_BENCH_BENCH_H
#define CLIQ_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* First in main: `want` arguments are wanted, and the program ends after TIME_LIMIT_S
 * whatever happens; its children then find their pipes closed and end too. */
enum { TIME_LIMIT_S = 120 };
void begin(int argc, int want, const char *usage);

/* Says what failed, with errno's text when errno is set, and exits. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

int64_t now_ns(void); /* CLOCK_MONOTONIC */

/* Both sort v. The percentile is the smallest value that p percent do not exceed. */
double median(double *v, size_t n);
double percentile(double *v, size_t n, double p);

enum reach { AT_LEAST, AT_MOST };

/* Prints a row. `ratio` is what is held against `limit`, both in `unit` ("x", "ms"). */
void row(const char *work, const char *ours, const char *peer, double ratio, enum reach reach,
         double limit, const char *unit);
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "%.1f us" and the like, in a buffer of its own: few are alive at a time. */
const char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Starts argv with standard output on `out` (-1: nowhere). */
pid_t start(char *const argv[], int out);
/* Waits for it; anything but exit code 0 ends the benchmark. */
void finish(pid_t pid, const char *name);

/* Opens a file for appending, made new. */
int open_new(const char *name);
/* The number of '\n' in a file. */
uint64_t count_lines(const char *name);

/* Exactly n bytes, or the benchmark ends. */
void read_all(int fd, void *to, size_t n);
void write_all(int fd, const void *from, size_t n);

/* The line that the append benchmarks write: a JSON object, LINE_SIZE bytes with '\n'. */
enum { LINE_SIZE = 256 };
void fill_line(char line[LINE_SIZE]);

#endif
