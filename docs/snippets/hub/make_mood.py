"""Makes `mood/`, a tiny model in the layout of Hugging Face: python make_mood.py (needs torch and transformers)."""

import random
from itertools import product
from pathlib import Path

import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

random.seed(1)
torch.manual_seed(1)
folder = Path(__file__).parent / "mood"
good, bad = ["good", "great", "fine", "nice", "fast"], ["bad", "poor", "slow", "awful", "sad"]
things, verbs = ["food", "film", "day", "server", "book"], ["is", "was", "seems"]
texts = [(f"the {a} {b} {c}", int(c in good)) for a, b, c in product(things, verbs, good + bad)]

folder.mkdir(exist_ok=True)
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", *things, *verbs, *good, *bad]
(folder / "vocab.txt").write_text("\n".join(words) + "\n")
tokenizer = BertTokenizerFast(str(folder / "vocab.txt"))
names = {0: "NEGATIVE", 1: "POSITIVE"}
config = BertConfig(
    vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
    max_position_embeddings=32, id2label=names, label2id={name: i for i, name in names.items()},
)  # fmt: skip
model = BertForSequenceClassification(config)
optimizer = torch.optim.Adam(model.parameters(), 0.01)
for _ in range(40):
    random.shuffle(texts)
    batch = tokenizer([text for text, _ in texts], return_tensors="pt", padding=True)
    loss = model(**batch, labels=torch.tensor([label for _, label in texts])).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
model.save_pretrained(folder)
tokenizer.save_pretrained(folder)
(folder / "onnx").mkdir(exist_ok=True)
names = ["input_ids", "attention_mask", "token_type_ids"]
torch.onnx.export(
    model, tuple(batch[name] for name in names), str(folder / "onnx/model.onnx"), input_names=names,
    output_names=["logits"], dynamic_axes={name: {0: "batch", 1: "tokens"} for name in names}, opset_version=14,
)  # fmt: skip
