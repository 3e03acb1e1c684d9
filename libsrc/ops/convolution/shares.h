/*
 * Division of convolutions among threads: by lines of the images, or by output channels.
 *
 * A thread that computes some lines reads all weights, a thread that computes some panels of output channels reads all
 * lines. So the latter is for small images with many channels, and for a number of lines that threads would share unevenly.
 * Successive lines in one range form bands of at most the height in the plan; on one thread, whose range is everything, these
 * are the bands of the plan.
 */
#ifndef SN_OPS_CONVOLUTION_SHARES_H
#define SN_OPS_CONVOLUTION_SHARES_H

#include "runtime/threads.h"

struct sn_shares {
    size_t lines, most;     /* lines of an image (or what the algorithm uses as lines), and at most of a band */
    size_t columns, width;  /* output channels, and those of a panel; width 0: only by lines */
    size_t weights, source; /* elements of all weights, and of an image */
    bool start;             /* every range begins with work that ranges cannot share, for example the copy of a band */
    size_t least;           /* least lines in a range, fewer are slow; on return, `least` of struct sn_parallel */
    size_t images;          /* whose lines are shared together; sn_convolution_run() sets it */

    /* Filled in by sn_shares_of(). */
    size_t panels;          /* 1: units are lines; else they are panels of bands */
    size_t imageUnits;            /* units of an image */
};

/* The time of equal units on `threads` threads, relative to that on one. */
SN_INLINE double sn_time_of_units(size_t units, size_t threads)
{
    return (double)sn_ceil_div(units, threads) / (double)units;
}

/*
 * Whether panels of bands end earlier than lines. Two threads take 0.67 of the time for 3 lines, and all of it for lines of
 * which there are too few for two ranges. For panels each thread reads all lines, in some algorithms after a copy or a
 * transformation: about as long as 4 or 8 output channels take. 160x3x80 to 320 on two threads takes 0.79 of the time that
 * lines take, Winograd's 64x20x20 to 64, which has 5 lines of tiles in ranges of at least 3, 0.57 (Zen 5).
 */
SN_INLINE bool sn_panels_are_faster(const struct sn_shares * s, size_t panels, size_t most)
{
    const size_t threads = sn_threads(), lines = s->images * s->lines, ranges = lines / sn_max(s->least, 1);
    const double by_lines = ranges < threads ? 1.0 / (double)sn_max(ranges, 1) : sn_time_of_units(lines, threads);
    const double again = s->start ? 8 : 4, whole = again / (again + (double)s->columns);
    const size_t units = s->images * sn_ceil_div(s->lines, most) * panels;
    return whole + (1 - whole) * sn_time_of_units(units, threads) < 0.95 * by_lines;
}

/* Bands of single lines for panels, if they are long enough and divide better: 5 panels on two threads take 0.61 of the time,
 * 15 panels of lines 0.54. */
SN_INLINE size_t sn_panel_lines(const struct sn_shares * s, size_t panels)
{
    const size_t threads = sn_threads(), all = s->images * panels;
    if (s->start || s->least > 1)
        return s->most;
    const double bands = sn_time_of_units(all * sn_ceil_div(s->lines, s->most), threads);
    return sn_time_of_units(all * s->lines, threads) < 0.95 * bands ? 1 : s->most;
}

SN_INLINE struct sn_shares sn_shares_of(struct sn_shares s)
{
    s.most = sn_max(s.most, 1);
    s.panels = 1;
    s.imageUnits = s.lines;
    const size_t panels = s.width ? sn_ceil_div(s.columns, s.width) : 1;
    if (sn_threads() == 1 || panels == 1 || !s.lines || !s.images)
        return s;
    struct sn_shares by_panels = s;
    by_panels.most = sn_panel_lines(&s, panels);
    by_panels.panels = panels;
    by_panels.imageUnits = sn_ceil_div(s.lines, by_panels.most) * panels;
    by_panels.least = s.start ? sn_max(panels / sn_threads(), 1) : 1;
    const bool few = s.lines <= s.most || s.lines / sn_max(s.least, 1) < sn_threads(); /* too few lines for the threads */
    const bool large = panels >= 4 && s.weights / 2 > s.source; /* weights, which a thread would all read */
    return (few && large) || sn_panels_are_faster(&s, panels, by_panels.most) ? by_panels : s;
}

/* The first of the units begin .. end - 1 that can be computed together. */
struct sn_share {
    size_t units;
    size_t image, line, lines;
    size_t first, columns;
};

SN_INLINE struct sn_share sn_share_at(const struct sn_shares * s, size_t begin, size_t end)
{
    struct sn_share part = {.image = begin / s->imageUnits, .columns = s->columns};
    const size_t at = begin % s->imageUnits;
    part.line = s->panels == 1 ? at : at / s->panels * s->most;
    part.lines = sn_min(s->most, s->lines - part.line);
    if (s->panels == 1) {
        part.units = part.lines = sn_min(part.lines, end - begin);
    } else {
        const size_t panel = at % s->panels;
        part.units = sn_min(s->panels - panel, end - begin);
        part.first = panel * s->width;
        part.columns = sn_min(part.units * s->width, s->columns - part.first);
    }
    return part;
}

/*
 * Where images are joined, a share is a part of each of several images: the lines of all images, `lines` of each, are
 * counted in one list. The first part of lines at .. end - 1 of it that is in one image:
 */
struct sn_part {
    size_t image, line, lines;
};

SN_INLINE struct sn_part sn_part_at(size_t lines, size_t at, size_t end)
{
    const size_t line = at % lines;
    return (struct sn_part){at / lines, line, sn_min(lines - line, end - at)};
}

#endif
