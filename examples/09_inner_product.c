/* A classifier of one layer: the weights are pictures of three digits, the probabilities show which one was drawn. */
#include <simdnet.h>
#include <stdio.h>

enum { CLASSES = 3, PIXELS = 5 * 5 };

static const char * const digit[CLASSES] = {"0", "1", "7"};
static const char * const drawn[CLASSES] = {
    ".###.#...##...##...#.###.",
    "..#...##....#....#...###.",
    "#####....#...#...#...#...",
};

/* Each set pixel adds to the score of digits that contain it, and subtracts from that of the others. */
static void pixels(const char * picture, float off, float on, float * values)
{
    for (int i = 0; i < PIXELS; ++i)
        values[i] = picture[i] == '#' ? on : off;
}

static void classify(const char * picture, const float * weight, const float * bias)
{
    float image[PIXELS], p[CLASSES];
    pixels(picture, 0, 1, image);
    SimdSynetInnerProductLayerForward(image, weight, bias, CLASSES, PIXELS, p);
    SimdSynetSoftmaxLayerForward(p, 1, CLASSES, 1, p);

    for (int i = 0; i < PIXELS; i += 5)
        printf("%.5s\n", picture + i);
    for (int i = 0; i < CLASSES; ++i)
        printf("%s: %.3f%s", digit[i], p[i], i + 1 < CLASSES ? ", " : "\n\n");
}

int main(void)
{
    float weight[CLASSES][PIXELS], bias[CLASSES];
    for (int i = 0; i < CLASSES; ++i) {
        pixels(drawn[i], -0.5f, 0.5f, weight[i]);
        bias[i] = 0;
        for (int j = 0; j < PIXELS; ++j)
            bias[i] -= 0.25f * weight[i][j];
    }
    classify("###....#....#....#...###.", weight[0], bias);
    classify("####.....#..##...#...#...", weight[0], bias);
    classify(".###.#...##........#.####", weight[0], bias);
    return *SimdnetLastError() ? puts(SimdnetLastError()), 1 : 0;
}

/* Output:
 *
 *   ###..
 *   ..#..
 *   ..#..
 *   ..#..
 *   .###.
 *   0: 0.043, 1: 0.866, 7: 0.091
 *
 *   ####.
 *   ....#
 *   ..##.
 *   ..#..
 *   .#...
 *   0: 0.022, 1: 0.022, 7: 0.955
 *
 *   .###.
 *   #...#
 *   #....
 *   ....#
 *   .####
 *   0: 0.979, 1: 0.007, 7: 0.014
 */
