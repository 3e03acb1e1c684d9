# mypy: allow-subclassing-any
"""Train the digits network and write weights.bin, images.bin and statistics.json.

    python -m venv /tmp/venv-train
    /tmp/venv-train/bin/pip install torch==2.13.0 scikit-learn==1.9.1
    /tmp/venv-train/bin/python train.py --choose     compare the candidates, 5-fold, inside the training part
    /tmp/venv-train/bin/python train.py              train the chosen one, write the files

Needed only to train anew: the demo itself reads the files.

The 1,797 digits of scikit-learn are split once, seeded and stratified: 1,437 to train, 360 held out.
Every choice (network, dropout, augmentation, length of training) is made by cross-validation inside
the 1,437.  The 360 are looked at once, by the last lines of this script, when nothing is left to choose.
"""

import argparse
import copy
import math
import sys
import time
from pathlib import Path
from typing import NamedTuple

import calibrate
import digits_files as files
import numpy as np
import numpy_digits
import torch
from sklearn.model_selection import StratifiedKFold
from torch import nn
from torch.nn import functional

HERE = Path(__file__).resolve().parent
TRAIN_SEED = 1
SCALE = 1 / 16  # pixels are 0..16; the export moves this factor into the first weights


class Recipe(NamedTuple):
    """The choices made by cross-validation."""

    network: str
    dropout: float = 0.3
    rotate: float = 10.0  # degrees, in both directions
    shift: float = 0.7  # pixels, in both directions
    zoom: float = 0.1  # relative, in both directions, each axis separately
    shear: float = 0.1
    epochs: int = 150
    rate: float = 4e-3
    decay: float = 0.02
    smoothing: float = 0.05


# c<n>: 3x3 convolution to n channels; d: depthwise 3x3; p<n>: 1x1 convolution; m: 2x2 max pooling; a: average over the
# remaining image. Inner product and softmax follow.
CANDIDATES = {
    "small": Recipe("c16 d p32 m d p64 m"),
    "plain": Recipe("c32 d p32 m c64 m"),
    "average": Recipe("c32 d p32 m c64 d p64 a"),
    "wide": Recipe("c32 c32 m d p64 c64 m"),
    "wide, no augmentation": Recipe("c32 c32 m d p64 c64 m", rotate=0, shift=0, zoom=0, shear=0),
    "wide, longer": Recipe("c32 c32 m d p64 c64 m", epochs=300),
    "wide, stronger": Recipe("c32 c32 m d p64 c64 m", rotate=15, shift=1, zoom=0.15, shear=0.15),
    "wide, weaker": Recipe("c32 c32 m d p64 c64 m", rotate=6, shift=0.5, zoom=0.06, shear=0.05),
}
# Fewest wrong answers in cross-validation; if two are equal, the smaller network.
CHOSEN = "plain"


