"""The data sets: where they are, and what is made of them for peers that read another format."""

import os
import random
import re
import struct
import subprocess
from pathlib import Path

NEEDED = ["census.train.svm", "census.test.svm", "covtype.binary.svm", "news20b.train.svm", "news20b.test.svm",
          "news20.svm", "a9a.svm", "a9a.t.svm", "heart_scale.svm", "breast_cancer.svm", "iris.svm", "digits.svm",
          "diabetes_regression.svm", "rcv1_small_cocoa.train.svm", "sonar.svm", "mushrooms.svm", "agaricus.train.svm",
          "adult.train.csv", "bank-full.csv", "titanic.csv", "online_shoppers.csv", "winequality-white.csv", "haberman.csv", "spambase.svm",
          "wine.svm", "letter.scale.tr.svm", "usps.svm", "sms.tsv", "r8.train.tsv", "r8.test.tsv", "20news.train.tsv", "20news.test.tsv"] + [
    f"mnist/{part}-{kind}" for part in ("train", "t10k") for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")]

SOURCES = """\
  census.train.svm, census.test.svm     UCI Census-Income (KDD), categories one-hot; 199,523 and 99,762 rows
  covtype.binary.svm                    LIBSVM's collection, covtype.libsvm.binary.scale, labels -1 and 1; 581,012 rows
  news20b.train.svm, news20b.test.svm   20 Newsgroups by date, binary bigrams, rows of length 1; 11,314 and 7,532 rows
  news20.svm                            LIBSVM's collection, news20; 15,935 rows
  a9a.svm, a9a.t.svm                    LIBSVM's collection, a9a and a9a.t
  heart_scale.svm, sonar.svm, mushrooms.svm   LIBSVM's collection
  agaricus.train.svm                    the mushrooms that come with XGBoost
  breast_cancer.svm, iris.svm, digits.svm, diabetes_regression.svm   scikit-learn's toy data sets, as they are
  adult.train.csv, bank-full.csv, haberman.csv, online_shoppers.csv, spambase.svm, wine.svm, winequality-white.csv   UCI
  titanic.csv                           the passengers of the Titanic, label `survived`
  letter.scale.tr.svm, usps.svm         LIBSVM's collection
  rcv1_small_cocoa.train.svm            the small part of RCV1 that comes with CoCoA
  20news.*.tsv, r8.*.tsv, sms.tsv       label, tab, text: 20 Newsgroups by date without headers, Reuters R8, the SMS Spam Collection
  mnist/{train,t10k}-{images-idx3,labels-idx1}-ubyte   MNIST, uncompressed"""


class Missing(Exception):
    """There is no data to measure on."""


class Data:
    """The data sets of a folder; what is made of them goes into another."""

    def __init__(self, folder, made):
        self.folder, self.made = Path(folder), Path(made)

    def path(self, name):
        return str(self.folder / name)

    def images(self, part):
        return self.path(f"mnist/{part}-images-idx3-ubyte")

    def unit_images(self, part):
        """The images as svmlight text, with values from 0 to 1, made once."""
        def write(out):
            shares = [f"{value / 255:.6g}" for value in range(256)]
            for label, rest in idx_lines(Path(self.images(part))):
                entries = (entry.split(":") for entry in rest.split())
                out.write(" ".join([label, *(f"{index}:{shares[int(value)]}" for index, value in entries)]) + "\n")
        return self.once(f"mnist.{part}.svm", write)

    def vw(self, path):
        """The same rows in Vowpal Wabbit's format, made once. Two labels become -1 and 1, more become 1, 2, …"""
        source = self.folder / path
        lines = idx_lines if source.name.endswith("ubyte") else svmlight_lines
        return self.once(source.name + ".vw", lambda out: write_vw(lines(source), out))

    def split(self, name):
        """A fifth of the rows, by a seeded choice, for testing; the others for training. The rows themselves stay as they are."""
        stem = name.removesuffix(".svm")
        lines = (self.folder / name).read_text().splitlines(keepends=True)
        order = list(range(len(lines)))
        random.Random(0).shuffle(order)
        test = set(order[:len(lines) // 5])
        parts = {"train": [], "test": []}
        for i, line in enumerate(lines):
            parts["test" if i in test else "train"].append(line)
        return [self.once(f"{stem}.{part}.svm", lambda out, part=part: out.writelines(parts[part])) for part in ("train", "test")]

    def shuffled(self, path):
        """The rows in a seeded order: who learns in the order of the file should not be misled by one sorted by class."""
        def write(out):
            lines = Path(path).read_text().splitlines(keepends=True)
            random.Random(1).shuffle(lines)
            out.writelines(lines)
        return self.once(Path(path).name.replace(".svm", ".shuffled.svm"), write)

    def fasttext(self, path):
        """Documents as fastText wants them: `__label__name text`, in lower case, marks apart, in a seeded order."""
        def write(out):
            lines = [line.split("\t", 1) for line in Path(path).read_text().splitlines()]
            random.Random(1).shuffle(lines)
            for label, text in lines:
                words = re.sub(r"([^\w\s])", r" \1 ", text.lower())
                out.write(f"__label__{label.replace(' ', '_')} {' '.join(words.split())}\n")
        return self.once(Path(path).name.replace(".tsv", ".fasttext"), write)

    def once(self, name, write):
        target = self.made / name
        if not target.exists():
            self.made.mkdir(parents=True, exist_ok=True)
            unfinished = target.with_name(f"{name}.part")
            with open(unfinished, "w") as out:
                write(out)
            unfinished.rename(target)
        return str(target)


def svmlight_lines(path):
    with open(path) as lines:
        for line in lines:
            label, _, rest = line.rstrip("\n").partition(" ")
            yield label, rest


def idx_lines(images):
    pixels = images.read_bytes()
    count, height, width = struct.unpack(">III", pixels[4:16])
    labels = Path(str(images).replace("images-idx3", "labels-idx1")).read_bytes()[8:]
    for row in range(count):
        start = 16 + row * height * width
        image = pixels[start:start + height * width]
        yield str(labels[row]), " ".join(f"{j}:{value}" for j, value in enumerate(image, 1) if value)


def write_vw(rows, out):
    rows = list(rows)
    labels = sorted({label for label, _ in rows}, key=float)
    names = ["-1", "1"] if len(labels) == 2 else [str(i) for i in range(1, len(labels) + 1)]
    renamed = dict(zip(labels, names))
    out.writelines(f"{renamed[label]} | {rest}\n" for label, rest in rows)


def find(given, bench):
    """The data's folder, unpacked if it has to be."""
    shared = bench.parent.parent / "shared" / "data"
    folder = Path(given or os.environ.get("NOVIKOFF_DATA") or shared)
    made = bench / ".data"
    if not all((folder / name).exists() for name in NEEDED) and (folder / "unpack").exists():
        print(f"unpacking {folder} into {made}", flush=True)
        subprocess.run([folder / "unpack", made], check=True, stdout=subprocess.DEVNULL)
        folder = made
    missing = [name for name in NEEDED if not (folder / name).exists()]
    if missing:
        raise Missing(f"not in {folder}: {', '.join(missing)}\nname the folder by --data or NOVIKOFF_DATA; these are wanted:\n{SOURCES}")
    return Data(folder, made)
