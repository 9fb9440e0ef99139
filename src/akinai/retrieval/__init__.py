"""Search by words and by vectors, for the learner's playbook, an owner's notes and the market.

Pure: no file, clock or chance. The first search that needs NumPy imports it.
"""

from akinai.retrieval.bm25 import BM25Index, WordHit
from akinai.retrieval.hybrid import ALPHA, FLOOR, Allowed, Document, Hit, HybridIndex, rank
from akinai.retrieval.meaning import find_by_meaning
from akinai.retrieval.text import TOKENIZER_NAME, Tokenizer, normalise, tokenize
from akinai.retrieval.vectors import Embedder, HashedTermVectors, VectorHit, VectorIndex

__all__ = [
    "ALPHA",
    "FLOOR",
    "TOKENIZER_NAME",
    "Allowed",
    "BM25Index",
    "Document",
    "Embedder",
    "HashedTermVectors",
    "Hit",
    "HybridIndex",
    "Tokenizer",
    "VectorHit",
    "VectorIndex",
    "WordHit",
    "find_by_meaning",
    "normalise",
    "rank",
    "tokenize",
]