def layer_list(recipe: Recipe) -> list[files.Layer]:
    """The recipe's network as layers of the weights file."""
    layers: list[files.Layer] = []
    c, size = 1, 8
    for word in recipe.network.split():
        kind, width = word[0], int(word[1:] or c)
        if kind in "cdp":
            kernel = 1 if kind == "p" else 3
            group = c if kind == "d" else 1
            shape = (c, size, size, width, size, size)
            layer = files.Layer(files.CONVOLUTION, *shape, kernel, 1, kernel // 2, group, 1)
        else:
            kernel = 2 if kind == "m" else size
            pool = files.MAX_POOLING if kind == "m" else files.AVERAGE_POOLING
            shape = (c, size, size, c, size // kernel, size // kernel)
            layer = files.Layer(pool, *shape, kernel, kernel, 0, 1, 0)
        layers.append(layer)
        c, size = layer.dst_c, layer.dst_h
    layers.append(files.Layer(files.INNER_PRODUCT, c, size, size, 10, 1, 1, 0, 0, 0, 1, 0))
    layers.append(files.Layer(files.SOFTMAX, 10, 1, 1, 10, 1, 1, 0, 0, 0, 1, 0))
    return layers


class Model(nn.Module):
    """The same layers for training: batch norm after each convolution; returns logits."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        self.layers = layer_list(recipe)
        self.work = nn.ModuleList()
        self.norm = nn.ModuleList()
        self.dropout = nn.Dropout(recipe.dropout)
        for layer in self.layers:
            work: nn.Module = nn.Identity()
            norm: nn.Module = nn.Identity()
            if layer.kind == files.CONVOLUTION:
                work = nn.Conv2d(
                    layer.src_c, layer.dst_c, layer.kernel, layer.stride, layer.pad, groups=layer.group, bias=False
                )
                norm = nn.BatchNorm2d(layer.dst_c)
            elif layer.kind == files.MAX_POOLING:
                work = nn.MaxPool2d(layer.kernel, layer.stride, layer.pad)
            elif layer.kind == files.AVERAGE_POOLING:
                work = nn.AvgPool2d(layer.kernel, layer.stride, layer.pad)
            elif layer.kind == files.INNER_PRODUCT:
                work = nn.Linear(layer.src_c * layer.src_h * layer.src_w, layer.dst_c)
            self.work.append(work)
            self.norm.append(norm)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer, work, norm in zip(self.layers, self.work, self.norm):
            if layer.kind == files.INNER_PRODUCT:
                # Channels last before flattening: the order of the library.
                x = self.dropout(x.permute(0, 2, 3, 1).flatten(1))
            x = norm(work(x))
            if layer.relu:
                x = functional.relu(x)
        return x

    def export(self) -> files.Network:
        """Weights in the library's order, Yxio, with batch norm and pixel scale folded in."""
        network = files.Network(self.layers, [], [])
        for work, norm in zip(self.work, self.norm):
            weight = bias = torch.empty(0)
            if isinstance(norm, nn.BatchNorm2d):
                w, n = work.state_dict(), norm.state_dict()
                gain = n["weight"].double() / torch.sqrt(n["running_var"].double() + norm.eps)
                weight = (w["weight"].double() * gain[:, None, None, None]).permute(2, 3, 1, 0)
                bias = n["bias"].double() - n["running_mean"].double() * gain
                if not network.weights:
                    weight = weight * SCALE
            elif isinstance(work, nn.Linear):
                weight, bias = work.weight, work.bias
            network.weights.append(weight.detach().float().numpy())
            network.biases.append(bias.detach().float().numpy())
        return network


def augment(x: torch.Tensor, recipe: Recipe, random: torch.Generator) -> torch.Tensor:
    """Rotates, zooms, shears and shifts each image a little, with bilinear sampling."""

    def uniform(limit: float) -> torch.Tensor:
        return (2 * torch.rand(len(x), generator=random) - 1) * limit

    angle = uniform(math.radians(recipe.rotate))
    zoom_x, zoom_y = 1 + uniform(recipe.zoom), 1 + uniform(recipe.zoom)
    shear = uniform(recipe.shear)
    to_grid = 2 / x.shape[-1]  # affine_grid counts from -1 to 1
    shift_x, shift_y = uniform(recipe.shift) * to_grid, uniform(recipe.shift) * to_grid
    cos, sin = torch.cos(angle), torch.sin(angle)
    matrix = torch.stack(
        [
            torch.stack([zoom_x * cos, zoom_y * (shear * cos - sin), shift_x], 1),
            torch.stack([zoom_x * sin, zoom_y * (shear * sin + cos), shift_y], 1),
        ],
        1,
    )
    grid = functional.affine_grid(matrix, list(x.shape), align_corners=False)
    return functional.grid_sample(x, grid, align_corners=False)


def train(recipe: Recipe, images: files.Array, labels: files.Array, seed: int) -> Model:
    """The model after a fixed number of epochs, with weights averaged over the training."""
    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    model = Model(recipe)
    average = copy.deepcopy(model)
    x = torch.from_numpy(images).float()[:, None] * SCALE
    y = torch.from_numpy(labels).long()
    batch = 64
    steps = recipe.epochs * (len(x) // batch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.rate, total_steps=steps)
    model.train()
    step = 0
    for _ in range(recipe.epochs):
        order = torch.randperm(len(x), generator=random)
        for at in range(0, len(x) - batch + 1, batch):
            picked = order[at : at + batch]
            logits = model(augment(x[picked], recipe, random))
            loss = functional.cross_entropy(logits, y[picked], label_smoothing=recipe.smoothing)
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
            step += 1
            keep = min(0.995, step / (step + 10))
            with torch.no_grad():
                for mine, now in zip(average.state_dict().values(), model.state_dict().values()):
                    if mine.is_floating_point():
                        mine.lerp_(now, 1 - keep)
    average.eval()
    return average


def probabilities(model: Model, images: files.Array) -> files.Array:
    """The model's probabilities, computed by PyTorch."""
    with torch.no_grad():
        x = torch.from_numpy(images).float()[:, None] * SCALE
        p: files.Array = functional.softmax(model(x), dim=1).numpy()
        return p


def cross_validate(recipe: Recipe, images: files.Array, labels: files.Array) -> tuple[int, float]:
    """Wrong answers of five models, each on the fifth that it was not trained on, and their mean loss."""
    wrong, loss = 0, 0.0
    folds = StratifiedKFold(5, shuffle=True, random_state=calibrate.SPLIT_SEED)
    for fold, (inner, validation) in enumerate(folds.split(images, labels)):
        model = train(recipe, images[inner], labels[inner], TRAIN_SEED + fold)
        p = probabilities(model, images[validation])
        wrong += int((p.argmax(1) != labels[validation]).sum())
        loss -= float(np.log(p[np.arange(len(p)), labels[validation]]).sum())
    return wrong, loss / len(images)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument(
        "--choose",
        nargs="*",
        metavar="CANDIDATE",
        help="cross-validate these candidates (all, if none is named) and write nothing",
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    images, held_images, labels, held_labels = calibrate.split()

    if options.choose is not None:
        for name in options.choose or CANDIDATES:
            start = time.perf_counter()
            recipe = CANDIDATES[name]
            wrong, loss = cross_validate(recipe, images, labels)
            weights = 4 * sum(layer.floats for layer in layer_list(recipe))
            print(
                f"{name:<24} {wrong:3d}/{len(images)} wrong, {100 - 100 * wrong / len(images):.2f} %, "
                f"loss {loss:.4f}, {weights} bytes of weights, "
                f"{time.perf_counter() - start:.0f} s",
                flush=True,
            )
        return 0

    recipe = CANDIDATES[CHOSEN]
    model = train(recipe, images, labels, TRAIN_SEED)
    files.write_network(HERE / "weights.bin", model.export())
    files.write_images(HERE / "images.bin", held_images, held_labels)
    calibrate.write_statistics(files.read_network(HERE / "weights.bin"), images, HERE / "statistics.json")

    network = files.read_network(HERE / "weights.bin")
    held_images, held_labels = files.read_images(HERE / "images.bin")
    for layer in network.layers:
        print(f"{layer.describe():<60} {4 * layer.floats:7d} bytes")
    print(f"{'':<60} {4 * sum(layer.floats for layer in network.layers):7d} bytes")
    p = numpy_digits.classify(network, held_images)
    difference = np.abs(p - probabilities(model, held_images)).max()
    print(f"largest difference of a probability, NumPy on the file against PyTorch: {difference:.1e}")
    wrong = int((p.argmax(1) != held_labels).sum())
    right = len(held_labels) - wrong
    print(f"held-out images: {right}/{len(held_labels)} right, {100 * right / len(held_labels):.2f} %")
    return 0 if difference < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
