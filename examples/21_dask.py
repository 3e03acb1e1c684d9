"""The digits demo on a cluster: the network's contexts are pickled to the workers, which classify pictures in batches."""

import sys
from logging import CRITICAL
from pathlib import Path
from typing import Any

import numpy as np

import pysimd

sys.path.insert(0, str(Path(__file__).parent / "digits"))
import digits_files as files

try:
    from dask.distributed import Client, LocalCluster
except ImportError:
    print("skipped: no Dask here, it comes with pip install 'pysimd[dask]'")
    sys.exit(77)

WORKERS, BATCH = 3, 60


def load(folder: Path) -> list[tuple[files.Layer, Any]]:
    """Each layer with a context of the library, or with its weights."""
    network: list[tuple[files.Layer, Any]] = []
    for layer, weight, bias in zip(*files.read_network(folder / "weights.bin")):
        if layer.kind == files.CONVOLUTION:
            context = pysimd.Convolution32f(
                (BATCH, layer.src_h, layer.src_w, layer.src_c),
                layer.dst_c,
                kernel=layer.kernel,
                stride=layer.stride,
                padding=layer.pad,
                group=layer.group,
                activation="relu" if layer.relu else "identity",
            )
            context.set_params(weight, bias)
            network.append((layer, context))
        else:
            network.append((layer, (weight, bias)))
    return network


def classify(network: list[tuple[files.Layer, Any]], images: np.ndarray) -> np.ndarray:
    """Probabilities of a batch. On a worker, the contexts were unpickled and are made for that machine."""
    x = images.astype(np.float32)[..., None]
    for layer, state in network:
        if layer.kind == files.CONVOLUTION:
            x = state(x)
        elif layer.kind == files.INNER_PRODUCT:
            x = pysimd.inner_product(x.reshape(BATCH, -1), *state)
        elif layer.kind == files.SOFTMAX:
            x = pysimd.softmax(x, axis=-1)
        else:
            pooling = pysimd.pooling_max if layer.kind == files.MAX_POOLING else pysimd.pooling_average
            x = pooling(x, kernel=layer.kernel, stride=layer.stride, padding=layer.pad)
    return x.reshape(BATCH, -1)


if __name__ == "__main__":
    digits = Path(__file__).parent / "digits"
    network = load(digits)
    images, labels = files.read_images(digits / "images.bin")
    batches = np.split(images, len(images) // BATCH)
    cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=CRITICAL)
    with cluster, Client(cluster) as client:  # or Client(address of a real one)
        everywhere = client.scatter(network, broadcast=True)  # once per worker, not per batch
        p = client.gather(client.map(lambda batch, network: classify(network, batch), batches, network=everywhere))
        print(f"{len(batches)} batches of {BATCH} on {len(client.scheduler_info()['workers'])} workers")
    right = (np.concatenate(p).argmax(axis=1) == labels).sum()
    print(f"{right} of {len(labels)} digits are right")
    print("bit-identical to this process:", all(np.array_equal(a, classify(network, batch)) for a, batch in zip(p, batches)))

# Output:
#
#   6 batches of 60 on 3 workers
#   360 of 360 digits are right
#   bit-identical to this process: True
