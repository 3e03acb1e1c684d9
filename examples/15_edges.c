/* Edges of a picture, by Sobel's filters: bytes become a tensor, a convolution computes gradients, and their lengths are
 * drawn. */
#include <simdnet.h>
#include <stdio.h>

enum { W = 36, H = 15, ROW = 3 * W, S = H * W };

/* A disc on a dark background, blue, green, red. */
static void draw(uint8_t * picture)
{
    for (int y = 0; y < H; ++y)
        for (int x = 0; x < W; ++x) {
            const int dx = x - W / 2, dy = 2 * (y - H / 2); /* characters are twice as high as wide */
            const int inside = dx * dx + dy * dy < 144;
            picture[y * ROW + 3 * x] = inside ? 200 : 20;
            picture[y * ROW + 3 * x + 1] = inside ? 180 : 20;
            picture[y * ROW + 3 * x + 2] = inside ? 240 : 20;
        }
}

int main(void)
{
    uint8_t picture[H * ROW];
    float gray[S], slopes[2 * S], length[S];
    const float lower = 0, upper = 1;
    draw(picture);
    SimdSynetSetInput(picture, W, H, ROW, SimdPixelFormatBgr24, &lower, &upper, gray, 1, SimdTensorFormatNchw);

    SimdConvolutionParameters shape = {0};
    shape.srcC = 1, shape.dstC = 2; /* gradients along x and along y */
    shape.srcH = shape.dstH = H, shape.srcW = shape.dstW = W;
    shape.srcF = shape.dstF = SimdTensorFormatNchw;
    shape.kernelY = shape.kernelX = 3;
    shape.dilationY = shape.dilationX = shape.strideY = shape.strideX = shape.group = 1;
    shape.padY = shape.padX = shape.padH = shape.padW = 1;
    void * sobel = SimdSynetConvolution32fInit(1, &shape, NULL);
    if (!sobel)
        return puts(SimdnetLastError()), 1;
    const float weight[2 * 9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1, -1, -2, -1, 0, 0, 0, 1, 2, 1};
    SimdSynetConvolution32fSetParams(sobel, weight, NULL, NULL, NULL);
    SimdSynetConvolution32fForward(sobel, gray, NULL, slopes);
    SimdRelease(sobel);

    /* sqrt(dx * dx + dy * dy) */
    const float * const squares[2] = {slopes, slopes}, * const halves[2] = {slopes, slopes + S}, ones[2] = {1, 1};
    SimdSynetEltwiseLayerForward(squares, NULL, 2, 2 * S, SimdSynetEltwiseOperationProduct, slopes);
    SimdSynetEltwiseLayerForward(halves, ones, 2, S, SimdSynetEltwiseOperationSum, length);
    SimdSynetUnaryOperation32fLayerForward(length, S, SimdSynetUnaryOperation32fSqrt, length);
    if (*SimdnetLastError())
        return puts(SimdnetLastError()), 1;

    for (int y = 1; y < H - 1; ++y) { /* the zero padding creates edges of its own */
        for (int x = 1; x < W - 1; ++x)
            putchar(" .:#"[length[y * W + x] > 2.2f ? 3 : length[y * W + x] > 1.2f ? 2 : length[y * W + x] > 0.5f]);
        putchar('\n');
    }
    return 0;
}

/* Output:
 *
 *             .#############.
 *           .#################.
 *         .####.           .####.
 *        .###.               .###.
 *        ##.                   .##
 *        ##                     ##
 *        ##                     ##
 *        ##                     ##
 *        ##.                   .##
 *        .###.               .###.
 *         .####.           .####.
 *           .#################.
 *             .#############.
 */
