/* A cell of a recurrent network (LSTM): it keeps (the tanh of) the marked reading, whatever follows. */
#include <simdnet.h>
#include <stdio.h>

enum { SENSORS = 2, H = SENSORS, X = SENSORS + 1, STEPS = 6 };

static const float one = 1;

struct cell {
    float weight[4 * H][X + H], bias[4 * H]; /* gates, H rows each: input, forget, output, candidate */
    float input[X + H];                      /* the current reading, then the previous output of the cell */
    float memory[H];
};

/* Input and forget gates depend on the mark, the output gate is always open, the candidate is the reading. */
static void make_cell(struct cell * cell)
{
    *cell = (struct cell){0};
    for (int i = 0; i < H; ++i) {
        cell->weight[i][SENSORS] = 40, cell->bias[i] = -20;
        cell->weight[H + i][SENSORS] = -40, cell->bias[H + i] = 20;
        cell->bias[2 * H + i] = 20;
        cell->weight[3 * H + i][i] = 1;
    }
}

static void step(struct cell * cell)
{
    float gates[4 * H], * candidate = gates + 3 * H, * kept = gates + H, * said = cell->input + X;

    SimdSynetInnerProductLayerForward(cell->input, cell->weight[0], cell->bias, 4 * H, X + H, gates);
    SimdSynetSigmoid32f(gates, 3 * H, &one, gates);
    SimdSynetTanh32f(candidate, H, &one, candidate);

    /* memory = forget * memory + input * candidate; said = output * tanh(memory) */
    const float * const taken[2] = {gates, candidate}, * const old[2] = {kept, cell->memory}, ones[2] = {1, 1};
    SimdSynetEltwiseLayerForward(taken, NULL, 2, H, SimdSynetEltwiseOperationProduct, candidate);
    SimdSynetEltwiseLayerForward(old, NULL, 2, H, SimdSynetEltwiseOperationProduct, kept);
    const float * const both[2] = {kept, candidate}, * const result[2] = {gates + 2 * H, said};
    SimdSynetEltwiseLayerForward(both, ones, 2, H, SimdSynetEltwiseOperationSum, cell->memory);
    SimdSynetTanh32f(cell->memory, H, &one, said);
    SimdSynetEltwiseLayerForward(result, NULL, 2, H, SimdSynetEltwiseOperationProduct, said);
}

int main(void)
{
    const float readings[STEPS][X] = {{0.5f, 0.1f, 0}, {0.7f, -0.3f, 1}, {0.1f, 0.9f, 0},
                                      {-1.0f, 1, 0},   {0.2f, 0.4f, 1},  {0, 0, 0}};
    struct cell cell;
    make_cell(&cell);
    for (int t = 0; t < STEPS; ++t) {
        for (int i = 0; i < X; ++i)
            cell.input[i] = readings[t][i];
        step(&cell);
        printf("read %4.1f %4.1f%s remembers %5.2f %5.2f\n", readings[t][0], readings[t][1],
               readings[t][SENSORS] > 0 ? ", marked:" : ":        ", cell.memory[0], cell.memory[1]);
    }
    return *SimdnetLastError() ? puts(SimdnetLastError()), 1 : 0;
}

/* Output:
 *
 *   read  0.5  0.1:         remembers  0.00  0.00
 *   read  0.7 -0.3, marked: remembers  0.60 -0.29
 *   read  0.1  0.9:         remembers  0.60 -0.29
 *   read -1.0  1.0:         remembers  0.60 -0.29
 *   read  0.2  0.4, marked: remembers  0.20  0.38
 *   read  0.0  0.0:         remembers  0.20  0.38
 */
