"""How the arguments and attributes of each op are drawn for a random program.

DRAW[op](program) returns the numbers of the arguments and the attributes, or None if they do not
fit. Where no value has the shape that is needed, the program gets a new input. CASES are programs
of one op at the borders of its domain.
"""
import math

SIZES = [1, 2, 3, 4, 5, 7, 9, 17, 33]
LARGE = [70, 131]  # more than a block of a kernel


def chance(p, probability):
    return bool(p.rng.random() < probability)


def below(p, n):
    return int(p.rng.integers(n))


def size(p):
    return int(p.rng.choice(LARGE if chance(p, 0.05) else SIZES))


def new_shape(p, rank):
    """A random shape that a value may have."""
    while True:
        shape = [size(p) for _ in range(rank)]
        if math.prod(shape) <= p.most:
            return shape


def make(p, shape, low=-1.5, high=1.5):
    return p.input(p.rng.uniform(low, high, shape))


def choose(p, fits, shape, low=-1.5, high=1.5):
    """A value that fits, or a new input of this shape, or of a random one of this rank."""
    fitting = [i for i in range(len(p.values)) if fits(p.shape(i)) and p.values[i].min() >= low]
    if fitting and chance(p, 0.8):
        return int(p.rng.choice(fitting))
    return make(p, new_shape(p, shape) if isinstance(shape, int) else shape, low, high)


def of_rank(p, low, high=4):
    return choose(p, lambda shape: low <= len(shape) <= high, low + below(p, high - low + 1))


def of_shape(p, shape):
    return choose(p, lambda other: other == list(shape), list(shape))


def one(p):
    return [of_rank(p, 0)], {}


def rows(p):
    return [of_rank(p, 1)], {}


def positive(p):
    return [choose(p, lambda shape: True, below(p, 4), 0.3, 3)], {}


def partner(p, shape, low=-1.5, high=1.5):
    """A value that broadcasts with this shape."""
    kept = shape[below(p, len(shape) + 1):]
    kept = [1 if chance(p, 0.2) else n for n in kept]
    if chance(p, 0.3):
        kept = list(shape)
    return choose(p, lambda other: other == kept, kept, low, high)


def two(p):
    a = of_rank(p, 0)
    arguments = [a, partner(p, p.shape(a))]
    return arguments if chance(p, 0.5) else arguments[::-1], {}


def quotient(p):
    a = of_rank(p, 0)
    return [a, partner(p, p.shape(a), 0.3, 3)], {}


def power(p):
    [a], _ = positive(p)
    return [a, partner(p, p.shape(a))], {}


def power_of_number(p):
    return [of_rank(p, 0)], {"exponent": 2 + below(p, 3)}


def where(p):
    a = of_rank(p, 0)
    shape = p.shape(a)
    arguments = [a, partner(p, shape)]
    return arguments, {"condition": integers(p, shape[below(p, len(shape) + 1):], 2)}


def integers(p, shape, most):
    return {"shape": list(shape), "numbers": [below(p, most) for _ in range(math.prod(shape))]}


def reduction(p):
    a = of_rank(p, 0)
    rank = len(p.shape(a))
    axes = [axis - rank if chance(p, 0.3) else axis for axis in range(rank) if chance(p, 0.5)]
    return [a], {"axes": axes, "keep_axes": chance(p, 0.5)}


def matmul(p):
    a = of_rank(p, 2)
    *lead, _, k = p.shape(a)
    lead = [1 if chance(p, 0.3) else n for n in lead[below(p, len(lead) + 1):]]
    return [a, of_shape(p, [*lead, k, size(p)])], {}


def linear(p):
    x = of_rank(p, 1)
    weight = choose(p, lambda shape: len(shape) == 2 and shape[0] == p.shape(x)[-1],
                    [p.shape(x)[-1], size(p)])
    bias = [of_shape(p, p.shape(weight)[1:])] if chance(p, 0.6) else []
    return [x, weight, *bias], {}


def matmul_transposed(p):
    x = of_rank(p, 1)
    width = p.shape(x)[-1]
    return [x, choose(p, lambda s: len(s) == 2 and s[1] == width, [size(p), width])], {}


