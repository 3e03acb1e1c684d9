/* The library, the machine, and how the instruction set is chosen. */
#include <simdnet.h>
#include <stdio.h>

int main(void)
{
    printf("simdnet %s on %zu cores, %zu KiB of L2 cache\n", SimdVersion(), SimdCpuInfo(SimdCpuInfoCores),
           SimdCpuInfo(SimdCpuInfoCacheL2) / 1024);

    printf("instruction sets of this machine:");
    for (size_t i = 0; SimdnetIsaLevel(i); ++i)
        printf(" %s", SimdnetIsaLevel(i));
    printf("\nin use: %s, vectors of %zu bytes\n", SimdnetActiveIsa(), SimdAlignment());

    /* Like SIMDNET_MAX_ISA=base in the environment, but for later calls. */
    SimdnetSetMaxIsa("base");
    printf("capped: %s\n", SimdnetActiveIsa());

    if (!SimdnetSetMaxIsa("mmx"))
        printf("refused: %s\n", SimdnetLastError());
    return 0;
}

/* Output:
 *
 *   simdnet ... on ... cores, ... KiB of L2 cache
 *   instruction sets of this machine: base...
 *   in use: ..., vectors of ... bytes
 *   capped: base
 *   refused: SimdnetSetMaxIsa: name is "mmx", expected an instruction set of this architecture or NULL
 */
