// The library from C++: a context that releases itself, and errors as exceptions.
#include <simdnet.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

void check()
{
    if (SimdnetLastErrorKind())
        throw std::invalid_argument(SimdnetLastError());
}

class Convolution {
public:
    Convolution(const SimdConvolutionParameters & shape, const std::vector<float> & weight, const std::vector<float> & bias)
        : shape(shape), context(SimdSynetConvolution32fInit(1, &shape, nullptr), SimdRelease)
    {
        check();
        if (weight.size() != shape.kernelY * shape.kernelX * shape.srcC / shape.group * shape.dstC || bias.size() != shape.dstC)
            throw std::invalid_argument("weight or bias has another size than the shape says");
        SimdSynetConvolution32fSetParams(context.get(), weight.data(), nullptr, bias.data(), nullptr);
        check();
    }

    // May be called from many threads at once.
    std::vector<float> operator()(const std::vector<float> & src) const
    {
        if (src.size() != shape.srcC * shape.srcH * shape.srcW)
            throw std::invalid_argument("src has another size than the shape says");
        std::vector<float> dst(shape.dstC * shape.dstH * shape.dstW);
        SimdSynetConvolution32fForward(context.get(), src.data(), nullptr, dst.data());
        check();
        return dst;
    }

private:
    SimdConvolutionParameters shape;
    std::unique_ptr<void, void (*)(void *)> context;
};

} // namespace

int main()
{
    SimdConvolutionParameters shape{};
    shape.srcC = 1, shape.dstC = 2;
    shape.srcH = shape.srcW = 5, shape.dstH = shape.dstW = 3;
    shape.srcF = shape.dstF = SimdTensorFormatNhwc;
    shape.kernelY = shape.kernelX = 3;
    shape.dilationY = shape.dilationX = shape.strideY = shape.strideX = shape.group = 1;

    const std::vector<float> weight(3 * 3 * 2, 1), image(5 * 5, 2);
    std::vector<Convolution> layers; // can be moved, also into containers
    layers.emplace_back(shape, weight, std::vector<float>{0, 100});
    for (float value : layers[0](image))
        std::cout << value << ' ';
    std::cout << '\n';

    try {
        shape.strideY = 0;
        Convolution(shape, weight, {0, 0});
    } catch (const std::exception & error) {
        std::cout << "refused: " << error.what() << '\n';
    }
}

/* Output:
 *
 *   18 118 18 118 18 118 18 118 18 118 18 118 18 118 18 118 18 118
 *   refused: SimdSynetConvolution32fInit: strideY is 0, expected at least 1
 */
