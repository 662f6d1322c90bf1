"""Runs in the peers' environment: the weights out of everybody's models, and what they come to. Nobody's own word is taken for it.

Weights are a matrix with a column for each output: one for two classes, scoring the larger label, or one for each label in order."""

import json

import numpy as np


def of_novikoff(path):
    """Weights and biases of a linear model: a safetensors file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        numbers = file.read()
    def tensor(name):
        start, end = header[name]["data_offsets"]
        kind = {"F64": "<f8", "U32": "<u4"}[header[name]["dtype"]]
        return np.frombuffer(numbers[start:end], kind).reshape(header[name]["shape"])
    bias = tensor("bias")
    if "weights" in header:
        return tensor("weights"), bias
    weights = np.zeros((int(header["__metadata__"]["features"]), len(bias)))
    weights[tensor("weight_indices")] = tensor("weight_values")
    return weights, bias


def of_liblinear(path):
    """The same of LIBLINEAR's text. Its one vector of two classes is for the label that it saw first."""
    with open(path) as file:
        header = dict(line.rstrip("\n").split(" ", 1) for line in iter(file.readline, "w\n"))
        weights = np.array(file.read().split(), dtype=float)
    outputs = 1 if header["nr_class"] == "2" or "label" not in header else int(header["nr_class"])
    weights = weights.reshape(-1, outputs)
    labels = [float(label) for label in header.get("label", "").split()]
    if len(labels) == 2 and labels[0] < labels[1]:
        weights = -weights
    elif outputs > 1:
        weights = weights[:, np.argsort(labels)]
    scale = float(header["bias"])
    if scale < 0:
        return weights, np.zeros(outputs)
    return weights[:-1], weights[-1] * scale


MODELS = {"novikoff": of_novikoff, "LIBLINEAR": of_liblinear}


def total(rows, labels, weights, bias, loss, l2=1.0, l1=0.0, penalised=False):
    """Σ loss + (l2/2)‖w‖² + l1·‖w‖₁, over all outputs; the bias is one of the weights if it is penalised."""
    scores = rows @ fitting(weights, rows.shape[1]) + bias
    punished = np.vstack([weights, bias]) if penalised else weights
    return float(losses(loss, scores, labels) + 0.5 * l2 * np.sum(punished ** 2) + l1 * np.sum(np.abs(punished)))


def fitting(weights, columns):
    """Who writes no weights for the last features has seen none of them."""
    if len(weights) < columns:
        return np.vstack([weights, np.zeros((columns - len(weights), weights.shape[1]))])
    if np.any(weights[columns:]):
        raise ValueError(f"weights for {len(weights)} features; the rows have {columns}")
    return weights[:columns]


def losses(loss, scores, labels):
    if loss == "squared":
        return np.sum((scores[:, 0] - labels) ** 2)
    names, of = np.unique(labels, return_inverse=True)
    if loss == "multinomial":
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        top = scores.max(axis=1)
        return np.sum(top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - scores[np.arange(len(of)), of])
    if scores.shape[1] == 1:
        margins = scores * np.where(labels == names[-1], 1.0, -1.0)[:, None]
    else:
        margins = scores * np.where(of[:, None] == np.arange(len(names)), 1.0, -1.0)
    if loss == "logistic":
        return np.sum(np.logaddexp(0.0, -margins))
    lacking = np.maximum(0.0, 1.0 - margins)
    return np.sum(lacking if loss == "hinge" else lacking ** 2)