def cosine_similarity(p):
    a = of_rank(p, 1)
    axis = below(p, len(p.shape(a)))
    shape = [1 if i != axis and chance(p, 0.2) else n for i, n in enumerate(p.shape(a))]
    return [a, of_shape(p, shape)], {"axis": axis}


def reshape(p):
    a = of_rank(p, 0)
    count = math.prod(p.shape(a))
    first = int(p.rng.choice([n for n in range(1, count + 1) if count % n == 0]))
    return [a], {"shape": [first, count // first]}


def permute(p):
    a = of_rank(p, 1)
    return [a], {"order": [int(axis) for axis in p.rng.permutation(len(p.shape(a)))]}


def axis_of(p, a):
    rank = len(p.shape(a))
    return below(p, 2 * rank) - rank


def transpose(p):
    a = of_rank(p, 2)
    return [a], {"axes": [axis_of(p, a), axis_of(p, a)]}


def slice_(p):
    a = of_rank(p, 1)
    axis = axis_of(p, a)
    begin = below(p, p.shape(a)[axis])
    return [a], {"axis": axis, "begin": begin,
                 "end": begin + 1 + below(p, p.shape(a)[axis] - begin)}


def concat(p):
    a = of_rank(p, 1)
    axis = axis_of(p, a)
    arguments = [a]
    for _ in range(1 + below(p, 2)):
        shape = p.shape(a)
        shape[axis] = size(p)
        arguments.append(a if chance(p, 0.2) else of_shape(p, shape))
    return arguments, {"axis": axis}


def split(p):
    a = of_rank(p, 1)
    axis = axis_of(p, a)
    n = p.shape(a)[axis]
    parts = int(p.rng.choice([m for m in range(1, n + 1) if n % m == 0]))
    return [a], {"axis": axis, "parts": parts, "part": below(p, parts)}


def mask(p, batch, queries, keys, table=True):
    """One or two conditions. `batch`: the first of several leading sizes, or None."""
    drawn = {}
    if chance(p, 0.5):
        drawn["causal"] = True
    if chance(p, 0.3):
        drawn["window"] = 1 + below(p, 5)
    if batch and chance(p, 0.4):
        drawn["lengths"] = [below(p, keys + 1) for _ in range(batch)]
    if table and chance(p, 0.3):
        drawn["table"] = integers(p, [queries, keys], 2)
    return drawn


def softmax_masked(p):
    a = of_rank(p, 2)
    *lead, queries, keys = p.shape(a)
    return [a], {"mask": mask(p, lead[0] if lead else None, queries, keys)}


def time_of_attention(p):
    return int(p.rng.choice(LARGE)) if chance(p, 0.3) else size(p)


def attention(p):
    heads, head_size, time = 1 + below(p, 5), 1 + below(p, 9), time_of_attention(p)
    lead = [1 + below(p, 3) for _ in range(below(p, 3))]
    qkv = of_shape(p, [*lead, time, 3 * heads * head_size])
    return [qkv], {"heads": heads,
                   "mask": mask(p, lead[0] if lead else None, time, time, table=False)}


def attention_of_separate(p):
    heads, head_size = 1 + below(p, 5), 1 + below(p, 9)
    queries, keys = time_of_attention(p), time_of_attention(p)
    lead = [1 + below(p, 3) for _ in range(below(p, 3))]
    k, v = (of_shape(p, [*lead, keys, heads * head_size]) for _ in range(2))
    q = k if chance(p, 0.2) else of_shape(p, [*lead, queries, heads * head_size])
    return [q, k, v], {"heads": heads, "mask": mask(p, lead[0] if lead else None, p.shape(q)[-2],
                                                    keys, table=False)}


def queries_and_keys(p):
    q = of_rank(p, 2)
    *lead, queries, width = p.shape(q)
    keys = size(p)
    return lead, queries, keys, [q, of_shape(p, [*lead, keys, width])]


def attention_scores(p):
    return queries_and_keys(p)[-1], {"mask": {}}


def attention_scores_masked(p):
    lead, queries, keys, arguments = queries_and_keys(p)
    return arguments, {"mask": mask(p, lead[0] if lead else None, queries, keys)}


def weighted_sum(p):
    w = of_rank(p, 2)
    *lead, queries, keys = p.shape(w)
    return [w, of_shape(p, [*lead, keys, size(p)])], {
        "mask": mask(p, lead[0] if lead else None, queries, keys)}


def layer_norm(p):
    x = of_rank(p, 1)
    return [x, of_shape(p, p.shape(x)[-1:]), of_shape(p, p.shape(x)[-1:])], {
        "eps": float(p.rng.choice([1e-5, 1e-3, 0.1]))}


def ids_of(p, rank, most):
    return integers(p, new_shape(p, rank), most)


def embedding(p):
    table = of_rank(p, 2, 2)
    return [table], {"ids": ids_of(p, below(p, 3), p.shape(table)[0])}


def embedding_with_positions(p):
    table, positions = of_rank(p, 2, 2), None
    count, width = p.shape(table)
    positions = choose(p, lambda s: len(s) == 2 and s[1] == width, [size(p), width])
    first = below(p, p.shape(positions)[0])
    time = 1 + below(p, p.shape(positions)[0] - first)
    lead = new_shape(p, below(p, 3))
    return [table, positions], {"ids": integers(p, [*lead, time], count), "first": first}


def cross_entropy(p):
    a = of_rank(p, 1)
    *lead, vocabulary = p.shape(a)
    targets = integers(p, lead, vocabulary)
    attributes = {"targets": targets}
    if chance(p, 0.5):
        attributes["ignored"] = targets["numbers"][0]
        if set(targets["numbers"]) == {attributes["ignored"]}:  # none would be left
            return None
    return [a], attributes


def dropout(p):
    return [of_rank(p, 0)], {"p": float(p.rng.choice([0.1, 0.5])), "seed": below(p, 10**6)}


DRAW = {
    "add": two, "sub": two, "mul": two, "div": quotient, "neg": one, "pow": power,
    "pow of a number": power_of_number, "where": where, "exp": one, "log": positive,
    "sqrt": positive, "tanh": one, "sigmoid": one, "relu": one, "gelu": one, "gelu_tanh": one,
    "sum": reduction, "mean": reduction, "max": reduction, "matmul": matmul, "linear": linear,
    "matmul_transposed": matmul_transposed, "cosine_similarity": cosine_similarity,
    "reshape": reshape, "permute": permute, "transpose": transpose, "slice": slice_,
    "concat": concat, "split": split, "softmax": rows, "softmax masked": softmax_masked,
    "log_softmax": rows, "attention": attention,
    "attention of separate tensors": attention_of_separate, "attention_scores": attention_scores,
    "attention_scores masked, softmax": attention_scores_masked, "weighted_sum": weighted_sum,
    "layer_norm": layer_norm, "embedding": embedding,
    "embedding with positions": embedding_with_positions, "cross_entropy": cross_entropy,
    "dropout": dropout,
}

# An op, its inputs and its attributes.
CASES = [
    ("relu", [[-1.0, 0.0, -0.0, 2.0]], {}),
    ("max", [[[1.0, 3.0, 3.0], [3.0, 2.0, 1.0]]], {"axes": [], "keep_axes": False}),
    ("max", [[[1.0, 3.0, 3.0], [3.0, 2.0, 1.0]]], {"axes": [0], "keep_axes": True}),
    ("pow", [[0.0, 0.0, 0.0, 2.0], [1.0, 2.5, 3.0, 0.0]], {}),
    ("pow of a number", [[-2.0, 0.0, 1.5]], {"exponent": 3}),
    ("softmax", [[700.0, 699.0, -800.0]], {}),
    ("log_softmax", [[700.0, 699.0, -800.0]], {}),
    ("softmax masked", [[[1.0, 2.0], [3.0, 4.0]]],
     {"mask": {"table": {"shape": [2, 2], "numbers": [0, 0, 1, 0]}}}),
    ("attention", [[[[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]] * 3] * 2],
     {"heads": 2, "mask": {"causal": True, "lengths": [0, 2]}}),
    ("cross_entropy", [[[1.0, 2.0, 3.0], [0.5, 0.25, 0.125]]],
     {"targets": {"shape": [2], "numbers": [2, -1]}, "ignored": -1}),
    ("sigmoid", [[-40.0, 0.0, 40.0]], {}),
    ("gelu", [[-9.0, -1.0, 0.0, 1.0, 9.0]], {}),
    ("gelu_tanh", [[-9.0, -1.0, 0.0, 1.0, 9.0]], {}),
]
