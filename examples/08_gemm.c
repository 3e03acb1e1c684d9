/* A search: which stored vectors are closest to a query? One matrix product compares all queries with all vectors. */
#include <simdnet.h>
#include <stdio.h>

enum { WORDS = 6, QUESTIONS = 3, SIZE = 4, STRIDE = SIZE + 2 };

/* How strongly each word relates to: animal, vehicle, size, speed. Two more columns are stored, which the search ignores. */
static const char * const word[WORDS] = {"mouse", "horse", "elephant", "bicycle", "train", "house"};
static const float store[WORDS][STRIDE] = {
    {0.9f, 0.0f, 0.1f, 0.3f, 1, 5}, {0.8f, 0.3f, 0.5f, 0.6f, 2, 5}, {0.8f, 0.1f, 0.9f, 0.2f, 3, 8},
    {0.0f, 0.9f, 0.2f, 0.4f, 4, 7}, {0.0f, 0.8f, 0.7f, 0.8f, 5, 5}, {0.0f, 0.0f, 0.9f, 0.0f, 6, 5},
};
static const char * const question[QUESTIONS] = {"a fast vehicle", "a small animal", "anything large"};
static const float asked[QUESTIONS][SIZE] = {{-1, 1, 0, 1}, {1, 0, -1, 0}, {0, 0, 1, -0.5f}};

int main(void)
{
    /* scores = queries * transposed store; the rows of the store are STRIDE floats apart. */
    const float one = 1, zero = 0;
    float scores[QUESTIONS][WORDS];
    SimdGemm32fNT(QUESTIONS, WORDS, SIZE, &one, asked[0], SIZE, store[0], STRIDE, &zero, scores[0], WORDS);
    if (*SimdnetLastError())
        return puts(SimdnetLastError()), 1;

    for (int q = 0; q < QUESTIONS; ++q) {
        int best = 0;
        for (int w = 1; w < WORDS; ++w)
            if (scores[q][w] > scores[q][best])
                best = w;
        printf("%s: %s, %.2f\n", question[q], word[best], scores[q][best]);
    }
    return 0;
}

/* Output:
 *
 *   a fast vehicle: train, 1.60
 *   a small animal: mouse, 0.80
 *   anything large: house, 0.90
 */
