/*
 * bench/disk - the median time of an fdatasync after an append of 256 bytes.
 *
 * Printed with every run, because disks differ, and one disk varies over time.
 */
#include "bench.h"

#include <stdio.h>
#include <unistd.h>

enum { SYNCS = 200 };

int
main(int argc, char **argv)
{
    double us[SYNCS];
    char line[LINE_SIZE];
    int fd = open_new("disk.jsonl");

    (void)argv;
    begin(argc, 0, "disk");
    fill_line(line);
    for (int i = 0; i < SYNCS; i++) {
        write_all(fd, line, sizeof line);
        int64_t start_ns = now_ns();
        if (fdatasync(fd) != 0)
            die("sync");
        us[i] = (double)(now_ns() - start_ns) / 1000;
    }
    unlink("disk.jsonl");
    double p50 = median(us, SYNCS);
    printf("fdatasync: median %.0f us, 90 %% within %.0f us\n", p50, percentile(us, SYNCS, 90));
    return 0;
}
